/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "bringup/process.h"
#include "io/command.h"

static struct command_output shell(const char *script)
{
	const char *const argv[] = {"sh", "-c", script, "sh", "a word", "", NULL};
	struct command_output output;

	memset(&output, 0x5a, sizeof(output));
	assert_int_equal(command_run(argv, environ, &output), 0);
	return output;
}

static void what_it_prints_and_its_status_come_back(void **state)
{
	struct command_output output = shell("echo one; echo two >&2; exit 7");

	(void)state;
	assert_true(WIFEXITED(output.status));
	assert_int_equal(WEXITSTATUS(output.status), 7);
	assert_string_equal(output.out, "one\n");
	assert_string_equal(output.err, "two\n");
}

static void words_are_passed_as_they_are(void **state)
{
	(void)state;
	assert_string_equal(shell("printf '%s:' $# \"$1\" \"$2\"").out, "2:a word::");
}

static void input_is_empty(void **state)
{
	(void)state;
	assert_string_equal(shell("cat; echo end").out, "end\n");
}

/* More than a pipe holds: it must not wait for a reader. */
static void much_is_cut_off(void **state)
{
	struct command_output output = shell("yes 0123456 | head -c 1000000; echo end >&2");

	(void)state;
	assert_int_equal(output.status, 0);
	assert_int_equal(strlen(output.out), sizeof(output.out) - 1);
	assert_int_equal(strncmp(output.out, "0123456\n0123456\n", 16), 0);
	assert_string_equal(output.err, "end\n");
}

static void its_environment_is_the_one_given(void **state)
{
	const char *const argv[] = {"env", NULL};
	char word[] = "ONLY=this";
	char *const environment[] = {word, NULL};
	struct command_output output;

	(void)state;
	assert_int_equal(command_run(argv, environment, &output), 0);
	assert_string_equal(output.out, "ONLY=this\n");
}

/* As threads that build have all signals blocked, and the command line ignores SIGPIPE. */
static void *run_with_signals_off(void *output)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	*(struct command_output *)output = shell("kill -ALRM $$; echo alive");
	*((struct command_output *)output + 1) = shell("kill -PIPE $$; echo alive");
	return NULL;
}

static void signals_are_as_by_default(void **state)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	struct command_output outputs[2];
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, run_with_signals_off, outputs), 0);
	pthread_join(thread, NULL);
	signal(SIGPIPE, before);
	assert_true(WIFSIGNALED(outputs[0].status));
	assert_int_equal(WTERMSIG(outputs[0].status), SIGALRM);
	assert_true(WIFSIGNALED(outputs[1].status));
	assert_int_equal(WTERMSIG(outputs[1].status), SIGPIPE);
}

static void no_such_program(void **state)
{
	const char *const argv[] = {"fabricbed-has-no-such-program", NULL};
	struct command_output output = {.status = 5};

	(void)state;
	assert_int_equal(command_run(argv, environ, &output), -ENOENT);
	assert_int_equal(output.status, 5);
}

static int bounded(
	const char *script, const struct command_bounds *bounds, struct command_output *ret)
{
	const char *const argv[] = {"sh", "-c", script, NULL};

	return command_run_bounded(argv, environ, bounds, ret);
}

static void input_and_folder_are_those_given(void **state)
{
	const struct command_bounds bounds = {
		.input = "words", .input_bytes = 5, .folder = "/proc"};
	struct command_output output;

	(void)state;
	assert_int_equal(bounded("cat; pwd", &bounds, &output), 0);
	assert_string_equal(output.out, "words/proc\n");
}

/* With all that it started, whatever it waits for. */
static void what_takes_too_long_is_killed(void **state)
{
	struct command_bounds bounds = {.milliseconds = 50};
	struct command_output output;
	unsigned long long started;
	pid_t child;

	(void)state;
	/* on a busy machine it may be killed before it tells */
	do {
		assert_int_equal(
			bounded("sleep 100 & echo $!; wait", &bounds, &output), -ETIMEDOUT);
		bounds.milliseconds *= 2;
	} while (!*output.out);
	assert_true(WIFSIGNALED(output.status));
	child = atoi(output.out);
	assert_in_range(child, 2, INT_MAX);
	started = process_started(child);
	assert_true(!started || process_is_dying(child, started));
}

/* They come as it begins: it may have done something before. */
static void limits_are_the_program_s(void **state)
{
	const struct command_bounds bounds = {.cpu_seconds = 7,
		.memory_bytes = 1ull << 30,
		.file_bytes = 512,
		.milliseconds = 60000}; /* it ends by itself */
	struct command_output output;

	(void)state;
	assert_int_equal(
		bounded("until [ $(ulimit -f) = 1 ]; do :; done; ulimit -t; ulimit -v; ulimit -f",
			&bounds, &output),
		0);
	assert_string_equal(output.out, "7\n1048576\n1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_prints_and_its_status_come_back),
		cmocka_unit_test(words_are_passed_as_they_are),
		cmocka_unit_test(input_is_empty),
		cmocka_unit_test(much_is_cut_off),
		cmocka_unit_test(its_environment_is_the_one_given),
		cmocka_unit_test(signals_are_as_by_default),
		cmocka_unit_test(no_such_program),
		cmocka_unit_test(input_and_folder_are_those_given),
		cmocka_unit_test(what_takes_too_long_is_killed),
		cmocka_unit_test(limits_are_the_program_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
