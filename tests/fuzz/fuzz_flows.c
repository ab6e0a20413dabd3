/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * A flow list from anybody, and the same text as a graph of GOAL and as a distribution of flow
 * sizes. What is refused has a reason; what is not comes to operations of which each waits only for
 * earlier ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workload/kind.h"
#include "workload/placement.h"
#include "workload/sizes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOSTS 16

static uint32_t number(const void *fabric, const char *name)
{
	(void)fabric;
	return name[0] == 'h' && name[1] >= '0' && name[1] <= '9' && !name[2]
		       ? (uint32_t)(name[1] - '0')
		       : UINT32_MAX;
}

/* Odd ones will not do. */
static const char *refuse_dscp(const void *fabric, uint32_t dscp, char buf[WORKLOAD_REFUSAL])
{
	(void)fabric;
	return dscp & 1 ? strcpy(buf, "it is odd") : NULL;
}

static void check(int fine)
{
	if (!fine)
		abort();
}

static void check_operations(const struct operations *m)
{
	uint32_t before = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct operation *o = &m->items[i];

		check(operation_is_barrier(o) ||
			(o->src_host < HOSTS && o->dst_host < HOSTS &&
				(o->src_host == o->dst_host) == !o->bytes));
		check(!o->dscp || (o->dscp <= 64 && o->dscp & 1));
	}
	for (size_t i = 0; i < m->wait_count; i++) {
		const struct wait *w = &m->waits[i];
		const struct operation *from = &m->items[w->from], *to = &m->items[w->to];

		check(w->from < w->to && w->to < m->count && w->to >= before);
		check(operation_is_message(from) || w->event != OPERATION_DELIVERED);
		check(operation_is_barrier(from) || operation_is_barrier(to) ||
			to->src_host == (w->event == OPERATION_DELIVERED ? from->dst_host
									 : from->src_host));
		before = w->to;
	}
}

/* A workload that is the content of a file, with its defaults. */
static void read_list(const struct workload_kind *kind, const char *text, size_t length)
{
	const struct workload_hosts hosts = {.count = HOSTS,
		.message_max = 1ull << 36,
		.number = number,
		.refuse_dscp = refuse_dscp};
	const struct {
		struct workload_common common;
		struct file_text file;
		struct placement placement; /* of those that have ranks */
	} given = {.file = {(char *)"/fuzz.csv", (char *)text, length},
		.placement = {.ranks_per_host = 3, .inside = {1000, 1}}};
	struct operations m = OPERATIONS_INIT;
	void *options = calloc(1, kind->map.size);
	char why[WORKLOAD_REFUSAL];
	int r;

	check(options != NULL);
	memcpy(options, &given, kind->map.size < sizeof(given) ? kind->map.size : sizeof(given));
	r = kind->operations(&m, &(struct workload_params){0}, options, &hosts);
	check(!kind->refuse(options, &hosts, why) == !r);
	if (r)
		check(!m.count && strlen(why) < sizeof(why));
	else
		check_operations(&m);
	operations_release(&m);
	free(options);
}

static void read_sizes(const char *text, size_t length)
{
	char why[SIZES_REFUSAL];
	struct sizes s;
	uint64_t last = 0;

	if (sizes_parse(&s, text, length, why)) {
		check(*why != '\0');
		return;
	}
	for (uint64_t i = 0; i < 64; i++) {
		uint64_t drawn = sizes_draw(&s, i << 58 | i);

		check(drawn >= last && drawn >= 1 && drawn <= MESSAGE_BYTES_MAX);
		last = drawn;
	}
	check(sizes_mean(&s) <= (double)MESSAGE_BYTES_MAX);
	sizes_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	check(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	read_list(&workload_kind_flows, text, size);
	read_list(&workload_kind_goal, text, size);
	read_sizes(text, size);
	free(text);
	return 0;
}
