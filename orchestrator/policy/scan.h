/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_SCAN_H
#define FABRICBED_POLICY_SCAN_H

/*
 * What a compiled policy would do that a policy can't: its objects are looked through before
 * anything is made of them. What is refused has the line of the file, where the object tells it.
 */
#include <stddef.h>
#include "base/error.h"

struct policy_source;

/*
 * The BPF object of the file alone: it has the function; it calls no helper of the kernel but map
 * look-ups; it has no program, table or variable of its own; it needs nothing from elsewhere. 0 or
 * -EINVAL with why.
 */
int scan_bpf(
	const void *object, size_t bytes, const struct policy_source *source, struct error *why);

/* The shared object: no variables, and nothing of the process' libraries. As above. */
int scan_native(
	const void *object, size_t bytes, const struct policy_source *source, struct error *why);

/* What a policy has in the place of a function that it can't call, as half a sentence. */
const char *scan_instead(const char *function);

#endif
