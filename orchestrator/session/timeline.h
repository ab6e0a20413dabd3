/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TIMELINE_H
#define FABRICBED_TIMELINE_H

/* A scenario's faults as a list of what to do when, in the order of time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fabric;
struct scenario;

enum action_kind {
	ACTION_END, /* of a fault at a target */
	ACTION_BEGIN,
	ACTION_REROUTE, /* routes follow the links as they are at this time */
};

struct action {
	uint64_t at_ps;
	enum action_kind kind;
	uint32_t fault;  /* index in the scenario's faults; not for ACTION_REROUTE */
	uint32_t target; /* the link, or the node, as the fault has it */
};

struct timeline {
	struct action *items;
	size_t count, next;
};

#define TIMELINE_INIT                                                                              \
	{                                                                                          \
		0                                                                                  \
	}

/* So much later; UINT64_MAX: never. */
uint64_t timeline_later(uint64_t at_ps, uint64_t delay_ps);

/* Faults of s on their targets in f; a reroute follows each change of a link. 0 or -ENOMEM. */
int timeline_init(struct timeline *t, const struct scenario *s, const struct fabric *f);
void timeline_release(struct timeline *t);

/* Inserts a future action in order. A second reroute at one time is left out. 0 or -ENOMEM. */
int timeline_insert(struct timeline *t, const struct action *a);

/* When the next action is due; UINT64_MAX: there is none. */
uint64_t timeline_next(const struct timeline *t);

#endif
