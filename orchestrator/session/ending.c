/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/ending.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "abi/wire.h"
#include "base/numbers.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "session/setup.h"
#include "session/traffic.h"
#include "scenario/scenario.h"
#include "topology/pick.h"
#include "transport/kind.h"
#include "workload/cuts.h"
#include "workload/strain.h"

#define PATIENCE 100 /* times what links, and timers, need */

static uint64_t times(uint64_t n, uint64_t ps)
{
	return n && ps > ENDING_MAX / n ? ENDING_MAX : n * ps;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return min_u64(a, ENDING_MAX) + min_u64(b, ENDING_MAX);
}

static void active_fault_link(
	struct strain_links *l, const struct fault_spec *fault, uint32_t link, uint32_t frame_bytes)
{
	struct fault_cost cost = fault_cost(&fault->effect, frame_bytes);
	uint64_t rate = (uint64_t)((double)l->rate_bps[link] * cost.left);

	/* what lets through anything at all is a way */
	l->rate_bps[link] = rate || cost.left <= 0 || !l->rate_bps[link] ? rate : 1;
	l->delay_ps[link] += cost.delay_ps;
}

/* A fault of a link concerns that link, one of a node all of its links. */
static void active_fault_target(struct strain_links *l, const struct fabric *f,
	const struct fault_spec *fault, uint32_t target)
{
	const struct net_node *n;

	if (fault->on == TARGET_LINK) {
		active_fault_link(l, fault, target, f->packet_bytes);
		return;
	}
	n = &f->net.nodes[target];
	for (uint32_t p = n->first_port; p < n->first_port + n->port_count; p++)
		active_fault_link(l, fault, f->net.ports[p].link, f->packet_bytes);
}

/* The faults that are reckoned with. */
enum faults_counted { FAULTS_NONE, FAULTS_ALWAYS, FAULTS_AT_LAST };

/* Whether nothing scheduled ends it; or even, whether it lasts from start to end. */
static bool lasts(const struct fault_spec *f, enum faults_counted counted)
{
	if (counted == FAULTS_NONE || f->until_ps != UINT64_MAX)
		return false;
	return counted == FAULTS_AT_LAST || (f->at_ps == 0 && fault_kinds[f->effect.kind].steady);
}

static int active_fault_everywhere(struct strain_links *l, const struct scenario *s,
	const struct fabric *f, const struct fault_spec *fault)
{
	uint32_t *targets = NULL;
	size_t count = 0;
	int r = fault_targets(f, s->seed, fault, &targets, &count);

	for (size_t i = 0; i < count; i++)
		active_fault_target(l, f, fault, targets[i]);
	free(targets);
	return r;
}

static int links_with_faults(struct strain_links *l, const struct scenario *s,
	const struct fabric *f, enum faults_counted counted)
{
	uint32_t links = f->net.link_count;
	int r = 0;

	l->rate_bps = calloc((size_t)links + 1, sizeof(*l->rate_bps));
	l->delay_ps = calloc((size_t)links + 1, sizeof(*l->delay_ps));
	if (!l->rate_bps || !l->delay_ps)
		return -ENOMEM;
	for (uint32_t i = 0; i < links; i++) {
		const struct net_port *p = &f->net.ports[f->links[i].a];

		l->rate_bps[i] = p->rate_bps;
		/* the longer direction: a is not above b, which is a switch */
		l->delay_ps[i] = net_port_flight(p);
	}
	for (size_t i = 0; i < s->fault_count && r == 0; i++)
		if (lasts(&s->faults[i], counted))
			r = active_fault_everywhere(l, s, f, &s->faults[i]);
	return r;
}

/* What may hold a packet up beside a full link: a timeout, a pause, a burst of losses. */
static uint64_t hold_ups(
	const struct scenario *s, const struct fabric *f, uint64_t rto_ps, uint64_t slowest_bps)
{
	uint64_t all = sum(rto_ps, s->sw.pfc.watchdog_ps), burst = 0;

	if (s->sw.pfc.on && slowest_bps)
		all = sum(all, s->sw.pfc.quanta * (pfc_quantum(slowest_bps) / 256 + 1));
	for (size_t i = 0; i < s->fault_count; i++)
		burst = max_u64(
			burst, fault_cost(&s->faults[i].effect, f->packet_bytes).hold_up_ps);
	return sum(all, burst);
}

