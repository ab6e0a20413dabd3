/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SETUP_H
#define FABRICBED_SETUP_H

/* From a scenario and its fabric to what the runtime's modules want to know. Pure. */
#include "engine/engine.h"
#include "workload/ideal.h"

struct fabric;
struct scenario;

/* Whether frames carry real payload bytes. */
bool setup_payload_is_full(const struct scenario *s, const struct fabric *f);

/* Most bytes that a frame may have. */
uint32_t setup_frame_capacity(const struct scenario *s, const struct fabric *f);

/* Sets of a switch's flow table; lasting: of a fabric that stays. */
uint32_t setup_flow_sets(const struct fabric *f, bool lasting);

/* The classes' shares, for the engine. */
void setup_schedule(struct engine_schedule *ret, const struct fabric *f);

/* What the transports' packets are like, for the bound that no run can beat. */
void setup_frames(struct workload_frames *ret, const struct scenario *s, const struct fabric *f);

/* Those of scenario_transport(); their options are the scenario's. */
void setup_transports(struct engine_transport ret[OPERATION_TRANSPORTS], const struct scenario *s,
	const struct fabric *f);

#endif
