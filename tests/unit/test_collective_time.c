/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What collectives take, against their closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "collective_fixture.h"
#include "engine/internal.h"
#include "lib/transport_options.h"

#define DELAY (100 * PS_PER_US)

static void open_star(struct small_net *s, uint32_t n)
{
	static struct strack_options few_answers = STRACK_OPTIONS_DEFAULT;
	const struct small_config c = {.options = &few_answers};

	few_answers.sack_packets = 64; /* they share links with data */
	small_net_star(s, n, 100 * GBPS, 100 * GBPS, DELAY);
	small_net_open(s, &c);
}

/* A message alone: when it has been delivered; when it has ended; when all can know of it. */
static uint64_t alone(uint64_t bytes, uint64_t *ret_ended_ps, uint64_t *ret_known_ps)
{
	struct engine_flow_result r;
	struct small_net s;

	open_star(&s, 3);
	small_net_flow(&s, 0, 1, bytes, 0);
	small_net_run(&s, PS_PER_S);
	engine_flow_result(s.engine, 0, &r);
	if (ret_ended_ps)
		*ret_ended_ps = r.finish_ps;
	if (ret_known_ps)
		*ret_known_ps = r.delivered_ps + s.engine->transports[0].env.base_rtt_ps / 2;
	small_net_close(&s);
	return r.delivered_ps;
}

static uint64_t delivered(uint64_t bytes)
{
	return alone(bytes, NULL, NULL);
}

/* From the first beginning to the last delivery. */
static uint64_t takes(const struct collective *c, uint32_t n)
{
	uint64_t last = 0;
	struct small_net s;
	struct graph g;

	make(&g, c, n);
	open_star(&s, n);
	assert_int_equal(
		engine_add_flows(s.engine, g.m.items, g.m.count, g.m.waits, g.m.wait_count), 0);
	small_net_run(&s, 100 * PS_PER_S);
	for (uint32_t i = 0; i < g.m.count; i++) {
		struct engine_flow_result r;

		engine_flow_result(s.engine, i, &r);
		assert_true(r.finish_ps || !operation_is_message(&r.flow));
		if (!operation_is_message(&r.flow) && r.flow.stream)
			r.delivered_ps = r.finish_ps;
		last = r.delivered_ps > last ? r.delivered_ps : last;
	}
	small_net_close(&s);
	release(&g);
	return last;
}

static void assert_near(uint64_t a, uint64_t b)
{
	if (a < b ? (b - a) * 1000 > b : (a - b) * 1000 > b)
		fail_msg("%llu ps, and the closed form says %llu ps", (unsigned long long)a,
			(unsigned long long)b);
}

/* docs/closed-forms.md, "collectives". */
static uint64_t closed_time(size_t i, uint32_t n, uint64_t segment)
{
	uint32_t twice = all[i].op == ALL_REDUCE ? 2 : 1;
	uint64_t sum = 0, ended, known, one = alone(segment, &ended, &known);

	switch (all[i].algorithm) {
	case RING:
		if (all[i].op == BROADCAST)
			return (n - 1) * delivered(segment * n);
		return twice * (n - 1) * one;
	case HALVING_DOUBLING:
		for (uint32_t d = n / 2; d; d /= 2)
			sum += twice * delivered(segment * d);
		return sum;
	case TREE:
		return twice * log2_up(n) * delivered(segment * n / 2);
	case PAIRWISE:
		return (n - 2) * ended + one;
	case WINDOWED:
		return (n - 2) / 3 * (known > ended ? known : ended) + one;
	case BRUCK:
		for (uint32_t bit = 1; bit < n; bit *= 2)
			sum += delivered(segment * bruck_blocks(n, bit));
		return sum;
	default:
		return 0;
	}
}

/*
 * On a star: a switch at which all hosts are. Segments of one packet, so that little is on a link
 * at the same time.
 */
static void time_is_the_closed_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++)
		for (uint32_t n = 2; n <= 16; n += n < 9 ? 1 : 7) {
			struct collective c = plain(all[i].op, all[i].algorithm, 200 * n);

			/* else a step need not wait for the one before */
			if (is_possible(i, n) && (all[i].algorithm != BRUCK || !(n & (n - 1))))
				assert_near(takes(&c, n), closed_time(i, n, 200));
		}
}

