/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What can be asked of a live fabric: docs/control.md, "Verbs". steer.c and request_capture.c have those that take time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/units.h"
#include "live/show.h"
#include "live/stacks.h"
#include "serve/live_internal.h"

static struct show_view view_of(struct live *l)
{
	static const struct stack_counts none;
	const struct stacks *stacks = session_stacks(l->session);
	const struct stack_counts *counts = stacks ? stacks_counts(stacks) : &none;

	return (struct show_view){
		.fabric = l->params.fabric,
		.engine = session_engine(l->session),
		.agents = session_agents(l->session),
		.stack_sent = counts->sent,
		.stack_delivered = counts->delivered,
		.stack_lost = counts->lost,
		.name = l->params.kernel ? session_name(l->session) : NULL,
		.port_faults = session_port_faults,
		.faults_arg = l->session,
	};
}

static int faults_in_force(const json_t *rows)
{
	const json_t *row;
	size_t i;
	int n = 0;

	json_array_foreach((json_t *)rows, i, row) n +=
		!strcmp(json_string_value(json_object_get(row, "state")), "in force");
	return n;
}

static void status(struct live *l, struct server_client *c, const json_t *request)
{
	const struct scenario *s = l->params.scenario;
	struct show_view view = view_of(l);
	json_t *rows = session_faults(l->session, NULL), *all;

	(void)request;
	all = json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:f, s:s, s:i}", "name",
		session_name(l->session), "scenario", s->name, "pid", (int)getpid(), "state",
		l->running ? "running" : "paused", "version", FABRICBED_VERSION, "clock",
		s->clock.wall ? "wall" : "stepped", "dataplane",
		l->params.kernel ? "kernel" : "inline", "up_s", live_up_s(l), "directory",
		l->params.directory, "faults", faults_in_force(rows));
	json_object_update_new(all, show_status(&view));
	if (l->pace) {
		json_object_set_new(all, "slowdown", json_real(s->clock.slowdown));
		live_count_refused(l);
		json_object_set_new(all, "fidelity", fidelity_json(pace_fidelity(l->pace)));
		json_object_set_new(json_object_get(all, "fidelity"), "now",
			json_string(l->degraded ? "degraded" : "faithful"));
	}
	json_decref(rows);
	server_answer(c, all);
}

static void show_summary(struct live *l, struct server_client *c)
{
	struct session_times times = {
		.setup = l->setup_s,
		.run = live_up_s(l),
		.fidelity = l->pace ? pace_fidelity(l->pace) : NULL,
	};
	struct error why = ERROR_INIT;
	bool met;
	json_t *summary = session_summary(l->session, &times, &met, &why);

	if (!summary)
		server_refuse(c, REFUSE_FAILED, "%s", why.text);
	else
		server_answer(c, json_pack("{s:o}", "summary", summary));
}

static void show(struct live *l, struct server_client *c, const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "what"));
	const char *match = json_string_value(json_object_get(request, "match"));
	struct show_view view = view_of(l);
	struct error why = ERROR_INIT;
	json_t *rows, *result;

	if (!what) {
		server_refuse(c, REFUSE_INPUT,
			"show: what? nodes, ports, queues, flows, routes, "
			"roles, faults or summary");
		return;
	}
	if (!strcmp(what, "summary")) {
		show_summary(l, c);
		return;
	}
	rows = strcmp(what, "faults") ? show_rows(&view, what, match, &why)
				      : session_faults(l->session, match);
	if (!rows) {
		server_refuse(c, REFUSE_INPUT, "%s", why.text);
		return;
	}
	result = json_pack("{s:f, s:o}", "model_time_us",
		(double)engine_now(view.engine) / PS_PER_US, "rows", rows);
	if (l->pace)
		json_object_set_new(result, "fidelity", fidelity_json(pace_fidelity(l->pace)));
	server_answer(c, result);
}

