/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_KEYS_FAULT_H
#define FABRICBED_SCENARIO_KEYS_FAULT_H

/* The keys of faults; the kinds are those of faults/fault_kind.h. Private to scenario/. */
#include "scenario/scenario.h"
#include "scenario/schema_use.h"

/* The kind of that name that befalls such a target; FAULT_KINDS: none does. */
enum fault_kind fault_kind_named(const char *name, enum fault_target target);

/* The names of all that can befall such a target. Returns how many. */
size_t fault_kind_names(enum fault_target target, const char *names[FAULT_KINDS]);

/* The values of `do`, and a fault's keys. */
extern const struct map do_map, fault_map;

/* The key of a fault under which such a target stands: "link", "switch" or "host". */
const struct key *fault_target_key(enum fault_target target);

/* Those of what a fault picks; and whether they fit the rest, n being the mapping that has them. */
const struct key *fault_pick_key(void);
const struct key *fault_skip_key(void);
bool fault_check_pick(struct check *c, const struct tree *n, const struct fault_spec *f);

/* What messages say can be done to such a target. */
const char *fault_target_expected(enum fault_target target);

#endif
