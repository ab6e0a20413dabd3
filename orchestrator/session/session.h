/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SESSION_H
#define FABRICBED_SESSION_H

/*
 * A session: a fabric with its dataplane, engine, workload and fault schedule, from the first event
 * to the results. `run` steps it to the end; its caller may also look at it in between.
 */
#include <jansson.h>
#include "base/error.h"
#include "engine/engine.h"
#include "telemetry/fidelity.h"
#include "faults/fault_kind.h"

struct fabric;
struct fault_spec;
struct provenance;
struct scenario;
struct workload_spec;

struct session;
struct stacks;
struct agents;
struct captures;
struct folder;
struct lock_wait;

struct session_params {
	const struct provenance *provenance; /* for the summary, outlives the session; or NULL */
	struct scenario *scenario; /* both outlive the session; grows by what is done by hand */
	const struct fabric *fabric;
	const char *name; /* of the fabric, and no other; NULL: the scenario's, or one like it */
	bool kernel;      /* the kernel dataplane, else the inline one */
	bool lasting;     /* no end; the workload starts on command, and any fault may come */
	bool stacks;      /* hosts have kernel stacks; needs the kernel dataplane */
	struct folder *folder; /* for the results; outlives the session; NULL: nothing is written */
	const char *capture;   /* a pcapng file of all that ports send; NULL: none */
	const volatile bool *stop;    /* ends the set-up: -EINTR; NULL: nothing does */
	const struct lock_wait *wait; /* as build_up() has it */
};

/* Brings everything up, kernel objects included; on error nothing stays. 0 or -errno with why. */
int session_open(struct session **ret, const struct session_params *params, struct error *why);

/*
 * Goes on until the workload is done, the scenario's time is over, model time reaches until_ps, or
 * *stop is set; does what is scheduled on the way. 0 or -errno with why.
 */
int session_advance(
	struct session *s, uint64_t until_ps, const volatile bool *stop, struct error *why);

/* On the wall clock: queues are sampled, and deadlocks looked for, no more often than this. */
void session_look_rarely(struct session *s, uint64_t least_ps);

/* When something is due next, model time; UINT64_MAX: nothing will happen by itself. */
uint64_t session_next(const struct session *s);

/* Whether there is nothing more to do: all flows finished, or time is up. */
bool session_done(const struct session *s);

/* Share of the workload's bytes that have arrived, 0..1. Visits each open connection. */
double session_progress(const struct session *s);

/* When the scenario's time is over, as asked for or by default. */
uint64_t session_end(const struct session *s);

const struct engine *session_engine(const struct session *s);
struct stacks *session_stacks(const struct session *s); /* NULL: there are none */
struct dataplane *session_dataplane(const struct session *s);
struct captures *session_captures(struct session *s); /* NULL: it does not last */
const struct agents *session_agents(const struct session *s);
const char *session_name(
	const struct session *s); /* of the fabric that stands; inline as it was given, or "" */

/* Where and when something happened last. */
struct session_place {
	uint32_t port;
	uint64_t at_ps;
};

/* How often things have happened so far. */
struct session_tally {
	struct session_place drop[DROP_REASON_COUNT], pause;
	uint64_t drops[DROP_REASON_COUNT];
	uint64_t marks, trims, pauses;
	uint64_t flows, flows_total; /* ended; and all */
	uint64_t faults, reroutes;   /* beginnings and ends */
	uint64_t deadlocks;
};

const struct session_tally *session_tally(struct session *s);

/* Seconds of the caller's clock, for the summary; fidelity NULL: stepped. */
struct session_times {
	double setup, run;
	const struct fidelity *fidelity;
};

/*
 * The summary so far, expectations included: *ret_met: whether all hold. Checks that every
 * packet is accounted for. A new reference, or NULL with why.
 */
json_t *session_summary(
	struct session *s, const struct session_times *times, bool *ret_met, struct error *why);

/*
 * Writes the summary (unless NULL), the scenario as it was run, flows.csv and the like, all at
 * once, into another folder than the session's if that is not NULL, and closes the capture. Records
 * nothing afterwards. 0, or -errno with why: no result appears, and it may be retried.
 */
int session_write(
	struct session *s, const json_t *summary, struct folder *folder, struct error *why);

/*
 * Writes the results so far, so that a crash loses little. 0, or -errno with why: the disk, or the
 * capture's, does not take them, or not in time.
 */
int session_flush(struct session *s, struct error *why);

/* 0, or -errno with why: lines of the results were lost, as the disk took them too late. */
int session_lost(const struct session *s, struct error *why);

/*
 * Commands to a lasting session, at the engine's present time. Results are as in docs/control.md: a
 * new reference, or NULL with why.
 *
 * A fault as scenario_fault_words() makes it, checked against the fabric; takes what *f holds. It
 * ends an active one of the same kind at a target.
 */
json_t *session_inject(struct session *s, struct fault_spec *f, struct error *why);

/* What `heal` ends: everything, a fault by its number, or those of matching targets of a kind. */
struct session_heal {
	enum { HEAL_ALL, HEAL_FAULT, HEAL_TARGETS } what;
	uint32_t fault;
	enum fault_target kind;
	const char *glob;
};

json_t *session_heal(struct session *s, const struct session_heal *h, struct error *why);

/* Workloads, checked against the fabric, that start now; takes what they hold. */
json_t *session_start(
	struct session *s, struct workload_spec *workloads, size_t count, struct error *why);

/* Adds a line to the events; takes the reference. */
void session_note(struct session *s, json_t *event);

/* What befalls a port's link now, a word each; good until the next call. arg: the session. */
const char *session_port_faults(void *arg, uint32_t port);

/* Rows of `show faults`: those whose words fit a glob; NULL: all. */
json_t *session_faults(const struct session *s, const char *match);

/* The scenario with all that was done by hand, which ends now. 0 or -errno. */
int session_save(const struct session *s, FILE *out);

/* Takes everything down. NULL is fine. */
void session_close(struct session *s);

#endif
