/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WORKLOAD_FIXTURE_H
#define FABRICBED_WORKLOAD_FIXTURE_H

/* Operations of the first workload of a scenario, or why there are none. Include after cmocka.h. */
#include "scenario_fixture.h"
#include "topology/make_fabric.h"
#include "topology/targets.h"
#include "workload/kind.h"

/* 16 hosts of 100 Gbps; what follows is the list of workloads. */
#define SIXTEEN                                                                                    \
	NAMED "topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 8}}\nworkload:\n"

/* All that it comes to, if it is open, in parts of seven. */
static inline void fill_operations(struct operations *m, const struct workload_kind *kind,
	const struct workload_params *p, const void *options, const struct workload_hosts *hosts)
{
	void *arrivals = NULL;
	size_t before = SIZE_MAX;

	if (!kind->arrivals) {
		assert_int_equal(kind->operations(m, p, options, hosts), 0);
		return;
	}
	assert_int_equal(kind->arrivals->open(&arrivals, p, options, hosts), 0);
	while (m->count != before) {
		before = m->count;
		assert_int_equal(kind->arrivals->next(arrivals, m, 7), 0);
	}
	kind->arrivals->close(arrivals);
}

/* The operations of a scenario that must be fine, with the seed. */
static inline struct operations operations_of(const char *text, uint64_t seed)
{
	struct operations m = OPERATIONS_INIT;
	struct diags d = DIAGS_INIT;
	struct scenario *s = load(text);
	struct fabric *f = NULL;
	struct workload_hosts hosts;

	if (fabric_new(&f, s, &d) < 0)
		fail_msg("%s", d.count ? d.items[0].text : "no message");
	hosts = fabric_workload_hosts(f);
	fill_operations(&m, workload_kinds[s->workloads[0].kind],
		&(struct workload_params){.seed = seed, .entry = 3}, s->workloads[0].options,
		&hosts);
	for (size_t i = 0; i < m.count; i++)
		assert_int_equal(m.items[i].entry, 3);
	fabric_free(f);
	scenario_free(s);
	diags_release(&d);
	return m;
}

/* A good scenario of which the fabric refuses a workload, with that message. */
static inline void refuses(const char *text, const char *message)
{
	struct diags d = DIAGS_INIT;
	struct scenario *s = load(text);
	struct fabric *f = NULL;

	assert_int_equal(fabric_new(&f, s, &d), -EINVAL);
	assert_true(d.count > 0);
	assert_string_equal(d.items[0].text, message);
	scenario_free(s);
	diags_release(&d);
}

#endif
