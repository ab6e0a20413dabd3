/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLI_H
#define FABRICBED_CLI_H

/* The command line as one table, for parsing, the help, the man page and the completion. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct fabric;
struct scenario;
struct variant_spec;

enum exit_status {
	EXIT_WELL = 0,
	EXIT_EXPECT = 1,  /* an expectation failed */
	EXIT_INPUT = 2,   /* the command line or the scenario is wrong */
	EXIT_MACHINE = 3, /* the machine lacks something */
	EXIT_RUN = 4,     /* the run failed */
};

/* What several came to: the worst of it. */
static inline int exit_worse(int a, int b)
{
	return a > b ? a : b;
}

struct cli_option {
	const char *name;     /* without its dashes */
	char letter;          /* 0: none */
	const char *argument; /* its placeholder; NULL: a flag */
	const char *help;
};

#define CLI_OPTIONS_MAX    16
#define CLI_POSITIONAL_MAX 24
#define CLI_SETS_MAX       160

/* What was given: the last of an option that came twice, but all of --set. */
struct cli_args {
	char *const *words; /* of the whole command line, the program first; NULL ends them */
	const char *values[CLI_OPTIONS_MAX]; /* by the option's index; "" for a flag */
	const char *positional[CLI_POSITIONAL_MAX];
	size_t positional_count;
	char *const *operands; /* all of them, where a command takes more; NULL ends them */
	const char *sets[CLI_SETS_MAX];
	size_t set_count;
	json_t *errors; /* with --json: what is wrong with scenarios, for cli_finish(); else NULL */
	const struct command *const *commands; /* all there are; NULL ends them */
};

struct command {
	const char *name;
	const char *operands;             /* as the usage line shows them */
	const char *summary;              /* one line */
	const char *details;              /* paragraphs for help and man page */
	const struct cli_option *options; /* ends with a NULL name */
	size_t operands_min, operands_max;
	bool operands_raw; /* options end at the first operand */
	int (*run)(const struct command *c, const struct cli_args *args);
};

extern const struct command cmd_top, cmd_run, cmd_sweep, cmd_validate, cmd_graph, cmd_doctor,
	cmd_help, cmd_version;
extern const struct command cmd_up, cmd_down, cmd_list, cmd_exec;
extern const struct command cmd_show, cmd_inject, cmd_heal, cmd_start, cmd_pause, cmd_go, cmd_step,
	cmd_until, cmd_save, cmd_capture, cmd_policy;

/* The value of an option, by name; NULL if it was not given. */
const char *cli_value(const struct command *c, const struct cli_args *args, const char *name);

/*
 * Parses argv after the command's name. Returns EXIT_WELL, or EXIT_INPUT after a message; *ret_help
 * if --help was given.
 */
int cli_parse(const struct command *c, int argc, char **argv, struct cli_args *ret, bool *ret_help);

/* Prints what is wrong with scenarios, of a command that was to speak JSON, and lets go of it. */
void cli_finish(struct cli_args *args);

/* Of one command; NULL: what there is. */
void cli_print_help(const struct command *const *commands, const struct command *c);

/* A paragraph of a man page: what troff would take for its own is made harmless. */
void cli_man_text(const char *text);

/* The command of that name; NULL after a message with the nearest one. */
const struct command *cli_find_command(const struct command *const *commands, const char *name);

/*
 * Makes an override of --seed, if it is given; it is in buf, as long as args is used. EXIT_WELL, or
 * EXIT_INPUT after a message.
 */
#define CLI_SEED_SET 64
int cli_take_seed(const struct command *c, struct cli_args *args, char buf[CLI_SEED_SET]);

/* Loads a scenario and makes its fabric, printing what is wrong. EXIT_WELL or EXIT_INPUT. */
int cli_load(const char *path, const struct cli_args *args, struct scenario **ret_scenario,
	struct fabric **ret_fabric);

/* The same of one of a scenario's variants, the file being the first operand. */
int cli_load_variant(const struct cli_args *args, const struct variant_spec *v,
	struct scenario **ret_scenario, struct fabric **ret_fabric);

/*
 * Whether the file of a scenario's load-balancing policy can be built; without a compiler the run
 * finds out. EXIT_WELL, or EXIT_INPUT after a message.
 */
int cli_check_policy(const struct cli_args *args, const struct scenario *s);

/* "fabricbed: " and a line on standard error. */
__attribute__((format(printf, 1, 2))) void cli_error(const char *format, ...);

#endif
