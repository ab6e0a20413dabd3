/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/collectives.h"

#include <stdlib.h>
#include "base/json.h"
#include "base/numbers.h"
#include "base/units.h"
#include "base/wiretime.h"

/* What a host has done in a round, or the port of a rank that shares one. */
struct place {
	uint64_t sent_ps, received_ps; /* of its link, or of the port */
	uint64_t done_ps;              /* when it had received all; 0: it receives nothing */
	uint32_t round;                /* the round that this is of, from 1 on */
};

/* Times of several rounds; what is not finished counts for none of them. */
struct times {
	uint64_t finished, min_ps, max_ps;
	double sum_ps;
};

struct report {
	const struct engine *engine;
	const struct collectives_params *p;
	struct place *places; /* by host, and behind these by stream of computations */
	json_t *rounds, *entries;
	uint32_t round; /* the number of the present one */
	bool shared;    /* some entry has several ranks on a host: all say how many */
	uint64_t count;
	struct times all;

	/* the present entry */
	const struct collective_facts *facts;
	struct times times;
	double ideal_ps; /* of all its rounds together */
	uint64_t entry_rounds;
};

static void times_add(struct times *t, uint64_t ps)
{
	t->min_ps = t->finished ? min_u64(t->min_ps, ps) : ps;
	t->max_ps = max_u64(t->max_ps, ps);
	t->sum_ps += (double)ps;
	t->finished++;
}

static json_t *us(bool exists, double ps)
{
	return real_or_null(exists, ps / PS_PER_US);
}

/* GB/s, of 10^9 bytes; share: of algbw. */
static json_t *bandwidth(const struct collective_facts *f, double ps, double share)
{
	return real_or_null(ps > 0, ps > 0 ? (double)f->bytes * share / ps * 1000 : 0);
}

static struct place *place_of(struct report *r, uint32_t place)
{
	struct place *p = &r->places[place];

	if (p->round != r->round)
		*p = (struct place){.round = r->round};
	return p;
}

/* A message's frames on a host's link. */
static uint64_t link_ps(const struct report *r, uint32_t host, const struct operation *o)
{
	const struct net *net = r->p->net;
	uint64_t rate = net->ports[net->nodes[host].first_port].rate_bps;
	uint64_t full = (o->bytes - 1) / r->p->mtu;
	uint32_t header = r->p->header_bytes[o->transport];
	uint32_t last = (uint32_t)(o->bytes - full * r->p->mtu);

	return full * serialise_ps(header + r->p->mtu, rate) + serialise_ps(header + last, rate);
}

/* Inside a host a message is a computation that takes turns with others. */
static bool is_inside(const struct operation *o)
{
	return !operation_is_message(o) && o->stream;
}

/* A round while its messages are looked at. */
struct round {
	uint64_t start_ps, end_ps, ideal_ps;
	bool whole; /* all of it has been delivered */
	uint32_t first_host, last_host;
};

static void add_message(struct report *r, struct round *round, const struct engine_flow_result *f)
{
	const struct operation *o = &f->flow;
	bool inside = is_inside(o);
	struct place *from = place_of(r, inside ? r->p->net->host_count + o->stream : o->src_host);
	struct place *to = place_of(r, o->dst_host);
	uint64_t arrived_ps = inside ? f->finish_ps : f->delivered_ps;

	from->sent_ps += inside ? o->lasts_ps : link_ps(r, o->src_host, o);
	to->received_ps += inside ? 0 : link_ps(r, o->dst_host, o);
	if (!inside)
		r->p->crosses(r->p->cuts, o);
	round->ideal_ps = max_u64(round->ideal_ps, max_u64(from->sent_ps, to->received_ps));
	round->start_ps = min_u64(round->start_ps, f->start_ps);
	round->end_ps = max_u64(round->end_ps, arrived_ps);
	round->whole &= arrived_ps != 0;
	to->done_ps = max_u64(to->done_ps, arrived_ps);
}

/* Among ranks that are done at the same time the one of the lower host counts. */
static void find_first_and_last(struct report *r, struct round *round)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t h = 0; h < r->p->net->host_count; h++) {
		const struct place *p = &r->places[h];

		if (p->round != r->round || !p->done_ps)
			continue;
		if (p->done_ps < first)
			round->first_host = h;
		if (p->done_ps > last)
			round->last_host = h;
		first = min_u64(first, p->done_ps);
		last = max_u64(last, p->done_ps);
	}
}

static json_t *done_at(const struct report *r, const struct round *round, uint32_t host)
{
	char name[RECORDER_NAME];

	if (!round->whole)
		return json_null();
	return json_pack("{s:s, s:o}", "host", r->p->host_name(r->p->name_arg, host, name),
		"after_us", us(true, (double)(r->places[host].done_ps - round->start_ps)));
}

