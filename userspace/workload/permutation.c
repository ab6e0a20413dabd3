/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Every host sends to one other and receives from one other: a derangement, each equally likely.
 * Drawn by shuffling until nobody sends to itself; of all permutations a share of 1/e = 37%
 * qualifies. (Forbidding fixed points within the shuffle would draw cyclic ones alone, or favour
 * some.)
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/rng_stream.h"
#include "workload/kind.h"
#include "workload/list.h"

/* R. A. Fisher and F. Yates; in place: R. Durstenfeld, algorithm 235, CACM 7 (1964). */
static void shuffle(uint32_t *items, uint32_t n, uint64_t *rng)
{
	for (uint32_t left = n; left > 1; left--) {
		uint32_t drawn = rng_below(rng, left);
		uint32_t last = items[left - 1];

		items[left - 1] = items[drawn];
		items[drawn] = last;
	}
}

static bool has_fixed_point(const uint32_t *items, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (items[i] == i)
			return true;
	return false;
}

int workload_permutation(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, uint32_t hosts, uint32_t groups, uint32_t count)
{
	uint32_t servers = hosts / groups;
	uint32_t *src = calloc(hosts, sizeof(*src));
	uint32_t *dst = calloc(hosts, sizeof(*dst));
	size_t before = m->count, waits_before = m->wait_count;
	int err = src && dst ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < count; i++) {
		uint64_t rng = rng_stream(p->seed, "permutation", i);

		for (uint32_t s = 0; s < servers; s++)
			dst[s] = s;
		do
			shuffle(dst, servers, &rng);
		while (has_fixed_point(dst, servers));
		/* the last first: what is read has not been written over */
		for (uint32_t h = hosts; h-- > 0;) {
			src[h] = h;
			dst[h] = dst[h / groups] * groups + h % groups;
		}
		err = operations_add_rounds(m, p, rounds, src, dst, hosts);
	}
	if (err) {
		m->count = before;
		m->wait_count = waits_before;
	}
	free(src);
	free(dst);
	return err;
}

struct permutation {
	struct workload_rounds rounds;
	uint32_t count;
	bool same_nic;
};

static const struct key keys[] = {
	KEY("count", COUNT, struct permutation, count, .fallback = "1", .min = 1, .max = TIMES_MAX,
		.help = "so many permutations at once"),
	WORKLOAD_ROUNDS_KEYS(struct permutation),
	SAME_NIC_KEY(struct permutation),
};

static double count(const void *options, const struct workload_hosts *hosts)
{
	const struct permutation *o = options;

	return (double)hosts->count * o->count * o->rounds.repeat;
}

static const char *refuse(
	const void *options, const struct workload_hosts *hosts, char buf[WORKLOAD_REFUSAL])
{
	return workload_refuse_alone(
		hosts, ((const struct permutation *)options)->same_nic, "message", buf);
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct permutation *o = options;

	return workload_permutation(
		m, p, &o->rounds, hosts->count, workload_groups(hosts, o->same_nic), o->count);
}

const struct workload_kind workload_kind_permutation = {
	.name = "permutation",
	.map = {KEYS(keys), .size = sizeof(struct permutation),
		.help = "each host sends to another one, and receives from one"},
	.balanced = true,
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
	.turns = workload_rounds_turns,
};
