/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PFC deadlocks: found with their members, nowhere else, and none with port roles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "lib/class_net.h"
#include "lib/small_session.h"

#define GBPS     1000000000ull
#define RATE     (100 * GBPS)
#define DELAY    1000000u
#define LOSSLESS 3
#define CIRCLE   8

/* ---- circles made by hand ------------------------------------------------------------------- */

/* At switch `sw` (from 0) what is for `host` leaves by the port towards node `to`. */
static void set_route(struct class_net *n, uint32_t sw, uint32_t host, uint32_t to)
{
	struct sw_tables *t = &n->dp->tables;
	struct switch_state *s = &t->switches[sw];
	uint32_t node = n->net.host_count + sw, port = class_net_port(n, node, to);
	uint16_t group = t->routes[s->first_route].group[host];
	struct group *g = &t->groups[s->first_group + group];

	/* no other host uses the group in these nets */
	g->count = 1;
	g->port[0] = (uint16_t)(port - s->first_port);
}

/*
 * So many switches in a ring, a host each; switch i sends what is for any host but its own to the
 * next one, and what is for host i to host i. Where host i sends to host i + 2, two links of the
 * ring away, each ingress comes to hold what waits for the next. Not closed: the last host sends
 * nothing, and so no packet that came to its switch waits for the first one.
 */
static void open_ring(struct class_net *n, uint32_t size, bool closed)
{
	struct class_link links[2 * CIRCLE] = {0};

	for (uint32_t i = 0; i < size; i++) {
		links[i] = (struct class_link){i, size + i, RATE, DELAY};
		links[size + i] = (struct class_link){size + i, size + (i + 1) % size, RATE, DELAY};
	}
	class_net_init(n, size, size, links, 2 * size);
	class_net_lossless(n, LOSSLESS, 30 * CLASS_NET_FRAME);
	class_net_open(n);
	for (uint32_t sw = 0; sw < size; sw++)
		for (uint32_t host = 0; host < size; host++)
			if (host != sw)
				set_route(n, sw, host, size + (sw + 1) % size);
	for (uint32_t i = 0; i < size - !closed; i++) {
		const struct class_stream s = {.src = i,
			.dst = (i + 2) % size,
			.class = LOSSLESS,
			.payload = 4096,
			.packets = 2000};

		class_net_stream(n, &s);
	}
}

/* The members are the queues of the ring, in the order of waiting, wherever it begins. */
static void assert_ring(const struct class_net *n, uint32_t size)
{
	struct engine_waiting circle[CIRCLE];
	uint32_t first;

	assert_int_equal(engine_find_deadlock(n->engine, circle, CIRCLE), size);
	first = n->net.ports[circle[0].port].node - size;
	for (uint32_t i = 0; i < size; i++) {
		uint32_t at = (first + i) % size;

		assert_int_equal(circle[i].class, LOSSLESS);
		assert_int_equal(
			circle[i].port, class_net_port(n, size + at, size + (at + 1) % size));
	}
	/* what there is no room for is left out, and counted */
	memset(circle, 0xff, sizeof(circle));
	assert_int_equal(engine_find_deadlock(n->engine, circle, 1), size);
	assert_int_equal(circle[1].port, UINT32_MAX);
	assert_int_equal(engine_find_deadlock(n->engine, NULL, 0), size);
}

static void a_ring_of_switches_deadlocks(void **state)
{
	(void)state;
	for (uint32_t size = 3; size <= CIRCLE; size++) {
		struct class_net n;
		uint64_t delivered;

		open_ring(&n, size, true);
		assert_int_equal(engine_find_deadlock(n.engine, NULL, 0), 0);
		class_net_run(&n, PS_PER_MS);
		assert_ring(&n, size);
		/* it really stands still */
		delivered = class_net_stats(&n).delivered;
		assert_true(delivered < 2000 * size);
		class_net_run(&n, 10 * PS_PER_MS);
		assert_int_equal(class_net_stats(&n).delivered, delivered);
		assert_int_equal(class_net_dropped(&n), 0);
		assert_ring(&n, size);
		class_net_close(&n);
	}
}

