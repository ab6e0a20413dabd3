/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_PROGRAM_H
#define FABRICBED_POLICY_PROGRAM_H

/* A policy as a fabric runs it: built, and loaded where the dataplane is the process. */
#include <stdbool.h>
#include "policy/build.h"

struct policy_program {
	struct policy_source source; /* its own copy */
	struct policy_build build;
	struct policy_code code;
};

/*
 * kernel: its program is loaded with the switches', and the verifier sees it then. Else it is
 * loaded into the process, and the verifier is asked first, where that is allowed: a loop without
 * end would never return. 0; -EINVAL: the file is refused; another -errno; with why. Free with
 * policy_close(), which takes NULL too.
 */
int policy_open(struct policy_program **ret, const struct policy_source *source, bool kernel,
	struct error *why);
void policy_close(struct policy_program *p);

#endif
