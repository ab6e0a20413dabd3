/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/traffic.h"

#include "base/rng_stream.h"
#include "workload/kind.h"
#include "scenario/scenario.h"
#include "topology/targets.h"

int traffic_messages(
	struct operations *m, const struct scenario *s, const struct fabric *f, size_t first)
{
	const struct workload_hosts hosts = fabric_workload_hosts(f);

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
