/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switch program as a function of this process, under the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

static int open_bench(void **state)
{
	struct sw_tables sizes = bench_sizes();
	struct dataplane *dp;
	int r = dataplane_inline_open(&dp, &sizes, PACKET_MAX);

	if (r < 0)
		return r;
	*state = bench_open(dp);
	return 0;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_such_port, bench_reset), SWITCH_CASES(SWITCH_CASE)};

	return cmocka_run_group_tests_name("switch, native", tests, open_bench, close_bench);
}
