/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_FAULT_CALLS_H
#define FABRICBED_TEST_FAULT_CALLS_H

/* Faults on the frames towards one port, a line each. Values of 0 end them. */
#include "faults/fault_kind.h"

struct faults_gilbert {
	double enter, leave, lost_good, lost_bad;
};

static inline void faults_set_loss(struct sw_tables *t, uint32_t port, double loss, uint64_t seed)
{
	const struct fault_effect e = {.kind = FAULT_LOSS, .loss = loss};

	fault_set_port(t, port, &e, true, seed, 0);
}

static inline void faults_set_gilbert(
	struct sw_tables *t, uint32_t port, const struct faults_gilbert *g, uint64_t seed)
{
	const struct fault_effect e = {
		.kind = FAULT_GILBERT, .gilbert = {g->enter, g->leave, g->lost_good, g->lost_bad}};

	fault_set_port(t, port, &e, true, seed, 0);
}

static inline void faults_set_flaky(struct sw_tables *t, uint32_t port, uint64_t every_ps,
	uint64_t last_ps, uint64_t seed, uint64_t now_ps)
{
	const struct fault_effect e = {.kind = FAULT_FLAKY, .flaky = {every_ps, last_ps}};

	fault_set_port(t, port, &e, true, seed, now_ps);
}

static inline void faults_set_errors(
	struct sw_tables *t, uint32_t port, double bit_error_rate, uint64_t seed)
{
	const struct fault_effect e = {.kind = FAULT_ERRORS, .bit_errors = bit_error_rate};

	fault_set_port(t, port, &e, true, seed, 0);
}

static inline void faults_clear(struct sw_tables *t, uint32_t port, enum fault_kind kind)
{
	const struct fault_effect e = {.kind = kind};

	fault_set_port(t, port, &e, false, 1, 0);
}

#endif
