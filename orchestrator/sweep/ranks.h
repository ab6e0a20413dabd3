/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_RANKS_H
#define FABRICBED_SWEEP_RANKS_H

/*
 * The processes that mpirun has started together, on one host or many, and messages between them.
 * MPI itself is in a plugin, so that whoever does not use it neither needs nor loads it.
 */
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct ranks;

/*
 * *ret is NULL if there is only this process: OMPI_COMM_WORLD_SIZE, which mpirun sets, is not there
 * or 1. Before any thread. 0, or -errno with why: -ENOENT, there is no plugin; -EIO, MPI does not
 * start. A process that has opened them must close them before it ends, or mpirun ends all.
 */
int ranks_open(struct ranks **ret, struct error *why);

/* From 0; fewer than the size, which is at least 2. */
int ranks_rank(const struct ranks *r);
int ranks_size(const struct ranks *r);

/*
 * A message of any length, sent when the other has begun to take it. Both sleep while they wait.
 * 0; -EIO: MPI failed, as it may where another process has died.
 */
int ranks_send(struct ranks *r, int to, const void *bytes, size_t length);

/*
 * Waits for a message of a rank, or of any if from is -1; free() its bytes, behind which there is a
 * zero. 0; -ENOMEM; -EIO.
 */
int ranks_recv(struct ranks *r, int from, int *ret_from, uint8_t **ret_bytes, size_t *ret_length);

/*
 * Waits for all others to close theirs: busily, so they should have nothing left to do. NULL is
 * fine.
 */
void ranks_close(struct ranks *r);

#endif
