/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_DRILL_H
#define FABRICBED_BALANCE_DRILL_H

/*
 * DRILL(d, m): packet by packet, the shortest of d queues at random and of the m that were shortest
 * at the last packet (Ghorbani, Yang, Godfrey, Ganjali, Firoozshahian, DRILL: Micro Load Balancing
 * for Low-latency Data Center Networks, SIGCOMM 2017, section 3.2). One engine a switch.
 */
#include <fabricbed/policy.h>

#define DRILL_GROUPS 64
#define DRILL_DOWN   0xfffffffeull

struct drill_switch {
	/* candidate + 1, the best first; 0: none */
	__u16 best[DRILL_GROUPS][BALANCE_REMEMBERED_MAX];
};

/*
 * A candidate and its queue as one number, so that the least is the best. One whose link is down is
 * the worst.
 */
static __always_inline __u64 drill_sample(const struct policy *p, __u32 i)
{
	__u64 depth = policy_up(p, i) ? policy_depth(p, i) : DRILL_DOWN;

	return depth << 32 | i;
}

struct drill_best {
	__u64 sample[BALANCE_REMEMBERED_MAX]; /* the best first */
};

/* Puts a sample in its place. One that is there already stays where it is. */
SW_GLOBAL int drill_enter(struct drill_best *best, __u64 sample)
{
	int goes = 0;

	if (!best)
		return 0;
	sw_unroll for (__u32 k = 0; k < BALANCE_REMEMBERED_MAX; k++)
	{
		__u64 there = best->sample[k];

		if (there == sample)
			return 0;
		/* of equal queues the one that was looked at first */
		goes |= sample >> 32 < there >> 32;
		best->sample[k] = goes ? sample : there;
		sample = goes ? there : sample;
	}
	return goes;
}

POLICY(drill)
{
	struct drill_switch *m = POLICY_SWITCH(struct drill_switch);
	__u16 *memory = m->best[p->group % DRILL_GROUPS];
	struct drill_best best = {{~0ull, ~0ull, ~0ull, ~0ull}};

	for (__u32 n = 0; n < BALANCE_CHOICES_MAX && n < p->choices; n++) {
		__u32 bits = (__u32)(policy_random(p, n) >> 32);

		drill_enter(&best, drill_sample(p, policy_scale(bits, p->count)));
	}
	sw_unroll for (__u32 k = 0; k < BALANCE_REMEMBERED_MAX; k++)
	{
		if (k < p->remembered && memory[k] && memory[k] <= p->count)
			drill_enter(&best, drill_sample(p, memory[k] - 1u));
	}
	sw_unroll for (__u32 k = 0; k < BALANCE_REMEMBERED_MAX; k++) memory[k] =
		best.sample[k] == ~0ull ? 0 : (__u16)((__u32)best.sample[k] + 1);
	return (__u32)best.sample[0];
}

#endif
