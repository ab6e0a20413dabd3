/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/help_scenario.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "base/json.h"
#include "scenario/scenario.h"

#define NAME_WIDTH 16
#define LINE_WIDTH 80
#define KEYS_MAX   512

/* A look at one key and what is in it. */
struct look {
	const char *path;
	size_t found;
};

/* The part of `path` below `section`, "" being the file; NULL: it is not in there. */
static const char *below(const char *path, const char *section)
{
	char head[SCENARIO_PATH];

	if (!*section)
		return path;
	for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
		snprintf(head, sizeof(head), "%.*s", (int)(dot - path), path);
		if (scenario_path_is(head, section))
			return strncmp(dot, ".N.", 3) ? dot + 1 : dot + 3;
	}
	return NULL;
}

/* Prints text from a column on, in lines of 80; the first has its label already. */
static void print_wrapped(const char *text, int column)
{
	int used = column;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (used > column && used + 1 + length > LINE_WIDTH) {
			printf("\n%*s", column, "");
			used = column;
		}
		used += printf("%s%.*s", used > column ? " " : "", length, text);
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_labelled(const char *label, const char *text)
{
	int column = printf("  %-*s ", NAME_WIDTH, label);

	print_wrapped(text, column);
}

static void print_key(void *arg, const struct scenario_key *k)
{
	struct look *look = arg;
	const char *name = below(k->path, look->path);
	char text[512];

	if (*look->path && scenario_path_is(k->path, look->path)) {
		look->found++;
		printf("%s: ", k->path);
		print_wrapped(k->help, 2);
		putchar('\n');
		print_labelled("value", k->value);
		if (*k->usual)
			print_labelled("default", k->usual);
		if (k->is_section)
			putchar('\n');
	} else if (name && !strchr(name, '.')) {
		look->found++;
		snprintf(text, sizeof(text), "%s%s%s%s", k->help, *k->usual ? " (" : "", k->usual,
			*k->usual ? ")" : "");
		print_labelled(name, text);
	}
}

static void man_key(void *arg, const struct scenario_key *k)
{
	(void)arg;
	printf(".TP\n\\fB%s\\fR\n", k->path);
	cli_man_text(k->help);
	puts(".br\nValue:");
	cli_man_text(k->value);
	if (!*k->usual)
		return;
	puts(".br\nDefault:");
	cli_man_text(k->usual);
}

static void print_man(void)
{
	printf(".TH FABRICBED-SCENARIO 5 \"\" \"fabricbed %s\" \"File formats\"\n",
		FABRICBED_VERSION);
	puts(".SH NAME\nfabricbed\\-scenario \\- what a scenario file of fabricbed may hold\n.SH DESCRIPTION");
	cli_man_text(
		"A scenario is one YAML 1.1 file: the fabric, the messages, the faults and what must come out. "
		"Below, N stands for the number of an element of a list, from 0.");
	puts(".SH KEYS");
	scenario_list_keys(man_key, NULL);
	puts(".SH SEE ALSO\n.BR fabricbed (8)");
}

static void add_json(void *arg, const struct scenario_key *k)
{
	json_array_append_new(
		arg, json_pack("{s:s, s:s, s:s, s:s, s:b}", "key", k->path, "value", k->value,
			     "default", k->usual, "help", k->help, "section", k->is_section));
}

struct names {
	const char *all[KEYS_MAX];
	char text[KEYS_MAX][SCENARIO_PATH];
	size_t count;
};

static void add_name(void *arg, const struct scenario_key *k)
{
	struct names *n = arg;

	if (n->count == KEYS_MAX)
		return;
	snprintf(n->text[n->count], SCENARIO_PATH, "%s", k->path);
	n->all[n->count] = n->text[n->count];
	n->count++;
}

static int no_such_key(const char *path)
{
	static struct names names;
	char hint[DIAG_HINT];

	names.count = 0;
	scenario_list_keys(add_name, &names);
	cli_error("help: a scenario has no key '%s'%s", path,
		diag_hint(hint, path, names.all, names.count,
			"; 'fabricbed help scenario' lists them"));
	return EXIT_INPUT;
}

int help_scenario(const char *path, enum help_form form)
{
	struct look look = {.path = path ? path : ""};

	if (form == HELP_MAN) {
		print_man();
		return EXIT_WELL;
	}
	if (form == HELP_JSON) {
		json_t *keys = json_array();

		scenario_list_keys(add_json, keys);
		print_json(keys, stdout);
		json_decref(keys);
		return EXIT_WELL;
	}
	if (!path)
		puts("Keys of a scenario file, with their defaults. 'fabricbed help scenario KEY' tells more of one.\n");
	scenario_list_keys(print_key, &look);
	return look.found ? EXIT_WELL : no_such_key(path);
}

static void print_word(void *arg, const struct scenario_key *k)
{
	const char *path = k->path;

	(void)arg;
	if (!k->takes_word)
		return;
	for (; *path; path++) /* the first element of a list */
		putchar(*path == 'N' && path[-1] == '.' && (!path[1] || path[1] == '.') ? '0'
											: *path);
	fputs("= ", stdout);
}

void help_scenario_words(void)
{
	scenario_list_keys(print_word, NULL);
}
