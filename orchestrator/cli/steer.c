/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/steer.h"

#include <stdio.h>
#include <string.h>
#include "cli/client.h"
#include "report/json.h"
#include "report/number.h"

int steer_now(const struct command *c, const struct cli_args *args, const char *done)
{
	json_t *result = NULL;
	char time[NUMBER_TEXT];
	int status = client_request(args->positional[0], c->name, NULL, &result);

	if (status != EXIT_WELL)
		return status;
	if (cli_value(c, args, "json"))
		print_json(result, stdout);
	else
		printf("%s %s %s\n", args->positional[0], done,
			number_moment(time, json_object_get(result, "model_time_us")));
	json_decref(result);
	return EXIT_WELL;
}

/* Whoever stops waiting wants to look at what there is: the fabric does not run on behind their back. */
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

int steer_wait(const struct command *c, const struct cli_args *args, json_t *keys)
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
