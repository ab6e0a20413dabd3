/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include "base/diag.h"
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

bool traffic_uses_shares(const struct scenario *s, size_t first)
{
	bool uses = false;

	for (size_t i = first; !uses && i < s->workload_count; i++) {
		struct transport_facts facts =
			transport_facts(scenario_transport(s, s->workloads[i].transport_number));

		uses = facts.share.name || facts.subflow_threshold;
	}
	return uses;
}

int traffic_has_fair_shares(
	const struct scenario *s, const struct fabric *f, size_t first, char why[FAIR_SHARE_WHY])
{
	struct operations m = OPERATIONS_INIT;
	struct fair_shares shares = {0};
	int r = traffic_list(&m, s, f, first);

	if (r == 0)
		r = traffic_fair_shares(&shares, why, s, f, first, &m);
	if (r == 0 && !shares.count)
		r = -ENOENT;
	fair_shares_release(&shares);
	operations_release(&m);
	return r;
}

/* The next entry from number `first` on whose transport paces by the fair share, or their count. */
static size_t find_paced(
	const struct scenario *s, size_t first, struct transport_part *ret, bool *ret_own)
{
	for (; first < s->workload_count; first++) {
		const struct workload_spec *w = &s->workloads[first];
		const struct transport_choice *t = scenario_transport(s, w->transport_number);

		*ret = transport_facts(t).share;
		*ret_own = w->transport.options;
		if (ret->name)
			break;
	}
	return first;
}

int traffic_check(const struct scenario *s, const struct fabric *f, size_t first, const char *busy,
	struct diags *diags)
{
	size_t before = diags->count, i;
	char why[FAIR_SHARE_WHY] = "", entry[32];
	struct transport_part part;
	bool own, told = false;
	int r = 0;

	if (find_paced(s, first, &part, &own) < s->workload_count && !busy)
		r = traffic_has_fair_shares(s, f, first, why);
	if (r != -ENOENT && !busy)
		return r;
	for (i = first; (i = find_paced(s, i, &part, &own)) < s->workload_count; i++) {
		if (!own && told)
			continue;
		told |= !own;
		snprintf(entry, sizeof(entry), own ? "workload.%zu" : "host", i - first);
		diags_add(diags, part.pos,
			"%s.transport.%s.%s: %s paces by the fair share of each message, which is not known: %s; take another control, such as window",
			entry,
			transport_name(scenario_transport(s, s->workloads[i].transport_number)),
			part.key, part.name, busy ? busy : why);
	}
	return diags->count == before ? 0 : -EINVAL;
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
