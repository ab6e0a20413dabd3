/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is done to a session by hand, and the scenario that does it again. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/strbuf.h"
#include "base/units.h"
#include "session/session_internal.h"
#include "workload/kind.h"
#include "scenario/scenario.h"
#include "topology/pick.h"
#include "topology/targets.h"

#define BY_HAND "hand"

static double to_us(uint64_t ps)
{
	return (double)ps / PS_PER_US;
}

static json_t *time_or_null(uint64_t ps)
{
	return ps == UINT64_MAX ? json_null() : json_real(to_us(ps));
}

/* What a fault befalls, as fault_targets() has it. */
static int list_targets(
	const struct session *s, const struct fault_spec *f, uint32_t **ret, size_t *ret_count)
{
	return fault_targets(s->params.fabric, s->params.scenario->seed, f, ret, ret_count);
}

static json_t *target_names(const struct session *s, uint32_t fault)
{
	const struct fault_spec *f = &s->params.scenario->faults[fault];
	uint32_t *targets = NULL;
	json_t *names = json_array();
	char name[LINK_NAME];
	size_t count = 0;

	list_targets(s, f, &targets, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(names,
			json_string(fault_target_name(s->params.fabric, f->on, targets[i], name)));
	free(targets);
	return names;
}

static bool cuts(const struct session *s, uint32_t fault)
{
	return fault_kinds[s->params.scenario->faults[fault].effect.kind].cuts;
}

/* Routes follow what has just been cut or mended. */
static int plan_reroute(struct session *s, uint32_t fault)
{
	struct action a = {
		.at_ps = timeline_later(engine_now(s->engine), s->params.scenario->sw.reroute_ps),
		.kind = ACTION_REROUTE,
	};

	return cuts(s, fault) ? timeline_insert(&s->timeline, &a) : 0;
}

static int plan_end(struct session *s, uint32_t fault, uint32_t target)
{
	const struct fault_spec *f = &s->params.scenario->faults[fault];
	struct action end = {f->until_ps, ACTION_END, fault, target};
	struct action reroute = {
		.at_ps = timeline_later(f->until_ps, s->params.scenario->sw.reroute_ps),
		.kind = ACTION_REROUTE,
	};
	int r = timeline_insert(&s->timeline, &end);

	return r == 0 && cuts(s, fault) ? timeline_insert(&s->timeline, &reroute) : r;
}

/*
 * At one moment the schedule ends faults, then begins others, then changes routes. A command after
 * such an action that would come before it there waits a picosecond, so that a saved scenario keeps
 * the order.
 */
static int await_turn(struct session *s, enum action_kind kind)
{
	struct error why = ERROR_INIT;
	bool late =
		s->latest_ps == engine_now(s->engine) && (kind == ACTION_END || kind < s->latest);

	return late ? session_advance(s, engine_now(s->engine) + 1, NULL, &why) : 0;
}

/* What is in force of this kind where a fault is going to be. 0 or -ENOMEM. */
static int list_replaced(
	const struct session *s, const struct fault_spec *f, struct active_faults *ret)
{
	uint32_t *targets = NULL, old;
	size_t count = 0;
	int r = list_targets(s, f, &targets, &count);

	for (size_t i = 0; r == 0 && i < count; i++)
		if (active_faults_find(&s->active_faults, s->params.scenario, f, targets[i], &old))
			r = active_faults_begin(ret, old, targets[i], 0);
	free(targets);
	return r;
}

static int begin_everywhere(struct session *s, uint32_t fault)
{
	uint32_t *targets = NULL;
	size_t count = 0;
	int r = list_targets(s, &s->params.scenario->faults[fault], &targets, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		r = session_begin_fault(s, fault, targets[i], BY_HAND);
		if (r == 0)
			r = plan_end(s, fault, targets[i]);
	}
	free(targets);
	return r == 0 ? plan_reroute(s, fault) : r;
}

void session_note(struct session *s, json_t *event)
{
	recorder_event(s->recorder, engine_now(s->engine), event);
}

json_t *session_inject(struct session *s, struct fault_spec *f, struct error *why)
{
	struct scenario *sc = s->params.scenario;
	struct active_faults replaced = ACTIVE_FAULTS_INIT;
	char words[FAULT_WORDS] = "";
	uint64_t now;
	uint32_t fault;
	int r = session_follow(s);

	if (r == 0)
		r = list_replaced(s, f, &replaced);
	if (r == 0)
		r = await_turn(s, replaced.count ? ACTION_END : ACTION_BEGIN);
	now = engine_now(s->engine);
	f->at_ps = now;
	f->until_ps = timeline_later(now, f->until_ps);
	if (r == 0)
		r = scenario_add_fault(sc, f);
	if (r < 0) {
		active_faults_release(&replaced);
		fault_spec_release(f);
		error_set(why, r, "out of memory for a fault");
		return NULL;
	}
	fault = (uint32_t)sc->fault_count - 1;
	session_end_faults(s, &replaced, BY_HAND);
	active_faults_release(&replaced);
	r = begin_everywhere(s, fault);
	if (r < 0) {
		error_set(why, r, "out of memory for a fault");
		return NULL;
	}
	fault_words(&sc->faults[fault], words, sizeof(words));
	return json_pack("{s:i, s:o, s:f, s:o, s:s}", "fault", (int)fault, "targets",
		target_names(s, fault), "since_us", to_us(now), "until_us",
		time_or_null(sc->faults[fault].until_ps), "words", words);
}

static bool heals(
	const struct session *s, const struct session_heal *h, const struct active_fault *d)
{
	const struct fault_spec *f = &s->params.scenario->faults[d->fault];

	if (d->until_ps != ACTIVE_FAULT_LASTS)
		return false;
	switch (h->what) {
	case HEAL_ALL:
		return true;
	case HEAL_FAULT:
		return d->fault == h->fault;
	case HEAL_TARGETS:
		break;
	}
	if (f->on != h->kind)
		return false;
	return h->kind == TARGET_LINK ? fabric_link_matches(s->params.fabric, d->target, h->glob)
				      : fabric_node_matches(s->params.fabric, d->target, h->glob);
}

static int list_healed(
	const struct session *s, const struct session_heal *h, struct active_faults *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->active_faults.count; i++) {
		const struct active_fault *d = &s->active_faults.items[i];

		if (heals(s, h, d))
			r = active_faults_begin(ret, d->fault, d->target, d->since_ps);
	}
	return r;
}

