/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "io/clock.h"

struct job {
	pid_t pid; /* 0: free */
	size_t number;
	int said; /* what it prints on standard error */
};

struct jobs {
	size_t most, running;
	struct job list[];
};

int jobs_new(struct jobs **ret, size_t most)
{
	struct jobs *j = calloc(1, sizeof(*j) + most * sizeof(*j->list));
	sigset_t child;

	if (!j)
		return -ENOMEM;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signal(SIGCHLD,
		SIG_DFL); /* who ignores it, as a parent may have left it, learns of no end */
	j->most = most;
	*ret = j;
	return 0;
}

bool jobs_full(const struct jobs *j)
{
	return j->running == j->most;
}

size_t jobs_running(const struct jobs *j)
{
	return j->running;
}

/* In the child. */
static _Noreturn void become(const struct job *job, char *const argv[], pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
		dup2(job->said, STDERR_FILENO) < 0 || getppid() != parent)
		_exit(127);
	execv("/proc/self/exe", argv);
	_exit(127);
}

int jobs_start(struct jobs *j, size_t number, char *const argv[])
{
	pid_t parent = getpid();
	struct job *job = j->list;

	while (job->pid)
		job++;
	job->said = memfd_create("said", MFD_CLOEXEC);
	if (job->said < 0)
		return -errno;
	job->number = number;
	job->pid = fork();
	if (!job->pid)
		become(job, argv, parent);
	if (job->pid < 0) {
		int r = -errno;

		close(job->said);
		job->pid = 0;
		return r;
	}
	j->running++;
	return 0;
}

/* The last line of a file. */
static void last_line(int fd, char *ret, size_t size)
{
	off_t end = lseek(fd, 0, SEEK_END),
	      from = end > (off_t)size - 1 ? end - (off_t)size + 1 : 0;
	ssize_t n = pread(fd, ret, size - 1, from);
	char *line;

	n = n < 0 ? 0 : n;
	while (n && ret[n - 1] == '\n')
		n--;
	ret[n] = '\0';
	line = strrchr(ret, '\n');
	if (line)
		memmove(ret, line + 1, strlen(line));
}

/* What each message of this program begins with: the one that tells of it has it, too. */
#define PREFIX "fabricbed: "

void job_end_text(const struct job_end *end, char *buf, size_t size)
{
	bool prefixed = !strncmp(end->said, PREFIX, strlen(PREFIX));

	if (WIFSIGNALED(end->status))
		snprintf(buf, size, "killed by signal %d", WTERMSIG(end->status));
	else if (*end->said)
		snprintf(buf, size, "%s", end->said + (prefixed ? strlen(PREFIX) : 0));
	else
		snprintf(buf, size, "exit status %d", WEXITSTATUS(end->status));
}

static bool take_ended(struct jobs *j, struct job_end *ret)
{
	for (size_t i = 0; i < j->most; i++) {
		struct job *job = &j->list[i];

		if (!job->pid || waitpid(job->pid, &ret->status, WNOHANG) != job->pid)
			continue;
		ret->number = job->number;
		last_line(job->said, ret->said, sizeof(ret->said));
		close(job->said);
		job->pid = 0;
		j->running--;
		return true;
	}
	return false;
}

int jobs_wait(struct jobs *j, double seconds, struct job_end *ret)
{
	struct timespec time = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * CLOCK_NS_PER_S)};
	sigset_t child;

	if (!j->running)
		return -ECHILD;
	if (take_ended(j, ret))
		return 0;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &time);
	return take_ended(j, ret) ? 0 : -EAGAIN;
}

void jobs_stop(struct jobs *j)
{
	for (size_t i = 0; i < j->most; i++)
		if (j->list[i].pid)
			kill(j->list[i].pid, SIGTERM);
}

void jobs_free(struct jobs *j)
{
	for (size_t i = 0; j && i < j->most; i++) {
		if (!j->list[i].pid)
			continue;
		kill(j->list[i].pid, SIGKILL);
		waitpid(j->list[i].pid, NULL, 0);
		close(j->list[i].said);
	}
	free(j);
}
