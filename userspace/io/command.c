/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/whole_file.h"

/* The files of a program that runs. */
struct streams {
	int in, out, err;
};

/*
 * Threads that build block all signals, and the command ignores SIGPIPE: children inherit it. What
 * is bounded has a group of its own, which can be killed as a whole.
 */
static int set_signals(posix_spawnattr_t *attributes, bool bounded)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	return posix_spawnattr_setflags(
		attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
				    (bounded ? POSIX_SPAWN_SETPGROUP : 0)));
}

static int set_files(posix_spawn_file_actions_t *files, const struct streams *s, const char *folder)
{
	int r = posix_spawn_file_actions_adddup2(files, s->in, STDIN_FILENO);

	if (!r)
		r = posix_spawn_file_actions_adddup2(files, s->out, STDOUT_FILENO);
	if (!r)
		r = posix_spawn_file_actions_adddup2(files, s->err, STDERR_FILENO);
	if (!r && folder)
		r = posix_spawn_file_actions_addchdir_np(files, folder);
	return r;
}

static int spawn(const char *const argv[], char *const environment[],
	const struct command_bounds *bounds, const struct streams *s, pid_t *ret)
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
	r = set_signals(&attributes, bounds->milliseconds);
	if (!r)
		r = set_files(&files, s, bounds->folder);
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

/* The soft limit alone: what exceeds it gets a signal that tells of what it was. */
static void set_limit(pid_t pid, enum __rlimit_resource what, uint64_t most)
{
	struct rlimit limit;

	if (!most || prlimit(pid, what, NULL, &limit) < 0)
		return;
	if (limit.rlim_cur > most)
		limit.rlim_cur = most;
	prlimit(pid, what, &limit, NULL);
}

/* Kills it once its time is over: whatever it waits for. */
static int await_end(pid_t pid, unsigned milliseconds)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int r = 0;

	if (end.fd < 0) /* kernels before 5.3 */
		return 0;
	do
		r = poll(&end, 1, (int)milliseconds);
	while (r < 0 && errno == EINTR);
	close(end.fd);
	if (r)
		return 0;
	kill(-pid, SIGKILL);
	return -ETIMEDOUT;
}

static int run(const char *const argv[], char *const environment[],
	const struct command_bounds *bounds, const struct streams *s, struct command_output *ret)
{
	int status, r, late = 0;
	pid_t pid;

	r = spawn(argv, environment, bounds, s, &pid);
	if (r < 0)
		return r;
	/* it has not done anything to speak of */
	set_limit(pid, RLIMIT_AS, bounds->memory_bytes);
	set_limit(pid, RLIMIT_CPU, bounds->cpu_seconds);
	set_limit(pid, RLIMIT_FSIZE, bounds->file_bytes);
	if (bounds->milliseconds)
		late = await_end(pid, bounds->milliseconds);
	do
		r = waitpid(pid, &status, 0) < 0 ? -errno : 0;
	while (r == -EINTR);
	if (r < 0)
		return r;
	ret->status = status;
	read_text(s->out, ret->out, sizeof(ret->out));
	read_text(s->err, ret->err, sizeof(ret->err));
	return late;
}

static int make_input(const struct command_bounds *bounds)
{
	int fd = memfd_create("in", MFD_CLOEXEC), r;

	if (fd < 0)
		return -1;
	r = whole_file_write(fd, bounds->input, bounds->input_bytes);
	if (r == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	errno = r ? -r : errno;
	return -1;
}

/* Into files in memory, of which it never waits for a reader as it would at a pipe. */
int command_run_bounded(const char *const argv[], char *const environment[],
	const struct command_bounds *bounds, struct command_output *ret)
{
	struct streams s = {make_input(bounds), memfd_create("out", MFD_CLOEXEC),
		memfd_create("err", MFD_CLOEXEC)};
	int r = s.in < 0 || s.out < 0 || s.err < 0 ? -errno
						   : run(argv, environment, bounds, &s, ret);

	if (s.in >= 0)
		close(s.in);
	if (s.out >= 0)
		close(s.out);
	if (s.err >= 0)
		close(s.err);
	return r;
}

int command_run(const char *const argv[], char *const environment[], struct command_output *ret)
{
	static const struct command_bounds none = {0};

	return command_run_bounded(argv, environment, &none, ret);
}
