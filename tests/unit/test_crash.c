/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "daemon/crash.h"
#include "daemon/registry_dir.h"

/* A process that watches for crashes and then meets one: how it ended, and what it said. */
static int crash(int deadly, char *said, size_t size)
{
	struct rlimit none = {0};
	int fds[2], status = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		dup2(fds[1], STDERR_FILENO);
		if (crash_watch(NULL) < 0)
			_exit(1);
		raise(deadly);
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], said, size - 1);
	assert_true(n >= 0);
	said[n] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* It says so in one line, and dies as if it had not been watched. */
static void test_tells_and_dies(void **unused)
{
	static const struct {
		int signal;
		const char *line;
	} cases[] = {
		{SIGSEGV, CRASH_WORDS "11 (segmentation fault)\n"},
		{SIGABRT, CRASH_WORDS "6 (aborted)\n"},
		{SIGBUS, CRASH_WORDS "7 (bus error)\n"},
		{SIGFPE, CRASH_WORDS "8 (arithmetic error)\n"},
	};
	char said[256];

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = crash(cases[i].signal, said, sizeof(said));

		assert_string_equal(said, cases[i].line);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), cases[i].signal);
	}
}

/* What is no crash is not told. */
static void test_leaves_others(void **unused)
{
	char said[256];
	int status = crash(SIGTERM, said, sizeof(said));

	(void)unused;
	assert_string_equal(said, "");
	assert_true(WIFSIGNALED(status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tells_and_dies),
		cmocka_unit_test(test_leaves_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
