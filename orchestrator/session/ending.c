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
#include "scenario/scenario.h"
#include "topology/targets.h"
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

static int links_with_faults(struct strain_links *l, const struct scenario *s,
	const struct fabric *f, enum faults_counted counted)
{
	uint32_t links = f->net.link_count, targets = links + f->net.node_count;

	l->rate_bps = calloc((size_t)links + 1, sizeof(*l->rate_bps));
	l->delay_ps = calloc((size_t)links + 1, sizeof(*l->delay_ps));
	if (!l->rate_bps || !l->delay_ps)
		return -ENOMEM;
	for (uint32_t i = 0; i < links; i++) {
		const struct net_port *p = &f->net.ports[f->links[i].a];

		l->rate_bps[i] = p->rate_bps;
		l->delay_ps[i] = p->delay_ps;
	}
	for (size_t i = 0; i < s->fault_count; i++)
		for (uint32_t t = 0; lasts(&s->faults[i], counted) && t < targets; t++)
			if (fault_hits(f, &s->faults[i], t))
				active_fault_target(l, f, &s->faults[i], t);
	return 0;
}

int ending_bound(uint64_t *ret, const struct scenario *s, const struct fabric *f,
	const struct operations *m, bool healed)
{
	struct strain_links links = {0};
	struct workload_frames frames;
	int r = links_with_faults(&links, s, f, healed ? FAULTS_NONE : FAULTS_ALWAYS);

	setup_frames(&frames, s, f);
	if (r == 0)
		r = workload_cut_bound(m, &f->net, &frames, links.rate_bps, ret);
	free(links.rate_bps);
	free(links.delay_ps);
	return r;
}

/* What may hold a packet up beside a full link: a timeout, a pause, a burst of losses. */
static uint64_t hold_ups(const struct scenario *s, const struct fabric *f, uint64_t slowest_bps)
{
	uint64_t rto = transport_rto(host_facts(&s->host).rto_ps,
		transport_kinds[s->host.transport]->rto_least_ps, f->base_rtt_ps);
	uint64_t all = sum(rto, s->sw.pfc.watchdog_ps), burst = 0;

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
	uint64_t all = times(PATIENCE, sum(work, hold_ups(s, f, slowest_bps)));

	/* a window of one packet, and each has its answer in twice an idle round trip */
	all = sum(all, times(2 * w->packets, w->round_trip_ps));
	/* congestion control may keep a sender at its least rate all the time */
	all = sum(all, times(host_facts(&s->host).least_share, w->alone_ps));
	return min_u64(all, ENDING_MAX);
}

/* From its start, or once links no longer change, each message may take so long, in sequence. */
static uint64_t latest_end(struct operations *m, uint64_t rest_ps, uint64_t patience_ps)
{
	uint64_t last = min_u64(sum(rest_ps, patience_ps), ENDING_MAX);

	/* start_ps becomes the end of each */
	for (size_t i = 0, w = 0; i < m->count; i++) {
		struct operation *o = &m->items[i];
		uint64_t from = o->waits ? 0 : rest_ps, lasts = patience_ps;

		for (; w < m->wait_count && m->waits[w].to == i; w++)
			from = max_u64(from, m->items[m->waits[w].from].start_ps);
		if (!operation_is_message(o) && !operation_is_barrier(o))
			lasts = o->lasts_ps;
		o->start_ps = o->waits ? sum(from, o->start_ps) : max_u64(from, o->start_ps);
		o->start_ps = min_u64(sum(o->start_ps, lasts), ENDING_MAX);
		last = max_u64(last, o->start_ps);
	}
	return last;
}

int ending_auto(uint64_t *ret, const struct scenario *s, const struct fabric *f,
	const struct timeline *t, struct operations *m)
{
	struct strain_links links = {0};
	struct workload_frames frames;
	struct workload_strain strain;
	uint64_t slowest = UINT64_MAX;
	int r = links_with_faults(&links, s, f, FAULTS_AT_LAST);

	setup_frames(&frames, s, f);
	if (r == 0)
		r = workload_strain(m, &f->net, &frames, &links, &strain);
	if (r == 0) {
		for (uint32_t i = 0; i < f->net.link_count; i++)
			if (links.rate_bps[i])
				slowest = min_u64(slowest, links.rate_bps[i]);
		*ret = latest_end(m, t->count ? t->items[t->count - 1].at_ps : 0,
			patience(s, f, &strain, slowest));
	}
	free(links.rate_bps);
	free(links.delay_ps);
	return r;
}
