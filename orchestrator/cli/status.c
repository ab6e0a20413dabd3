/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "report/fidelity_text.h"
#include "base/json.h"
#include "report/number.h"

static const char *word(const json_t *s, const char *key)
{
	const char *text = look_text(s, key);

	return text ? text : "?";
}

static bool is_state(const json_t *s, const char *state)
{
	return !strcmp(word(s, "state"), state);
}

static void print_up(double seconds)
{
	if (seconds < 120)
		printf("up %.0f s", seconds);
	else if (seconds < 7200)
		printf("up %.0f min", seconds / 60);
	else
		printf("up %.1f h", seconds / 3600);
}

static void print_title(const json_t *s)
{
	const char *clock = word(s, "clock");
	double slowdown = look_number(s, "clock_slowdown");

	printf("%s: %s on the %s clock", word(s, "name"), word(s, "state"), clock);
	if (slowdown > 0 && slowdown != 1)
		printf(", %g times slower than real time", slowdown);
	printf(", process %" JSON_INTEGER_FORMAT ", ", look_count(s, "pid"));
	print_up(look_number(s, "up_s"));
	puts("\n");
	if (is_state(s, "failed"))
		printf("  FAILED      %s\n", word(s, "reason"));
	if (look(s, "trouble"))
		printf("  TROUBLE     %s\n", word(s, "trouble"));
}

static void print_dropped(const json_t *dropped)
{
	const char *reason, *between = ": ";
	const json_t *value;

	printf("  dropped     %" JSON_INTEGER_FORMAT, look_count(dropped, ""));
	json_object_foreach((json_t *)dropped, reason, value)
	{
		if (!json_integer_value(value))
			continue;
		printf("%s%s %" JSON_INTEGER_FORMAT, between, reason, json_integer_value(value));
		between = ", ";
	}
	putchar('\n');
}

#define N "%" JSON_INTEGER_FORMAT

static void print_counts(const json_t *s)
{
	char time[NUMBER_TEXT];

	printf("  scenario    %s\n", word(s, "scenario"));
	printf("  model time  %s\n", number_moment(time, look(s, "model_time_us")));
	printf("  fabric      " N " hosts, " N " switches, " N " links\n",
		look_count(s, "nodes.hosts"), look_count(s, "nodes.switches"),
		look_count(s, "links"));
	printf("  flows       " N " of " N " finished\n", look_count(s, "flows.done"),
		look_count(s, "flows.count"));
	printf("  packets     " N " sent, " N " delivered, " N " on the way; " N " marked, " N
	       " trimmed\n",
		look_count(s, "packets.sent"), look_count(s, "packets.delivered"),
		look_count(s, "packets.in_flight"), look_count(s, "packets.marked"),
		look_count(s, "packets.trimmed"));
	print_dropped(look(s, "packets.dropped"));
	printf("  faults      " N " in force\n", look_count(s, "faults"));
}

/* A command to type, the fabric's name behind its first word. */
static void hint(const char *name, const char *command, const char *rest, const char *what)
{
	char line[96];

	snprintf(line, sizeof(line), "fabricbed %s %s%s%s", command, name, *rest ? " " : "", rest);
	printf("  %-50s  %s\n", line, what);
}

static void print_hints(const json_t *s)
{
	const char *name = word(s, "name");

	puts("\nnext:");
	if (is_state(s, "failed")) {
		hint(name, "down", "", "clean up");
		return;
	}
	hint(name, "show", "ports", "each port; also nodes, queues, flows, routes, roles, faults");
	if (is_state(s, "paused")) {
		hint(name, "step", "10us", "let so much model time pass");
		hint(name, "until", "drop", "go on until something happens");
		hint(name, "go", "", "go on");
	} else {
		hint(name, "top", "", "keep looking");
		hint(name, "exec", "HOST -- ping HOST", "run a program in a host");
		hint(name, "inject", "link 'GLOB' loss 1% for 5s", "break something");
	}
	if (look_count(s, "faults"))
		hint(name, "heal", "all", "end the faults that are in force");
	hint(name, "down", "", "write the results and take it down");
}

void status_print(const json_t *s)
{
	print_title(s);
	print_counts(s);
	fidelity_print(look(s, "fidelity"), false, FIDELITY_LOAD, stdout);
	if (json_is_string(look(s, "directory")))
		printf("  results     %s\n", word(s, "directory"));
	print_hints(s);
}
