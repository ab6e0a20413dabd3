/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What killed processes leave, and how it goes. */
#include "lib/kernel_case.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/parallel.h"
#include "bringup/record.h"
#include "bringup/watch.h"
#include "io/netns.h"

struct sabotage {
	atomic_int left; /* steps until one fails */
};

/* Kills itself at step `left`, as `kill -9` in the middle would. */
static int die_at_last(void *context, enum build_step step, uint32_t index)
{
	struct sabotage *sabotage = context;

	(void)step;
	(void)index;
	if (atomic_fetch_sub(&sabotage->left, 1) == 1)
		kill(getpid(), SIGKILL);
	return 0;
}

/*
 * A child that builds and dies at that step, or once it is done: is waited for. True: it died
 * before it was done.
 */
static bool build_and_die(const struct kernel_case *s, int steps)
{
	struct build_params params = kernel_case_stack_params(s);
	struct sabotage sabotage = {steps};
	struct build_watch watch = {die_at_last, &sabotage};
	int pipes[2], status;
	struct built *b;
	char done = 0;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		if (build_up_watched(&b, &params, &watch, NULL) < 0 || write(pipes[1], "d", 1) != 1)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	close(pipes[1]);
	assert_true(read(pipes[0], &done, 1) >= 0);
	close(pipes[0]);
	return !done;
}

static void what_a_killed_process_left_is_swept(void **state)
{
	const struct kernel_case *s = *state;
	bool early = true;
	struct built *b;
	int steps;

	for (steps = 1; early; steps++) {
		early = build_and_die(s, steps);
		if (!early)
			assert_int_equal(files_of(NETNS_DIR, s->name), 3);
		b = kernel_case_build(s);
		assert_string_equal(build_name(b), s->name);
		assert_forwards(s, b);
		build_down(b);
		assert_nothing_left(s);
	}
	assert_false(build_and_die(s, steps));
	assert_true(build_sweep(NULL, NULL) >= 0);
	assert_nothing_left(s);
}

/*
 * A killed process keeps its lock until the last of its sockets is closed, which takes a while;
 * here another process keeps both for it, for as long as it takes to look.
 */
static void a_dying_process_counts_as_dead(void **state)
{
	const struct kernel_case *s = *state;
	struct build_params params = kernel_case_params(s);
	int ready[2], hold[2];
	struct built *b;
	siginfo_t info;
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(hold), 0);
	child = fork();
	if (!child) {
		close(hold[1]);
		if (build_up(&b, &params, NULL) < 0)
			_exit(1);
		if (!fork())
			_exit(read(hold[0], &byte, 1) < 0);
		if (write(ready[1], "r", 1) == 1)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_true(child > 0);
	close(ready[1]);
	close(hold[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_code, CLD_KILLED);

	b = kernel_case_build(s);
	assert_string_equal(build_name(b), s->name);
	assert_forwards(s, b);
	build_down(b);
	assert_nothing_left(s);

	close(hold[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0); /* the holder is gone too */
	close(ready[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_record_cut_short_is_swept(void **state)
{
	const struct kernel_case *s = *state;
	char path[128];
	int fd;

	assert_true(build_sweep(NULL, NULL) >= 0);
	snprintf(path, sizeof(path), "%s/%s", RECORD_DIR, s->name);
	for (const char *text = "fabricbed 1 pid 1 started 0\nother-h0\n"; *text; text++) {
		fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
		assert_true(fd >= 0);
		assert_true(write(fd, text, strlen(text)) > 0);
		close(fd);
		assert_true(build_sweep(NULL, NULL) >= 0);
		assert_nothing_left(s);
	}
}

/* In a thread that may stay there. */
static int make_namespace(void *name, uint32_t index, struct error *why)
{
	int fd, r = netns_create(name, &fd);

	(void)index;
	(void)why;
	if (r == 0)
		close(fd);
	return r;
}

/* Only the lock marks a dead record, and only lines of namespaces are its own to remove. */
static void a_record_of_another_version_is_swept(void **state)
{
	const struct kernel_case *s = *state;
	char path[128], node[128], text[512];
	int fd;

	assert_true(build_sweep(NULL, NULL) >= 0);
	snprintf(path, sizeof(path), "%s/%s", RECORD_DIR, s->name);
	snprintf(node, sizeof(node), "%s-h0", s->name);
	snprintf(text, sizeof(text), "fabricbed 7 owner of a later version\nveil %s-h1\n%s\n",
		s->name, node);
	assert_int_equal(netns_prepare(), 0);
	assert_int_equal(parallel_for(1, 1, make_namespace, node, NULL), 0);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_true(build_sweep(NULL, NULL) >= 0);
	assert_true(netns_exists(node));
	close(fd);
	assert_true(build_sweep(NULL, NULL) >= 0);
	assert_false(netns_exists(node));
	assert_nothing_left(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		kernel_case_test(what_a_killed_process_left_is_swept),
		kernel_case_test(a_dying_process_counts_as_dead),
		kernel_case_test(a_record_cut_short_is_swept),
		kernel_case_test(a_record_of_another_version_is_swept),
	};

	return kernel_case_run(tests, sizeof(tests) / sizeof(tests[0]));
}
