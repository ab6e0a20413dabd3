/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include "base/rng.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

/* A host's number by its name; fabric_new() has made sure that there is one. */
static uint32_t host_number(const struct fabric *f, const char *name)
{
	uint32_t node = 0;

	fabric_find_node(f, name, &node);
	return f->net.nodes[node].number;
}

static int add_pairs(struct messages *m, const struct workload_params *p,
	const struct workload_spec *w, const struct fabric *f)
{
	uint32_t *from = calloc(2 * w->from.count + 1, sizeof(*from));
	uint32_t *to = from + w->from.count;
	int r;

	if (!from)
		return -ENOMEM;
	for (size_t i = 0; i < w->from.count; i++) {
		from[i] = host_number(f, w->from.names[i]);
		to[i] = host_number(f, w->receivers.names[i]);
	}
	r = workload_pairs(m, p, from, to, w->from.count);
	free(from);
	return r;
}

static int add_workload(struct messages *m, const struct workload_params *p,
	const struct workload_spec *w, const struct fabric *f)
{
	uint32_t hosts = f->net.host_count;

	switch (w->kind) {
	case WORKLOAD_PERMUTATION:
		return workload_permutation(m, p, hosts, w->count);
	case WORKLOAD_INCAST:
		return workload_incast(m, p, hosts, w->senders, host_number(f, w->to));
	case WORKLOAD_PAIRS:
		return add_pairs(m, p, w, f);
	}
	return -EINVAL;
}

int traffic_messages(
	struct messages *m, const struct scenario *s, const struct fabric *f, size_t first)
{
	for (size_t i = first; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		struct workload_params p = {
			.bytes = w->message_bytes,
			.start_ps = w->start_ps,
			.repeat = w->repeat,
			.gap_ps = w->gap_ps,
			.seed = rng_stream(s->seed, "workload", i),
		};
		int r = add_workload(m, &p, w, f);

		if (r < 0)
			return r;
	}
	return 0;
}
