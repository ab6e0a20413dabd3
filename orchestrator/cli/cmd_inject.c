/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "faults/fault_kind.h"
#include "report/number.h"

#define TARGETS_SHOWN 4
#define DEED          3 /* where it stands among the operands, behind NAME link GLOB */

static void print_targets(const json_t *targets)
{
	size_t count = json_array_size(targets), shown = count;

	if (count > TARGETS_SHOWN) {
		shown = TARGETS_SHOWN - 1;
		printf(" %zu targets (", count);
	}
	for (size_t i = 0; i < shown; i++)
		printf("%s%s",
			i               ? ", "
			: count > shown ? ""
					: " ",
			json_string_value(json_array_get(targets, i)));
	if (shown < count)
		fputs(", ...)", stdout);
}

/* Where what is done begins: the reply has what is picked. */
static size_t find_deed(const struct cli_args *args)
{
	static const char *const words[] = {"pick", "per", "skip"};
	size_t deed = DEED;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(args->positional[deed], words[i]))
			deed += 2;
	return deed;
}

/* The words without "for TIME": the reply has its end. */
static void print_deed(const struct cli_args *args, bool several)
{
	size_t end = args->positional_count, deed = find_deed(args);
	const char *first = args->positional[deed];

	if (end > deed + 2 && !strcmp(args->positional[end - 2], "for"))
		end -= 2;
	for (size_t i = 0; i < FAULT_KINDS; i++)
		if (!strcmp(fault_keys[i].name, first))
			first = several ? fault_kinds[i].several : fault_kinds[i].one;
	printf(" %s", first);
	for (size_t i = deed + 1; i < end; i++)
		printf(" %s", args->positional[i]);
}

static void print_fault(const struct cli_args *args, const json_t *result)
{
	const json_t *targets = json_object_get(result, "targets");
	const json_t *until = json_object_get(result, "until_us");
	char time[NUMBER_TEXT];

	printf("fault %" JSON_INTEGER_FORMAT ":",
		json_integer_value(json_object_get(result, "fault")));
	print_targets(targets);
	print_deed(args, json_array_size(targets) > 1);
	printf(" since %s", number_moment(time, json_object_get(result, "since_us")));
	if (json_is_number(until))
		printf(", until %s", number_moment(time, until));
	putchar('\n');
}

static int run_inject(const struct command *c, const struct cli_args *args)
{
	return client_words_command(c, args, print_fault);
}

const struct command cmd_inject = {
	.name = "inject",
	.operands = "NAME link|switch|host GLOB [pick N [per WHAT] [skip N]] DEED [for TIME]",
	.summary = "inject a fault into a live fabric",
	.details =
		"Returns when the fault is in force, and says since which model time and what its number is.\n"
		"GLOB is the name of a link, a switch or a host, or a pattern over such names. DEED is what the\n"
		"scenario's 'faults' know under 'do': of a link down, rate 25%, delay 5us, loss 1%, errors 1e-6,\n"
		"flaky every 100us last 20us, gilbert enter 1% leave 10%; of a switch down; of a host pause 3.\n"
		"With 'pick' it befalls so many of what matches, drawn by the scenario's seed: 'pick 2 per pod'.\n"
		"Faults with the same pattern pick the same; 'skip N' leaves out the first N of them.\n"
		"With 'for TIME' it ends by itself after so much model time, else with 'fabricbed heal'.\n\n"
		"  fabricbed inject hello link tor0.0-agg0.1 down\n"
		"  fabricbed inject hello link 'agg*-core0' loss 1% for 5s\n"
		"  fabricbed inject hello link 'agg*-core*' pick 1 per pod rate 10%\n"
		"  fabricbed inject hello switch core1 down for 10ms",
	.options = client_options,
	.operands_min = 4,
	.operands_max = CLI_POSITIONAL_MAX,
	.run = run_inject,
};
