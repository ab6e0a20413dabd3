/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_VERIFY_H
#define FABRICBED_POLICY_VERIFY_H

/* The kernel's verifier over a policy, and its words as a message about the file. */
#include "base/error.h"

struct policy_code;
struct policy_source;

/*
 * Loads a switch that does all that switches can, with the policy, and lets go of it. 0; -EINVAL:
 * the verifier refuses the policy; -EPERM: no privilege; another -errno; with why.
 */
int policy_verify(
	const struct policy_source *source, const struct policy_code *code, struct error *why);

/*
 * What dataplane_kernel_load() said of a program with the policy: "my.c:9: the kernel's verifier
 * refuses it: ...", and -EINVAL, if it was the verifier; else code, and why is as it was.
 */
int policy_explain(const struct policy_source *source, int code, struct error *why);

#endif
