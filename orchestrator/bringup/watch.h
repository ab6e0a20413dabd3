/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WATCH_H
#define FABRICBED_WATCH_H

/* For tests: looks on while a fabric is built, and may make any step fail. */
#include "bringup/bringup.h"

enum build_step {
	BUILD_CLAIM, /* the record */
	BUILD_PROGRAMS,
	BUILD_NAMESPACE, /* of node index */
	BUILD_SOCKET,    /* of port index */
	BUILD_LINK,      /* link index */
	BUILD_INTERFACE, /* of port index */
	BUILD_STACK,     /* of node index */
	BUILD_BIND,      /* of port index */
	BUILD_STEPS
};

struct build_watch {
	/*
	 * Called before each step, by several threads at once. A negative result becomes the
	 * failure of the step.
	 */
	int (*before)(void *context, enum build_step step, uint32_t index);
	void *context;
};

int build_up_watched(struct built **ret, const struct build_params *params,
	const struct build_watch *watch, struct error *why);

#endif
