/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

#define VALUE_HELP 1000 /* getopt's value for --help; an option's own is its index */

/* The table in getopt's terms. */
static void make_getopt(const struct command *c, struct option *longs, char *shorts)
{
	size_t n = 0;

	*shorts++ = ':';
	for (; c->options[n].name; n++) {
		const struct cli_option *o = &c->options[n];

		longs[n] = (struct option){
			o->name, o->argument ? required_argument : no_argument, NULL, (int)n};
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
	if (value < CLI_OPTIONS_MAX)
		return value;
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
	if (strcmp(c->options[index].name, "set"))
		return EXIT_WELL;
	if (args->set_count == CLI_SETS_MAX) {
		cli_error("more than %d --set", CLI_SETS_MAX);
		return EXIT_INPUT;
	}
	args->sets[args->set_count++] = text;
	return EXIT_WELL;
}

static int take_operands(
	const struct command *c, int argc, char **argv, bool help, struct cli_args *args)
{
	size_t n = (size_t)(argc - optind);

	if (!help && (n < c->operands_min || n > c->operands_max)) {
		cli_error("usage: fabricbed %s [OPTION]... %s", c->name, c->operands);
		return EXIT_INPUT;
	}
	for (size_t i = 0; i < n && i < CLI_POSITIONAL_MAX; i++)
		args->positional[args->positional_count++] = argv[optind + (int)i];
	return EXIT_WELL;
}

int cli_parse(const struct command *c, int argc, char **argv, struct cli_args *ret, bool *ret_help)
{
	struct option longs[CLI_OPTIONS_MAX + 2];
	char shorts[2 * CLI_OPTIONS_MAX + 4];
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
			cli_error(value == ':' ? "%s: '%s' needs a value" :
						 "%s: there is no option '%s'; see 'fabricbed %s --help'",
				c->name, argv[optind - 1], c->name);
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
