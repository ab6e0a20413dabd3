/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_FAULT_KIND_H
#define FABRICBED_SCENARIO_FAULT_KIND_H

/* Kinds of faults: their names, what they befall, and the keys of their values. Private to scenario/. */
#include "scenario/scenario.h"
#include "scenario/schema_use.h"

struct fault_kind_info {
	enum fault_kind kind;
	enum fault_target target;
	const struct key *key; /* of `do`: its name, and where its value goes */
};

const struct fault_kind_info *fault_kind_info(enum fault_kind kind);

/* The kind of that name that befalls such a target; NULL: none does. */
const struct fault_kind_info *fault_kind_named(const char *name, enum fault_target target);

/* The names of all that can befall such a target. Returns how many. */
#define FAULT_NAMES_MAX 16
size_t fault_kind_names(enum fault_target target, const char *names[FAULT_NAMES_MAX]);

/* The values of `do`, and a fault's keys. */
extern const struct map do_map, fault_map;

/* The key of a fault under which such a target stands: "link", "switch" or "host". */
const struct key *fault_target_key(enum fault_target target);

/* What messages say can be done to such a target. */
const char *fault_target_expected(enum fault_target target);

#endif