/* How long a message may take. */
static uint64_t patience(const struct scenario *s, const struct fabric *f,
	const struct workload_strain *w, uint64_t slowest_bps)
{
	uint64_t work = w->busiest_ps > w->alone_ps ? w->busiest_ps : w->alone_ps;
	uint64_t rto_ps = 0, least_share = 0, all;
	double paced = 1;
	const struct transport_choice *t;

	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++) {
		struct transport_facts facts = transport_facts(t);

		if (!scenario_uses_transport(s, i))
			continue;
		rto_ps = max_u64(
			rto_ps, transport_rto(facts.rto_ps, facts.rto_least_ps, f->base_rtt_ps));
		least_share = max_u64(least_share, facts.least_share);
		if (facts.share.name)
			paced = fmin(paced, facts.paced);
	}
	/* links would do, but senders leave them idle */
	work = (uint64_t)fmin((double)work / paced, ENDING_MAX);
	all = times(PATIENCE, sum(work, hold_ups(s, f, rto_ps, slowest_bps)));
	/* a window of one packet, and each has its answer in twice an idle round trip */
	all = sum(all, times(2 * w->packets, w->round_trip_ps));
	/* congestion control may keep a sender at its least rate all the time */
	all = sum(all, times(least_share, w->alone_ps));
	return min_u64(all, ENDING_MAX);
}

/*
 * From its start, or once links no longer change, each message may take so long, in sequence; and
 * however long computations of streams wait for each other, it is no longer than all their work. 0
 * or -ENOMEM.
 */
static int latest_end(
	uint64_t *ret, const struct operations *m, uint64_t rest_ps, uint64_t patience_ps)
{
	uint64_t *ends = calloc(m->count + 1, sizeof(*ends)), in_turn = 0;

	if (!ends)
		return -ENOMEM;
	*ret = min_u64(sum(rest_ps, patience_ps), ENDING_MAX);
	for (size_t i = 0, w = 0; i < m->count; i++) {
		const struct operation *o = &m->items[i];
		uint64_t from = o->waits ? 0 : rest_ps, lasts = patience_ps;

		for (; w < m->wait_count && m->waits[w].to == i; w++)
			from = max_u64(from, ends[m->waits[w].from]);
		if (!operation_is_message(o) && !operation_is_barrier(o))
			lasts = sum(o->lasts_ps, o->after_ps);
		if (!operation_is_message(o) && o->stream)
			in_turn = sum(in_turn, o->lasts_ps);
		from = o->waits ? sum(from, o->start_ps) : max_u64(from, o->start_ps);
		ends[i] = min_u64(sum(from, lasts), ENDING_MAX);
		*ret = max_u64(*ret, ends[i]);
		/* a computation takes no longer, but its end is to be seen */
		if (!operation_is_message(o))
			*ret = max_u64(*ret, min_u64(sum(ends[i], patience_ps), ENDING_MAX));
	}
	*ret = min_u64(sum(*ret, in_turn), ENDING_MAX);
	free(ends);
	return 0;
}

int ending_cuts(struct cuts **ret, const struct scenario *s, const struct fabric *f, bool healed)
{
	struct strain_links links = {0};
	struct workload_frames frames;
	int r = links_with_faults(&links, s, f, healed ? FAULTS_NONE : FAULTS_ALWAYS);

	setup_frames(&frames, s, f);
	if (r == 0)
		r = cuts_new(ret, &f->net, &frames, links.rate_bps);
	free(links.rate_bps);
	free(links.delay_ps);
	return r;
}

/* Everything that looks at all the messages of a run, and the links that it reckons with. */
struct outlook {
	const struct ending_params *p;
	struct strain_links at_last;
	struct measure *measure;
	struct cuts *cuts;
	struct strain *strain;  /* NULL: it has no limit */
	uint64_t last_start_ps; /* of what arrives */
	uint64_t least_ps, flows_ps;
};

