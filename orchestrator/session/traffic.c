/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/traffic.h"

#include "base/rng_stream.h"
#include "base/wiretime.h"
#include "workload/kind.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

/* A host's number by its name; fabric_new() has made sure that there is one. */
static uint32_t host_number(const void *fabric, const char *name)
{
	const struct fabric *f = fabric;
	uint32_t node = 0;

	fabric_find_node(f, name, &node);
	return f->net.nodes[node].number;
}

int traffic_messages(
	struct operations *m, const struct scenario *s, const struct fabric *f, size_t first)
{
	const struct workload_hosts hosts = {
		f->net.host_count, host_number, f, serialise_ps(f->packet_bytes, f->host_rate_bps)};

	for (size_t i = first; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		struct workload_params p = {
			.seed = rng_stream(s->seed, "workload", i),
			.entry = (uint32_t)i,
		};
		int r = workload_kinds[w->kind]->operations(m, &p, w->options, &hosts);

		if (r < 0)
			return r;
	}
	return 0;
}