static void add_once(json_t *numbers, uint32_t number)
{
	size_t i;
	json_t *n;

	json_array_foreach(numbers, i, n) if (json_integer_value(n) == number) return;
	json_array_append_new(numbers, json_integer(number));
}

json_t *session_heal(struct session *s, const struct session_heal *h, struct error *why)
{
	json_t *healed = json_array();
	struct active_faults ends = ACTIVE_FAULTS_INIT;
	int r = session_follow(s);

	if (r == 0)
		r = list_healed(s, h, &ends);
	if (r == 0 && ends.count)
		r = await_turn(s, ACTION_END);
	if (r == 0)
		session_end_faults(s, &ends, BY_HAND);
	for (size_t i = 0; r == 0 && i < ends.count; i++) {
		add_once(healed, ends.items[i].fault);
		r = plan_reroute(s, ends.items[i].fault);
	}
	active_faults_release(&ends);
	if (r < 0) {
		error_set(why, r, "out of memory for the end of a fault");
		json_decref(healed);
		return NULL;
	}
	return json_pack("{s:o, s:f}", "healed", healed, "since_us", to_us(engine_now(s->engine)));
}

/* The first from that one on; that one if there is none. */
static uint32_t next_message(const struct engine *e, uint32_t flow)
{
	for (uint32_t i = flow; i < engine_flow_count(e); i++) {
		struct engine_flow_result f;

		engine_flow_result(e, i, &f);
		if (operation_is_message(&f.flow))
			return i;
	}
	return flow;
}

/* Of what was just added; false: it is gone again, and why has the words. */
static bool keep_added(struct session *s, size_t first, struct error *why)
{
	struct scenario *sc = s->params.scenario;
	const char *busy =
		engine_done(s->engine)
			? NULL
			: "other messages are under way; start it when these have arrived";
	struct diags diags = DIAGS_INIT;
	int r = traffic_check(sc, s->params.fabric, first, busy, &diags);

	if (r < 0) {
		error_set(why, r, "%s", diags.count ? diags.items[0].text : "out of memory");
		while (sc->workload_count > first)
			workload_spec_release(&sc->workloads[--sc->workload_count]);
	}
	diags_release(&diags);
	return r == 0;
}

