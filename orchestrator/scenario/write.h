/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_WRITE_H
#define FABRICBED_SCENARIO_WRITE_H

/* How values are put down so that they read as the same ones. Private to scenario/. */
#include "scenario/scenario.h"

void write_quoted(FILE *out, const char *text);

/* A name, bare as people write it, unless YAML would then take it for nothing or for syntax. */
void write_name(FILE *out, const char *name);

/* Each "key: value", without an end of the line. `word` stands for the special value, `zero` for 0; NULL: nothing does. */
void write_rate(FILE *out, const char *key, uint64_t bps, const char *zero);
void write_time(FILE *out, const char *key, uint64_t ps, uint64_t special, const char *word);
void write_quantity(FILE *out, const char *key, const struct quantity *q);

/* The shortest decimal, or percentage, that reads as the same number; each returns buf. */
#define NUMBER_TEXT 64
const char *number_text(char buf[NUMBER_TEXT], double value);
const char *percent_text(char buf[NUMBER_TEXT], double share);

void write_number(FILE *out, double value);
void write_percent(FILE *out, double share);

/* The sections that have a file of their own. */
void write_clock(FILE *out, const struct clock_spec *c);
void write_stack(FILE *out, const struct stack_spec *s);
void write_external(FILE *out, const struct external_spec *e);
void write_switch(FILE *out, const struct switch_spec *s);
void write_faults(FILE *out, const struct fault_spec *faults, size_t count);

#endif
