/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STACK_EGRESS_H
#define FABRICBED_STACK_EGRESS_H

/* From a scenario's host.stack to what the program at a stack's egress wants to know. */
#include <stdbool.h>
#include "abi/egress.h"
#include "base/error.h"

struct stack_spec;

/* Whether there is anything for that program to do. */
bool stack_has_egress(const struct stack_spec *s);

/* slowdown: of model time; 1 on the stepped clock (real gaps). 0, or -errno: no such cgroup. */
int stack_egress(
	struct egress_config *ret, const struct stack_spec *s, double slowdown, struct error *why);

#endif