/* The same traffic less one link of the circle: pauses, but it ends. */
static void an_open_ring_does_not(void **state)
{
	struct class_net n;

	(void)state;
	open_ring(&n, 5, false);
	while (!engine_done(n.engine)) {
		assert_int_equal(engine_find_deadlock(n.engine, NULL, 0), 0);
		class_net_run(
			&n, engine_now(n.engine) +
				    (engine_now(n.engine) < 2 * PS_PER_MS ? PS_PER_US : PS_PER_S));
	}
	assert_true(class_net_stats(&n).pauses_sent > 10);
	assert_int_equal(class_net_stats(&n).delivered, 8000);
	class_net_at_rest(n.engine);
	class_net_close(&n);
}

/* Two switches send host 2's packets to each other: a loop, in which nothing is lost yet. */
static void two_switches_deadlock(void **state)
{
	static const struct class_link links[] = {
		{0, 3, RATE, DELAY}, {1, 4, RATE, DELAY}, {2, 4, RATE, DELAY}, {3, 4, RATE, DELAY}};
	struct engine_waiting circle[CIRCLE];
	struct class_net n;
	uint32_t first;

	(void)state;
	class_net_init(&n, 3, 2, links, 4);
	class_net_lossless(&n, LOSSLESS, 30 * CLASS_NET_FRAME);
	class_net_open(&n);
	set_route(&n, 0, 2, 4);
	set_route(&n, 1, 2, 3);
	for (uint32_t i = 0; i < 2; i++) {
		const struct class_stream s = {
			.src = i, .dst = 2, .class = LOSSLESS, .payload = 4096, .packets = 2000};

		class_net_stream(&n, &s);
	}
	class_net_run(&n, 5 * PS_PER_MS);
	assert_int_equal(engine_find_deadlock(n.engine, circle, CIRCLE), 2);
	first = circle[0].port == class_net_port(&n, 4, 3);
	assert_int_equal(circle[first].port, class_net_port(&n, 3, 4));
	assert_int_equal(circle[!first].port, class_net_port(&n, 4, 3));
	assert_int_equal(circle[0].class, LOSSLESS);
	assert_int_equal(circle[1].class, LOSSLESS);
	assert_int_equal(class_net_stats(&n).delivered, 0);
	class_net_close(&n);
}

/* A watchdog breaks it: at the price of drops, everything moves again. */
static void a_watchdog_breaks_the_circle(void **state)
{
	struct class_net n;

	(void)state;
	open_ring(&n, 4, true);
	n.dp->tables.config.watchdog_ps = 300 * PS_PER_US;
	class_net_run(&n, UINT64_MAX);
	assert_true(class_net_stats(&n).dropped[DROP_WATCHDOG] > 0);
	assert_int_equal(class_net_stats(&n).dropped[DROP_WATCHDOG], class_net_dropped(&n));
	assert_int_equal(engine_find_deadlock(n.engine, NULL, 0), 0);
	class_net_at_rest(n.engine);
	class_net_close(&n);
}

/* ---- what looks like one -------------------------------------------------------------------- */

/* A host that pauses for ever stops a whole tree of switches; but it may relent. */
static void a_storm_is_no_deadlock(void **state)
{
	static const struct class_link links[] = {{0, 4, RATE, DELAY}, {4, 5, RATE, DELAY},
		{5, 6, RATE, DELAY}, {1, 6, RATE, DELAY}, {2, 6, RATE, DELAY}, {3, 5, RATE, DELAY}};
	struct class_net n;

	(void)state;
	class_net_init(&n, 4, 3, links, 6);
	class_net_lossless(&n, LOSSLESS, 30 * CLASS_NET_FRAME);
	class_net_open(&n);
	for (uint32_t i = 1; i < 4; i++) {
		const struct class_stream s = {
			.src = i, .dst = 0, .class = LOSSLESS, .payload = 4096, .packets = 1000};

		class_net_stream(&n, &s);
	}
	engine_set_storm(n.engine, 0, 1u << LOSSLESS);
	for (uint64_t now = 0; now < PS_PER_MS; now += PS_PER_US) {
		class_net_run(&n, now);
		assert_int_equal(engine_find_deadlock(n.engine, NULL, 0), 0);
	}
	assert_true(class_net_ingress(&n, class_net_port(&n, 6, 1), LOSSLESS)->paused);
	engine_set_storm(n.engine, 0, 0);
	class_net_run(&n, UINT64_MAX);
	assert_int_equal(class_net_stats(&n).delivered, 3000);
	class_net_at_rest(n.engine);
	class_net_close(&n);
}

