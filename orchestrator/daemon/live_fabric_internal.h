/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIVE_FABRIC_INTERNAL_H
#define FABRICBED_LIVE_FABRIC_INTERNAL_H

/* A live fabric's own state, shared by its files and nobody else. */
#include <stdbool.h>
#include "session/wallclock.h"
#include "session/session.h"
#include "daemon/live_fabric.h"
#include "daemon/server.h"

/* What a `step` or an `until` waits for. */
struct goal {
	struct server_client *client; /* who is to be answered; NULL: nobody waits */
	uint64_t time_ps;             /* goes no further; UINT64_MAX: without end */
	bool is_limit;                /* the time is where to give up, not where to go */
	char event[32];               /* "": none */
	enum drop_reason reason;      /* of "drop"; DROP_NONE: any */
	struct session_tally before;
};

struct live {
	struct live_params params;
	struct session *session;
	struct wallclock *wallclock; /* NULL: stepped */
	struct server *server;
	char *own_text; /* the scenario as it was given: its workload starts on command */
	struct workload_spec *own_workloads; /* whose transports the engine has */
	size_t own_workload_count;
	size_t own_length;
	double setup_s;
	int64_t up_ns;   /* since when it stands */
	int64_t tick_ns; /* the latest look at the present second's fidelity, and at the results */
	bool degraded;   /* in that second */
	bool running, ended;
	bool finished;        /* the summary is made, the results are to be written */
	bool written;         /* the results, or nobody wants them */
	struct error trouble; /* why results can't be written as they come; "": they can */
	uint64_t slice_ps;    /* stepped: of model time, in a turn */
	struct goal goal;
	json_t *summary; /* once finished */
};

/* clock_control.c: pause, go, step, until */
void clock_pause(struct live *l, struct server_client *c, const json_t *request);
void clock_go(struct live *l, struct server_client *c, const json_t *request);
void clock_step(struct live *l, struct server_client *c, const json_t *request);
void clock_until(struct live *l, struct server_client *c, const json_t *request);
/* If the goal is reached, or nothing can happen any more: replies to the waiting, and pauses. */
void clock_check(struct live *l);
/* Replies to those that wait that it is paused. */
void clock_end(struct live *l);
/* How far the next turn may go. */
uint64_t clock_limit(const struct live *l);
void clock_forget(struct live *l, const struct server_client *c);

/* request_capture.c */
void capture_request(struct live *l, struct server_client *c, const json_t *request);
void capture_forget(struct live *l, struct server_client *c);

/*
 * live_fabric.c: stops model time, and writes the results, to a folder of their own or, if NULL, to
 * the fabric's. 0, or -errno with why, which may be retried if there is a summary.
 */
int live_finish(struct live *l, struct folder *to, struct error *why);
/* Frames that programs sent and that were not taken in time, into the fidelity. */
void live_count_refused(struct live *l);
double live_up_s(const struct live *l);

#endif
