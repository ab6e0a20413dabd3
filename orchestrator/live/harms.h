/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_HARMS_H
#define FABRICBED_HARMS_H

/* What faults have done: which one befell which target from when to when. Never forgets, so that it can be done again. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "scenario/kinds.h"

struct scenario;

#define HARM_LASTS UINT64_MAX

struct harm {
	uint32_t fault;              /* index in the scenario's faults */
	uint32_t target;             /* the link, or the node, as the fault's kind has it */
	uint64_t since_ps, until_ps; /* HARM_LASTS: in force */
};

struct harms {
	struct harm *items;
	size_t count;
};

#define HARMS_INIT                                                                                 \
	{                                                                                          \
		0                                                                                  \
	}

void harms_release(struct harms *d);

/* 0 or -ENOMEM. */
int harms_begin(struct harms *d, uint32_t fault, uint32_t target, uint64_t now_ps);

/* By fault, then by target: as a timetable has it. */
void harms_sort(struct harms *d);

/* False: it is not in force there. */
bool harms_end(struct harms *d, uint32_t fault, uint32_t target, uint64_t now_ps);

/* The fault of this kind that is in force at a target; false: there is none. */
bool harms_find(const struct harms *d, const struct scenario *s, enum fault_kind kind,
	uint32_t target, uint32_t *ret_fault);

/* Whether a fault that routes have to follow has begun or ended at that time. */
bool harms_cut(const struct harms *d, const struct scenario *s, uint64_t at_ps);

/*
 * Whether all that a fault has done began at one time and ended at one (or has not yet): *ret is that then. False also if it
 * has done nothing.
 */
bool harms_alike(const struct harms *d, uint32_t fault, struct harm *ret);

#endif
