/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Many to one: distinct senders, drawn from all hosts but the receiver. */
#include <errno.h>
#include <stdlib.h>
#include "base/rng.h"
#include "workload/list.h"

/* The first n of pool become a sample without repetition: the first n steps of a shuffle. */
static void sample(uint32_t *pool, uint32_t size, uint32_t n, uint64_t *rng)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t drawn = i + rng_below(rng, size - i);
		uint32_t first = pool[i];

		pool[i] = pool[drawn];
		pool[drawn] = first;
	}
}

int workload_incast(struct messages *m, const struct workload_params *p, uint32_t hosts,
	uint32_t senders, uint32_t to)
{
	uint32_t *src = calloc(hosts, sizeof(*src));
	uint32_t *dst = calloc(hosts, sizeof(*dst));
	uint64_t rng = rng_stream(p->seed, "incast", to);
	int err = -ENOMEM;

	if (src && dst)
		err = messages_reserve(m, (size_t)senders * p->repeat);
	if (!err) {
		for (uint32_t i = 0; i < hosts - 1; i++)
			src[i] = i < to ? i : i + 1;
		for (uint32_t i = 0; i < senders; i++)
			dst[i] = to;
		sample(src, hosts - 1, senders, &rng);
		messages_add_rounds(m, p, src, dst, senders);
	}
	free(src);
	free(dst);
	return err;
}
