/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reordering extents against RFC 4737, and what flows lose and reorder in an engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "engine/reorder.h"
#include "lib/small_net.h"

#define ARRIVALS 2000

/* 4.2.2 by its letter: the earliest of all that came before and were sent later. */
static uint32_t by_definition(const uint32_t *numbers, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (numbers[j] > numbers[i])
			return i - j < REORDER_EXTENT ? i - j : REORDER_EXTENT;
	return 0;
}

/* The packets 0, gap, 2 gap, ..., each up to `late` places later than it was sent. */
static void draw(uint32_t *numbers, uint32_t gap, uint32_t late, uint64_t *rng)
{
	for (uint32_t i = 0; i < ARRIVALS; i++)
		numbers[i] = i * gap;
	for (uint32_t i = 0; late && i + late < ARRIVALS; i++) {
		uint32_t to = i + rng_below(rng, late + 1), moved = numbers[i];

		if (rng_below(rng, 4))
			continue;
		for (uint32_t k = i; k < to; k++)
			numbers[k] = numbers[k + 1];
		numbers[to] = moved;
	}
}

static void extents_are_as_defined(void **state)
{
	static const uint32_t lates[] = {0, 1, 5, 40, 100, 300};
	static uint32_t numbers[ARRIVALS];
	struct reorder_memory m;
	uint64_t rng = 1;

	(void)state;
	assert_int_equal(reorder_memory_init(&m), 0);
	for (size_t l = 0; l < sizeof(lates) / sizeof(lates[0]); l++)
		for (uint32_t base = 0; base < 2; base++) {
			struct reorder r = {0};

			draw(numbers, 3, lates[l], &rng);
			for (uint32_t i = 0; i < ARRIVALS; i++)
				/* both counts wrap around on the way */
				assert_int_equal(reorder_take(&m, &r, numbers[i] - base * 3000,
							 (numbers[i] / 3 - base * 1000) & 0xffffff),
					by_definition(numbers, i));
			assert_int_equal(!r.history, !lates[l]);
			reorder_close(&m, &r);
		}
	/* given back each time */
	assert_int_equal(m.fresh, 1);
	reorder_memory_release(&m);
}

/* What is sent again has a low number of the transport, but was sent last. */
static void repeats_are_not_late(void **state)
{
	static const uint32_t psns[] = {0, 2, 3, 1, 4, 1, 5}, sent[] = {0, 2, 3, 4, 5, 1, 6};
	static const uint32_t extents[] = {0, 0, 0, 0, 0, 4, 0};
	struct reorder_memory m;
	struct reorder r = {0};

	(void)state;
	assert_int_equal(reorder_memory_init(&m), 0);
	for (size_t i = 0; i < sizeof(psns) / sizeof(psns[0]); i++)
		assert_int_equal(reorder_take(&m, &r, sent[i], psns[i]), extents[i]);
	reorder_memory_release(&m);
}

/* All that is dropped is some flow's; where a path is slower, packets come late. */
static void flows_have_what_happened_to_them(void **state)
{
	uint64_t lost = 0, reordered = 0, sum = 0;
	uint32_t most = 0;
	struct small_config c = {.mtu = 1000, .buffer_bytes = 20000};
	struct engine_flow_result r;
	struct small_net s;

	(void)state;
	small_net_fabric(&s, 2, 2, 3, 100 * GBPS, 500000);
	small_net_open(&s, &c);
	engine_set_link_delay(s.engine, small_net_port(&s, 6, 8), 300000);
	for (uint32_t i = 0; i < 3; i++)
		small_net_flow(&s, i, 3, 300000, 0);
	small_net_run(&s, PS_PER_S);
	assert_true(engine_done(s.engine));
	for (uint32_t i = 0; i < 3; i++) {
		engine_flow_result(s.engine, i, &r);
		lost += r.sender.lost;
		reordered += r.receiver.reordered;
		sum += r.receiver.reorder_sum;
		most = r.receiver.reorder_most > most ? r.receiver.reorder_most : most;
		assert_int_equal(r.receiver.lost + r.sender.reordered, 0);
	}
	/* answers and probes are not dropped here: their port has no other traffic */
	assert_int_equal(lost, small_net_dropped(&s));
	assert_true(lost > 0 && reordered > 0 && most > 1);
	assert_true(sum >= reordered && sum <= reordered * most);
	small_net_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents_are_as_defined),
		cmocka_unit_test(repeats_are_not_late),
		cmocka_unit_test(flows_have_what_happened_to_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
