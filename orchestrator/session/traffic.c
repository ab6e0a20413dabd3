/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include "base/rng_stream.h"
#include "workload/kind.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"
#include "topology/targets.h"

static struct workload_params params_of(const struct scenario *s, size_t entry)
{
	return (struct workload_params){
		.seed = rng_stream(s->seed, "workload", entry),
		.entry = (uint32_t)entry,
	};
}

/* Of an entry's operations, from number `first` on; some have a DSCP of their own. */
static void set_common(struct operations *m, size_t first, uint32_t dscp, uint32_t transport)
{
	for (size_t i = first; i < m->count; i++) {
		struct operation *o = &m->items[i];

		o->transport = (uint8_t)transport;
		if (dscp != DSCP_OF_HOSTS && !o->dscp)
			o->dscp = (uint8_t)(dscp + 1);
	}
}

int traffic_list(
	struct operations *m, const struct scenario *s, const struct fabric *f, size_t first)
{
	const struct workload_hosts hosts = fabric_workload_hosts(f);

	for (size_t i = first; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		size_t before = m->count;
		const struct workload_kind *kind = workload_kinds[w->kind];
		struct workload_params p = params_of(s, i);
		int r = kind->operations ? kind->operations(m, &p, w->options, &hosts) : 0;

		if (r < 0)
			return r;
		set_common(m, before, w->dscp, w->transport_number);
	}
	return 0;
}

int traffic_fair_shares(struct fair_shares *ret, char why[FAIR_SHARE_WHY], const struct scenario *s,
	const struct fabric *f, size_t first, const struct operations *m)
{
	struct fair_share_entry *entries = calloc(s->workload_count + 1, sizeof(*entries));
	int r = -ENOMEM;

	for (size_t i = 0; entries && i < s->workload_count; i++)
		entries[i] = (struct fair_share_entry){
			workload_kinds[s->workloads[i].kind], s->workloads[i].options};
	if (entries)
		r = fair_shares_init(
			ret, why, &f->net, entries, first, s->workload_count, m, f->packet_bytes);
	free(entries);
	return r;
}

int traffic_has_fair_shares(
	const struct scenario *s, const struct fabric *f, char why[FAIR_SHARE_WHY])
{
	struct operations m = OPERATIONS_INIT;
	struct fair_shares shares = {0};
	int r = traffic_list(&m, s, f, 0);

	if (r == 0)
		r = traffic_fair_shares(&shares, why, s, f, 0, &m);
	if (r == 0 && !shares.count)
		r = -ENOENT;
	fair_shares_release(&shares);
	operations_release(&m);
	return r;
}

bool arrivals_find(const struct scenario *s, size_t *entry)
{
	while (*entry < s->workload_count && !workload_kinds[s->workloads[*entry].kind]->arrivals)
		++*entry;
	return *entry < s->workload_count;
}

int arrivals_open(
	struct arrivals *ret, const struct scenario *s, const struct fabric *f, size_t entry)
{
	const struct workload_hosts hosts = fabric_workload_hosts(f);
	const struct workload_spec *w = &s->workloads[entry];
	struct workload_params p = params_of(s, entry);

	*ret = (struct arrivals){.ops = workload_kinds[w->kind]->arrivals,
		.dscp = w->dscp,
		.transport = w->transport_number};
	return ret->ops->open(&ret->state, &p, w->options, &hosts);
}

int arrivals_next(struct arrivals *a, struct operations *m)
{
	int r;

	m->count = m->wait_count = 0;
	r = a->ops->next(a->state, m, ARRIVALS_PART);
	set_common(m, 0, a->dscp, a->transport);
	return r;
}

void arrivals_close(struct arrivals *a)
{
	a->ops->close(a->state);
	a->state = NULL;
}
