/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "session/capture.h"
#include "session/ending.h"
#include "session/expect.h"
#include "session/names.h"
#include "session/setup.h"
#include "session/session_internal.h"
#include "scenario/scenario.h"
#include "telemetry/collectives.h"
#include "telemetry/graphs.h"
#include "telemetry/summary.h"
#include "topology/fabric.h"
#include "topology/targets.h"
#include "transport/kind.h"
#include "workload/cuts.h"
#include "workload/goal.h"
#include "workload/kind.h"

/* All ports send LLDP; received frames take effect. */
static void run_lldp(struct session *s, uint64_t now)
{
	uint32_t changed = agents_tick(s->agents, s->engine, &s->dp->tables);

	if (changed)
		recorder_event(s->recorder, now,
			json_pack("{s:s, s:I}", "event", "roles", "ports_changed",
				(json_int_t)changed));
	s->next_lldp_ps = now + s->params.scenario->sw.lldp_ps;
}

/* Nothing moves in a fabric that stays, and that has been seen. */
static bool is_still(const struct session *s)
{
	return s->seen_still && engine_next(s->engine) == UINT64_MAX;
}

/* A deadlock is looked for once in a base RTT: it does not go away, so none is missed. */
static int search_deadlock(struct session *s, uint64_t now)
{
	int found = deadlock_search(&s->deadlock, s->engine);

	s->next_search_ps =
		found ? UINT64_MAX : now + max_u64(s->params.fabric->base_rtt_ps, s->least_look_ps);
	if (found <= 0)
		return found;
	recorder_event(s->recorder, now,
		json_pack("{s:s, s:o}", "event", "deadlock", "circle",
			deadlock_cycle(&s->deadlock, port_name, s->params.fabric)));
	return 0;
}

static void done(struct session *s, enum action_kind kind)
{
	s->latest = kind;
	s->latest_ps = engine_now(s->engine);
}

int session_begin_fault(struct session *s, uint32_t fault, uint32_t target, const char *by)
{
	const struct action a = {.kind = ACTION_BEGIN, .fault = fault, .target = target};
	uint64_t now = engine_now(s->engine);
	int r = active_faults_begin(&s->active_faults, fault, target, now);
	json_t *line;

	if (r < 0)
		return r;
	done(s, ACTION_BEGIN);
	line = change_apply(&s->changes, &a);
	if (by)
		json_object_set_new(line, "by", json_string(by));
	recorder_event(s->recorder, now, line);
	s->tally.faults++;
	return 0;
}

void session_end_fault(struct session *s, uint32_t fault, uint32_t target, const char *by)
{
	const struct action a = {.kind = ACTION_END, .fault = fault, .target = target};
	uint64_t now = engine_now(s->engine);
	json_t *line;

	/* healed by hand already, or replaced by another */
	if (!active_faults_end(&s->active_faults, fault, target, now))
		return;
	done(s, ACTION_END);
	line = change_apply(&s->changes, &a);
	if (by)
		json_object_set_new(line, "by", json_string(by));
	recorder_event(s->recorder, now, line);
	s->tally.faults++;
}

void session_end_faults(struct session *s, struct active_faults *list, const char *by)
{
	active_faults_sort(list);
	for (size_t i = 0; i < list->count; i++)
		session_end_fault(s, list->items[i].fault, list->items[i].target, by);
}

/* Scheduled faults end manual ones at their targets, before any of them begins. */
static int end_replaced(struct session *s)
{
	const struct timeline *t = &s->timeline;
	struct active_faults replaced = ACTIVE_FAULTS_INIT;
	uint32_t old;
	int r = 0;

	for (size_t i = t->next; r == 0 && i < t->count; i++) {
		const struct action *a = &t->items[i];

		if (a->at_ps > engine_now(s->engine) || a->kind != ACTION_BEGIN)
			break;
		if (active_faults_find(&s->active_faults, s->params.scenario,
			    &s->params.scenario->faults[a->fault], a->target, &old))
			r = active_faults_begin(&replaced, old, a->target, a->at_ps);
	}
	if (r == 0)
		session_end_faults(s, &replaced, NULL);
	active_faults_release(&replaced);
	return r;
}

