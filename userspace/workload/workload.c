/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/rng_stream.h"
#include "workload/kind.h"
#include "workload/list.h"

void operations_release(struct operations *m)
{
	free(m->items);
	free(m->waits);
	*m = (struct operations)OPERATIONS_INIT;
}

/* So that it grows by a good part at least, however little is asked for at a time. */
static int reserve(void *items, size_t count, size_t *capacity, size_t extra, size_t size)
{
	size_t needed = count + extra, more = *capacity + *capacity / 2;
	void **array = items;
	void *larger;

	if (needed <= *capacity)
		return 0;
	if (count && needed < more)
		needed = more;
	larger = reallocarray(*array, needed, size);
	if (!larger)
		return -ENOMEM;
	*array = larger;
	*capacity = needed;
	return 0;
}

int operations_reserve(struct operations *m, size_t operations, size_t waits)
{
	int r;

	if (operations >= OPERATIONS_MAX - m->count || waits >= UINT32_MAX - m->wait_count)
		return -E2BIG;
	r = reserve(&m->items, m->count, &m->capacity, operations, sizeof(*m->items));
	if (r == 0)
		r = reserve(&m->waits, m->wait_count, &m->wait_capacity, waits, sizeof(*m->waits));
	return r;
}

uint32_t operations_add(struct operations *m, const struct operation *o)
{
	m->items[m->count] = *o;
	return (uint32_t)m->count++;
}

void operations_wait(struct operations *m, uint32_t from, enum operation_event event)
{
	uint32_t to = (uint32_t)m->count - 1;

	m->items[to].waits = true;
	m->waits[m->wait_count++] = (struct wait){from, to, event};
}

int operations_add_rounds(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, const uint32_t *src, const uint32_t *dst, size_t n)
{
	size_t total;
	int r = __builtin_mul_overflow(n, rounds->repeat, &total)
			? -E2BIG
			: operations_reserve(m, total, total - n);

	if (r < 0)
		return r;
	for (uint32_t round = 0; round < rounds->repeat; round++)
		for (size_t i = 0; i < n; i++) {
			operations_add(m, &(struct operation){
						  .src_host = src[i],
						  .dst_host = dst[i],
						  .bytes = rounds->common.bytes,
						  .start_ps = round ? rounds->gap_ps
								    : rounds->common.start_ps,
						  .entry = p->entry,
						  .again = round > 0,
					  });
			if (round)
				operations_wait(m, (uint32_t)(m->count - 1 - n), OPERATION_ENDED);
		}
	return 0;
}

enum workload_turns workload_rounds_turns(const void *options, const char **ret_why)
{
	(void)options;
	(void)ret_why;
	return TURNS_OF_PAIRS;
}

const char *workload_refuse_alone(const struct workload_hosts *hosts, bool same_nic,
	const char *key, char buf[WORKLOAD_REFUSAL])
{
	uint32_t groups = workload_groups(hosts, same_nic);

	if (hosts->count / groups > 1)
		return NULL;
	snprintf(buf, WORKLOAD_REFUSAL, "%s: the fabric has one %s; expected at least 2",
		groups > 1 ? "same_nic" : key, groups > 1 ? "server" : "host");
	return buf;
}

void workload_sample(uint32_t *pool, uint32_t size, uint32_t n, uint64_t *rng)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t drawn = i + rng_below(rng, size - i);
		uint32_t first = pool[i];

		pool[i] = pool[drawn];
		pool[drawn] = first;
	}
}
