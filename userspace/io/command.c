/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Threads that build block all signals, and the command ignores SIGPIPE: children inherit it. */
static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const char *const argv[], char *const environment[], int out, int err, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int r;

	r = posix_spawnattr_init(&attributes);
	if (r)
		return -r;
	r = posix_spawn_file_actions_init(&files);
	if (r) {
		posix_spawnattr_destroy(&attributes);
		return -r;
	}
	r = set_signals(&attributes);
	if (!r)
		r = posix_spawn_file_actions_addopen(
			&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
	if (!r)
		r = posix_spawnp(
			ret, argv[0], &files, &attributes, (char *const *)argv, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -r;
}

static void read_text(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
}

static int run(const char *const argv[], char *const environment[], int out, int err,
	struct command_output *ret)
{
	int status, r;
	pid_t pid;

	r = spawn(argv, environment, out, err, &pid);
	if (r < 0)
		return r;
	do
		r = waitpid(pid, &status, 0) < 0 ? -errno : 0;
	while (r == -EINTR);
	if (r < 0)
		return r;
	ret->status = status;
	read_text(out, ret->out, sizeof(ret->out));
	read_text(err, ret->err, sizeof(ret->err));
	return 0;
}

/* Into files in memory, of which it never waits for a reader as it would at a pipe. */
int command_run(const char *const argv[], char *const environment[], struct command_output *ret)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), r;

	r = out < 0 || err < 0 ? -errno : run(argv, environment, out, err, ret);
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	return r;
}