static int act(struct session *s, const struct action *a)
{
	uint64_t delay = s->params.scenario->sw.reroute_ps;

	switch (a->kind) {
	case ACTION_BEGIN:
		return session_begin_fault(s, a->fault, a->target, NULL);
	case ACTION_END:
		session_end_fault(s, a->fault, a->target, NULL);
		return 0;
	case ACTION_REROUTE:
		/* planned for the end of what has been ended by hand before */
		if (!active_faults_cut(&s->active_faults, s->params.scenario, a->at_ps - delay))
			return 0;
		done(s, ACTION_REROUTE);
		recorder_event(s->recorder, engine_now(s->engine), change_apply(&s->changes, a));
		s->tally.reroutes++;
		return 0;
	}
	return -EINVAL;
}

int session_follow(struct session *s)
{
	enum action_kind last = ACTION_END;
	int r = 0;

	while (r == 0 && timeline_next(&s->timeline) <= engine_now(s->engine)) {
		const struct action *a = &s->timeline.items[s->timeline.next];

		if (s->params.lasting && a->kind == ACTION_BEGIN && last != ACTION_BEGIN)
			r = end_replaced(s);
		s->timeline.next++;
		last = a->kind;
		if (r == 0)
			r = act(s, a);
	}
	return r;
}

/* Takes samples, and looks for a deadlock, each in its time. */
static int look(struct session *s, uint64_t now)
{
	recorder_sample(s->recorder, s->engine, now, s->least_look_ps);
	s->seen_still = s->params.lasting && engine_next(s->engine) == UINT64_MAX;
	return s->next_search_ps <= now ? search_deadlock(s, now) : 0;
}

/* Does all that is due at the engine's present time. 0 or -errno. */
static int act_now(struct session *s)
{
	uint64_t now = engine_now(s->engine);
	int r = session_follow(s);

	if (r == 0)
		r = session_add_arrivals(s);
	if (r < 0)
		return r;
	if (s->next_lldp_ps <= now)
		run_lldp(s, now);
	return is_still(s) ? 0 : look(s, now);
}

/* When the session itself has to act next. */
static uint64_t next_act(const struct session *s)
{
	uint64_t looks = min_u64(recorder_next_sample(s->recorder), s->next_search_ps);
	uint64_t now = engine_now(s->engine);

	if (is_still(s))
		looks = UINT64_MAX;
	/* what was put off while nothing moved is due now */
	else if (looks < now)
		looks = now;
	looks = min_u64(looks, session_next_arrivals(s));
	return min_u64(looks, min_u64(timeline_next(&s->timeline), s->next_lldp_ps));
}

void session_look_rarely(struct session *s, uint64_t least_ps)
{
	s->least_look_ps = least_ps;
}

uint64_t session_next(const struct session *s)
{
	return min_u64(engine_next(s->engine), next_act(s));
}

bool session_done(const struct session *s)
{
	if (s->params.lasting)
		return false;
	return engine_done(s->engine) || engine_now(s->engine) >= s->end_ps;
}

/* What a run ended by; NULL: it has no end of its own. */
static const char *ended_by(const struct session *s)
{
	if (s->params.lasting)
		return NULL;
	if (engine_done(s->engine))
		return "workload";
	if (engine_now(s->engine) < s->end_ps)
		return "stop";
	if (s->params.scenario->until_ps)
		return "until";
	return s->end_ps < ENDING_MAX ? "auto" : "limit";
}

