/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include "base/parallel.h"

#define COUNT 1000

struct tally {
	atomic_uint seen[COUNT], calls;
	uint32_t bad;
};

static int count_one(void *context, uint32_t i, struct error *why)
{
	struct tally *t = context;
	sigset_t blocked;

	atomic_fetch_add(&t->seen[i], 1);
	atomic_fetch_add(&t->calls, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!sigismember(&blocked, SIGINT))
		return error_set(why, -EINTR, "takes signals");
	return i == t->bad ? error_set(why, -EDOM, "number %u", i) : 0;
}

static void each_once(void **state)
{
	static const unsigned threads[] = {1, 2, 7, 5000};

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct tally t = {.bad = COUNT};

		assert_int_equal(parallel_for(COUNT, threads[k], count_one, &t, NULL), 0);
		for (unsigned i = 0; i < COUNT; i++)
			assert_int_equal(t.seen[i], 1);
	}
}

static void a_failure_ends_it(void **state)
{
	struct error why = ERROR_INIT;
	struct tally t = {.bad = 3};

	(void)state;
	assert_int_equal(parallel_for(COUNT, 1, count_one, &t, &why), -EDOM);
	assert_string_equal(why.text, "number 3");
	assert_int_equal(t.calls, 4);
	t = (struct tally){.bad = 500};
	assert_int_equal(parallel_for(COUNT, 4, count_one, &t, NULL), -EDOM);
}

static void nothing_to_do(void **state)
{
	struct tally t = {.bad = 0};

	(void)state;
	assert_int_equal(parallel_for(0, 4, count_one, &t, NULL), 0);
	assert_int_equal(t.calls, 0);
	assert_true(parallel_cores() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_once),
		cmocka_unit_test(a_failure_ends_it),
		cmocka_unit_test(nothing_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
