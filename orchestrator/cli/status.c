/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cli/fidelity_text.h"
#include "cli/table.h"

/* The value at a path of two keys at most; NULL: none. */
static const json_t *look(const json_t *s, const char *key, const char *inner)
{
	const json_t *value = json_object_get(s, key);

	return inner ? json_object_get(value, inner) : value;
}

static const char *word(const json_t *s, const char *key, const char *inner)
{
	const char *text = json_string_value(look(s, key, inner));

	return text ? text : "?";
}

static json_int_t count(const json_t *s, const char *key, const char *inner)
{
	return (json_int_t)json_number_value(look(s, key, inner));
}

static bool is_state(const json_t *s, const char *state)
{
	return !strcmp(word(s, "state", NULL), state);
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
	const char *clock = word(s, "clock", NULL);
	double slowdown = json_number_value(look(s, "slowdown", NULL));

	printf("%s: %s on the %s clock", word(s, "name", NULL), word(s, "state", NULL), clock);
	if (slowdown > 0 && slowdown != 1)
		printf(", %g times slower than real time", slowdown);
	printf(", process %" JSON_INTEGER_FORMAT ", ", count(s, "pid", NULL));
	print_up(json_number_value(look(s, "up_s", NULL)));
	puts("\n");
	if (is_state(s, "failed"))
		printf("  FAILED      %s\n", word(s, "reason", NULL));
	if (look(s, "trouble", NULL))
		printf("  TROUBLE     %s\n", word(s, "trouble", NULL));
}

static void print_dropped(const json_t *dropped)
{
	json_int_t sum = 0;
	const json_t *value;
	const char *reason, *between = ": ";

	json_object_foreach((json_t *)dropped, reason, value) sum += json_integer_value(value);
	printf("  dropped     %" JSON_INTEGER_FORMAT, sum);
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
	char time[TABLE_TIME];

	printf("  scenario    %s\n", word(s, "scenario", NULL));
	printf("  model time  %s\n", table_time(time, look(s, "model_time_us", NULL)));
	printf("  fabric      " N " hosts, " N " switches, " N " links\n",
		count(s, "nodes", "hosts"), count(s, "nodes", "switches"), count(s, "links", NULL));
	printf("  flows       " N " of " N " finished\n", count(s, "flows", "done"),
		count(s, "flows", "count"));
	printf("  packets     " N " sent, " N " delivered, " N " on the way; " N " marked, " N
	       " trimmed\n",
		count(s, "packets", "sent"), count(s, "packets", "delivered"),
		count(s, "packets", "in_flight"), count(s, "packets", "marked"),
		count(s, "packets", "trimmed"));
	print_dropped(look(s, "packets", "dropped"));
	printf("  faults      " N " in force\n", count(s, "faults", NULL));
}

/* Of the wall clock: whether numbers are to be believed, and if not, what would make them so. */
static void print_fidelity(const json_t *f)
{
	struct fidelity_text text;

	if (!f)
		return;
	fidelity_text(&text, f);
	printf("  fidelity    %s\n", text.now);
	if (*text.remedy)
		printf("              %s\n", text.remedy);
	printf("              %s\n", text.late);
	printf("              %s\n", text.load);
}

void status_print_verdict(const json_t *f)
{
	struct fidelity_text text;

	if (!f)
		return;
	fidelity_text(&text, f);
	printf("\n%s\n%s\n", text.now, text.late);
	if (*text.remedy)
		printf("%s\n", text.remedy);
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
	const char *name = word(s, "name", NULL);

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
	if (count(s, "faults", NULL))
		hint(name, "heal", "all", "end the faults that are in force");
	hint(name, "down", "", "write the results and take it down");
}

void status_print(const json_t *s)
{
	print_title(s);
	print_counts(s);
	print_fidelity(look(s, "fidelity", NULL));
	if (json_is_string(look(s, "directory", NULL)))
		printf("  results     %s\n", word(s, "directory", NULL));
	print_hints(s);
}
