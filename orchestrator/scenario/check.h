/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_CHECK_H
#define FABRICBED_SCENARIO_CHECK_H

/*
 * The tables of the sections, a file for each, and the checks between keys. For scenario/ and for
 * tables of keys in topology/. Each check returns whether its section is valid; if not there is a
 * message.
 */
#include "base/units.h"
#include "scenario/explain.h"
#include "scenario/scenario.h"
#include "scenario/schema_use.h"
#include "scenario/tree.h"

#define LABEL_LIMIT 128 /* of a glob */

#define QUEUE_MAX  (1ull << 31) /* bytes: a switch counts a queue's in 32 bits */
#define DSCP_MAX   63
#define CLASS_MAX  (SCENARIO_CLASSES - 1)
#define DSCP_AUTO  UINT32_MAX /* until check_answers() */
#define EVERY_AUTO UINT64_MAX /* switch.cnp.every: what the hosts say, once they are known */

extern const struct map clock_map, topology_map, switch_map, host_map, transport_map, stack_map,
	external_map, workload_map, fault_map, expect_map, variant_map, sweep_map;

/* A struct settings: a mapping of keys to single values. */
extern const struct form settings_form;

/* A metric of summary.json. */
bool check_metric(struct check *c, const struct tree *n, void *target);

/* Whether the key of that name is among the valid ones. */
bool is_valid(const struct map *map, uint64_t valid, const char *name);

/* The name of a scenario or of a variant: it is part of the names of namespaces. */
bool is_name(const char *text);
#define NAME                                                                                       \
	.max = 24, .is_valid = is_name, .expected = "1 to 24 of a-z, 0-9 and '-', the first no '-'"

/* A node's name: letters, digits, '.' and '_', a letter first. */
bool check_node_name(const char *name);

/* Whether n has none of these keys (NULL-terminated); else a message about each, with why. */
bool has_none(struct check *c, const struct tree *n, const char *const *keys, const char *why);

/* Variants: no two of a name. */
#define VARIANTS_LIMIT 32
void check_variants(struct check *c, const struct tree *list, const struct scenario *s);

/* What a sweep says of variants and of its own parameters; n: the section, or NULL. */
void check_sweep(struct check *c, const struct tree *n, const struct scenario *s);

/* That each message fits the mtu, once both are known to be valid by themselves. */
void check_messages(struct check *c, const struct tree *list, const struct scenario *s);

/* Numbers the transports of entries, host and workload being valid. */
void check_transports(struct check *c, const struct tree *list, struct scenario *s);

/*
 * Checks between sections of a switch, each valid by itself; n is the switch's map or NULL. Adds a
 * class of headers if there is none, and makes class 0 lossless if the file names no classes.
 */
extern const struct map pfc_map, roles_map, trim_map, ecn_map, balance_map;
extern const struct form classes_form;
bool check_trim_class(struct check *c, const struct tree *n, struct switch_spec *s);
bool check_lossless(struct check *c, const struct tree *n, struct switch_spec *s);
bool check_remap(struct check *c, const struct tree *n, const struct switch_spec *s);
bool check_roles_known(struct check *c, const struct tree *n, const struct switch_spec *s);

/* The item of switch.classes that describes that class, or NULL. */
const struct tree *class_item(const struct tree *sw, uint32_t number);

/* A class or a DSCP, 0 to `max`; false: there is a message. */
bool read_small(struct check *c, const struct tree *n, uint32_t max, uint32_t *ret);

/* A class that the file does not name: strict, without ECN, with what a pool or a formula gives. */
struct class_spec class_added(uint64_t dscps, const struct quantity *buffer);

/*
 * The DSCPs of ACKs, SACKs and CNPs, and their class if the file names none; switch and host are
 * valid by themselves.
 */
bool check_answers(struct check *c, const struct tree *root, struct scenario *s);

/* Host settings and faults against a switch; all of them valid by themselves. */
void check_host_classes(struct check *c, const struct tree *root, const struct scenario *s);
void check_stack_switch(struct check *c, const struct tree *root, const struct scenario *s);
void check_storms(struct check *c, const struct tree *root, struct scenario *s);

/* That recovery gets what it needs of switches, workload being valid too. */
void check_trimming(struct check *c, const struct tree *root, const struct scenario *s);

/* That flowlets know how long their gap is by this clock. */
void check_stack_clock(struct check *c, const struct tree *root, const struct scenario *s);

/* That what is expected is measured with this clock. */
void check_expects_clock(struct check *c, const struct tree *root, const struct scenario *s);

#endif
