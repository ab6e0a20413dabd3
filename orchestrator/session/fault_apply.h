/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FAULT_APPLY_H
#define FABRICBED_FAULT_APPLY_H

/* Faults as they begin and end: what they change in the engine and in the tables. */
#include <jansson.h>
#include "control/routing.h"
#include "engine/engine.h"
#include "session/timeline.h"

struct changes {
	const struct scenario *scenario;
	const struct fabric *fabric;
	struct engine *engine;
	struct sw_tables *tables;
	struct routing *routing;
	bool *link_up;       /* by link */
	uint32_t *link_cuts; /* by link: faults that hold it down now */
};

/* 0 or -ENOMEM; then changes_release() is still due. The engine is set before the first change. */
int changes_init(struct changes *c, const struct scenario *s, const struct fabric *f);
void changes_release(struct changes *c);

/* Does it, and returns a line for the events: a new reference. */
json_t *change_apply(struct changes *c, const struct action *a);

/* Writes all routes for the links that are up now. Returns how many changed. */
uint32_t change_routes(struct changes *c);

#endif
