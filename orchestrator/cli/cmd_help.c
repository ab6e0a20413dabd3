/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/metrics.h"
#include "cli/cli.h"
#include "cli/help_scenario.h"
#include "scenario/scenario.h"

static const struct cli_option options[] = {
	{"man", 0, NULL, "print the man page's source; of 'scenario' that of section 5"},
	{"completion", 0, NULL, "print the completion for bash"},
	{"json", 0, NULL, "of 'scenario': the keys with their values and defaults as JSON"},
	{0},
};

static const char *const exit_texts[] = {
	[EXIT_WELL] = "all went well",
	[EXIT_EXPECT] = "an expectation of the scenario failed",
	[EXIT_INPUT] = "the command line or the scenario is wrong; nothing was created",
	[EXIT_MACHINE] = "the machine lacks something; the message names the remedy",
	[EXIT_RUN] = "the run failed",
};
#define EXIT_TEXTS (sizeof(exit_texts) / sizeof(exit_texts[0]))

#define OPERANDS_WIDTH 16 /* in the list of commands */

static void print_option(const struct cli_option *o)
{
	char left[64];

	snprintf(left, sizeof(left), "%s%c%s--%s%s%s", o->letter ? "-" : " ",
		o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
		o->argument ? " " : "", o->argument ? o->argument : "");
	printf("  %-30s %s\n", left, o->help);
}

/* Of many operands only the first: the command's own help has them all. */
static void print_line(const struct command *c)
{
	char operands[OPERANDS_WIDTH + 1];
	int first = (int)strcspn(c->operands, " "), choice = (int)strcspn(c->operands, "|");

	if (strlen(c->operands) <= OPERANDS_WIDTH)
		snprintf(operands, sizeof(operands), "%s", c->operands);
	else if (first < choice)
		snprintf(operands, sizeof(operands), "%.*s ...", first, c->operands);
	else
		snprintf(operands, sizeof(operands), "%.*s|...]", choice, c->operands);
	printf("  %-9s %-*s %s\n", c->name, OPERANDS_WIDTH, operands, c->summary);
}

static void print_overview(const struct command *const *commands)
{
	puts("fabricbed brings up a data-centre fabric from one scenario file, runs a workload over it,\n"
	     "or leaves it up for programs of yours, injects faults on a schedule or on command, and reports the results.\n\n"
	     "usage: fabricbed COMMAND [OPTION]... [OPERAND]...\n");
	for (const struct command *const *c = commands; *c; c++)
		print_line(*c);
	puts("\n'fabricbed COMMAND --help' tells a command's options. Exit status:");
	for (size_t i = 0; i < EXIT_TEXTS; i++)
		printf("  %zu  %s\n", i, exit_texts[i]);
}

void cli_print_help(const struct command *const *commands, const struct command *c)
{
	if (!c) {
		print_overview(commands);
		return;
	}
	printf("usage: fabricbed %s%s%s%s\n\n%s.\n", c->name,
		c->options->name ? " [OPTION]..." : "", *c->operands ? " " : "", c->operands,
		c->summary);
	if (*c->details)
		printf("\n%s\n", c->details);
	if (c->options->name)
		puts("");
	for (const struct cli_option *o = c->options; o->name; o++)
		print_option(o);
}

static void man_command(const struct command *c)
{
	printf(".SS \"%s %s\"\n", c->name, c->operands);
	cli_man_text(c->summary);
	if (*c->details) {
		puts(".PP");
		cli_man_text(c->details);
	}
	for (const struct cli_option *o = c->options; o->name; o++) {
		puts(".TP");
		if (o->letter)
			printf("\\fB\\-%c\\fR, ", o->letter);
		printf("\\fB\\-\\-%s\\fR%s%s%s\n", o->name, o->argument ? " \\fI" : "",
			o->argument ? o->argument : "", o->argument ? "\\fR" : "");
		cli_man_text(o->help);
	}
}

