/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIVE_H
#define FABRICBED_LIVE_H

/* A live fabric inside its own process: the session, the clock that drives it, and the requests that it serves. */
#include <stdbool.h>
#include "base/error.h"
#include "topology/fabric.h"

struct live;

struct live_params {
	struct scenario *scenario; /* grows by what is done by hand; both outlive the live fabric */
	const struct fabric *fabric;
	const char *name;      /* of the fabric; in use already: -EEXIST */
	const char *directory; /* of the results; exists */
	const char *control;   /* path of the control socket */
	bool kernel;           /* the kernel dataplane; else inline, without programs */
};

/* Builds everything. When it returns the fabric forwards, and the socket listens. On error nothing stays. 0 or -errno with why. */
int live_open(struct live **ret, const struct live_params *params, struct error *why);

/*
 * Serves until it is told to end (`down`), which has written the results, or until *stop is set, and writes them then. 0, or
 * -errno with why if the fabric failed: results so far are written.
 */
int live_run(struct live *l, const volatile bool *stop, struct error *why);

/* Takes everything down. NULL is fine. */
void live_close(struct live *l);

#endif
