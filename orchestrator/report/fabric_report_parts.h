/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FABRIC_REPORT_PARTS_H
#define FABRICBED_FABRIC_REPORT_PARTS_H

/*
 * The parts of a report that have files of their own. Internal to report/. Each returns NULL for
 * want of memory.
 */
#include "report/fabric_report.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

json_t *report_switch(const struct fabric *f, const struct scenario *s);
json_t *report_dscps(
	const struct fabric *f, const struct scenario *s, const struct report_load *load);

/* By which classes data of each transport goes. */
json_t *report_transports(
	const struct fabric *f, const struct scenario *s, const struct report_load *load);

/* An array of REPORT_FAILURES moments at most; *ret_more is how many there are beyond those. */
json_t *report_failures(const struct fabric *f, const struct scenario *s, size_t *ret_more);

/* An array of faults that pick, with what they picked. */
json_t *report_picked(const struct fabric *f, const struct scenario *s);

json_t *report_notes(
	const struct fabric *f, const struct scenario *s, const struct report_load *load);

json_t *report_clock(const struct scenario *s);
json_t *report_stack(const struct fabric *f, const struct scenario *s);
json_t *report_external(const struct scenario *s);

#endif