/* Long segments too, where each has a link for itself. */
static void long_ones_too(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		struct collective c = plain(all[i].op, all[i].algorithm, 8 * 65536);

		if (all[i].algorithm == RING || all[i].algorithm == HALVING_DOUBLING ||
			all[i].algorithm == BRUCK || all[i].algorithm == PAIRWISE)
			assert_near(takes(&c, 8), closed_time(i, 8, 65536));
	}
}

/*
 * docs/closed-forms.md, "several ranks to a host": where all hops are short, where a hop inside a
 * host takes longest, and where all are in one host.
 */
static void time_in_hosts_is_the_closed_form(void **state)
{
	(void)state;
	for (uint32_t each = 2; each <= 8; each *= 2)
		for (uint32_t hosts = 1; hosts <= 4; hosts++) {
			uint32_t n = each * hosts, hops = 2 * (n - 1);
			/* of so many in sequence; the two that are left out stand side by side */
			uint32_t far = hosts == 1 ? 0 : 2 * hosts - (each == 2);
			struct collective c = plain(ALL_REDUCE, RING, (uint64_t)200 * n);

			c.placement.ranks_per_host = each;
			c.placement.inside.rate_bps = 100 * GBPS;
			c.placement.inside.delay_ps = 20 * PS_PER_US;
			assert_near(takes(&c, n),
				far * delivered(200) +
					(hops - far) * (16000 + c.placement.inside.delay_ps));
			/* 1.6 ms a hop: longer than a message to another host, and all delays */
			c.placement.inside.rate_bps = GBPS / 1000;
			assert_near(takes(&c, n),
				hops * 1600 * PS_PER_US + (hosts == 1 ? hops : each - 1) *
								  c.placement.inside.delay_ps);
		}
}

/* Nobody needs to be told of what came to its own host. */
static void news_inside_hosts_takes_no_time(void **state)
{
	struct collective c = plain(ALL_TO_ALL, WINDOWED, 8 * 1000);

	(void)state;
	c.window = 1;
	c.placement.ranks_per_host = 8;
	c.placement.inside.rate_bps = GBPS;
	c.placement.inside.delay_ps = 3 * PS_PER_US;
	assert_int_equal(takes(&c, 8), 7 * (8 + 3) * PS_PER_US);
}

/* A message's frames on a link. */
static uint64_t on_link(uint64_t bytes)
{
	return bytes / MTU * serialise_ps(data_frame_bytes(MTU, false), 100 * GBPS);
}

/* As long as what is inside hosts is faster, their links are never idle. */
static void hosts_links_are_never_idle(void **state)
{
	(void)state;
	for (uint32_t each = 2; each <= 4; each *= 2) {
		struct collective c = plain(ALL_REDUCE, RING, (uint64_t)2 * each * 1024 * MTU);

		c.placement.ranks_per_host = each;
		c.placement.inside.rate_bps = 1000 * GBPS;
		assert_near(takes(&c, 2 * each),
			(4 * each - 3) * on_link(1024 * MTU) + delivered(1024 * MTU));
	}
}

/* A straggler's delay is seen at the end, and so is what is computed between steps. */
static void stragglers_take_time(void **state)
{
	struct collective c = plain(ALL_REDUCE, RING, 8000);
	struct straggler late = {3, 7 * PS_PER_MS, COMPUTE_AS_OTHERS};
	uint64_t before = takes(&c, 8);

	(void)state;
	c.compute_ps = 50 * PS_PER_US;
	assert_near(takes(&c, 8), before + 13 * c.compute_ps);
	c.compute_ps = 0;
	c.stragglers = &late;
	c.straggler_count = 1;
	assert_near(takes(&c, 8), before + late.delay_ps);
	/* one after the other, while the others wait */
	late = (struct straggler){3, 0, 7 * PS_PER_MS};
	assert_near(takes(&c, 8), 13 * late.compute_ps + 2 * delivered(1000));
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_the_closed_form),
		cmocka_unit_test(long_ones_too),
		cmocka_unit_test(time_in_hosts_is_the_closed_form),
		cmocka_unit_test(news_inside_hosts_takes_no_time),
		cmocka_unit_test(hosts_links_are_never_idle),
		cmocka_unit_test(stragglers_take_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
