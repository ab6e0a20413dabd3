/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "bringup/record.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/fabrics.h"
#include "cli/term.h"
#include "report/fidelity_text.h"
#include "base/json.h"
#include "report/table.h"

static const struct cli_option options[] = {
	{"json", 'j', NULL, "print the rows as JSON"},
	{0},
};

#define PATIENCE_S 3 /* a healthy fabric replies within 1 ms, on a busy machine within some 100 */

/* A fabric that does not answer must not keep the others from being listed. NULL: it did not. */
static json_t *ask_status(const char *name)
{
	struct client *client = NULL;
	json_t *result = NULL;
	struct error why = ERROR_INIT;

	if (client_open(&client, name, &why) == EXIT_WELL)
		client_ask_within(client, "status", NULL, PATIENCE_S, &result, &why);
	client_close(client);
	return result;
}

static json_t *text_or_null(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;

	return value ? value : json_null();
}

static json_t *time_text(int64_t since_s)
{
	time_t since = (time_t)since_s;
	char text[64];
	struct tm tm;

	if (!since_s || !localtime_r(&since, &tm))
		return json_null();
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &tm);
	return json_string(text);
}

static json_t *value_of(const json_t *status, const char *key)
{
	json_t *value = json_object_get(status, key);

	return value ? json_incref(value) : json_null();
}

/* Of one that answers and follows the wall clock. */
static json_t *fidelity_of(const json_t *status)
{
	const json_t *fidelity = json_object_get(status, "fidelity");
	struct fidelity_text text;

	if (!fidelity)
		return json_null();
	fidelity_text(&text, fidelity);
	return json_string(text.whole);
}

/* What the fabric itself says comes first: it knows whether it is paused. */
static json_t *make_row(const struct registry_info *info)
{
	bool running = info->alive && info->phase == REGISTRY_RUNNING;
	json_t *status = running ? ask_status(info->name) : NULL, *reason;
	const char *state = json_string_value(json_object_get(status, "state"));
	json_t *row;

	if (!state)
		state = running ? "no answer" : fabrics_word(info);
	reason = value_of(status, "trouble");
	if (!json_is_string(reason)) {
		json_decref(reason);
		reason = text_or_null(*info->reason ? info->reason : NULL);
	}
	row = json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "name",
		info->name, "state", state, "hosts", (int)info->hosts, "switches",
		(int)info->switches, "clock", text_or_null(info->clock), "model_time_us",
		value_of(status, "model_time_us"), "fidelity", fidelity_of(status), "since",
		time_text(info->since_s), "pid", (int)info->pid, "results",
		text_or_null(info->directory), "reason", reason);
	json_decref(status);
	return row;
}

/* Of live fabrics that died there is a row already. */
static bool has_row(const json_t *rows, const char *name)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		if (!strcmp(json_string_value(json_object_get(row, "name")), name))
			return true;
	}
	return false;
}

static json_t *make_left_row(const struct record_left *left)
{
	return json_pack("{s:s, s:s, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:o}", "name", left->name,
		"state", "left over", "hosts", "switches", "clock", "model_time_us", "since", "pid",
		"results", "reason",
		json_sprintf(
			"%zu namespace%s of a run that was killed; the next run or up removes them too",
			left->namespaces, left->namespaces == 1 ? "" : "s"));
}

/* What runs have left that were killed. 0 or -ENOMEM. */
static int add_left(json_t *rows)
{
	struct error why = ERROR_INIT;
	struct record_list left;
	int r = 0;

	if (record_list_left(&left, &why) < 0) {
		cli_error("%s", why.text);
		return 0;
	}
	for (size_t i = 0; i < left.count && !r; i++)
		if (!has_row(rows, left.items[i].name))
			r = json_array_append_new(rows, make_left_row(&left.items[i]));
	free(left.items);
	return r;
}

static bool lives(const json_t *row)
{
	const char *state = json_string_value(json_object_get(row, "state"));

	return strcmp(state, "crashed") && strcmp(state, "failed") && strcmp(state, "left over");
}

/* Reasons are sentences: below the table, and for whom there is one. */
static int print_rows(json_t *rows)
{
	const char *name, *reason;
	json_t *row, *table = json_deep_copy(rows);
	size_t i;
	int r;

	json_array_foreach(table, i, row) json_object_del(row, "reason");
	r = table_print(table, stdout, term_width());
	json_decref(table);
	json_array_foreach(rows, i, row)
	{
		reason = json_string_value(json_object_get(row, "reason"));
		if (!reason)
			continue;
		name = json_string_value(json_object_get(row, "name"));
		printf("\n%s: %s\n", name, reason);
		if (!lives(row))
			printf("  'fabricbed down %s' removes what is left of it\n", name);
	}
	return r;
}

static int run_list(const struct command *c, const struct cli_args *args)
{
	struct registry_info *list = NULL;
	size_t count = 0;
	json_t *rows;
	struct error why = ERROR_INIT;
	int status = fabrics_trust(&why), r = 0;

	(void)c;
	if (status != EXIT_WELL)
		cli_error("%s", why.text);
	else
		status = fabrics_list(&list, &count);
	if (status != EXIT_WELL)
		return status;
	rows = json_array();
	for (size_t i = 0; i < count && !r; i++)
		r = json_array_append_new(rows, make_row(&list[i]));
	if (!r)
		r = add_left(rows);
	if (!r && cli_value(c, args, "json"))
		print_json(rows, stdout);
	else if (!r && json_array_size(rows))
		r = print_rows(rows);
	else if (!r)
		printf("no fabric%s is up; 'fabricbed up FILE' brings one up\n",
			geteuid() ? " of yours" : "");
	json_decref(rows);
	registry_list_free(list, count);
	if (r < 0)
		cli_error("out of memory");
	return r < 0 ? EXIT_RUN : EXIT_WELL;
}

const struct command cmd_list = {
	.name = "list",
	.operands = "",
	.summary = "list the live fabrics",
	.details =
		"A row a fabric: running, paused, stopped, starting, failed, or crashed, and then why. What has\n"
		"crashed stays listed until it is taken down. Namespaces of a `run` that was killed are left over\n"
		"until the next run, up or down removes them. Each user sees their own; root's are root's alone.",
	.options = options,
	.operands_max = 0,
	.run = run_list,
};
