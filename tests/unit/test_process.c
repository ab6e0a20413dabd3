/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bringup/process.h"

static void the_living_live(void **state)
{
	unsigned long long started = process_started(getpid());

	(void)state;
	assert_int_not_equal(started, 0);
	assert_false(process_is_dying(getpid(), started));
}

/* A name that looks like the fields after it. */
static void names_do_not_confuse(void **state)
{
	unsigned long long started = process_started(getpid());

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "a) Z 1 1 (b"), 0);
	assert_int_equal(process_started(getpid()), started);
	assert_false(process_is_dying(getpid(), started));
}

static void the_dead_die(void **state)
{
	unsigned long long started;
	pid_t child = fork();
	siginfo_t info;

	(void)state;
	if (!child)
		for (;;)
			pause();
	assert_true(child > 0);
	started = process_started(child);
	assert_false(process_is_dying(child, started));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_true(process_is_dying(child, started));
	assert_false(process_is_dying(child, started + 1)); /* another of that id */
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(process_started(child), 0);
	assert_false(process_is_dying(child, started)); /* not to be seen */
}

/* Killed, and not yet gone: the answer waits for it, without anybody seeing it off. */
static void the_killed_are_waited_for(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		unsigned long long started;
		pid_t child = fork();

		if (!child)
			for (;;)
				close(open("/proc/self/maps", O_RDONLY));
		assert_true(child > 0);
		started = process_started(child);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_true(process_is_dying(child, started));
		assert_int_equal(waitpid(child, NULL, 0), child);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_living_live),
		cmocka_unit_test(names_do_not_confuse),
		cmocka_unit_test(the_dead_die),
		cmocka_unit_test(the_killed_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