json_t *session_start(
	struct session *s, struct workload_spec *workloads, size_t count, struct error *why)
{
	struct scenario *sc = s->params.scenario;
	uint64_t now = engine_now(s->engine);
	size_t first = sc->workload_count;
	uint32_t first_flow = engine_flow_count(s->engine);
	uint64_t messages = s->messages;
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		struct workload_common *o = workloads[i].options;

		o->start_ps = timeline_later(now, o->start_ps);
		if (o->start_ps > MOMENT_MAX)
			r = -ERANGE;
	}
	for (size_t i = 0; i < count; i++) {
		if (r == 0)
			r = scenario_add_workload(sc, &workloads[i]);
		if (r < 0)
			workload_spec_release(&workloads[i]);
	}
	if (r == 0 && !keep_added(s, first, why))
		return NULL;
	if (r == 0)
		r = session_add_traffic(s, first);
	if (r < 0) {
		error_set(why, r, "%s",
			r == -ERANGE
				? "that is later than the 26 days of model time that a scenario can name"
			: r == -EINVAL ? "a fabric has no more numbers for these flows"
				       : "out of memory for the flows");
		return NULL;
	}
	first_flow = next_message(s->engine, first_flow);
	recorder_event(s->recorder, now,
		json_pack("{s:s, s:I, s:I}", "event", "start", "first_flow", (json_int_t)first_flow,
			"flows", (json_int_t)(s->messages - messages)));
	return json_pack("{s:I, s:I, s:f}", "first_flow", (json_int_t)first_flow, "flows",
		(json_int_t)(s->messages - messages), "since_us", to_us(now));
}

/* Where a fault stands: not begun, in force somewhere, or over. */
static const char *fault_state(const struct session *s, uint32_t fault)
{
	bool begun = false;

	for (size_t i = 0; i < s->active_faults.count; i++) {
		if (s->active_faults.items[i].fault != fault)
			continue;
		if (s->active_faults.items[i].until_ps == ACTIVE_FAULT_LASTS)
			return "in force";
		begun = true;
	}
	return begun ? "over" : "pending";
}

/* When the last of it ended, or will. */
static uint64_t fault_until(const struct session *s, uint32_t fault)
{
	uint64_t until = 0;

	for (size_t i = 0; i < s->active_faults.count; i++) {
		const struct active_fault *d = &s->active_faults.items[i];

		if (d->fault != fault)
			continue;
		if (d->until_ps == ACTIVE_FAULT_LASTS)
			return s->params.scenario->faults[fault].until_ps;
		if (d->until_ps > until)
			until = d->until_ps;
	}
	return until ? until : s->params.scenario->faults[fault].until_ps;
}

json_t *session_faults(const struct session *s, const char *match)
{
	const struct scenario *sc = s->params.scenario;
	json_t *rows = json_array();
	char words[FAULT_WORDS] = "";

	for (uint32_t i = 0; i < sc->fault_count; i++) {
		json_t *targets;

		fault_words(&sc->faults[i], words, sizeof(words));
		if (match && fnmatch(match, words, 0))
			continue;
		targets = target_names(s, i);
		json_array_append_new(
			rows, json_pack("{s:i, s:s, s:i, s:f, s:o, s:s, s:s}", "fault", (int)i,
				      "words", words, "targets", (int)json_array_size(targets),
				      "since_us", to_us(sc->faults[i].at_ps), "until_us",
				      time_or_null(fault_until(s, i)), "state", fault_state(s, i),
				      "by", i < s->own_faults ? "scenario" : BY_HAND));
		json_decref(targets);
	}
	return rows;
}

static bool befalls_port(const struct session *s, const struct active_fault *d, uint32_t port)
{
	const struct net_port *p = &s->params.fabric->net.ports[port];

	if (s->params.scenario->faults[d->fault].on == TARGET_LINK)
		return d->target == p->link;
	return d->target == p->node || d->target == s->params.fabric->net.ports[p->peer].node;
}

