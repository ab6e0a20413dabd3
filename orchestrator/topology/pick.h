/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PICK_H
#define FABRICBED_PICK_H

/*
 * What a fault's pattern matches, and what it picks of that. The order in which a fault picks
 * depends on the seed and on the text of its pattern alone: faults with the same pattern pick the
 * same links, one that picks more picks those of the other too, and those that `skip` passes over
 * are the ones that a fault without it picks.
 */
#include <stddef.h>
#include "topology/pods.h"

struct fault_spec;

/* A link or node, as fault_targets() numbers them. */
struct candidate {
	uint32_t target;
	uint32_t group; /* the pod, or the switch's node, or 0; NO_POD: it is in no pod */
	uint64_t rank;  /* the lowest of a group are picked first */
};

struct pick {
	/* By group; of each what is skipped, what is taken, by target, and the rest. */
	struct candidate *items;
	size_t count;
	struct pods pods; /* where it picks per pod */
};

/* 0; -ENOMEM, and *ret is unchanged. */
int pick_init(
	struct pick *ret, const struct fabric *f, uint64_t seed, const struct fault_spec *fault);
void pick_release(struct pick *p);

/* The candidates of one group, and those of them that the fault takes. */
struct pick_group {
	size_t first, end; /* in items */
	size_t taken, taken_end;
};

/* The group that begins with that item, below p->count. */
struct pick_group pick_group(const struct pick *p, const struct fault_spec *fault, size_t first);

/* Writes what messages call a group: "pod 3", or "tor3.0". Returns buf. */
const char *pick_group_name(const struct fabric *f, const struct pick *p,
	const struct fault_spec *fault, uint32_t group, char buf[POD_NAME]);

/*
 * The links or nodes that a fault befalls, ascending; links and nodes are each numbered from 0.
 * free() *ret. 0; -ENOMEM, and nothing is changed.
 */
int fault_targets(const struct fabric *f, uint64_t seed, const struct fault_spec *fault,
	uint32_t **ret, size_t *ret_count);

#endif
