/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queues that share a switch's memory: dynamic thresholds, and what is reserved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/class_net.h"

#define GBPS    1000000000ull
#define RATE    (100 * GBPS)
#define DELAY   1000000u
#define FRAME   CLASS_NET_FRAME
#define QUEUES  4
#define SENDERS 2 /* a queue: one more than its line can carry */

/*
 * Switch 0's queues to hosts 0..queues-1, each with its senders. Of all classes 0 alone is used;
 * each queue has `reserve` bytes for itself, and together they share `pool`.
 */
static void open_star(
	struct class_net *n, uint32_t queues, double alpha, uint32_t reserve, uint64_t pool)
{
	struct class_link links[QUEUES * (1 + SENDERS)];
	uint32_t hosts = queues * (1 + SENDERS);

	for (uint32_t i = 0; i < hosts; i++)
		links[i] = (struct class_link){i, hosts, RATE, DELAY};
	class_net_init(n, hosts, 1, links, hosts);
	for (uint32_t c = 0; c < CLASSES; c++)
		n->switching.classes[c].used = !c;
	n->switching.shared = true;
	n->switching.alpha = alpha;
	n->switching.classes[0].limit_bytes = reserve;
	n->switching.pool_bytes = pool + hosts * reserve;
	class_net_open(n);
	assert_int_equal(n->dp->tables.switches[0].pool_bytes, pool);
}

static void overload(
	struct class_net *n, uint32_t queues, uint32_t queue, uint32_t packets, uint64_t start_ps)
{
	for (uint32_t i = 0; i < SENDERS; i++) {
		const struct class_stream s = {.src = queues + queue * SENDERS + i,
			.dst = queue,
			.payload = 4096,
			.packets = packets,
			.start_ps = start_ps};

		class_net_stream(n, &s);
	}
}

static uint32_t depth(const struct class_net *n, uint32_t queue)
{
	return class_net_queue(n, class_net_port(n, n->net.host_count, queue), 0)->depth_bytes;
}

/*
 * Choudhury and Hahne, 1998, equation 4: n queues that all want more have alpha B / (1 + n alpha)
 * each, and leave B / (1 + n alpha). To two packets, those that come and go.
 */
static void queues_meet_at_the_threshold(void **state)
{
	static const double alphas[] = {1.0 / 8, 0.5, 1, 2, 8};
	const uint64_t pool = 600 * FRAME;

	(void)state;
	for (uint32_t queues = 1; queues <= QUEUES; queues++)
		for (size_t a = 0; a < sizeof(alphas) / sizeof(alphas[0]); a++) {
			double want = alphas[a] * (double)pool / (1 + queues * alphas[a]);
			uint32_t least = UINT32_MAX, most = 0;
			struct class_net n;

			open_star(&n, queues, alphas[a], 0, pool);
			for (uint32_t q = 0; q < queues; q++)
				overload(&n, queues, q, 2000, q * 100 * PS_PER_NS);
			class_net_run(&n, 400 * PS_PER_US);
			for (uint32_t i = 0; i < 300; i++) {
				class_net_run(&n, engine_now(n.engine) + 123457);
				for (uint32_t q = 0; q < queues; q++) {
					uint32_t d = depth(&n, q);

					least = d < least ? d : least;
					most = d > most ? d : most;
				}
			}
			print_message(
				"# %u queues, alpha %.3f: %.2f to %.2f packets, the threshold is %.2f\n",
				queues, alphas[a], (double)least / FRAME, (double)most / FRAME,
				want / FRAME);
			assert_true(least >= want - 2 * FRAME && most <= want + 2 * FRAME);
			class_net_run(&n, UINT64_MAX);
			assert_true(n.dp->tables.switches[0].pool_max <= pool);
			class_net_at_rest(n.engine);
			class_net_close(&n);
		}
}

/* A later queue pushes the others back, without a drop of its own before it has its part. */
static void a_latecomer_gets_its_part(void **state)
{
	const uint64_t pool = 600 * FRAME;
	struct class_net n;

	(void)state;
	open_star(&n, 2, 1, 0, pool);
	overload(&n, 2, 0, 3000, 0);
	overload(&n, 2, 1, 1000, 500 * PS_PER_US);
	class_net_run(&n, 500 * PS_PER_US);
	assert_in_range(depth(&n, 0), 298 * FRAME, 302 * FRAME);
	class_net_run(&n, 700 * PS_PER_US);
	assert_in_range(depth(&n, 0), 198 * FRAME, 202 * FRAME);
	assert_in_range(depth(&n, 1), 198 * FRAME, 202 * FRAME);
	/* and gives it back */
	class_net_run(&n, 1000 * PS_PER_US);
	assert_int_equal(depth(&n, 1), 0);
	assert_in_range(depth(&n, 0), 298 * FRAME, 302 * FRAME);
	class_net_run(&n, UINT64_MAX);
	class_net_at_rest(n.engine);
	class_net_close(&n);
}

/* Without a pool worth the name a queue holds what is reserved for it, to the byte. */
static void a_reserve_is_all_there_is(void **state)
{
	(void)state;
	for (uint32_t less = 0; less < 2; less++) {
		struct class_net n;
		uint32_t port;

		/* the pool's one byte is not enough to make up for two */
		open_star(&n, 1, 256, 20 * FRAME - 2 * less, 1);
		overload(&n, 1, 0, 100, 0);
		class_net_run(&n, UINT64_MAX);
		port = class_net_port(&n, n.net.host_count, 0);
		assert_int_equal(
			class_net_queue(&n, port, 0)->max_depth_bytes, (20 - less) * FRAME);
		class_net_at_rest(n.engine);
		class_net_close(&n);
	}
}

/* One queue takes all that it may get; what another has for itself is there all the same. */
static void a_reserve_is_there(void **state)
{
	const uint64_t pool = 300 * FRAME;
	struct class_net n;
	uint32_t port;

	(void)state;
	open_star(&n, 2, 256, 20 * FRAME, pool);
	overload(&n, 2, 0, 3000, 0);
	/* they come in pairs of which one leaves meanwhile: 20 are there at most */
	overload(&n, 2, 1, 19, 600 * PS_PER_US);
	class_net_run(&n, 600 * PS_PER_US);
	assert_true(n.dp->tables.switches[0].pool_used + 3 * FRAME > pool);
	class_net_run(&n, 700 * PS_PER_US);
	port = class_net_port(&n, n.net.host_count, 1);
	assert_int_equal(n.dp->tables.drops[port].frames[DROP_BUFFER], 0);
	assert_int_equal(class_net_queue(&n, port, 0)->max_depth_bytes, 20 * FRAME);
	class_net_run(&n, UINT64_MAX);
	class_net_at_rest(n.engine);
	class_net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_meet_at_the_threshold),
		cmocka_unit_test(a_latecomer_gets_its_part),
		cmocka_unit_test(a_reserve_is_all_there_is),
		cmocka_unit_test(a_reserve_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
