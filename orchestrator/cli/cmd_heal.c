/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "report/number.h"

static void print_healed(const struct cli_args *args, const json_t *result)
{
	const json_t *healed = json_object_get(result, "healed"), *number;
	size_t count = json_array_size(healed), i;
	char time[NUMBER_TEXT];

	(void)args;
	if (!count) {
		puts("no fault is in force");
		return;
	}
	printf("healed fault%s", count == 1 ? "" : "s");
	json_array_foreach(healed, i, number)
		printf("%s %" JSON_INTEGER_FORMAT, i ? "," : "", json_integer_value(number));
	printf(" at %s\n", number_moment(time, json_object_get(result, "since_us")));
}

static int run_heal(const struct command *c, const struct cli_args *args)
{
	return client_words_command(c, args, print_healed);
}

const struct command cmd_heal = {
	.name = "heal",
	.operands = "NAME all|fault|link|switch|host [WHICH]",
	.summary = "end faults of a live fabric",
	.details =
		"Ends the faults that are in force: all of them, one by the number that 'inject' and 'show NAME\n"
		"faults' tell, or those of a link, a switch or a host, by name or pattern. Returns when they are\n"
		"over, and says since which model time.\n\n"
		"  fabricbed heal hello all\n"
		"  fabricbed heal hello fault 3\n"
		"  fabricbed heal hello link 'agg*-core0'",
	.options = client_options,
	.operands_min = 2,
	.operands_max = 3,
	.run = run_heal,
};
