/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The inline dataplane: the switch program as a function of this process. */
#include <errno.h>
#include <stdlib.h>
#include "dataplane/dataplane.h"
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

	if (sw_makes(&c))
		sw_verdict(&c, &frame->verdict, sw_make(&c), VERDICT_FORWARD);
	else if (c.in->kind == PORT_SWITCH)
		sw_verdict(&c, &frame->verdict, sw_switch(&c), VERDICT_FORWARD);
	else
		sw_verdict(&c, &frame->verdict, sw_host(&c), VERDICT_DELIVER);
}

static int submit_plain(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	if (port >= dp->tables.port_count)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		inline_run(dp, port, &frames[i], 0);
	return 0;
}

static int submit_full(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	if (port >= dp->tables.port_count)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		inline_run(dp, port, &frames[i], dp->tables.config.features);
	return 0;
}

static void inline_close(struct dataplane *dp)
{
	if (!dp)
		return;
	free(dp->tables.ports);
	free(dp->tables.drops);
	free(dp->tables.queues);
	free(dp->tables.ingresses);
	free(dp->tables.faults);
	free(dp->tables.switches);
	free(dp->tables.routes);
	free(dp->tables.groups);
	free(dp->tables.flows);
	free(dp);
}

static const struct dataplane_ops plain_ops = {
	.name = "inline",
	.submit = submit_plain,
	.close = inline_close,
};

static const struct dataplane_ops full_ops = {
	.name = "inline",
	.submit = submit_full,
	.close = inline_close,
};

/* Zeroed, and aligned so that an element of n cache lines touches no more than n. */
static void *table_alloc(uint32_t count, size_t size)
{
	size_t bytes = ((size_t)(count ? count : 1) * size + 63) & ~(size_t)63;
	void *table = aligned_alloc(64, bytes);

	if (table)
		__builtin_memset(table, 0, bytes);
	return table;
}

int dataplane_inline_open(
	struct dataplane **ret, const struct sw_tables *sizes, uint32_t frame_capacity)
{
	struct dataplane *dp = calloc(1, sizeof(*dp));
	struct sw_tables *t;

	if (!dp)
		return -ENOMEM;
	dp->ops = sizes->config.features ? &full_ops : &plain_ops;
	dp->max_batch = 1; /* a call costs nothing that more frames would share */
	dp->frame_capacity = frame_capacity;
	t = &dp->tables;
	*t = *sizes;
	t->ports = table_alloc(t->port_count, sizeof(*t->ports));
	t->drops = table_alloc(t->port_count, sizeof(*t->drops));
	t->queues = table_alloc(t->queue_count, sizeof(*t->queues));
	t->ingresses = table_alloc(t->queue_count, sizeof(*t->ingresses));
	t->faults = table_alloc(t->fault_count, sizeof(*t->faults));
	t->switches = table_alloc(t->switch_count, sizeof(*t->switches));
	t->routes = table_alloc(t->route_count, sizeof(*t->routes));
	t->groups = table_alloc(t->group_count, sizeof(*t->groups));
	t->flows = table_alloc(t->flow_count, sizeof(*t->flows));
	if (!t->ports || !t->drops || !t->queues || !t->ingresses || !t->faults || !t->switches ||
		!t->routes || !t->groups || !t->flows) {
		inline_close(dp);
		return -ENOMEM;
	}
	*ret = dp;
	return 0;
}
