/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_FAULTS_FIXTURE_H
#define FABRICBED_TEST_FAULTS_FIXTURE_H

/*
 * A cable with its two ports, and no switch: frames go through the wire stage alone. All seeds of
 * these tests are fixed, so what passes once passes always.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "lib/fault_calls.h"
#include "sw/cable.h"

#define US     1000000ull /* ps */
#define EVERY  (100 * US)
#define LAST   (10 * US)
#define A      2u /* the two ends of the cable */
#define B      3u
#define PORTS  4u
#define LENGTH 1000u

struct cable {
	struct port ports[PORTS];
	struct port_drops drops[PORTS];
	struct fault faults[PORTS];
	struct sw_tables t;
};

static inline void cable_init(struct cable *c)
{
	memset(c, 0, sizeof(*c));
	c->ports[A].peer = B;
	c->ports[B].peer = A;
	c->ports[A].up = c->ports[B].up = 1;
	c->t = (struct sw_tables){
		.ports = c->ports,
		.drops = c->drops,
		.faults = c->faults,
		.count = {.ports = PORTS, .drops = PORTS, .faults = PORTS},
		.config = {.features = SW_FAULTS},
	};
}

/* A frame arrives at `port`; what became of it, which must be counted too. */
static inline enum drop_reason frame(
	struct cable *c, uint32_t port, uint64_t started_ps, uint64_t now_ps, uint32_t length)
{
	struct sw_ctx x = {
		.t = &c->t,
		.hop = {.length = length, .started_ps = started_ps, .now_ps = now_ps},
		.in_id = port,
		.in = &c->ports[port],
		.features = c->t.config.features,
	};
	uint64_t counted[DROP_SLOTS];
	enum sw_step step;

	memcpy(counted, c->drops[port].frames, sizeof(counted));
	c->ports[port].rx_frames++;
	step = sw_wire(&x);
	assert_int_equal(step, x.reason == DROP_NONE ? SW_NEXT : SW_END);
	counted[x.reason] += x.reason != DROP_NONE;
	assert_memory_equal(counted, c->drops[port].frames, sizeof(counted));
	return (enum drop_reason)x.reason;
}

/* Frame number i of a stream without gaps, of 1 us each. */
static inline enum drop_reason nth(struct cable *c, uint32_t port, uint64_t i)
{
	return frame(c, port, i * US, (i + 1) * US, LENGTH);
}

/*
 * Fails unless got lies within 3.5 deviations of want; the dice being fixed, by luck of the seeds
 * once in 2,000.
 */
static inline void assert_near(const char *what, double got, double want, double deviation)
{
	if (fabs(got - want) <= 3.5 * deviation)
		return;
	print_error("%s: %g where %g is due, with a deviation of %g\n", what, got, want, deviation);
	fail();
}

#endif
