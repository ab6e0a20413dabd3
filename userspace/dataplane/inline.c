/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The inline dataplane: the switch program as a function of this process. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "dataplane/dataplane.h"
#include "abi/policies.h"
#include "dataplane/table_list.h"
#include "sw/pipeline.h"

/* `features` is what decides which program this becomes: a constant leaves out what is off. */
static __always_inline void inline_run(
	struct dataplane *dp, uint32_t port, struct frame_ref *ref, uint32_t features)
{
	struct frame *frame = ref->frame;
	struct sw_ctx c = {
		.t = &dp->tables,
		.cursor = {frame->bytes, frame->bytes + ref->captured},
		.hop = frame->hop,
		.features = features,
		.in_id = port,
		.in = &dp->tables.ports[port],
	};

	sw_run(&c, &frame->verdict, (enum port_kind)c.in->kind);
}

static __always_inline int inline_submit(struct dataplane *dp, uint32_t port,
	struct frame_ref *frames, unsigned n, uint32_t features)
{
	if (port >= dp->tables.count.ports)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		inline_run(dp, port, &frames[i], features);
	return 0;
}

static int submit_plain(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	return inline_submit(dp, port, frames, n, 0);
}

/* What a scenario has that asks for nothing: answers by a class of their own. */
static int submit_classes(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	return inline_submit(dp, port, frames, n, SW_CLASSES);
}

/* Another policy, and nothing else. */
static int submit_balance(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	return inline_submit(dp, port, frames, n, SW_BALANCE);
}

static int submit_balance_classes(
	struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	return inline_submit(dp, port, frames, n, SW_BALANCE | SW_CLASSES);
}

static int submit_full(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	return inline_submit(dp, port, frames, n, dp->tables.config.features);
}

static void inline_close(struct dataplane *dp)
{
	if (!dp)
		return;
	tables_unmap(&dp->tables);
	free(dp);
}

/* The programs, by their features; the last is for all others. */
static const struct {
	uint32_t features;
	struct dataplane_ops ops;
} programs[] = {
#define PROGRAM(features, submit)                                                                  \
	{                                                                                          \
		features,                                                                          \
		{                                                                                  \
			"inline", submit, inline_close                                             \
		}                                                                                  \
	}
	PROGRAM(0, submit_plain),
	PROGRAM(SW_CLASSES, submit_classes),
	PROGRAM(SW_BALANCE, submit_balance),
	PROGRAM(SW_BALANCE | SW_CLASSES, submit_balance_classes),
	PROGRAM(UINT32_MAX, submit_full),
#undef PROGRAM
};

/*
 * Zeroed, in pages that get memory when they are first written: of the groups, which are laid out
 * for any failure, few are ever used. Huge pages would back all of them.
 */
static int table_open(const struct table *table)
{
	size_t bytes = table_bytes(table);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*table->at = at == MAP_FAILED ? NULL : at;
	if (!*table->at)
		return -ENOMEM;
	if (table->size == sizeof(struct group))
		madvise(at, bytes, MADV_NOHUGEPAGE);
	return 0;
}

static const struct dataplane_ops *ops_for(uint32_t features)
{
	unsigned i = 0;

	while (programs[i].features != features && programs[i].features != UINT32_MAX)
		i++;
	return &programs[i].ops;
}

void dataplane_inline_swap(struct dataplane *dp, const struct policy_code *code)
{
	struct sw_config *config = &dp->tables.config;
	bool balances = code || config->balances & ~(1u << BALANCE_ECMP);

	dp->tables.policy = code ? code->function : NULL;
	config->features = (config->features & ~SW_BALANCE) | (balances ? SW_BALANCE : 0);
	dp->ops = ops_for(config->features);
}

int dataplane_inline_open(
	struct dataplane **ret, const struct sw_sizes *sizes, uint32_t frame_capacity)
{
	struct dataplane *dp = calloc(1, sizeof(*dp));
	struct table tables[TABLES];

	if (!dp)
		return -ENOMEM;
	dp->ops = ops_for(sizes->config.features);
	dp->max_batch = 1; /* a call costs nothing that more frames would share */
	dp->frame_capacity = frame_capacity;
	tables_size(&dp->tables, sizes);
	tables_list(&dp->tables, tables);
	for (int i = 0; i < TABLES; i++)
		if (table_open(&tables[i]) < 0) {
			inline_close(dp);
			return -ENOMEM;
		}
	*ret = dp;
	return 0;
}