/* All messages in one refusal, a line each. */
static void refuse_diags(struct server_client *c, const char *verb, struct diags *d)
{
	char text[1024];
	size_t used = 0;

	diags_sort(d);
	for (size_t i = 0; i < d->count && used < sizeof(text); i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s", i ? "\n" : "", d->items[i].text);
	server_refuse(c, REFUSE_INPUT, "%s: %s", verb, d->count ? text : "out of memory");
}

#define WORDS_MAX 32

/* The request's words; false: it is refused. */
static bool read_words(struct server_client *c, const json_t *request, const char *ret[WORDS_MAX],
	size_t *ret_count)
{
	const json_t *words = json_object_get(request, "words");
	size_t count = json_array_size(words);

	for (size_t i = 0; i < count && i < WORDS_MAX; i++)
		ret[i] = json_string_value(json_array_get(words, i));
	*ret_count = count;
	for (size_t i = 0; i < count && i < WORDS_MAX; i++)
		if (!ret[i])
			count = 0;
	if (count && count <= WORDS_MAX)
		return true;
	server_refuse(c, REFUSE_INPUT, "`words` is to be a list of 1 to %d strings", WORDS_MAX);
	return false;
}

static void inject(struct live *l, struct server_client *c, const json_t *request)
{
	struct diags diags = DIAGS_INIT;
	struct error why = ERROR_INIT;
	const char *words[WORDS_MAX];
	struct fault_spec f;
	json_t *result;
	size_t count;
	int r;

	if (!read_words(c, request, words, &count))
		return;
	r = scenario_fault_words(&f, words, count, &diags);
	if (r == 0) {
		r = fabric_check_fault(l->params.fabric, &f, &diags);
		if (r < 0)
			fault_spec_release(&f);
	}
	if (r < 0) {
		refuse_diags(c, "inject", &diags);
	} else {
		result = session_inject(l->session, &f, &why);
		if (result)
			server_answer(c, result);
		else
			server_refuse(c, REFUSE_FAILED, "%s", why.text);
	}
	diags_release(&diags);
}

/* A word that stands for a kind of target; false: it does not. */
static bool read_kind(const char *word, enum fault_target *ret)
{
	static const char *const kinds[] = {
		[TARGET_LINK] = "link", [TARGET_SWITCH] = "switch", [TARGET_HOST] = "host"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(word, kinds[i])) {
			*ret = (enum fault_target)i;
			return true;
		}
	return false;
}

static bool read_number(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*ret = (uint32_t)n;
	return *text >= '0' && *text <= '9' && !*end && n <= UINT32_MAX;
}

static bool read_heal(const char **words, size_t count, struct session_heal *ret)
{
	*ret = (struct session_heal){.what = HEAL_ALL};
	if (count == 1)
		return !strcmp(words[0], "all");
	if (count != 2)
		return false;
	ret->what = HEAL_FAULT;
	if (!strcmp(words[0], "fault"))
		return read_number(words[1], &ret->fault);
	ret->what = HEAL_TARGETS;
	ret->glob = words[1];
	return read_kind(words[0], &ret->kind);
}

/* Whether the fabric has anything of that name. */
static bool has_targets(const struct fabric *f, const struct session_heal *h)
{
	if (h->what != HEAL_TARGETS)
		return true;
	for (uint32_t i = 0; h->kind == TARGET_LINK && i < f->net.link_count; i++)
		if (fabric_link_matches(f, i, h->glob))
			return true;
	for (uint32_t i = 0; h->kind != TARGET_LINK && i < f->net.node_count; i++)
		if ((f->net.nodes[i].kind == NODE_SWITCH) == (h->kind == TARGET_SWITCH) &&
			fabric_node_matches(f, i, h->glob))
			return true;
	return false;
}

static void heal(struct live *l, struct server_client *c, const json_t *request)
{
	struct error why = ERROR_INIT;
	const char *words[WORDS_MAX];
	struct session_heal h;
	json_t *result;
	size_t count;

	if (!read_words(c, request, words, &count))
		return;
	if (!read_heal(words, count, &h)) {
		server_refuse(c, REFUSE_INPUT,
			"heal: expected all, fault NUMBER, link GLOB, switch GLOB or host GLOB");
		return;
	}
	if (!has_targets(l->params.fabric, &h)) {
		server_refuse(c, REFUSE_INPUT,
			"heal: the fabric has no %s \"%.80s\"; 'fabricbed show %s faults' tells what is in force",
			words[0], h.glob, session_name(l->session));
		return;
	}
	result = session_heal(l->session, &h, &why);
	if (!result)
		server_refuse(c, REFUSE_FAILED, "%s", why.text);
	else if (json_array_size(json_object_get(result, "healed")) || h.what == HEAL_ALL)
		server_answer(c, result);
	else {
		json_decref(result);
		server_refuse(c, REFUSE_STATE,
			"nothing of that is in force; "
			"'fabricbed show %s faults' tells what is",
			session_name(l->session));
	}
}

static void start(struct live *l, struct server_client *c, const json_t *request)
{
	const char *text = json_string_value(json_object_get(request, "scenario"));
	const char *name = json_string_value(json_object_get(request, "name"));
	struct workload_spec *workloads = NULL;
	struct diags diags = DIAGS_INIT;
	struct error why = ERROR_INIT;
	json_t *result;
	size_t count = 0;
	int r;

	r = scenario_workloads(&workloads, &count, text ? text : l->own_text,
		text ? strlen(text) : l->own_length, &diags);
	if (r == 0)
		r = fabric_check_workloads(l->params.fabric, workloads, count, &diags);
	if (r < 0) {
		for (size_t i = 0; i < count; i++)
			workload_spec_release(&workloads[i]);
		refuse_diags(c, name ? name : "start", &diags);
	} else {
		result = session_start(l->session, workloads, count, &why);
		if (result)
			server_answer(c, result);
		else
			server_refuse(c, REFUSE_FAILED, "%s", why.text);
	}
	free(workloads);
	diags_release(&diags);
}

static void save(struct live *l, struct server_client *c, const json_t *request)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int r = out ? session_save(l->session, out) : -ENOMEM;

	(void)request;
	if (out && fclose(out) && r == 0)
		r = -ENOMEM;
	if (r == 0)
		server_answer(c, json_pack("{s:s}", "scenario", text));
	else
		server_refuse(c, REFUSE_FAILED, "can't write the scenario: %s", strerror(-r));
	free(text);
}