static void outlook_release(struct outlook *o)
{
	measure_free(o->measure);
	cuts_free(o->cuts);
	strain_free(o->strain);
	free(o->at_last.rate_bps);
	free(o->at_last.delay_ps);
}

static int outlook_init(struct outlook *o, const struct ending_params *p)
{
	const struct fabric *f = p->fabric;
	struct workload_frames frames;
	int r;

	*o = (struct outlook){.p = p};
	setup_frames(&frames, p->scenario, f);
	r = measure_new(&o->measure, &f->net, &frames);
	if (r == 0)
		r = ending_cuts(&o->cuts, p->scenario, f, !p->timeline);
	if (r < 0 || !p->timeline)
		return r;
	r = links_with_faults(&o->at_last, p->scenario, f, FAULTS_AT_LAST);
	if (r == 0)
		r = strain_new(&o->strain, &f->net, &frames, &o->at_last);
	return r;
}

static int outlook_take(struct outlook *o, struct operations *m)
{
	int r = measure_take(o->measure, m);

	for (size_t i = 0; r == 0 && i < m->count; i++) {
		const struct operation *op = &m->items[i];
		uint64_t from = op->waits ? 0 : op->start_ps;

		if (!operation_is_message(op))
			continue;
		o->least_ps = max_u64(o->least_ps, sum(from, op->ideal_ps));
		o->flows_ps = sum(o->flows_ps, op->ideal_ps);
	}
	if (r == 0)
		r = cuts_take(o->cuts, m);
	if (r == 0 && o->strain)
		r = strain_take(o->strain, m);
	return r;
}

static void outlook_end_list(struct outlook *o)
{
	measure_end_list(o->measure);
	cuts_end_list(o->cuts);
}

static int take_arrivals(struct outlook *o, size_t entry)
{
	struct operations part = OPERATIONS_INIT;
	struct arrivals a;
	int r = arrivals_open(&a, o->p->scenario, o->p->fabric, entry);

	if (r < 0)
		return r;
	while ((r = arrivals_next(&a, &part)) == 0 && part.count) {
		o->last_start_ps = max_u64(o->last_start_ps, part.items[part.count - 1].start_ps);
		r = outlook_take(o, &part);
		if (r < 0)
			break;
	}
	outlook_end_list(o);
	arrivals_close(&a);
	operations_release(&part);
	return r;
}

static int find_limit(uint64_t *ret, struct outlook *o, const struct operations *list)
{
	const struct fabric *f = o->p->fabric;
	const struct timeline *t = o->p->timeline;
	struct workload_strain strain = strain_found(o->strain);
	uint64_t slowest = UINT64_MAX, wait;
	int r;

	for (uint32_t i = 0; i < f->net.link_count; i++)
		if (o->at_last.rate_bps[i])
			slowest = min_u64(slowest, o->at_last.rate_bps[i]);
	wait = patience(o->p->scenario, f, &strain, slowest);
	r = latest_end(ret, list, t->count ? t->items[t->count - 1].at_ps : 0, wait);
	*ret = max_u64(*ret, min_u64(sum(o->last_start_ps, wait), ENDING_MAX));
	return r;
}

int ending_foresee(struct ending *ret, const struct ending_params *p, struct operations *list)
{
	struct outlook o;
	int r = outlook_init(&o, p);

	if (r == 0)
		r = outlook_take(&o, list);
	if (r == 0)
		outlook_end_list(&o);
	for (size_t i = p->first; r == 0 && arrivals_find(p->scenario, &i); i++)
		r = take_arrivals(&o, i);
	if (r == 0)
		*ret = (struct ending){
			.size = measure_size(o.measure),
			.fabric_ps = cuts_bound(o.cuts),
			.flows_ps = o.flows_ps,
			.limit_ps = UINT64_MAX,
		};
	if (r == 0)
		ret->least_ps = max_u64(o.least_ps, ret->size.ideal_ps);
	if (r == 0 && p->timeline)
		r = find_limit(&ret->limit_ps, &o, list);
	outlook_release(&o);
	return r;
}