/*
 * A ring of three switches, each with a fast sender and a slow receiver. Nearly all is for the next
 * switch's receiver, whose ingress fills up and pauses; a little goes on round the ring. So all
 * three wait for each other now and then, each with frames in the next one's paused queue, but so
 * few that what drains to the receivers is enough for XON.
 */
static void a_circle_that_opens_is_no_deadlock(void **state)
{
	enum { RING = 3 };
	struct class_link links[3 * RING] = {0};
	uint32_t circles = 0;
	struct class_net n;

	(void)state;
	for (uint32_t i = 0; i < RING; i++) {
		uint32_t sw = 2 * RING + i;

		links[i] = (struct class_link){i, sw, RATE, DELAY};
		links[RING + i] = (struct class_link){RING + i, sw, RATE / 4, DELAY};
		links[2 * RING + i] =
			(struct class_link){sw, 2 * RING + (i + 1) % RING, RATE, DELAY};
	}
	class_net_init(&n, 2 * RING, RING, links, 3 * RING);
	class_net_lossless(&n, LOSSLESS, 30 * CLASS_NET_FRAME);
	class_net_open(&n);
	for (uint32_t i = 0; i < RING; i++) {
		struct class_stream s = {.src = i,
			.dst = RING + (i + 1) % RING,
			.class = LOSSLESS,
			.payload = 4096,
			.packets = 3000};

		set_route(&n, i, RING + (i + 1) % RING, 2 * RING + (i + 1) % RING);
		set_route(&n, i, RING + (i + 2) % RING, 2 * RING + (i + 1) % RING);
		class_net_stream(&n, &s);
		s.dst = RING + (i + 2) % RING;
		s.packets = 100;
		s.mean_gap_ps = 20 * PS_PER_US;
		class_net_stream(&n, &s);
	}
	while (class_net_stats(&n).delivered < 3100 * RING) {
		uint32_t waiting = 0;

		uint64_t now = engine_now(n.engine);

		/* for a while they wait for the receivers, which may relent, and do */
		if (now == 500 * PS_PER_US || now == PS_PER_MS)
			for (uint32_t i = 0; i < RING; i++)
				engine_set_storm(
					n.engine, RING + i, now == PS_PER_MS ? 0 : 1u << LOSSLESS);
		class_net_run(&n, now + PS_PER_US);
		assert_int_equal(engine_find_deadlock(n.engine, NULL, 0), 0);
		for (uint32_t i = 0; i < RING; i++) {
			uint32_t port = class_net_port(&n, 2 * RING + i, 2 * RING + (i + 1) % RING);
			const struct queue *q = class_net_queue(&n, port, LOSSLESS);

			waiting += q->paused_until_ps > engine_now(n.engine) && q->depth_frames > 1;
		}
		circles += waiting == RING;
	}
	print_message("# all three waited for each other at %u moments\n", circles);
	assert_true(circles > 10);
	assert_int_equal(class_net_dropped(&n), 0);
	class_net_close(&n);
}

static const char fabric[] = "name: incast\n"
			     "topology:\n"
			     "  leaf_spine: {leaves: 4, spines: 4, hosts_per_leaf: 8}\n"
			     "  rate: 100Gbps\n"
			     "  delay: 1us\n"
			     "switch:\n"
			     "  buffer: {shared: 3MB, alpha: 1}\n"
			     "  classes:\n"
			     "    - {class: 3, dscp: 26, lossless: yes}\n"
			     "    - {class: 0}\n"
			     "  pfc: on\n"
			     "host:\n"
			     "  transport: {roce: {congestion: off}}\n"
			     "  dscp: {data: 26, control: 0, notify: 0}\n"
			     "workload:\n"
			     "  - incast: {senders: 24, to: h0, message: 500KB}\n"
			     "  - permutation: {message: 500KB}\n";

