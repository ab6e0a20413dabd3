/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/diag.h"
#include "cli/cli.h"

void cli_error(const char *format, ...)
{
	va_list ap;

	fputs("fabricbed: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

#define COMMANDS_MAX 32 /* more are not searched for the closest */

const struct command *cli_find_command(const struct command *const *commands, const char *name)
{
	const char *names[COMMANDS_MAX];
	char hint[DIAG_HINT];
	size_t n = 0;

	for (; *commands; commands++) {
		if (!strcmp((*commands)->name, name))
			return *commands;
		if (n < COMMANDS_MAX)
			names[n++] = (*commands)->name;
	}
	cli_error("there is no command '%s'%s", name,
		diag_hint(hint, name, names, n, "; 'fabricbed help' lists them all"));
	return NULL;
}

/* What getopt returns for a long option: beyond any letter, so that the two differ. */
#define VALUE_LONG 256 /* and the option's index */
#define VALUE_HELP (VALUE_LONG + CLI_OPTIONS_MAX)

/* The table in getopt's terms. */
static void make_getopt(const struct command *c, struct option *longs, char *shorts)
{
	size_t n = 0;

	if (c->operands_raw)
		*shorts++ = '+';
	*shorts++ = ':';
	for (; c->options[n].name; n++) {
		const struct cli_option *o = &c->options[n];

		longs[n] = (struct option){o->name, o->argument ? required_argument : no_argument,
			NULL, VALUE_LONG + (int)n};
		if (!o->letter)
			continue;
		*shorts++ = o->letter;
		if (o->argument)
			*shorts++ = ':';
	}
	longs[n++] = (struct option){"help", no_argument, NULL, VALUE_HELP};
	longs[n] = (struct option){0};
	*shorts++ = 'h';
	*shorts = 0;
}

static int option_index(const struct command *c, int value)
{
	if (value >= VALUE_LONG)
		return value - VALUE_LONG;
	for (int i = 0; c->options[i].name; i++)
		if (c->options[i].letter == value)
			return i;
	return -1;
}

static int take_option(const struct command *c, int value, struct cli_args *args)
{
	int index = option_index(c, value);
	const char *text = optarg ? optarg : "";

	args->values[index] = text;
	if (!strcmp(c->options[index].name, "json") && !args->errors)
		args->errors = json_array();
	if (strcmp(c->options[index].name, "set"))
		return EXIT_WELL;
	if (args->set_count == CLI_SETS_MAX) {
		cli_error("more than %d --set", CLI_SETS_MAX);
		return EXIT_INPUT;
	}
	args->sets[args->set_count++] = text;
	return EXIT_WELL;
}

/* Of a letter that stands among others only getopt knows which it was. */
static void explain_letter(const struct command *c, int letter, bool needs_value)
{
	if (needs_value)
		cli_error("%s: '-%c' needs a value", c->name, letter);
	else
		cli_error("%s: there is no option '-%c'; see 'fabricbed %s --help'", c->name,
			letter, c->name);
}

static void explain_unknown(const struct command *c, const char *given)
{
	const char *names[CLI_OPTIONS_MAX + 1];
	char word[32], dashed[CLI_OPTIONS_MAX + 1][32], hint[DIAG_HINT], help[64];
	size_t n = 0;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(given, "="), given);
	for (; c->options[n].name; n++) {
		snprintf(dashed[n], sizeof(dashed[n]), "--%s", c->options[n].name);
		names[n] = dashed[n];
	}
	names[n++] = "--help";
	snprintf(help, sizeof(help), "; see 'fabricbed %s --help'", c->name);
	cli_error("%s: there is no option '%s'%s", c->name, word,
		diag_hint(hint, word, names, n, help));
}

/* What getopt refused: value is ':' or '?', optopt the option if known, given the argument. */
static void explain_option(const struct command *c, int value, const char *given)
{
	const char *name;

	if (optopt > 0 && optopt < VALUE_LONG) {
		explain_letter(c, optopt, value == ':');
	} else if (optopt < VALUE_LONG) {
		explain_unknown(c, given);
	} else {
		name = optopt == VALUE_HELP ? "help" : c->options[optopt - VALUE_LONG].name;
		cli_error("%s: '--%s' %s", c->name, name,
			value == ':' ? "needs a value" : "takes no value");
	}
}

static int take_operands(
	const struct command *c, int argc, char **argv, bool help, struct cli_args *args)
{
	size_t n = (size_t)(argc - optind);

	if (!help && n < c->operands_min) {
		cli_error("%s: needs %s; see 'fabricbed %s --help'", c->name, c->operands, c->name);
		return EXIT_INPUT;
	}
	if (!help && n > c->operands_max) {
		cli_error("%s: '%s' is one too many; see 'fabricbed %s --help'", c->name,
			argv[optind + (int)c->operands_max], c->name);
		return EXIT_INPUT;
	}
	args->operands = argv + optind;
	for (size_t i = 0; i < n && i < CLI_POSITIONAL_MAX; i++)
		args->positional[args->positional_count++] = argv[optind + (int)i];
	return EXIT_WELL;
}

int cli_parse(const struct command *c, int argc, char **argv, struct cli_args *ret, bool *ret_help)
{
	struct option longs[CLI_OPTIONS_MAX + 2];
	char shorts[2 * CLI_OPTIONS_MAX + 5];
	int value;

	*ret = (struct cli_args){0};
	make_getopt(c, longs, shorts);
	opterr = 0;
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (value == VALUE_HELP || value == 'h') {
			*ret_help = true;
			continue;
		}
		if (value == ':' || value == '?') {
			explain_option(c, value, argv[optind - 1]);
			return EXIT_INPUT;
		}
		if (take_option(c, value, ret) != EXIT_WELL)
			return EXIT_INPUT;
	}
	return take_operands(c, argc, argv, *ret_help, ret);
}

const char *cli_value(const struct command *c, const struct cli_args *args, const char *name)
{
	for (int i = 0; c->options[i].name; i++)
		if (!strcmp(c->options[i].name, name))
			return args->values[i];
	return NULL;
}
