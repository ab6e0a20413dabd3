/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/diag.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/status.h"
#include "cli/term.h"
#include "report/fidelity_text.h"
#include "base/json.h"
#include "report/number.h"
#include "report/table.h"

static const struct cli_option options[] = {
	{"match", 'm', "GLOB", "only rows whose name, in the first column, fits"},
	CLIENT_JSON,
	{0},
};

static const char *const whats[] = {
	"nodes", "ports", "queues", "flows", "routes", "roles", "balance", "faults", "summary"};
#define WHATS (sizeof(whats) / sizeof(whats[0]))

static bool known(const char *what)
{
	char hint[DIAG_HINT];

	for (size_t i = 0; i < WHATS; i++)
		if (!strcmp(whats[i], what))
			return true;
	cli_error("show: there is no '%s' to show%s", what,
		diag_hint(hint, what, whats, WHATS, "; see 'fabricbed show --help'"));
	return false;
}

static int print_table(const json_t *rows)
{
	if (table_print(rows, stdout, term_width()) == 0)
		return EXIT_WELL;
	cli_error("out of memory");
	return EXIT_RUN;
}

static int print_summary(const json_t *summary)
{
	const json_t *expect = json_object_get(summary, "expect");
	json_t *rows = table_flatten(summary);
	int status = print_table(rows);

	if (!rows) {
		cli_error("out of memory");
		status = EXIT_RUN;
	}
	if (status == EXIT_WELL && json_array_size(expect)) {
		putchar('\n');
		status = print_table(expect);
	}
	json_decref(rows);
	return status;
}

static int print_rows(const char *name, const char *what, const char *match, const json_t *result)
{
	const json_t *rows = json_object_get(result, "rows");
	char time[NUMBER_TEXT];
	int status;

	printf("%s at %s", name, number_moment(time, json_object_get(result, "model_time_us")));
	if (json_object_get(result, "until_us"))
		printf(" to %s", number_moment(time, json_object_get(result, "until_us")));
	printf(" of model time: ");
	if (!json_array_size(rows)) {
		printf("no %s%s%s%s\n", what, match ? " that fit '" : "", match ? match : "",
			match ? "'" : "");
		return EXIT_WELL;
	}
	printf("%s\n\n", what);
	status = print_table(rows);
	if (look(result, "fidelity"))
		putchar('\n');
	fidelity_print(look(result, "fidelity"), false, FIDELITY_LATE, stdout);
	return status;
}

static int show_status(const char *name, bool as_json)
{
	json_t *result = NULL;
	int status = client_request(name, "status", NULL, &result);

	if (status != EXIT_WELL)
		return status;
	if (as_json)
		print_json(result, stdout);
	else
		status_print(result);
	json_decref(result);
	return EXIT_WELL;
}

/* All of a table, be it by pages: those that follow are added to the first one's rows. */
static int request_rows(const char *name, json_t *keys, json_t **ret)
{
	json_t *whole = NULL, *page = NULL;
	json_int_t next = 0;
	int status;

	do {
		json_object_set_new(keys, "from", json_integer(next));
		status = client_request(name, "show", json_incref(keys), &page);
		if (status != EXIT_WELL)
			break;
		next = json_integer_value(json_object_get(page, "next"));
		if (whole) {
			json_array_extend(
				json_object_get(whole, "rows"), json_object_get(page, "rows"));
			json_object_set(whole, "until_us", json_object_get(page, "model_time_us"));
		} else {
			whole = json_incref(page);
			json_object_del(whole, "next");
		}
		json_decref(page);
	} while (next);
	json_decref(keys);
	if (status != EXIT_WELL)
		json_decref(whole);
	else
		*ret = whole;
	return status;
}

static int show_what(const char *name, const char *what, const char *match, bool as_json)
{
	const char *const words[] = {what, match};
	json_t *list = client_words(words, match ? 2 : 1), *keys, *result = NULL;
	const json_t *summary;
	int status;

	if (!list)
		return EXIT_INPUT;
	keys = json_pack("{s:O}", "what", json_array_get(list, 0));
	if (match)
		json_object_set(keys, "match", json_array_get(list, 1));
	json_decref(list);
	status = request_rows(name, keys, &result);
	if (status != EXIT_WELL)
		return status;
	summary = json_object_get(result, "summary");
	if (as_json)
		print_json(summary ? summary : result, stdout);
	else if (summary)
		status = print_summary(summary);
	else
		status = print_rows(name, what, match, result);
	json_decref(result);
	return status;
}

static int run_show(const struct command *c, const struct cli_args *args)
{
	const char *name = args->positional[0], *match = cli_value(c, args, "match");
	const char *what = args->positional_count > 1 ? args->positional[1] : NULL;
	bool as_json = cli_value(c, args, "json") != NULL;

	if (what && !known(what))
		return EXIT_INPUT;
	if (match && (!what || !strcmp(what, "summary"))) {
		cli_error("show: --match picks rows of a table: nodes, ports, queues, flows, ...");
		return EXIT_INPUT;
	}
	return what ? show_what(name, what, match, as_json) : show_status(name, as_json);
}

const struct command cmd_show = {
	.name = "show",
	.operands = "NAME [nodes|ports|queues|flows|routes|roles|balance|faults|summary]",
	.summary = "show the state of a live fabric",
	.details =
		"Without a word: its state, clock, counts, how faithful it is, and what to type next. The words\n"
		"print a table: of hosts and switches, of both ends of each link, of queues that were in use,\n"
		"of flows, of each node's way to each host, of what LLDP found, of faults that are to come, in\n"
		"force or over; 'summary' is what summary.json would be now. A table's first line says which\n"
		"model time it is of.\n\n"
		"  fabricbed show hello\n"
		"  fabricbed show hello ports --match 'tor0.*'\n"
		"  fabricbed show hello flows --json",
	.options = options,
	.operands_min = 1,
	.operands_max = 2,
	.run = run_show,
};