/* Reports the flows that are cut off. */
static void report_end(struct session *s)
{
	const struct engine_stats *counts = engine_counts(s->engine);

	if (s->reported_end || s->params.lasting || !session_done(s) || engine_done(s->engine))
		return;
	s->reported_end = true;
	recorder_event(s->recorder, engine_now(s->engine),
		json_pack("{s:s, s:s, s:I}", "event", "cut_off", "by", ended_by(s), "unfinished",
			(json_int_t)(counts->flows - counts->flows_done)));
}

/* Queue pairs whose numbers a flow takes: all take as many. */
static uint32_t most_pairs(const struct scenario *s)
{
	const struct transport_choice *t;
	uint64_t most = 0;

	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++)
		most = max_u64(most, transport_facts(t).qps);
	return (uint32_t)most;
}

int session_advance(
	struct session *s, uint64_t until_ps, const volatile bool *stop, struct error *why)
{
	until_ps = min_u64(until_ps, s->end_ps);
	while (engine_now(s->engine) < until_ps && !(stop && *stop) && !session_done(s)) {
		int r = act_now(s);

		if (r == 0)
			r = engine_run(s->engine, min_u64(next_act(s), until_ps), stop);
		if (r == -EBUSY)
			return error_set(why, r,
				"at %.3f us of model time more messages are under way than queue pairs have numbers for: they have 24 bits, and a message takes %u; let fewer start at once, or take fewer host.qps_per_connection",
				(double)engine_now(s->engine) / PS_PER_US,
				2 * most_pairs(s->params.scenario));
		if (r < 0)
			return error_set(why, r,
				"the %s dataplane failed at %.3f us of model time: %s",
				s->dp->ops->name, (double)engine_now(s->engine) / PS_PER_US,
				strerror(-r));
	}
	report_end(s);
	return 0;
}

double session_progress(const struct session *s)
{
	return s->bytes ? (double)engine_received(s->engine) / (double)s->bytes : 1;
}

uint64_t session_end(const struct session *s)
{
	return s->end_ps;
}

const struct engine *session_engine(const struct session *s)
{
	return s->engine;
}

const struct session_tally *session_tally(struct session *s)
{
	const struct engine_stats *counts = engine_counts(s->engine);

	s->tally.marks = counts->marked;
	s->tally.trims = counts->trimmed;
	s->tally.flows = counts->flows_done;
	s->tally.flows_total = s->messages;
	s->tally.deadlocks = s->deadlock.length > 0;
	return &s->tally;
}

struct stacks *session_stacks(const struct session *s)
{
	return s->stacks;
}

struct dataplane *session_dataplane(const struct session *s)
{
	return s->dp;
}

struct captures *session_captures(struct session *s)
{
	/* what is on its way is for those that were there when it happened */
	capture_order_flush(&s->order);
	return s->captures;
}

const struct agents *session_agents(const struct session *s)
{
	return s->agents;
}

const char *session_name(const struct session *s)
{
	if (s->built)
		return build_name(s->built);
	return s->params.name ? s->params.name : "";
}

static void crosses(void *cuts, const struct operation *message)
{
	cuts_add_work(cuts, message);
}

static uint64_t take_crossed_ps(void *cuts)
{
	return cuts_take_work(cuts);
}

/* What the collectives of the workload took; nothing where there are none. */
static int add_collectives(struct session *s, json_t *summary)
{
	const struct scenario *sc = s->params.scenario;
	const struct fabric *f = s->params.fabric;
	const struct workload_hosts hosts = fabric_workload_hosts(f);
	struct workload_frames frames;
	struct collective_facts *facts = calloc(sc->workload_count + 1, sizeof(*facts));
	struct collectives_params p = {.entries = facts,
		.net = &f->net,
		.mtu = f->mtu,
		.host_name = node_name,
		.name_arg = f,
		.crosses = crosses,
		.take_crossed_ps = take_crossed_ps};
	struct cuts *cuts = NULL;
	int r = facts ? 0 : -ENOMEM;

	setup_frames(&frames, sc, f);
	for (uint32_t i = 0; i < OPERATION_TRANSPORTS; i++)
		p.header_bytes[i] =
			frame_overhead(frames.ip6) + frames.transports[i].data_extension;
	for (size_t i = 0; r == 0 && i < sc->workload_count; i++) {
		const struct workload_kind *kind = workload_kinds[sc->workloads[i].kind];

		if (!kind->facts)
			continue;
		kind->facts(&facts[p.count], sc->workloads[i].options, &hosts);
		facts[p.count++].entry = (uint32_t)i;
	}
	if (r == 0 && p.count)
		r = ending_cuts(&cuts, sc, f, s->params.lasting);
	p.cuts = cuts;
	if (r == 0 && p.count)
		r = json_object_set_new(summary, "collectives", collectives_report(s->engine, &p));
	cuts_free(cuts);
	free(facts);
	return r;
}

