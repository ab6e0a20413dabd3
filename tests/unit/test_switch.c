/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switch program as a function of this process, under the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

static int open_bench(void **state, enum bench_kind kind)
{
	struct sw_sizes sizes = bench_sizes(kind);
	struct dataplane *dp;
	int r = dataplane_inline_open(&dp, &sizes, PACKET_MAX);

	if (r < 0)
		return r;
	*state = bench_open(dp);
	return 0;
}

static int open_plain(void **state)
{
	return open_bench(state, BENCH_PLAIN);
}

static int open_full(void **state)
{
	return open_bench(state, BENCH_FULL);
}

static int open_or_return(void **state)
{
	return open_bench(state, BENCH_OR_RETURN);
}

static int open_to_sender(void **state)
{
	return open_bench(state, BENCH_TO_SENDER);
}

static int open_stack(void **state)
{
	return open_bench(state, BENCH_STACK);
}

static int open_gateway(void **state)
{
	return open_bench(state, BENCH_GATEWAY);
}

static int close_bench(void **state)
{
	bench_close(*state);
	return 0;
}

/* There is no program at a port that is not in the table. */
static void no_such_port(void **state)
{
	struct switch_bench *b = *state;
	struct frame frame = {.hop = {.magic = HOP_MAGIC}};
	struct frame_ref ref = {&frame, 0};

	assert_true(b->dp->ops->submit(b->dp, BENCH_PORT_COUNT, &ref, 1) < 0);
}

/* Submits a packet that came in marked twice, far apart, as this; its queue is past kmax. */
static struct verdict make_twice(struct switch_bench *b, uint16_t flags)
{
	struct queue *q;
	struct trial t;

	bench_reset((void **)&b);
	trial_init(&t, &packet_spec_default);
	t.hop.flags = flags;
	t.hop.classes = 1;
	t.hop.out_port = BENCH_LOCAL(1);
	q = trial_queue(b, &t, BENCH_LOCAL(1));
	q->kmax_bytes = 1;
	q->depth_bytes = 2;
	trial_run(b, &t, NULL);
	t.in.bytes[packet_bth(&t.in) + 11]++;
	t.hop.now_ps += BENCH_INTERVAL + 1;
	return trial_run(b, &t, NULL);
}

/* Each kind of frame is made by programs with its feature; without, it is an arrival. */
static void what_is_on_is_made(void **state)
{
	static const uint16_t kinds[] = {HOP_MAKE_CNP, HOP_MAKE_STORM};
	static const uint32_t made_by[] = {SW_CNP, SW_CONTROL};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct sw_sizes sizes = bench_sizes(BENCH_FULL);
		uint32_t on = (i & 1 ? SW_CNP : 0) | (i & 2 ? SW_CONTROL : 0);
		enum verdict_action off = on ? VERDICT_NOTHING : VERDICT_FORWARD;
		struct switch_bench *b;
		struct dataplane *dp;
		struct verdict v;

		sizes.config.features = on | SW_AVERAGE;
		assert_int_equal(dataplane_inline_open(&dp, &sizes, PACKET_MAX), 0);
		b = bench_open(dp);
		v = make_twice(b, kinds[i / 4]);
		assert_int_equal(v.action, on & made_by[i / 4] ? VERDICT_FORWARD : off);
		assert_int_equal(dp->tables.ports[BENCH_IN].rx_frames, on ? 0 : 2);
		bench_close(b);
	}
}

int main(void)
{
	const struct CMUnitTest plain[] = {cmocka_unit_test_setup(no_such_port, bench_reset),
		cmocka_unit_test(what_is_on_is_made), SWITCH_CASES(SWITCH_CASE)};
	const struct CMUnitTest full[] = {cmocka_unit_test_setup(no_such_port, bench_reset),
		SWITCH_CASES(SWITCH_CASE) SWITCH_FULL_CASES(SWITCH_CASE)
			SWITCH_TRIM_CASES(SWITCH_CASE)};
	const struct CMUnitTest trim[] = {SWITCH_TRIM_CASES(SWITCH_CASE)};
	const struct CMUnitTest stack[] = {SWITCH_CASES(SWITCH_CASE) SWITCH_FULL_CASES(SWITCH_CASE)
			SWITCH_TRIM_CASES(SWITCH_CASE) SWITCH_STACK_CASES(SWITCH_CASE)};
	const struct CMUnitTest gateway[] = {
		SWITCH_STACK_CASES(SWITCH_CASE) SWITCH_GATEWAY_CASES(SWITCH_CASE)};
	int failed;

	failed = cmocka_run_group_tests_name(
		"switch, native, plain", plain, open_plain, close_bench);
	failed += cmocka_run_group_tests_name(
		"switch, native, everything on", full, open_full, close_bench);
	failed += cmocka_run_group_tests_name(
		"switch, native, trimmed or returned", trim, open_or_return, close_bench);
	failed += cmocka_run_group_tests_name(
		"switch, native, returned", trim, open_to_sender, close_bench);
	failed += cmocka_run_group_tests_name(
		"switch, native, with stacks", stack, open_stack, close_bench);
	failed += cmocka_run_group_tests_name(
		"switch, native, with a gateway", gateway, open_gateway, close_bench);
	return failed;
}
