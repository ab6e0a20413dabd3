/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pause, go on, step, until. */
#include <stdio.h>
#include <string.h>
#include "base/diag.h"
#include "base/drop_name.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "session/names.h"
#include "daemon/live_fabric_internal.h"

static const char *const events[] = {
	"drop", "mark", "trim", "pause", "flow", "flows", "fault", "reroute", "deadlock"};
#define EVENTS (sizeof(events) / sizeof(events[0]))

static uint64_t model_now(const struct live *l)
{
	return engine_now(session_engine(l->session));
}

static json_t *time_result(const struct live *l)
{
	return json_pack("{s:f}", "model_time_us", (double)model_now(l) / PS_PER_US);
}

static void go(struct live *l)
{
	if (!l->running && l->wallclock)
		wallclock_go(l->wallclock);
	l->running = true;
}

static void forget_goal(struct live *l)
{
	l->goal = (struct goal){.time_ps = UINT64_MAX};
}

/* The latest drop for the reason that is waited for, or for any. */
static enum drop_reason latest_drop(const struct goal *g, const struct session_tally *now)
{
	enum drop_reason latest = g->reason;

	for (int i = 0; g->reason == DROP_NONE && i < DROP_REASON_COUNT; i++)
		if (now->drops[i] > g->before.drops[i] &&
			now->drop[i].at_ps >= now->drop[latest].at_ps)
			latest = (enum drop_reason)i;
	return latest;
}

/* Of what happens at a port: which, and when exactly. */
static void add_detail(const struct live *l, json_t *result, const char *stopped)
{
	const struct session_tally *now = session_tally(l->session);
	const struct session_place *place = &now->pause;
	enum drop_reason reason = latest_drop(&l->goal, now);
	bool is_drop = !strcmp(stopped, "drop");
	char name[RECORDER_NAME];
	json_t *detail;

	if (!is_drop && strcmp(stopped, "pause"))
		return;
	if (is_drop)
		place = &now->drop[reason];
	detail = json_pack("{s:s, s:f}", "port", port_name(l->params.fabric, place->port, name),
		"at_us", (double)place->at_ps / PS_PER_US);
	if (is_drop)
		json_object_set_new(detail, "reason", json_string(drop_name(reason)));
	json_object_set_new(result, "detail", detail);
}

/* Ends the step that is under way, if one is. */
static void reach(struct live *l, const char *stopped)
{
	struct server_client *c = l->goal.client;
	json_t *result;

	if (!c)
		return;
	result = time_result(l);
	json_object_set_new(result, "stopped", json_string(stopped));
	add_detail(l, result, stopped);
	forget_goal(l);
	l->running = false;
	server_answer(c, result);
}

void clock_end(struct live *l)
{
	reach(l, "paused");
	l->running = false;
}

void clock_forget(struct live *l, const struct server_client *c)
{
	if (l->goal.client != c)
		return;
	forget_goal(l);
	l->running = false;
}

void clock_pause(struct live *l, struct server_client *c, const json_t *request)
{
	(void)request;
	clock_end(l);
	server_answer(c, time_result(l));
}

static bool steps(const struct live *l, struct server_client *c)
{
	if (!l->goal.client)
		return false;
	server_refuse(c, REFUSE_STATE, "another step is under way; `pause` ends it");
	return true;
}

void clock_go(struct live *l, struct server_client *c, const json_t *request)
{
	(void)request;
	if (steps(l, c))
		return;
	go(l);
	server_answer(c, time_result(l));
}

/* A time of the request; false: it is refused. */
static bool read_time(
	struct server_client *c, const json_t *request, const char *key, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(request, key));

	if (text && parse_time(text, ret) == 0)
		return true;
	server_refuse(c, REFUSE_INPUT, "%s%s%s is no time; expected one such as 10us",
		text ? "\"" : key, text ? text : "", text ? "\"" : "");
	return false;
}

static void set_goal(struct live *l, struct server_client *c, const struct goal *g)
{
	l->goal = *g;
	l->goal.client = c;
	l->goal.before = *session_tally(l->session);
	go(l);
	/* it may be so already: all flows have ended */
	clock_check(l);
}

void clock_step(struct live *l, struct server_client *c, const json_t *request)
{
	struct goal g = {0};
	uint64_t span;

	if (steps(l, c) || !read_time(c, request, "time", &span))
		return;
	if (!span) {
		server_refuse(c, REFUSE_INPUT, "a step takes more than no time");
		return;
	}
	g.time_ps = model_now(l) + span;
	set_goal(l, c, &g);
}

