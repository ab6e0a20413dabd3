/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DEEDS_H
#define FABRICBED_DEEDS_H

/* What faults have done: which one befell which target from when to when. Never forgets, so that it can be done again. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "scenario/scenario.h"

#define DEED_LASTS UINT64_MAX

struct deed {
	uint32_t fault;              /* index in the scenario's faults */
	uint32_t target;             /* the link, or the node, as the fault's kind has it */
	uint64_t since_ps, until_ps; /* DEED_LASTS: in force */
};

struct deeds {
	struct deed *items;
	size_t count, capacity;
};

#define DEEDS_INIT                                                                                 \
	{                                                                                          \
		0                                                                                  \
	}

void deeds_release(struct deeds *d);

/* 0 or -ENOMEM. */
int deeds_begin(struct deeds *d, uint32_t fault, uint32_t target, uint64_t now_ps);

/* By fault, then by target: as a timetable has it. */
void deeds_sort(struct deeds *d);

/* False: it is not in force there. */
bool deeds_end(struct deeds *d, uint32_t fault, uint32_t target, uint64_t now_ps);

bool deeds_lasts(const struct deeds *d, uint32_t fault, uint32_t target);

/* The fault of this kind that is in force at a target; false: there is none. */
bool deeds_find(const struct deeds *d, const struct scenario *s, enum fault_kind kind,
	uint32_t target, uint32_t *ret_fault);

/* Whether a fault that routes have to follow has begun or ended at that time. */
bool deeds_cut(const struct deeds *d, const struct scenario *s, uint64_t at_ps);

/*
 * Whether all that a fault has done began at one time and ended at one (or has not yet): *ret is that then. False also if it
 * has done nothing.
 */
bool deeds_alike(const struct deeds *d, uint32_t fault, struct deed *ret);

#endif
