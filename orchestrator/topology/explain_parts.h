/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EXPLAIN_PARTS_H
#define FABRICBED_EXPLAIN_PARTS_H

/* The parts of an explanation that have files of their own. Internal to topology/. */
#include "topology/explain.h"

/* Each fills its part of *e. 0 or -ENOMEM; what there is by then goes by explain_release(). */
int explain_switch(struct explain *e, const struct fabric *f);
int explain_failures(struct explain *e, const struct fabric *f, const struct scenario *s);
int explain_notes(struct explain *e, const struct fabric *f, const struct scenario *s);

void explain_write_switch(const struct explain *e, FILE *out);
void explain_write_failures(const struct explain *e, FILE *out);
void explain_write_notes(const struct explain *e, FILE *out);
void explain_write_live(const struct explain *e, FILE *out);
json_t *explain_switch_json(const struct explain *e);
json_t *explain_dscps_json(const struct explain *e);
json_t *explain_failures_json(const struct explain *e);
json_t *explain_notes_json(const struct explain *e);
json_t *explain_clock_json(const struct explain *e);
json_t *explain_stack_json(const struct explain *e);
json_t *explain_external_json(const struct explain *e);

#endif
