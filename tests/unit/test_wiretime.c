/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/wiretime.h"

static void wire_bytes_pads_short_frames(void **state)
{
	(void)state;
	assert_int_equal(wire_bytes(0), 84);
	assert_int_equal(wire_bytes(60), 84);
	assert_int_equal(wire_bytes(61), 85);
	assert_int_equal(wire_bytes(1514), 1538);
	assert_int_equal(wire_bytes(UINT32_MAX), (uint64_t)UINT32_MAX + 24);
}

static void serialise_is_exact_where_it_divides(void **state)
{
	(void)state;
	/* A byte at 100 Gbps is 80 ps, at 800 Gbps 10 ps. */
	assert_int_equal(serialise_ps(1514, 100000000000ull), 1538 * 80);
	assert_int_equal(serialise_ps(1514, 800000000000ull), 1538 * 10);
	assert_int_equal(serialise_ps(60, 1000000000ull), 84 * 8000);
}

static void serialise_rounds_up(void **state)
{
	(void)state;
	/* 672 bits at 3 bit/ps would take 224 ps; at 5 bit/ps 134.4. */
	assert_int_equal(serialise_ps(60, 3 * PS_PER_S), 224);
	assert_int_equal(serialise_ps(60, 5 * PS_PER_S), 135);
	for (uint64_t rate = 1000000; rate < 900000000000ull; rate = rate * 7 / 3 + 1) {
		unsigned __int128 bits_ps = (unsigned __int128)wire_bytes(9000) * 8 * PS_PER_S;
		uint64_t t = serialise_ps(9000, rate);

		assert_true((unsigned __int128)t * rate >= bits_ps);
		assert_true((unsigned __int128)(t - 1) * rate < bits_ps);
	}
}

static void serialise_holds_large_frames_on_slow_links(void **state)
{
	(void)state;
	assert_int_equal(serialise_ps(65536, 1000000), 65560ull * 8 * 1000000);
	assert_int_equal(serialise_ps(65536, 1), 65560ull * 8 * PS_PER_S);
}

static void frames_have_the_sizes_of_their_headers(void **state)
{
	(void)state;
	assert_int_equal(data_frame_bytes(4096, false), 14 + 20 + 8 + 12 + 16 + 4096 + 4);
	assert_int_equal(data_frame_bytes(1, true), 14 + 40 + 8 + 12 + 16 + 1 + 4);
	assert_int_equal(sack_frame_bytes(false), 14 + 20 + 8 + 12 + 40 + 4);
	assert_int_equal(sack_frame_bytes(true), 14 + 40 + 8 + 12 + 40 + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_bytes_pads_short_frames),
		cmocka_unit_test(serialise_is_exact_where_it_divides),
		cmocka_unit_test(serialise_rounds_up),
		cmocka_unit_test(serialise_holds_large_frames_on_slow_links),
		cmocka_unit_test(frames_have_the_sizes_of_their_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
