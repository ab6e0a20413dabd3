/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_DEED_H
#define FABRICBED_SCENARIO_DEED_H

/* What faults do: names of kinds. Private to scenario/. */
#include "scenario/scenario.h"

struct deed {
	enum fault_kind kind;
	const char *name;   /* the key of `do`, or "down" */
	const char *target; /* "link", "switch" or "host" */
	const char *phrase; /* "lose frames on" */
};

/* All of them. */
const struct deed *fault_deeds(size_t *ret_count);

const struct deed *fault_deed(enum fault_kind kind);

#endif
