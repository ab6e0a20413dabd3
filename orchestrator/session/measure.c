/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/measure.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "io/clock.h"
#include "session/cost.h"
#include "topology/fabric.h"

#define SLEEPS   100
#define SLEEP_NS 100000
#define HOPS     2000
#define BUSY     0.8 /* of the time: what is left is for programs and for bad luck */

static int compare(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* The 99th percentile of how late a sleeper wakes up. */
static double measure_late(void)
{
	const struct timespec t = {.tv_nsec = SLEEP_NS};
	int64_t late[SLEEPS];

	for (int i = 0; i < SLEEPS; i++) {
		int64_t begun = clock_ns();

		ppoll(NULL, 0, &t, NULL);
		late[i] = clock_ns() - begun - SLEEP_NS;
	}
	qsort(late, SLEEPS, sizeof(late[0]), compare);
	return (double)late[SLEEPS - 2];
}

/* What the frames of a measurement have left in the tables. */
static void forget_frames(struct sw_tables *t)
{
	for (uint32_t i = 0; i < t->count.ports; i++) {
		t->ports[i].rx_frames = 0;
		t->drops[i] = (struct port_drops){0};
	}
}

/*
 * The time of a hop, over all ports in turn. The frames are of no known type, and end before they
 * change anything but counters. The rest of the program, and the engine's part, take as long again
 * (docs/kernel-dataplane.md).
 */
static double measure_hop(struct dataplane *dp, const struct fabric *f)
{
	struct frame *frame = calloc(1, sizeof(*frame) + dp->frame_capacity);
	int64_t begun = clock_ns();
	int r = frame ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < HOPS; i++) {
		struct frame_ref ref = {frame, 64};

		frame->hop = (struct hop){.magic = HOP_MAGIC, .length = 64};
		r = dp->ops->submit(dp, PORT_FIRST + i % f->net.port_count, &ref, 1);
	}
	free(frame);
	forget_frames(&dp->tables);
	return r < 0 ? 1e6 : COST_ENGINE_NS + 2 * (double)(clock_ns() - begun) / HOPS;
}

/* Rounded up to two digits. */
static double two_digits(double x)
{
	double unit = pow(10, floor(log10(x)) - 1);

	return ceil(x / unit - 1e-9) * unit;
}

double slowdown_for(const struct fabric *f, double late_ns, double hop_ns)
{
	uint64_t shortest = UINT64_MAX;
	double packets = 0, least;

	for (uint32_t i = 0; i < f->net.port_count; i++)
		if (f->net.ports[PORT_FIRST + i].delay_ps < shortest)
			shortest = f->net.ports[PORT_FIRST + i].delay_ps;
	for (uint32_t i = 0; i < f->net.host_count; i++)
		packets += (double)f->net.ports[f->net.nodes[i].first_port].rate_bps / 8 /
			   (double)wire_bytes(f->packet_bytes);
	/* as many links up as down, the host's included: the longest way */
	least = packets * 2 * (f->tier_count - 1) * hop_ns * 1e-9 / BUSY;
	if (shortest && late_ns * PS_PER_NS / (double)shortest > least)
		least = late_ns * PS_PER_NS / (double)shortest;
	return least > 1 ? two_digits(least) : 1;
}

double measure_slowdown(const struct session *s, const struct fabric *f)
{
	return slowdown_for(f, measure_late(), measure_hop(session_dataplane(s), f));
}