const char *session_port_faults(void *arg, uint32_t port)
{
	struct session *s = arg;
	struct strbuf b = STRBUF(s->fault_words);

	for (size_t i = 0; i < s->active_faults.count; i++) {
		const struct active_fault *d = &s->active_faults.items[i];

		if (d->until_ps == ACTIVE_FAULT_LASTS && befalls_port(s, d, port))
			strbuf_add(&b, "%s%s", b.length ? " " : "",
				fault_keys[s->params.scenario->faults[d->fault].effect.kind].name);
	}
	return s->fault_words;
}

/* What scenario_write() sees: pointers into the session, and a copy of the list alone. */
struct saved {
	struct active_faults active_faults; /* with their ends, also those that are still to come */
	struct fault_spec *faults;
	size_t count;
	char (*names)[LINK_NAME];
	size_t name_count;
};

static void save_fault(struct saved *to, const struct fault_spec *f, const struct active_fault *d)
{
	struct fault_spec *copy = &to->faults[to->count++];

	*copy = *f;
	copy->at_ps = d->since_ps;
	/* later than a scenario can name, and than this one ends */
	copy->until_ps = d->until_ps > MOMENT_MAX ? UINT64_MAX : d->until_ps;
}

/* What is in force goes on to its own end, or to a scheduled fault in its place. */
static uint64_t ends_at(const struct session *s, const struct active_fault *d)
{
	const struct fault_spec *faults = s->params.scenario->faults, *f = &faults[d->fault];

	for (size_t i = s->timeline.next; i < s->timeline.count; i++) {
		const struct action *a = &s->timeline.items[i];

		if (a->at_ps >= f->until_ps)
			break;
		if (a->kind == ACTION_BEGIN && a->target == d->target &&
			fault_alike(&faults[a->fault], f))
			return a->at_ps;
	}
	return f->until_ps;
}

static int settle_active_faults(struct saved *to, const struct session *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->active_faults.count; i++) {
		const struct active_fault *d = &s->active_faults.items[i];

		r = active_faults_begin(&to->active_faults, d->fault, d->target, d->since_ps);
		if (r == 0)
			to->active_faults.items[i].until_ps =
				d->until_ps == ACTIVE_FAULT_LASTS ? ends_at(s, d) : d->until_ps;
	}
	return r;
}

/* A fault that did not befall all of its targets alike: one for each. False: it has not begun. */
static bool save_apart(struct saved *to, const struct session *s, uint32_t fault)
{
	size_t before = to->count;

	for (size_t i = 0; i < to->active_faults.count; i++) {
		const struct active_fault *d = &to->active_faults.items[i];
		struct fault_spec f = s->params.scenario->faults[fault];

		if (d->fault != fault)
			continue;
		f.pick = (struct fault_pick){.per = PICK_ALL};
		f.target = to->names[to->name_count++];
		fault_target_name(s->params.fabric, f.on, d->target, f.target);
		save_fault(to, &f, d);
	}
	return to->count > before;
}

static void save_faults(struct saved *to, const struct session *s)
{
	const struct scenario *sc = s->params.scenario;
	struct active_fault d;

	for (uint32_t i = 0; i < sc->fault_count; i++) {
		if (active_faults_alike(&to->active_faults, i, &d))
			save_fault(to, &sc->faults[i], &d);
		else if (!save_apart(to, s, i))
			to->faults[to->count++] = sc->faults[i];
	}
}

int session_save(const struct session *s, FILE *out)
{
	struct scenario copy = *s->params.scenario;
	struct saved saved = {
		.faults = calloc(
			copy.fault_count + s->active_faults.count + 1, sizeof(*saved.faults)),
		.names = calloc(s->active_faults.count + 1, sizeof(*saved.names)),
	};
	int r = saved.faults && saved.names ? settle_active_faults(&saved, s) : -ENOMEM;

	if (r == 0) {
		save_faults(&saved, s);
		copy.faults = saved.faults;
		copy.fault_count = saved.count;
		copy.until_ps = engine_now(s->engine);
		r = scenario_write(&copy, out);
	}
	active_faults_release(&saved.active_faults);
	free(saved.faults);
	free(saved.names);
	return r;
}
