/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests: docs/control.md, "Verbs". Those that take time: clock_control.c, request_capture.c. */
#include "daemon/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "policy/source.h"
#include "session/policy_swap.h"
#include "session/show.h"
#include "session/host_stacks.h"
#include "scenario/scenario.h"
#include "daemon/live_fabric_internal.h"
#include "topology/targets.h"
#include "topology/fabric.h"

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
		.policy_file = session_policy_file(l->session),
	};
}

/* The result, or, of NULL, why there is none. */
static void answer(struct server_client *c, json_t *result, const struct error *why)
{
	if (result)
		server_answer(c, result);
	else
		server_refuse(c, REFUSE_FAILED, "%s", why->text);
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
		l->finished  ? "stopped"
		: l->running ? "running"
			     : "paused",
		"version", FABRICBED_VERSION, "clock", s->clock.wall ? "wall" : "stepped",
		"dataplane", l->params.kernel ? "kernel" : "inline", "up_s", live_up_s(l),
		"directory", folder_path(l->params.folder), "faults", faults_in_force(rows));
	json_object_update_new(all, show_status(&view));
	if (*l->trouble.text)
		json_object_set_new(all, "trouble", json_string(l->trouble.text));
	if (l->wallclock) {
		json_object_set_new(all, "clock_slowdown", json_real(s->clock.slowdown));
		live_count_refused(l);
		json_object_set_new(
			all, "fidelity", fidelity_json(wallclock_fidelity(l->wallclock)));
	}
	json_decref(rows);
	server_answer(c, all);
}

static void show_summary(struct live *l, struct server_client *c)
{
	struct session_times times = {
		.setup = l->setup_s,
		.run = live_up_s(l),
		.fidelity = l->wallclock ? wallclock_fidelity(l->wallclock) : NULL,
	};
	struct error why = ERROR_INIT;
	bool met;
	json_t *summary = session_summary(l->session, &times, &met, &why);

	answer(c, summary ? json_pack("{s:o}", "summary", summary) : NULL, &why);
}

static void show(struct live *l, struct server_client *c, const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "what"));
	const char *match = json_string_value(json_object_get(request, "match"));
	const json_t *from = json_object_get(request, "from");
	struct show_page page = {.wanted = json_is_integer(from)};
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
	if (json_integer_value(from) < 0 || json_integer_value(from) > UINT32_MAX) {
		server_refuse(c, REFUSE_INPUT, "show: `from` is 0, or what `next` was");
		return;
	}
	page.from = (uint32_t)json_integer_value(from);
	rows = strcmp(what, "faults") ? show_rows(&view, what, match, &page, &why)
				      : session_faults(l->session, match);
	if (!rows) {
		server_refuse(c, REFUSE_INPUT, "%s", why.text);
		return;
	}
	result = json_pack("{s:f, s:o}", "model_time_us",
		(double)engine_now(view.engine) / PS_PER_US, "rows", rows);
	if (page.next)
		json_object_set_new(result, "next", json_integer((json_int_t)page.next));
	if (l->wallclock)
		json_object_set_new(
			result, "fidelity", fidelity_json(wallclock_fidelity(l->wallclock)));
	server_answer(c, result);
}