static bool read_reason(struct server_client *c, const char *name, enum drop_reason *ret)
{
	const char *names[DROP_REASON_COUNT];
	char all[512], hint[DIAG_HINT];
	struct strbuf list = STRBUF(all);

	for (int i = 1; i < DROP_REASON_COUNT; i++) {
		names[i - 1] = drop_name((unsigned)i);
		if (!strcmp(names[i - 1], name)) {
			*ret = (enum drop_reason)i;
			return true;
		}
	}
	strbuf_add_list(&list, names, DROP_REASON_COUNT - 1);
	server_refuse(c, REFUSE_INPUT, "nothing is dropped for '%.40s'%s; reasons: %s", name,
		diag_hint(hint, name, names, DROP_REASON_COUNT - 1, ""), all);
	return false;
}

static bool read_event(struct server_client *c, const char *text, struct goal *g)
{
	char hint[DIAG_HINT];

	if (!strncmp(text, "drop ", 5)) {
		snprintf(g->event, sizeof(g->event), "drop");
		return read_reason(c, text + 5, &g->reason);
	}
	for (size_t i = 0; i < EVENTS; i++)
		if (!strcmp(events[i], text)) {
			snprintf(g->event, sizeof(g->event), "%s", text);
			return true;
		}
	server_refuse(c, REFUSE_INPUT,
		"'%.40s' is neither a time such as 250us nor an event%s: drop, drop REASON, mark, "
		"trim, pause, flow, flows, fault, reroute, deadlock",
		text, diag_hint(hint, text, events, EVENTS, ""));
	return false;
}

static bool read_goal(
	struct live *l, struct server_client *c, const json_t *request, struct goal *g)
{
	const char *event = json_string_value(json_object_get(request, "event"));

	g->time_ps = UINT64_MAX;
	if (!event) {
		if (!read_time(c, request, "time", &g->time_ps))
			return false;
		if (g->time_ps > model_now(l))
			return true;
		server_refuse(
			c, REFUSE_STATE, "it is %.3f us already", (double)model_now(l) / PS_PER_US);
		return false;
	}
	if (!read_event(c, event, g))
		return false;
	g->is_limit = true;
	return !json_object_get(request, "limit") || read_time(c, request, "limit", &g->time_ps);
}

void clock_until(struct live *l, struct server_client *c, const json_t *request)
{
	struct goal g = {0};

	if (steps(l, c) || !read_goal(l, c, request, &g))
		return;
	set_goal(l, c, &g);
}

static uint64_t dropped(const struct session_tally *t, enum drop_reason reason)
{
	uint64_t n = 0;

	for (int i = 0; i < DROP_REASON_COUNT; i++)
		if (reason == DROP_NONE || reason == (enum drop_reason)i)
			n += t->drops[i];
	return n;
}

static bool has_happened(const struct goal *g, const struct session_tally *now)
{
	const struct session_tally *was = &g->before;
	const char *e = g->event;

	if (!strcmp(e, "drop"))
		return dropped(now, g->reason) > dropped(was, g->reason);
	if (!strcmp(e, "mark"))
		return now->marks > was->marks;
	if (!strcmp(e, "trim"))
		return now->trims > was->trims;
	if (!strcmp(e, "pause"))
		return now->pauses > was->pauses;
	if (!strcmp(e, "flow"))
		return now->flows > was->flows;
	if (!strcmp(e, "flows"))
		return now->flows == now->flows_total;
	if (!strcmp(e, "fault"))
		return now->faults > was->faults;
	if (!strcmp(e, "reroute"))
		return now->reroutes > was->reroutes;
	return !strcmp(e, "deadlock") && now->deadlocks;
}

void clock_check(struct live *l)
{
	const struct goal *g = &l->goal;

	if (!g->client)
		return;
	if (g->event[0] && has_happened(g, session_tally(l->session)))
		reach(l, g->event);
	else if (model_now(l) >= g->time_ps)
		reach(l, g->is_limit ? "limit" : "time");
	else if (!l->wallclock && g->time_ps == UINT64_MAX &&
		 session_next(l->session) == UINT64_MAX)
		reach(l, "idle");
}

uint64_t clock_limit(const struct live *l)
{
	uint64_t limit = l->goal.time_ps, next;

	if (!l->goal.client)
		return UINT64_MAX;
	if (!l->goal.event[0])
		return limit;
	/* an event is looked for after every window */
	next = session_next(l->session);
	if (next < UINT64_MAX - engine_lookahead(session_engine(l->session)))
		next += engine_lookahead(session_engine(l->session));
	return next < limit ? next : limit;
}
