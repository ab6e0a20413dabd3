/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DAEMON_H
#define FABRICBED_DAEMON_H

/* A live fabric's process: in the background, from its fork to its end. */
#include <stdbool.h>
#include <sys/types.h>
#include "base/error.h"
#include "daemon/live_fabric.h"
#include "daemon/registry.h"

struct daemon_params {
	struct registry_entry *state; /* begun; both processes are to free it */
	struct live_params live;
	/* Set by handlers of SIGINT, SIGTERM and SIGHUP without SA_RESTART, in both processes. */
	volatile bool *stop;
	const struct lock_wait
		*wait; /* of the caller's process, which also tells what the fabric's waits for */
};

/*
 * Forks, and returns twice. In the caller's process once the fabric forwards: 0, with the fabric's
 * process in *ret_pid; or -errno with why, when that process is gone: -EINTR: *stop was set;
 * -ECHILD: it died, and left what it had built; else all is taken down. In the fabric's process at
 * its end: *ret_pid is 0, and the result is how it ended.
 */
int daemon_start(const struct daemon_params *params, pid_t *ret_pid, struct error *why);

#endif
