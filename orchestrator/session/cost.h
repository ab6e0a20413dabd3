/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COST_H
#define FABRICBED_COST_H

/* Predicted time and memory of a run; and the time of a hop, for other estimates. */
#include <stdint.h>
#include "base/series.h"
#include "session/ending.h"
#include "workload/ideal.h"
#include "workload/workload.h"

struct scenario;
struct fabric;

#define COST_ENGINE_NS 150 /* of a hop, whatever the dataplane */

struct cost {
	uint64_t memory_bytes; /* peak; of the process, and of the kernel with its dataplane */
	double wall_s;
};

/*
 * Of a run of these messages on either dataplane; size: of workload_measure(). Memory is right to
 * 30%, measured on amd64 and Linux 6.18; time is a rule of thumb, of a 2-core virtual machine. 0 or
 * -ENOMEM.
 */
int cost_foresee(struct cost *ret_inline, struct cost *ret_kernel, const struct scenario *s,
	const struct fabric *f, const struct operations *m, const struct workload_size *size);

/* A file of samples. */
struct series_cost {
	uint64_t rows; /* UINT64_MAX: that depends on how deep queues are */
	uint64_t bytes;
};

/* Of one that is sampled: at least so much, by the least time that the run may take. */
struct series_cost cost_series(const struct scenario *s, const struct fabric *f,
	enum series_kind kind, const struct ending *e);

/*
 * The memory of a run of the scenario's own workload on one of them, bytes; lasting: in a fabric
 * that stays. 0 or -ENOMEM.
 */
int cost_memory(
	uint64_t *ret, const struct scenario *s, const struct fabric *f, bool kernel, bool lasting);

#endif