static void print_man(const struct command *const *commands)
{
	printf(".TH FABRICBED 8 \"\" \"fabricbed %s\" \"System administration\"\n",
		FABRICBED_VERSION);
	puts(".SH NAME\nfabricbed \\- a data\\-centre fabric from one scenario file\n.SH SYNOPSIS");
	puts(".B fabricbed\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n.SH DESCRIPTION");
	cli_man_text(
		"Brings up a fabric of hosts, switches and links on one machine, as network namespaces, veth "
		"pairs and XDP programs, or inside the process; runs a workload over it under a transport, or "
		"programs of yours; injects faults on a schedule or on command; and reports the results. On the "
		"stepped clock results depend on the scenario and its seed alone, never on the machine; on the "
		"wall clock every result says how faithful it is.");
	puts(".SH COMMANDS");
	for (const struct command *const *c = commands; *c; c++)
		man_command(*c);
	puts(".SH EXIT STATUS");
	for (size_t i = 0; i < EXIT_TEXTS; i++) {
		printf(".TP\n%zu\n", i);
		cli_man_text(exit_texts[i]);
	}
	puts(".SH FILES\n.TP\n\\fIruns/NAME\\-N/\\fR\nresults of a run: summary.json, flows.csv, ports.csv, queues.csv, "
	     "events.jsonl, scenario.yaml\n.TP\n\\fI/run/fabricbed/NAME\\fR\nheld by the process that a "
	     "fabric's kernel objects belong to\n.TP\n\\fI/run/fabricbed/live/NAME/control\\fR\nthe control "
	     "socket of a live fabric: a JSON object a line\n.SH SEE ALSO\n.BR ip\\-netns (8),\n.BR tc\\-bpf (8)");
}

static void completion_commands(const struct command *const *commands)
{
	for (const struct command *const *c = commands; *c; c++)
		printf("%s%s", c == commands ? "" : " ", (*c)->name);
}

/* The words of "kernel|inline"; those in capitals stand for something else. */
static void completion_choice(const char *choice, size_t length)
{
	const char *end = choice + length;

	for (size_t n; choice < end; choice += n + 1) {
		n = strcspn(choice, "|");
		if (n > (size_t)(end - choice))
			n = (size_t)(end - choice);
		if (islower((unsigned char)*choice))
			printf("%.*s ", (int)n, choice);
	}
}

static void completion_pattern(const struct command *c, const struct cli_option *o)
{
	printf("\t*:%s:--%s:*", c->name, o->name);
	if (o->letter)
		printf(" | *:%s:-%c:*", c->name, o->letter);
}

/* What may stand after --name or its letter: one of several words, or a path. */
static void completion_value(const struct command *c, const struct cli_option *o)
{
	if (!o->argument)
		return;
	if (strchr(o->argument, '|')) {
		completion_pattern(c, o);
		printf(") words='");
		completion_choice(o->argument, strlen(o->argument));
		puts("' ;;");
	} else if (!strcmp(o->argument, "FILE") || !strcmp(o->argument, "DIR")) {
		completion_pattern(c, o);
		printf(") files=%s ;;\n", *o->argument == 'F' ? "-f" : "-d");
	} else if (!strcmp(o->argument, "KEY=VALUE")) {
		completion_pattern(c, o);
		printf(") compopt -o nospace; words='");
		help_scenario_words();
		puts("' ;;");
	}
}

/* Whether an operand, as in the usage line without brackets, begins with this word alone. */
static bool operand_is(const char *operand, size_t length, const char *word)
{
	return length == strlen(word) && !strncmp(operand, word, length);
}

/* What may stand in the place of an operand, after its quote has been opened; closes it. */
static void completion_operand(
	const struct command *const *commands, const char *operand, size_t length)
{
	if (operand_is(operand, length, "NAME")) {
		puts("'$(ls /run/fabricbed/live \"${XDG_RUNTIME_DIR:-/nonexistent}/fabricbed\" /tmp/fabricbed-$UID -1 2>/dev/null | "
		     "grep -v -e : -e '^$') ;;");
	} else if (operand_is(operand, length, "FILE")) {
		puts("' files=-f ;;");
	} else {
		if (!strncmp(operand, "COMMAND", strlen("COMMAND")))
			completion_commands(commands);
		completion_choice(operand, length);
		puts("' ;;");
	}
}

/* Whether completion_operand() knows anything. */
static bool completes_operand(const char *operand, size_t length)
{
	return memchr(operand, '|', length) || operand_is(operand, length, "NAME") ||
	       operand_is(operand, length, "FILE");
}

static void completion_options(const struct command *c)
{
	printf("words='--help ");
	for (const struct cli_option *o = c->options; o->name; o++)
		printf("--%s ", o->name);
}

