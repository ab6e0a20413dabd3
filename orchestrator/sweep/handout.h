/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_HANDOUT_H
#define FABRICBED_SWEEP_HANDOUT_H

/*
 * Work for the ranks: rank 0 hands out items, one at a time to each other rank, in their order, and
 * takes what they come to as it arrives. It does none itself.
 *
 * An item that fails is told, and the others go on. Of a rank that dies nobody learns: mpirun ends
 * all others. What was taken until then can be kept, and the rest be handed out another time.
 */
#include <stddef.h>
#include "base/error.h"
#include "sweep/bundle.h"

struct ranks;

/* What came of an item. */
struct handout_result {
	size_t item;                 /* its place in the list */
	int rank;                    /* that has done it */
	int status;                  /* 0, or -errno */
	const struct bundle *bundle; /* if the status is 0 */
	const char *why;             /* else */
};

/* Negative: nothing more is handed out. */
typedef int handout_taken(void *arg, const struct handout_result *result);

/*
 * On rank 0, until all is done, any number of times. 0, or the first negative answer of `taken`, of
 * which the items already handed out still come; -EIO: MPI failed; -ENOMEM.
 */
int handout_lead(
	struct ranks *r, const char *const *items, size_t count, handout_taken *taken, void *arg);

/*
 * On rank 0, when there is nothing more: the others return from handout_work(), and then wait for
 * each other busily. 0 or -EIO.
 */
int handout_end(struct ranks *r);

/* Does an item: an empty bundle to be filled, or -errno with why. */
typedef int handout_work_item(void *arg, const char *item, struct bundle *ret, struct error *why);

/* On all others, until rank 0 has no more. 0; -EIO: MPI failed; -ENOMEM. */
int handout_work(struct ranks *r, handout_work_item *work, void *arg);

#endif
