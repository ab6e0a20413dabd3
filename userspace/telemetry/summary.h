/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SUMMARY_H
#define FABRICBED_SUMMARY_H

/* summary.json: a run in numbers; one that does not exist is null. */
#include <jansson.h>
#include "engine/engine.h"

/* Raised when a key gets another name or meaning, not when one is added; 1 was not written. */
#define SUMMARY_SCHEMA 2

/* Where figures come from. Texts outlive the struct. */
struct provenance {
	char *const *command; /* the words as given; the first is the program, NULL ends them */
	const char *commit;   /* that the program was built from; NULL: not known */
	char date[sizeof("2000-01-01T00:00:00Z")]; /* when the run began, UTC */
	char host[65], kernel[65]; /* the machine's name, and its kernel's release */
	uint64_t scenario_hash;    /* scenario_identity() */
	const char *policy;        /* file of a load-balancing policy of the user's; NULL: none */
	uint64_t policy_hash;      /* of its text */
};

/* What the engine does not know of a run. */
struct summary_info {
	const struct provenance *provenance; /* NULL: nothing is told of it */
	const char *scenario, *dataplane, *clock, *version;
	uint64_t seed;
	uint64_t
		messages; /* of the workload, those that are yet to arrive included; 0: not known */
	uint64_t ideal_ps;   /* the bound that host links set; 0: there is no workload */
	uint64_t fabric_ps;  /* and that of all links; the same */
	uint64_t payload_ps; /* of the payload alone on the busiest host link; 0: not known */
	double wall_s;       /* of the run itself, set-up excluded */
	double setup_s;
};

struct flow_totals;

/*
 * forgotten: of flows that the engine has forgotten (NULL: none). A new reference, or NULL for want
 * of memory.
 */
json_t *summary_new(const struct summary_info *info, const struct engine *e,
	const struct flow_totals *forgotten);

/* How many frames were dropped, by reason, of those that occurred. A new reference. */
json_t *summary_dropped(const struct engine_stats *s);

/*
 * The number at a dotted path ("flows.fct_us.max"). An object of counts stands for their sum. A
 * drop reason that did not occur is 0, and so is the count of a class of sizes without messages. 0;
 * -ENOENT: there is no such number in this run.
 */
int summary_lookup(const json_t *summary, const char *metric, double *ret);

#endif