/* A line for each operand that is there to complete, and one for what stands elsewhere. */
static void completion_command(const struct command *const *commands, const struct command *c)
{
	const char *s = c->operands;

	for (const struct cli_option *o = c->options; o->name; o++)
		completion_value(c, o);
	for (int nth = 0; *s; nth++) {
		size_t length;

		s += *s == '[';
		length = strcspn(s, " ].");
		if (completes_operand(s, length)) {
			printf("\t*:%s:*:%d) ", c->name, nth);
			completion_options(c);
			completion_operand(commands, s, length);
		}
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	printf("\t*:%s:*) ", c->name);
	completion_options(c);
	puts("' ;;");
}

/* Options that the next word belongs to: it is no operand. */
static void completion_valued(const struct command *const *commands)
{
	const char *between = "\t\t";

	for (const struct command *const *c = commands; *c; c++) {
		for (const struct cli_option *o = (*c)->options; o->name; o++) {
			if (!o->argument)
				continue;
			printf("%s%s:--%s", between, (*c)->name, o->name);
			between = " | ";
			if (o->letter)
				printf(" | %s:-%c", (*c)->name, o->letter);
		}
	}
	/* the shell makes three words of --seed=1 */
	puts(") [[ ${COMP_WORDS[i + 1]} == = ]] || ((i++)) ;;\n"
	     "\t\t*:=) ((i++)) ;;");
}

/* Options where a dash has been typed, else what may stand there beside them. */
static void print_completion(const struct command *const *commands)
{
	puts("_fabricbed()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} words= files= hidden='-*' i nth=0\n"
	     "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	     "\t\tcase ${COMP_WORDS[1]}:${COMP_WORDS[i]} in");
	completion_valued(commands);
	puts("\t\t*:-*) ;;\n\t\t*) ((nth++)) ;;\n\t\tesac\n\tdone\n"
	     "\tcase $COMP_CWORD:${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]}:$nth in");
	printf("\t1:*) words='");
	completion_commands(commands);
	puts("' ;;");
	for (const struct command *const *c = commands; *c; c++)
		completion_command(commands, *c);
	puts("\tesac\n\t[[ $cur == -* ]] && files= hidden=\n"
	     "\tmapfile -t COMPREPLY < <(compgen $files -W \"$words\" -X \"$hidden\" -- \"$cur\")\n}\n"
	     "complete -o filenames -F _fabricbed fabricbed");
}

/* They are too many for a list. */
static void print_sizes(void)
{
	const char *between = "";

	printf("  %-28s measured messages of a class of sizes\n"
	       "  %-28s their completion times: the mean, and so on; so for .fct_slowdown\n"
	       "  %-28s ",
		"flows.by_size.SIZE.count", "flows.by_size.SIZE.fct_us.*", "  SIZE, at most:");
#define SIZE(key, limit) printf("%s" key, between), between = ", ";
	SIZE_CLASSES(SIZE)
#undef SIZE
	putchar('\n');
}

static void print_metrics(void)
{
	char text[METRIC_NAME];

	puts("Numbers of summary.json that a scenario's `expect` may bound (docs/results.md says more of each):\n");
	for (size_t i = 0; metric_name(i, text); i++)
		if (metric_help(i))
			printf("  %-28s %s\n", text, metric_help(i));
	print_sizes();
	puts("\n  expect:\n    - {metric: flows.fct_us.p99, at_most: 250}   # or at_least, or equals");
}

static int run_help(const struct command *c, const struct cli_args *args)
{
	const struct command *about;

	if (args->positional_count && !strcmp(args->positional[0], "scenario"))
		return help_scenario(args->positional_count > 1 ? args->positional[1] : NULL,
			cli_value(c, args, "man")    ? HELP_MAN
			: cli_value(c, args, "json") ? HELP_JSON
						     : HELP_TEXT);
	if (args->positional_count > 1) {
		cli_error("help: only 'help scenario' takes a second word, a KEY");
		return EXIT_INPUT;
	}
	if (cli_value(c, args, "man")) {
		print_man(args->commands);
		return EXIT_WELL;
	}
	if (cli_value(c, args, "completion")) {
		print_completion(args->commands);
		return EXIT_WELL;
	}
	if (!args->positional_count) {
		cli_print_help(args->commands, NULL);
		return EXIT_WELL;
	}
	if (!strcmp(args->positional[0], "metrics")) {
		print_metrics();
		return EXIT_WELL;
	}
	about = cli_find_command(args->commands, args->positional[0]);
	if (!about)
		return EXIT_INPUT;
	cli_print_help(args->commands, about);
	return EXIT_WELL;
}

const struct command cmd_help = {
	.name = "help",
	.operands = "[COMMAND|metrics|scenario] [KEY]",
	.summary = "list the commands, or describe a command or the keys of a scenario",
	.details =
		"'fabricbed help metrics' lists the numbers that a scenario's `expect` can bound.\n"
		"'fabricbed help scenario' lists the keys of a scenario file; with a KEY such as\n"
		"switch.ecn it describes that key, and lists those in it.",
	.options = options,
	.operands_max = 2,
	.run = run_help,
};
