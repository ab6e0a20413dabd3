/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DEMAND_H
#define FABRICBED_DEMAND_H

/* What messages require of shared links, and a lower bound on its time. Private to workload/. */
#include <stddef.h>
#include <stdint.h>

/* What one message asks of a link that it crosses, or of several as if they were one. */
struct demand {
	uint32_t at; /* which; those of one are reckoned together */
	uint64_t start_ps;
	uint64_t before_ps; /* from its start until its first bit can be there */
	uint64_t work_ps;   /* serialisation of its data there */
	uint64_t after_ps;  /* from its last bit there to the end */
};

/* All demands so far. Those of a list come in parts, each of which is no earlier than the last. */
struct demands {
	struct demand *part; /* what demands_settle() will take in */
	size_t count, capacity;
	struct demand_line *lines; /* by `at` */
	uint32_t line_count;
	uint64_t bound_ps; /* by earlier lists */
};

/* `lines`: what `at` is less than. 0 or -ENOMEM. */
int demands_init(struct demands *d, uint32_t lines);
void demands_release(struct demands *d);

/* Room for so many more in the present part. 0 or -ENOMEM. */
int demands_reserve(struct demands *d, size_t more);

static inline void demands_add(struct demands *d, const struct demand *one)
{
	d->part[d->count++] = *one;
}

/* The part is whole; the next one begins. */
void demands_settle(struct demands *d);

/* The list is whole. Another begins: its demands may be earlier, and are reckoned apart. */
void demands_end_list(struct demands *d);

/* The bound by "messages that share a host link" in docs/closed-forms.md, of whole lists. */
static inline uint64_t demands_bound(const struct demands *d)
{
	return d->bound_ps;
}

#endif