/* Up and down again, there is no circle; however many queues wait. */
static void an_incast_is_no_deadlock(void **state)
{
	struct error why = ERROR_INIT;
	struct small_session s;
	struct engine_stats stats;

	(void)state;
	small_session_open(&s, fabric, NULL, 0, NULL);
	while (!session_done(s.session)) {
		const struct engine *e = session_engine(s.session);

		assert_int_equal(engine_find_deadlock(e, NULL, 0), 0);
		assert_int_equal(
			session_advance(s.session, engine_now(e) + PS_PER_US, NULL, &why), 0);
	}
	engine_stats(session_engine(s.session), &stats);
	assert_true(stats.pauses_sent > 100);
	assert_int_equal(stats.flows_done, stats.flows);
	small_session_close(&s);
}

/* ---- the report's figure 21 ----------------------------------------------------------------- */

/* The shipped scenario; *ret_queues: of the circle that its summary names, 0: none. */
static struct engine_stats figure_21(const char *roles, uint64_t seed, int *ret_queues)
{
	char *text = small_file("scenarios", "pfc-deadlock.yaml"), seeded[32];
	const char *sets[] = {seeded, roles};
	const json_t *pfc, *deadlock;
	struct engine_stats stats;
	struct small_session s;
	json_t *summary;
	bool met;

	assert_non_null(text);
	snprintf(seeded, sizeof(seeded), "seed=%u", (unsigned)seed);
	small_session_open(&s, text, sets, roles ? 2 : 1, NULL);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &stats);
	summary = small_session_summary(&s, &met);
	pfc = json_object_get(summary, "pfc");
	deadlock = json_object_get(pfc, "deadlock");
	*ret_queues = deadlock ? (int)json_array_size(json_object_get(deadlock, "circle")) : 0;
	assert_int_equal(json_integer_value(json_object_get(pfc, "deadlocks")), deadlock != NULL);
	assert_int_equal(met, stats.flows_done == stats.flows && !deadlock);
	/* what was found is there to stay; what was not is not there */
	assert_int_equal(
		engine_find_deadlock(session_engine(s.session), NULL, 0) > 0, deadlock != NULL);
	json_decref(summary);
	small_session_close(&s);
	free(text);
	return stats;
}

static void without_roles_it_deadlocks(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 100 : 5, found = 0;
	int queues, least = 1000, most = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct engine_stats stats = figure_21("switch.roles=off", seed, &queues);

		if (!queues)
			continue;
		found++;
		least = queues < least ? queues : least;
		most = queues > most ? queues : most;
		assert_true(stats.flows_done < stats.flows);
		assert_int_equal(stats.remapped, 0);
	}
	print_message("# roles off: %u of %u seeds deadlock, circles of %d to %d queues\n",
		(unsigned)found, (unsigned)seeds, least, most);
	assert_true(2 * found > seeds);
	/* two leaves and two spines at least */
	assert_true(least >= 4);
}

static void with_roles_it_does_not(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 100 : 5, remapped = 0;
	int queues;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct engine_stats stats = figure_21(NULL, seed, &queues);

		assert_int_equal(queues, 0);
		assert_int_equal(stats.flows_done, stats.flows);
		assert_int_equal(stats.dropped[DROP_HEADROOM], 0);
		remapped += stats.remapped;
	}
	print_message("# roles on: no deadlock in %u seeds, %u packets remapped\n", (unsigned)seeds,
		(unsigned)remapped);
	assert_true(remapped > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_of_switches_deadlocks),
		cmocka_unit_test(an_open_ring_does_not),
		cmocka_unit_test(two_switches_deadlock),
		cmocka_unit_test(a_watchdog_breaks_the_circle),
		cmocka_unit_test(a_storm_is_no_deadlock),
		cmocka_unit_test(a_circle_that_opens_is_no_deadlock),
		cmocka_unit_test(an_incast_is_no_deadlock),
		cmocka_unit_test(without_roles_it_deadlocks),
		cmocka_unit_test(with_roles_it_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
