/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_CHECK_H
#define FABRICBED_SCENARIO_CHECK_H

/*
 * From the text of a scenario to its value, a file for each section. Private to scenario/. Each
 * reader returns whether its section is good; if not there is a message, and the target may be half
 * filled.
 */
#include "scenario/scenario.h"
#include "scenario/value.h"

#define NAME_LIMIT      24  /* bytes of a scenario's name: it is part of the names of namespaces */
#define NODE_NAME_LIMIT 31  /* of a node's */
#define LABEL_LIMIT     128 /* of a glob */

#define RATE_MIN  1000ull
#define RATE_MAX  10000000000000ull   /* 10 Tbps: a byte takes most of a picosecond */
#define TIME_MAX  3600000000000000ull /* an hour */
#define DELAY_MAX 1000000000000ull    /* a second, 200,000 km of fibre */
#define TIMES_MAX 1000000             /* anything counted that has no limit of its own */

/* The whole file. The target is zeroed and gets every default. */
bool scenario_check(struct check *c, const struct tree *root, struct scenario *s);

bool check_topology(struct check *c, const struct tree *n, void *topology_spec);
bool check_custom(struct check *c, const struct tree *n, void *topology_spec);
bool check_switch(struct check *c, const struct tree *n, void *switch_spec);
bool check_host(struct check *c, const struct tree *n, void *host_spec);
bool check_workload(struct check *c, const struct tree *n, void *scenario);
bool check_faults(struct check *c, const struct tree *n, void *scenario);
bool check_expects(struct check *c, const struct tree *n, void *scenario);

/* That each message fits the mtu, once both are known to be good by themselves. */
void check_messages(struct check *c, const struct tree *list, const struct scenario *s);

/* Whether a name can be a node's: letters, digits, '.' and '_', a letter first. */
bool check_node_name(const char *name);

#endif
