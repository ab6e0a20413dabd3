/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ACTIVE_FAULTS_H
#define FABRICBED_ACTIVE_FAULTS_H

/* The history of faults: which fault hit which target from when to when. Saves repeat it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault_spec;
struct scenario;

#define ACTIVE_FAULT_LASTS UINT64_MAX

struct active_fault {
	uint32_t fault;              /* index in the scenario's faults */
	uint32_t target;             /* the link, or the node, as the fault has it */
	uint64_t since_ps, until_ps; /* ACTIVE_FAULT_LASTS: in force */
};

struct active_faults {
	struct active_fault *items;
	size_t count;
};

#define ACTIVE_FAULTS_INIT                                                                         \
	{                                                                                          \
		0                                                                                  \
	}

void active_faults_release(struct active_faults *d);

/* 0 or -ENOMEM. */
int active_faults_begin(struct active_faults *d, uint32_t fault, uint32_t target, uint64_t now_ps);

/* By fault, then by target: as in a schedule. */
void active_faults_sort(struct active_faults *d);

/* False: it is not in force there. */
bool active_faults_end(struct active_faults *d, uint32_t fault, uint32_t target, uint64_t now_ps);

/* The fault like this one that is in force at a target; false: there is none. */
bool active_faults_find(const struct active_faults *d, const struct scenario *s,
	const struct fault_spec *like, uint32_t target, uint32_t *ret_fault);

/* Whether a fault that routes have to follow has begun or ended at that time. */
bool active_faults_cut(const struct active_faults *d, const struct scenario *s, uint64_t at_ps);

/*
 * Whether a fault began at all its targets at one time and ended (or did not) at one: *ret is that
 * then. False also if it has no targets yet.
 */
bool active_faults_alike(const struct active_faults *d, uint32_t fault, struct active_fault *ret);

#endif
