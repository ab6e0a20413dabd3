/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands that hold and move model time. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "base/json.h"
#include "report/number.h"

static const struct cli_option until_options[] = {
	{"limit", 'l', "TIME", "give up at that model time; exit status 1 tells"},
	CLIENT_JSON,
	{0},
};

/* Who stops waiting wants to look at the fabric: it does not run on. */
static int interrupted(const char *name)
{
	json_t *result = NULL;
	char time[NUMBER_TEXT];
	int status = client_request(name, "pause", NULL, &result);

	if (status == EXIT_WELL)
		cli_error("interrupted: %s paused at %s", name,
			number_moment(time, json_object_get(result, "model_time_us")));
	json_decref(result);
	return EXIT_RUN;
}

/* Asks, and waits for the answer or Ctrl-C. */
static int wait_for(const char *name, const char *verb, json_t *keys, json_t **ret_result)
{
	struct error why = ERROR_INIT;
	struct client *c = NULL;
	int stop_fd = client_catch_signals(), status = client_open(&c, name, &why);

	if (status == EXIT_WELL)
		status = client_ask(c, verb, keys, stop_fd, ret_result, &why);
	else
		json_decref(keys);
	client_release_signals(stop_fd);
	if (status == CLIENT_STOPPED)
		status = interrupted(name);
	else if (status != EXIT_WELL)
		cli_error("%s", why.text);
	client_close(c);
	return status;
}

/* What an event's detail holds, in the order in which it came: "port h0->tor0.0, reason buffer". */
static void print_detail(const json_t *detail)
{
	const char *key, *between = " (";
	const json_t *value;
	char time[NUMBER_TEXT];

	json_object_foreach((json_t *)detail, key, value)
	{
		size_t length = strlen(key);

		if (length > 3 && !strcmp(key + length - 3, "_us"))
			printf("%s%.*s %s", between, (int)length - 3, key,
				number_moment(time, value));
		else if (json_is_string(value))
			printf("%s%s %s", between, key, json_string_value(value));
		else if (json_is_number(value))
			printf("%s%s %.12g", between, key, json_number_value(value));
		else
			continue;
		between = ", ";
	}
	if (*between == ',')
		putchar(')');
}

static void print_stop(const char *name, const json_t *result, const char *stopped)
{
	char time[NUMBER_TEXT];

	printf("%s at %s", name, number_moment(time, json_object_get(result, "model_time_us")));
	if (!strcmp(stopped, "limit"))
		fputs(": the limit, and nothing came", stdout);
	else if (!strcmp(stopped, "idle"))
		fputs(": it did not come, and nothing is left to happen", stdout);
	else if (strcmp(stopped, "time"))
		printf(": %s", stopped);
	print_detail(json_object_get(result, "detail"));
	putchar('\n');
}

/* Sends the command's verb, and waits until the fabric has stopped; takes the reference to keys. */
static int clock_wait(const struct command *c, const struct cli_args *args, json_t *keys)
{
	json_t *result = NULL;
	const char *stopped;
	int status = wait_for(args->positional[0], c->name, keys, &result);

	if (status != EXIT_WELL)
		return status;
	stopped = json_string_value(json_object_get(result, "stopped"));
	if (!stopped)
		stopped = "time";
	if (cli_value(c, args, "json"))
		print_json(result, stdout);
	else
		print_stop(args->positional[0], result, stopped);
	if (!strcmp(stopped, "limit") || !strcmp(stopped, "idle"))
		status = EXIT_EXPECT;
	json_decref(result);
	return status;
}

static void print_paused(const struct cli_args *args, const json_t *result)
{
	char time[NUMBER_TEXT];

	printf("%s paused at %s\n", args->positional[0],
		number_moment(time, look(result, "model_time_us")));
}

static int run_pause(const struct command *c, const struct cli_args *args)
{
	return client_command(c, args, NULL, print_paused);
}

const struct command cmd_pause = {
	.name = "pause",
	.operands = "NAME",
	.summary = "stop the model time of a live fabric",
	.details =
		"Nothing moves until 'go', 'step' or 'until'. What programs send meanwhile waits in their hosts,\n"
		"and their timers go on. A 'step' or 'until' that waits elsewhere ends.",
	.options = client_options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_pause,
};

static void print_going(const struct cli_args *args, const json_t *result)
{
	char time[NUMBER_TEXT];

	printf("%s goes on from %s\n", args->positional[0],
		number_moment(time, look(result, "model_time_us")));
}

static int run_go(const struct command *c, const struct cli_args *args)
{
	return client_command(c, args, NULL, print_going);
}

const struct command cmd_go = {
	.name = "go",
	.operands = "NAME",
	.summary = "let a paused fabric continue",
	.details =
		"It goes on until it is paused again: at the pace of the wall clock, or, on the stepped clock, as\n"
		"fast as the machine can.",
	.options = client_options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_go,
};

static int run_step(const struct command *c, const struct cli_args *args)
{
	json_t *words = client_words(args->positional + 1, 1), *keys;

	if (!words)
		return EXIT_INPUT;
	keys = json_pack("{s:O}", "time", json_array_get(words, 0));
	json_decref(words);
	return clock_wait(c, args, keys);
}

const struct command cmd_step = {
	.name = "step",
	.operands = "NAME TIME",
	.summary = "let a paused fabric run for a span of model time",
	.details = "Returns when it is there, and paused again. Ctrl-C pauses it where it is.\n\n"
		   "  fabricbed step hello 10us",
	.options = client_options,
	.operands_min = 2,
	.operands_max = 2,
	.run = run_step,
};

/* An event may be two words: "drop buffer". A time begins with a digit, no event does. */
static int run_until(const struct command *c, const struct cli_args *args)
{
	const char *first = args->positional[1];
	const char *second = args->positional_count > 2 ? args->positional[2] : "";
	const char *limit = cli_value(c, args, "limit");
	const char *key = isdigit((unsigned char)*first) ? "time" : "event";
	json_t *keys = json_pack("{s:s++}", key, first, *second ? " " : "", second);

	if (keys && limit && json_object_set_new(keys, "limit", json_string(limit)) < 0) {
		json_decref(keys);
		keys = NULL;
	}
	if (!keys) {
		cli_error("until: that is no UTF-8");
		return EXIT_INPUT;
	}
	return clock_wait(c, args, keys);
}

const struct command cmd_until = {
	.name = "until",
	.operands = "NAME TIME|drop|mark|trim|pause|flow|flows|fault|reroute|deadlock",
	.summary = "let a fabric run until a model time or an event",
	.details =
		"Returns when the time has come or the event has happened, and the fabric is paused there: a\n"
		"packet is dropped (for one reason, if it is named), marked or trimmed; a queue is paused; a flow\n"
		"ends, or all flows have; a fault begins or ends by the timetable; routes change; queues wait for\n"
		"each other in a circle. Ctrl-C pauses it where it is. Exit status 1: it did not come,\n"
		"--limit did first, or nothing is left to happen.\n\n"
		"  fabricbed until hello 250us\n"
		"  fabricbed until hello drop buffer --limit 1ms",
	.options = until_options,
	.operands_min = 2,
	.operands_max = 3,
	.run = run_until,
};