static void end_round(struct report *r, struct round *round, uint32_t group)
{
	uint64_t took = round->whole ? round->end_ps - round->start_ps : 0;

	find_first_and_last(r, round);
	round->ideal_ps = max_u64(round->ideal_ps, r->p->take_crossed_ps(r->p->cuts));
	if (round->whole) {
		times_add(&r->times, took);
		times_add(&r->all, took);
	}
	r->count++;
	r->ideal_ps += (double)round->ideal_ps;
	r->entry_rounds++;
	json_array_append_new(r->rounds,
		json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "entry",
			(json_int_t)r->facts->entry, "job", (json_int_t)(group / r->facts->rounds),
			"round", (json_int_t)(group % r->facts->rounds), "start_us",
			us(round->start_ps != UINT64_MAX, (double)round->start_ps), "time_us",
			us(round->whole, (double)took), "algbw",
			bandwidth(r->facts, (double)took, 1), "busbw",
			bandwidth(r->facts, (double)took, r->facts->bus), "ideal_us",
			us(true, (double)round->ideal_ps), "first",
			done_at(r, round, round->first_host), "last",
			done_at(r, round, round->last_host)));
}

/* A round's messages stand one after the other. Returns where the next round's do. */
static uint32_t add_round(struct report *r, uint32_t flow, uint32_t group)
{
	struct round round = {.start_ps = UINT64_MAX, .whole = true};
	uint32_t count = engine_flow_count(r->engine);

	r->round++;
	for (; flow < count; flow++) {
		struct engine_flow_result f;

		engine_flow_result(r->engine, flow, &f);
		if (f.flow.entry != r->facts->entry || f.flow.group != group)
			break;
		if (operation_is_message(&f.flow) || is_inside(&f.flow))
			add_message(r, &round, &f);
	}
	end_round(r, &round, group);
	return flow;
}

static void end_entry(struct report *r)
{
	const struct collective_facts *f = r->facts;
	const struct times *t = &r->times;
	double mean = t->finished ? t->sum_ps / (double)t->finished : 0;

	json_array_append_new(r->entries,
		json_pack("{s:s, s:s, s:I, s:I, s:o*, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
			"op", f->op, "algorithm", f->algorithm, "size_bytes", (json_int_t)f->bytes,
			"ranks", (json_int_t)f->ranks, "ranks_per_host",
			r->shared ? json_integer(f->ranks_per_host) : NULL, "jobs",
			(json_int_t)f->jobs, "rounds", (json_int_t)f->rounds, "finished",
			(json_int_t)t->finished, "time_us", us(t->finished, mean), "min_us",
			us(t->finished, (double)t->min_ps), "max_us",
			us(t->finished, (double)t->max_ps), "ideal_us",
			us(r->entry_rounds, r->ideal_ps / (double)max_u64(r->entry_rounds, 1)),
			"algbw", bandwidth(f, mean, 1), "busbw", bandwidth(f, mean, f->bus)));
}

static const struct collective_facts *facts_of(
	const struct collectives_params *p, const struct operation *o)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->entries[i].entry == o->entry)
			return &p->entries[i];
	return NULL;
}

static void add_all(struct report *r)
{
	uint32_t count = engine_flow_count(r->engine), flow = 0;

	while (flow < count) {
		struct engine_flow_result f;
		const struct collective_facts *facts;

		engine_flow_result(r->engine, flow, &f);
		facts = facts_of(r->p, &f.flow);
		if (facts != r->facts && r->facts)
			end_entry(r);
		if (facts != r->facts) {
			r->facts = facts;
			r->times = (struct times){0};
			r->ideal_ps = 0;
			r->entry_rounds = 0;
		}
		flow = facts ? add_round(r, flow, f.flow.group) : flow + 1;
	}
	if (r->facts)
		end_entry(r);
}

json_t *collectives_report(const struct engine *e, const struct collectives_params *p)
{
	struct report r = {.engine = e, .p = p, .rounds = json_array(), .entries = json_array()};
	bool whole;
	double mean;

	for (size_t i = 0; i < p->count; i++)
		r.shared |= p->entries[i].ranks_per_host > 1;
	r.places =
		calloc((size_t)p->net->host_count + engine_work_streams(e) + 1, sizeof(*r.places));
	if (r.places && r.rounds && r.entries)
		add_all(&r);
	free(r.places);
	whole = r.count && r.all.finished == r.count;
	mean = whole ? r.all.sum_ps / (double)r.count : 0;
	return json_pack("{s:I, s:I, s:{s:o, s:o, s:o}, s:o, s:o}", "count", (json_int_t)r.count,
		"unfinished", (json_int_t)(r.count - r.all.finished), "time_us", "min",
		us(whole, (double)r.all.min_ps), "mean", us(whole, mean), "max",
		us(whole, (double)r.all.max_ps), "entries", r.entries, "rounds", r.rounds);
}