/* The same of the graphs of operations that files list. */
static int add_graphs(struct session *s, json_t *summary)
{
	const struct scenario *sc = s->params.scenario;
	const char **files = calloc(sc->workload_count + 1, sizeof(*files));
	struct graphs_params p = {.files = files,
		.count = (uint32_t)sc->workload_count,
		.host_name = node_name,
		.name_arg = s->params.fabric};
	bool any = false;
	int r = files ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < sc->workload_count; i++) {
		files[i] =
			goal_file(workload_kinds[sc->workloads[i].kind], sc->workloads[i].options);
		any |= files[i] != NULL;
	}
	if (r == 0 && any)
		r = json_object_set_new(summary, "goal", graphs_report(s->engine, &p));
	free(files);
	return r;
}

/* Which entries have which transport, where some have one of their own. */
static void add_transports(const struct scenario *sc, json_t *summary)
{
	const struct transport_choice *t;
	json_t *transports = json_array();

	for (uint32_t n = 0; (t = scenario_transport(sc, n)); n++) {
		json_t *entries = json_array();

		for (size_t i = 0; i < sc->workload_count; i++)
			if (sc->workloads[i].transport_number == n)
				json_array_append_new(entries, json_integer((json_int_t)i));
		json_array_append_new(transports, json_pack("{s:s, s:o}", "transport",
							  transport_name(t), "entries", entries));
	}
	if (sc->transport_count)
		json_object_set(summary, "transports", transports);
	json_decref(transports);
}

json_t *session_summary(
	struct session *s, const struct session_times *times, bool *ret_met, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	struct summary_info info = {
		.provenance = s->params.provenance,
		.scenario = sc->name,
		.dataplane = s->dp->ops->name,
		.clock = sc->clock.wall ? "wall" : "stepped",
		.version = FABRICBED_VERSION,
		.seed = sc->seed,
		.messages = s->messages,
		.ideal_ps = s->ideal_ps,
		.fabric_ps = s->fabric_ps,
		.payload_ps = s->payload_ps,
		.setup_s = times->setup,
		.wall_s = times->run,
	};
	json_t *summary;

	if (engine_check_balance(s->engine) < 0) {
		error_set(why, -EIO,
			"packets sent, delivered, dropped and in flight do not add up: "
			"a fault in fabricbed, please report it");
		return NULL;
	}
	summary = summary_new(&info, s->engine, recorder_forgotten(s->recorder));
	deadlock_summarise(
		&s->deadlock, json_object_get(summary, "pfc"), port_name, s->params.fabric);
	if (summary && ended_by(s))
		json_object_set_new(summary, "ended_by", json_string(ended_by(s)));
	if (summary)
		add_transports(sc, summary);
	if (summary && times->fidelity)
		json_object_set_new(summary, "fidelity", fidelity_json(times->fidelity));
	if (!summary || add_collectives(s, summary) < 0 || add_graphs(s, summary) < 0 ||
		expect_check(sc, summary, ret_met) < 0) {
		json_decref(summary);
		error_set(why, -ENOMEM, "out of memory for the summary");
		return NULL;
	}
	return summary;
}
