/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLI_HELP_SCENARIO_H
#define FABRICBED_CLI_HELP_SCENARIO_H

/* What `fabricbed help scenario` prints: the keys of a scenario file. */
enum help_form { HELP_TEXT, HELP_MAN, HELP_JSON };

/* path NULL: the whole file. An exit status; EXIT_INPUT, with a message: there is no such key. */
int help_scenario(const char *path, enum help_form form);

/* Each key as --set takes it, with its "=", for a shell's completion. */
void help_scenario_words(void);

#endif
