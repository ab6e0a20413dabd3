/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SHOW_H
#define FABRICBED_SHOW_H

/* What a fabric is doing, as tables: docs/control.md, "Rows". It looks, and changes nothing. */
#include <jansson.h>
#include <stdbool.h>
#include "base/error.h"
#include "engine/engine.h"
#include "session/lldp_agents.h"

struct fabric;

struct show_view {
	const struct fabric *fabric;
	const struct engine *engine;
	const struct agents *agents; /* NULL: no LLDP */
	/* frames of ordinary programs, by host; all NULL: hosts have no stacks */
	const uint64_t *stack_sent, *stack_delivered, *stack_lost;
	const char *name; /* of the fabric that stands, for its namespaces; NULL: it has none */
	/* What befalls a port's link now, in a word each; NULL: nothing is known of any. */
	const char *(*port_faults)(void *arg, uint32_t port);
	void *faults_arg;
	const char *policy_file; /* name of the file of a policy of the user's; NULL: unknown */
};

/* Of a large table not all rows are to be had at once: while they are made nothing else happens. */
#define SHOW_ROWS 8192 /* at once */
#define SHOW_PAGE 2048 /* or so many, if there are more */

struct show_page {
	bool wanted;   /* else a table that is too large is refused */
	uint32_t from; /* 0, or where the page before ended */
	uint32_t next; /* where this one ends; 0: it is the last */
};

/*
 * The rows of a table (but for `faults` and `summary`, which others have) whose first column
 * matches the glob `match`, or all if NULL: an array. Or NULL with why: no such table, no match, or
 * no memory.
 */
json_t *show_rows(const struct show_view *v, const char *what, const char *match,
	struct show_page *page, struct error *why);

/* {nodes, links, flows, packets, hops, model_time_us} of `status`. A new reference. */
json_t *show_status(const struct show_view *v);

#endif
