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

#define RATE_MIN   1000ull
#define RATE_MAX   10000000000000ull     /* 10 Tbps: a byte takes most of a picosecond */
#define TIME_MAX   864000000000000000ull /* ten days */
#define DELAY_MAX  1000000000000ull      /* a second, 200,000 km of fibre */
#define TIMES_MAX  1000000               /* anything counted that has no limit of its own */
#define QUEUE_MAX  (1ull << 31)          /* bytes: a switch counts a queue's in 32 bits */
#define DSCP_AUTO  UINT32_MAX            /* until check_answers() */
#define EVERY_AUTO UINT64_MAX /* switch.cnp.every: what the hosts say, once they are known */

/* The whole file. The target is zeroed and gets every default. */
bool scenario_check(struct check *c, const struct tree *root, struct scenario *s);

/* The name of a scenario or of a variant: char **. */
bool check_name(struct check *c, const struct tree *n, void *target);

bool check_clock(struct check *c, const struct tree *n, void *clock_spec);
bool check_topology(struct check *c, const struct tree *n, void *topology_spec);
bool check_custom(struct check *c, const struct tree *n, void *topology_spec);
bool check_switch(struct check *c, const struct tree *n, void *switch_spec);
bool check_buffer(struct check *c, const struct tree *n, void *switch_spec);
bool check_ecn(struct check *c, const struct tree *n, void *ecn_spec);
bool check_classes(struct check *c, const struct tree *n, void *switch_spec);
bool check_trim(struct check *c, const struct tree *n, void *switch_spec);
bool check_pfc(struct check *c, const struct tree *n, void *switch_spec);
bool check_roles(struct check *c, const struct tree *n, void *switch_spec);
bool check_host(struct check *c, const struct tree *n, void *host_spec);
bool check_stack(struct check *c, const struct tree *n, void *stack_spec);
bool check_external(struct check *c, const struct tree *n, void *external_spec);
bool check_workload(struct check *c, const struct tree *n, void *scenario);
bool check_fault(struct check *c, const struct tree *n, void *fault_spec);
bool check_faults(struct check *c, const struct tree *n, void *scenario);
bool check_expects(struct check *c, const struct tree *n, void *scenario);
bool check_compare(struct check *c, const struct tree *n, void *scenario);

/* That each message fits the mtu, once both are known to be good by themselves. */
void check_messages(struct check *c, const struct tree *list, const struct scenario *s);

/*
 * What sections of a switch, each good by itself, have to do with each other; n is the switch's map or NULL. A
 * class of headers is added where there is none, and class 0 becomes lossless where nothing is said of classes.
 */
bool check_trim_class(struct check *c, const struct tree *n, struct switch_spec *s);
bool check_lossless(struct check *c, const struct tree *n, struct switch_spec *s);
bool check_remap(struct check *c, const struct tree *n, const struct switch_spec *s);
bool check_roles_known(struct check *c, const struct tree *n, const struct switch_spec *s);

/* The item of switch.classes that describes that class, or NULL. */
const struct tree *class_item(const struct tree *sw, uint32_t number);

/* A class or a DSCP, 0 to `max`; false: there is a message. */
bool read_small(struct check *c, const struct tree *n, uint32_t max, uint32_t *ret);

/*
 * The DSCPs of answers, and where the file says nothing of classes the one that they go by; switch and host are
 * good by themselves.
 */
bool check_answers(struct check *c, const struct tree *root, struct scenario *s);

/* Host settings and faults against a switch; all of them good by themselves. */
void check_host_classes(struct check *c, const struct tree *root, const struct scenario *s);
void check_stack_switch(struct check *c, const struct tree *root, const struct scenario *s);
void check_storms(struct check *c, const struct tree *root, struct scenario *s);

/* That flowlets know how long their gap is by this clock. */
void check_stack_clock(struct check *c, const struct tree *root, const struct scenario *s);

/* That what is expected is measured with this clock. */
void check_expects_clock(struct check *c, const struct tree *root, const struct scenario *s);

/* Whether a name can be a node's: letters, digits, '.' and '_', a letter first. */
bool check_node_name(const char *name);

#endif