/* All messages in one refusal, a line each. */
static void refuse_diags(struct server_client *c, const char *verb, struct diags *d)
{
	char text[1024];
	struct strbuf b = STRBUF(text);

	diags_sort(d);
	for (size_t i = 0; i < d->count; i++)
		strbuf_add(&b, "%s%s", i ? "\n" : "", d->items[i].text);
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
	if (r < 0)
		refuse_diags(c, "inject", &diags);
	else
		answer(c, session_inject(l->session, &f, &why), &why);
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
	if (!result || json_array_size(json_object_get(result, "healed")) || h.what == HEAL_ALL) {
		answer(c, result, &why);
	} else {
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
	const char *path = json_string_value(json_object_get(request, "path"));
	struct workload_spec *workloads = NULL;
	struct diags diags = DIAGS_INIT;
	struct error why = ERROR_INIT;
	size_t count = 0;
	int r;

	r = scenario_workloads(&workloads, &count, path, text ? text : l->own_text,
		text ? strlen(text) : l->own_length, &diags);
	if (r == 0)
		r = fabric_check_workloads(l->params.fabric, workloads, count, &diags);
	if (r == 0)
		r = scenario_find_transports(l->params.scenario, workloads, count, &diags);
	if (r < 0) {
		for (size_t i = 0; i < count; i++)
			workload_spec_release(&workloads[i]);
		refuse_diags(c, name ? name : "start", &diags);
	} else {
		answer(c, session_start(l->session, workloads, count, &why), &why);
	}
	free(workloads);
	diags_release(&diags);
}

static void swap_policy(struct live *l, struct server_client *c, const json_t *request)
{
	const char *text = json_string_value(json_object_get(request, "text"));
	const char *name = json_string_value(json_object_get(request, "name"));
	const struct policy_source source = {
		name ? name : "policy.c", text, text ? strlen(text) : 0};
	struct error why = ERROR_INIT;
	int r;
	json_t *result = session_swap_policy(l->session, text ? &source : NULL, &r, &why);

	if (result)
		server_answer(c, result);
	else
		server_refuse(c, r == -EINVAL ? REFUSE_INPUT : REFUSE_FAILED, "%s", why.text);
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
		server_answer(c, json_pack("{s:s, s:i}", "scenario", text, "policies_swapped",
					 (int)session_policy_swaps(l->session)));
	else
		server_refuse(c, REFUSE_FAILED, "can't write the scenario: %s", strerror(-r));
	free(text);
}

/* Another folder than the fabric's, if the request names one. 0 or -errno with why. */
static int claim_other(const char *directory, struct folder **ret, struct error *why)
{
	const struct folder_params p = {.path = directory};

	if (!directory)
		return 0;
	if (directory[0] != '/')
		return error_set(why, -EINVAL, "down: the directory is to begin with /");
	return folder_claim(ret, &p, why);
}

static int write_other(struct live *l, struct folder *other, struct error *why)
{
	int r = other ? folder_begin(other, why) : 0;

	return r < 0 ? r : live_finish(l, other, why);
}

/* Reports lost lines beside the results. */
static void answer_down(struct live *l, struct server_client *c, const char *directory)
{
	struct error lost = ERROR_INIT;
	json_t *result = json_pack("{s:s?, s:O}", "directory", directory, "summary", l->summary);

	l->ended = true;
	if (directory && session_lost(l->session, &lost) < 0)
		json_object_set_new(result, "lost", json_string(lost.text));
	server_answer(c, result);
}

/* It stays, so that nothing is lost. */
static void refuse_down(struct live *l, struct server_client *c, const struct error *why)
{
	const char *name = session_name(l->session);

	l->trouble = *why;
	server_refuse(c, REFUSE_FAILED,
		"%s; it has stopped, and stays until they are written: make room and 'fabricbed down %s' again, "
		"'fabricbed down %s --output DIR' writes them elsewhere, --discard does without",
		why->text, name, name);
}

static void down(struct live *l, struct server_client *c, const json_t *request)
{
	const char *directory = json_string_value(json_object_get(request, "directory"));
	bool discard = json_is_true(json_object_get(request, "discard"));
	struct folder *other = NULL;
	struct error why = ERROR_INIT;
	int r = claim_other(directory, &other, &why);

	if (r < 0) {
		server_refuse(c, REFUSE_INPUT, "%s", why.text);
		return;
	}
	l->written |= discard;
	r = write_other(l, other, &why);
	folder_close(other);
	if (!l->summary) {
		/* no results can be had of it, ever */
		l->ended = true;
		server_refuse(c, REFUSE_STATE, "%s", why.text);
	} else if (r < 0) {
		refuse_down(l, c, &why);
	} else {
		answer_down(l, c,
			discard     ? NULL
			: directory ? directory
				    : folder_path(l->params.folder));
	}
}

/* A key of a verb's requests, and what it is to be; JSON_TRUE: true or false. */
struct request_key {
	const char *name; /* NULL: none */
	json_type type;
};

static const struct {
	const char *name;
	void (*handle)(struct live *l, struct server_client *c, const json_t *request);
	bool looks; /* and changes nothing: also when the fabric has stopped */
	struct request_key keys[4];
} verbs[] = {
	{"status", status, true, {{0}}},
	{"show", show, true,
		{{"what", JSON_STRING}, {"match", JSON_STRING}, {"from", JSON_INTEGER}}},
	{"inject", inject, false, {{"words", JSON_ARRAY}}},
	{"heal", heal, false, {{"words", JSON_ARRAY}}},
	{"start", start, false,
		{{"scenario", JSON_STRING}, {"name", JSON_STRING}, {"path", JSON_STRING}}},
	{"policy", swap_policy, false, {{"name", JSON_STRING}, {"text", JSON_STRING}}},
	{"pause", clock_pause, false, {{0}}},
	{"go", clock_go, false, {{0}}},
	{"step", clock_step, false, {{"time", JSON_STRING}}},
	{"until", clock_until, false,
		{{"time", JSON_STRING}, {"event", JSON_STRING}, {"limit", JSON_STRING}}},
	{"save", save, true, {{0}}},
	{"capture", capture_request, false, {{"target", JSON_STRING}}},
	{"down", down, true, {{"directory", JSON_STRING}, {"discard", JSON_TRUE}}},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

/* What is of a wrong type must not count as absent: the request would be another. */
static bool check_keys(struct server_client *c, const char *verb, const struct request_key *keys,
	const json_t *request)
{
	static const char *const words[] = {[JSON_STRING] = "a string",
		[JSON_INTEGER] = "a whole number",
		[JSON_ARRAY] = "a list",
		[JSON_TRUE] = "true or false"};

	for (; keys->name; keys++) {
		const json_t *value = json_object_get(request, keys->name);

		if (!value || json_is_null(value) || json_typeof(value) == keys->type ||
			(json_is_false(value) && keys->type == JSON_TRUE))
			continue;
		server_refuse(c, REFUSE_INPUT, "%s: `%s` is to be %s", verb, keys->name,
			words[keys->type]);
		return false;
	}
	return true;
}

static void live_request(void *arg, struct server_client *c, const json_t *request)
{
	const char *verb = json_string_value(json_object_get(request, "do"));
	const char *names[VERBS];
	char hint[DIAG_HINT];
	struct live *l = arg;

	if (l->ended) {
		server_refuse(c, REFUSE_STATE, "the fabric is being taken down");
		return;
	}
	for (size_t i = 0; i < VERBS; i++) {
		if (!strcmp(verbs[i].name, verb)) {
			if (l->finished && !verbs[i].looks)
				server_refuse(c, REFUSE_STATE,
					"the fabric has stopped, and waits for its results to be written");
			else if (check_keys(c, verb, verbs[i].keys, request))
				verbs[i].handle(l, c, request);
			return;
		}
		names[i] = verbs[i].name;
	}
	server_refuse(c, REFUSE_INPUT, "there is no verb '%.40s'%s", verb,
		diag_hint(hint, verb, names, VERBS, ""));
}

static void live_gone(void *arg, struct server_client *c)
{
	struct live *l = arg;

	clock_forget(l, c);
	capture_forget(l, c);
}

static void live_stream_ended(void *arg, struct server_client *c)
{
	capture_forget(arg, c);
}

const struct server_ops live_requests = {
	.request = live_request, .gone = live_gone, .ended = live_stream_ended};
