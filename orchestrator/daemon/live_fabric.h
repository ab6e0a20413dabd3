/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIVE_FABRIC_H
#define FABRICBED_LIVE_FABRIC_H

/* A live fabric in its own process: the session, the clock that drives it, its control requests. */
#include <stdbool.h>
#include "base/error.h"
#include "session/folder.h"

struct fabric;
struct provenance;
struct scenario;
struct server_ops;

struct live;

struct live_params {
	const struct provenance *provenance; /* as session_params has it */
	struct scenario *scenario; /* grows by what is done by hand; both outlive the live fabric */
	const struct fabric *fabric;
	const char *name;                  /* of the fabric; in use already: -EEXIST */
	struct folder *folder;             /* for the results */
	const char *control;               /* path of the control socket */
	const struct server_ops *requests; /* what serves it (requests.h), with a struct live */
	bool kernel;                       /* the kernel dataplane; else inline, without programs */
	const volatile bool *stop;         /* ends the set-up */
	const struct lock_wait *wait;      /* as build_up() has it */
};

/* Builds everything, forwards and listens. On error nothing stays. 0 or -errno with why. */
int live_open(struct live **ret, const struct live_params *params, struct error *why);

/*
 * Serves until the request `down`, which has written the results, or until *stop is set, and writes
 * them then. 0, or -errno with why: the fabric failed (results so far are written), or they could
 * not be written.
 */
int live_run(struct live *l, const volatile bool *stop, struct error *why);

/* Takes everything down. NULL is fine. */
void live_close(struct live *l);

#endif
