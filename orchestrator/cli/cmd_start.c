/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "report/number.h"
#include "daemon/server.h"

/* All of a file that fits a request, as a string; NULL after a message. */
static json_t *read_scenario(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(CONTROL_LINE_MAX) : NULL;
	size_t length = 0;
	json_t *string = NULL;
	int error = errno;

	if (text) {
		length = fread(text, 1, CONTROL_LINE_MAX, f);
		error = ferror(f) ? errno : 0;
	}
	if (!text || error)
		cli_error("can't read %s: %s", path, strerror(error));
	else if (length == CONTROL_LINE_MAX)
		cli_error("%s is too long to be sent: a request has at most %d bytes", path,
			CONTROL_LINE_MAX);
	else if (memchr(text, 0, length) || !(string = json_stringn(text, length)))
		cli_error("%s is no UTF-8 text", path);
	if (f)
		fclose(f);
	free(text);
	return string;
}

/* The workload that such a file lists, by the end of its name; NULL: it is a scenario. */
static const char *list_kind(const char *path)
{
	const char *end = strrchr(path, '.');

	if (end && !strcmp(end, ".csv"))
		return "flows";
	return end && !strcmp(end, ".goal") ? "goal" : NULL;
}

/* A workload of that list, which the fabric reads: flows are too many for a request. */
static json_t *list_scenario(const char *kind, const char *path)
{
	return json_pack("{s:[{s:{s:s}}]}", "workload", kind, "file", path);
}

/* The text of what is to be started; keys get where it is. NULL after a message. */
static json_t *read_workload(const char *path, json_t *keys)
{
	const char *kind = list_kind(path);
	char *whole = realpath(path, NULL), *text;
	json_t *list, *scenario;

	if (!whole) {
		cli_error("can't read %s: %s", path, strerror(errno));
		return NULL;
	}
	json_object_set_new(keys, "path", json_string(whole));
	list = kind ? list_scenario(kind, whole) : NULL;
	text = list ? json_dumps(list, 0) : NULL;
	scenario = kind ? json_string(text) : read_scenario(path);
	if (kind && !scenario)
		cli_error("the path %s is no UTF-8", whole);
	json_decref(list);
	free(text);
	free(whole);
	return scenario;
}

/* The keys of the request; NULL after a message. */
static json_t *make_keys(const char *path)
{
	json_t *keys = json_object(), *scenario, *words;

	if (!path)
		return keys;
	words = client_words(&path, 1);
	scenario = words ? read_workload(path, keys) : NULL;
	if (!scenario) {
		json_decref(words);
		json_decref(keys);
		return NULL;
	}
	json_object_set_new(keys, "scenario", scenario);
	json_object_set(keys, "name", json_array_get(words, 0));
	json_decref(words);
	return keys;
}

static void print_started(const struct cli_args *args, const json_t *result)
{
	json_int_t first = json_integer_value(json_object_get(result, "first_flow"));
	json_int_t flows = json_integer_value(json_object_get(result, "flows"));
	char time[NUMBER_TEXT];

	if (flows == 1)
		printf("flow %" JSON_INTEGER_FORMAT, first);
	else
		printf("%" JSON_INTEGER_FORMAT
		       " flows, the first of them number %" JSON_INTEGER_FORMAT ",",
			flows, first);
	printf(" since %s; 'fabricbed show %s flows' follows\n",
		number_moment(time, json_object_get(result, "since_us")), args->positional[0]);
}

static int run_start(const struct command *c, const struct cli_args *args)
{
	json_t *keys = make_keys(args->positional_count > 1 ? args->positional[1] : NULL);

	return keys ? client_command(c, args, keys, print_started) : EXIT_INPUT;
}

const struct command cmd_start = {
	.name = "start",
	.operands = "NAME [FILE]",
	.summary = "start a workload in a live fabric",
	.details =
		"Starts the workload of the fabric's own scenario, or the workload of FILE, whose other keys\n"
		"are ignored. FILE may also be a list: of flows if its name ends with .csv, of operations\n"
		"of ranks if it ends with .goal. It runs under the fabric's transports, beside the programs\n"
		"that are there. Its flows are among the results. Start times in it count from now. Returns\n"
		"when it has begun.\n\n"
		"  fabricbed start hello\n"
		"  fabricbed start hello incast.yaml\n"
		"  fabricbed start hello flows.csv\n"
		"  fabricbed start hello training.goal",
	.options = client_options,
	.operands_min = 1,
	.operands_max = 2,
	.run = run_start,
};
