/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* STrack's window as a control: what it is opened with and told. Itself: test_strack_window.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "control_fixture.h"
#include "transport/control/strack_window.h"

#define MTU  1500
#define RTT  (12 * US)
#define RATE 100000000000ull

/* The same answers give the same window, whatever keys and flow are. */
static void it_is_the_window_of_the_transport(void **state)
{
	static const struct {
		const char *control;
		struct quantity window;
		uint64_t target_ps;
	} cases[] = {
		{"strack", {1.4, QUANTITY_BDP}, RTT},
		{"strack: {window: 200000B, target_delay: 4us}", {200000, QUANTITY_BYTES}, 4 * US},
	};
	uint64_t rng = 3;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct strack_window w;
		struct control_bench b;
		uint64_t least = UINT64_MAX;

		control_open(&b, cases[i].control, RATE, RTT, MTU, US);
		strack_window_open(&w, RATE, RTT, RTT, cases[i].target_ps, MTU,
			strack_window_packets(RATE, RTT, MTU, &cases[i].window, 1), US);
		assert_int_equal(control_window_now(&b), w.bytes);
		for (unsigned j = 0; j < 5000; j++) {
			uint64_t rtt_ps = RTT - US + rng_below(&rng, 60 * US);
			bool marked = rng_below(&rng, 2), trimmed = rng_below(&rng, 20) == 0;
			struct strack_signal s = {.marked = marked, .acked_bytes = MTU};

			b.now += 200 * NS;
			control_answer(&b, rtt_ps, MTU, marked, trimmed);
			if (trimmed) {
				strack_window_on_trimmed(&w, MTU, b.now);
			} else {
				s.delay_ps = strack_window_delay(&w, rtt_ps, true);
				strack_window_on_ack(&w, &s, b.now);
			}
			assert_int_equal(control_window_now(&b), w.bytes);
			least = w.bytes < least ? w.bytes : least;
		}
		assert_true(least < 100000);
		assert_null(b.kind->on_loss);
		control_close(&b);
	}
}

static void it_survives(void **state)
{
	(void)state;
	control_survives("strack", CONTROL_WINDOW_MAX);
	control_survives("strack: {window: 1B, target_delay: 1ns}", CONTROL_WINDOW_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_window_of_the_transport),
		cmocka_unit_test(it_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
