/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DEMAND_H
#define FABRICBED_DEMAND_H

/* What messages require of shared links, and a lower bound on its time. Private to workload/. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one message asks of a link that it crosses, or of several as if they were one. */
struct demand {
	uint32_t at;       /* which; those of one are reckoned together */
	bool starts_alone; /* it waits for no other message */
	uint64_t start_ps;
	uint64_t before_ps; /* from its start until its first bit can be there */
	uint64_t work_ps;   /* serialisation of its data there */
	uint64_t after_ps;  /* from its last bit there to the end */
};

/* The bound by "messages that share a host link" in docs/closed-forms.md. Sorts them. */
uint64_t demands_bound(struct demand *d, size_t n);

#endif