static void down(struct live *l, struct server_client *c, const json_t *request)
{
	struct error why = ERROR_INIT;
	const json_t *summary = live_finish(l, &why);

	(void)request;
	l->ended = true;
	if (summary)
		server_answer(c, json_pack("{s:s, s:O}", "directory", l->params.directory,
					 "summary", summary));
	else
		server_refuse(c, REFUSE_FAILED, "%s", why.text);
}

static const struct {
	const char *name;
	void (*handle)(struct live *l, struct server_client *c, const json_t *request);
} verbs[] = {
	{"status", status},
	{"show", show},
	{"inject", inject},
	{"heal", heal},
	{"start", start},
	{"pause", steer_pause},
	{"go", steer_go},
	{"step", steer_step},
	{"until", steer_until},
	{"save", save},
	{"capture", capture_request},
	{"down", down},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

void live_request(void *arg, struct server_client *c, const json_t *request)
{
	const char *verb = json_string_value(json_object_get(request, "do"));
	const char *names[VERBS], *near;
	struct live *l = arg;

	if (l->ended) {
		server_refuse(c, REFUSE_STATE, "the fabric is being taken down");
		return;
	}
	for (size_t i = 0; i < VERBS; i++) {
		if (!strcmp(verbs[i].name, verb)) {
			verbs[i].handle(l, c, request);
			return;
		}
		names[i] = verbs[i].name;
	}
	near = nearest_word(verb, names, VERBS);
	server_refuse(c, REFUSE_INPUT, "there is no verb \"%.40s\"%s%s%s", verb,
		near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

void live_gone(void *arg, struct server_client *c)
{
	struct live *l = arg;

	steer_forget(l, c);
	capture_forget(l, c);
}
