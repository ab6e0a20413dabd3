/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SESSION_H
#define FABRICBED_SESSION_H

/*
 * A session: a fabric with its dataplane, its engine, its workload and its timetable, from the first
 * event to the results. `run` steps it to the end; whatever steps it may also look at it in between.
 */
#include <jansson.h>
#include "base/error.h"
#include "engine/engine.h"
#include "topology/fabric.h"

struct session;

struct session_params {
	const struct scenario *scenario; /* both outlive the session */
	const struct fabric *fabric;
	bool kernel;           /* the kernel dataplane, else the inline one */
	const char *directory; /* for what is written as it happens; exists; NULL: nothing is */
	const char *capture;   /* a pcapng file of all that ports send; NULL: none */
};

/* Brings everything up, kernel objects included; on error nothing stays. 0 or -errno with why. */
int session_open(struct session **ret, const struct session_params *params, struct error *why);

/*
 * Goes on until the workload is done, the scenario's time is over, model time reaches until_ps, or *stop
 * is set; does what the timetable says on the way. 0 or -errno with why.
 */
int session_advance(
	struct session *s, uint64_t until_ps, const volatile bool *stop, struct error *why);

/* Whether there is nothing more to do: all flows finished, or time is up. */
bool session_done(const struct session *s);

/* Share of the workload's packets that have been sent for the first time, 0..1. Looks at each flow. */
double session_progress(const struct session *s);

/* When the scenario's time is over, as asked for or by default. */
uint64_t session_end(const struct session *s);

const struct engine *session_engine(const struct session *s);
const char *session_name(const struct session *s); /* of the fabric that stands, "" inline */

/* Seconds of the caller's clock, for the summary. */
struct session_times {
	double setup, run;
};

/*
 * The summary of what happened so far, expectations included: *ret_met tells whether all hold. Checks that every packet
 * is accounted for. A new reference, or NULL with why.
 */
json_t *session_summary(
	struct session *s, const struct session_times *times, bool *ret_met, struct error *why);

/* Writes flows.csv and closes the other files. 0 or -errno. */
int session_write(struct session *s, struct error *why);

/* Takes everything down. NULL is fine. */
void session_close(struct session *s);

#endif
