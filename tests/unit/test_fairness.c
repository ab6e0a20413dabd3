/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Flows over few and over many links share a receiver's link fairly: STrack, figure 17, 100 us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/units.h"
#include "lib/small_session.h"

#define FLOWS_MOST 32
#define WINDOW_PS  (100 * PS_PER_US)

/* Jain's index: 1 where all are equal, 1/n where one has it all. */
static double jain(const double *x, uint32_t n)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	return sum * sum / (n * squares);
}

/* What each flow has sent for the first time since `before`, which is brought up to date. */
static void sent_since(struct small_session *s, uint32_t flows, uint64_t *before, double *ret)
{
	for (uint32_t i = 0; i < flows; i++) {
		struct engine_flow_result r;
		uint64_t sent;

		engine_flow_result(session_engine(s->session), i, &r);
		assert_int_equal(r.finish_ps, 0); /* all are at it */
		sent = r.sender.packets_sent - r.sender.retransmitted;
		ret[i] = (double)(sent - before[i]);
		before[i] = sent;
	}
}

/* The least index of the windows from settled_us to end_us. */
static double least_jain(
	const char *text, uint64_t seed, uint32_t flows, uint64_t settled_us, uint64_t end_us)
{
	struct error why = ERROR_INIT;
	uint64_t before[FLOWS_MOST] = {0};
	double sent[FLOWS_MOST], least = 1;
	struct small_session s;
	char set[32];
	const char *sets[] = {set};

	snprintf(set, sizeof(set), "seed=%u", (unsigned)seed);
	small_session_open(&s, text, sets, 1, NULL);
	for (uint64_t t = settled_us * PS_PER_US; t <= end_us * PS_PER_US; t += WINDOW_PS) {
		double index;

		assert_int_equal(session_advance(s.session, t, NULL, &why), 0);
		sent_since(&s, flows, before, sent);
		index = jain(sent, flows);
		if (t > settled_us * PS_PER_US && index < least)
			least = index;
	}
	small_session_close(&s);
	return least;
}

/* Half of the senders are under the receiver's own leaf. */
#define HALF                                                                                       \
	"name: t\n"                                                                                \
	"topology: {leaf_spine: {leaves: 2, spines: 16, hosts_per_leaf: 16}, rate: 400Gbps}\n"     \
	"workload:\n"

static void near_and_far_senders_share_alike(void **state)
{
	static const char few[] = HALF
		"  - pairs: {from: [h1, h2, h3, h4, h16, h17, h18, h19], to: [h0, h0, h0, h0, h0, h0, h0, h0],\n"
		"      message: 8MB}\n";
	static const char many[] = HALF "  - incast: {senders: 30, to: h0, message: 4MB}\n";
	uint64_t seeds = getenv("FABRICBED_LONG") ? 10 : 1;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		/* by then what the first windows lost has been sent again */
		double a = least_jain(few, seed, 8, 300, 1000);
		double b = least_jain(many, seed, 30, 1000, 1600);

		if (a < 0.95 || b < 0.95)
			fail_msg("seed %u: %.3f of 8, %.3f of 30", (unsigned)seed, a, b);
		print_message("# seed %u: %.3f of 8, %.3f of 30\n", (unsigned)seed, a, b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_and_far_senders_share_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
