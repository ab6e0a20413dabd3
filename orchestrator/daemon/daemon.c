/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "daemon/crash.h"
#include "daemon/programs.h"
#include "daemon/requests.h"

#define INTERRUPTED "interrupted; what was built is taken down"

#define NICE (-10)
#define OOM_SCORE                                                                                  \
	"-500" /* programs in the fabric first: without this process all of them are lost */

/* What the fabric's process reports to the waiting one; below PIPE_BUF, so written atomically. */
struct report {
	int code; /* 0: it forwards; WAITS: for `why`, and reports again */
	struct error why;
};

#define WAITS 1

/* ---- the fabric's process ---- */

static int redirect(const struct registry_entry *s, struct error *why)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), log = registry_open_log(s), r = 0;

	if (null < 0 || log < 0)
		r = error_set(why, null < 0 ? -errno : log, "cannot open the log of %s: %s",
			registry_name(s), strerror(null < 0 ? errno : -log));
	else if (dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
		 dup2(log, STDERR_FILENO) < 0)
		r = error_set(why, -errno, "cannot redirect: %s", strerror(errno));
	if (null >= 0)
		close(null);
	if (log >= 0)
		close(log);
	return r;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Closes what the caller's shell or CI had open: a pipe's reader would wait for this process. */
static void close_others(int *kept, size_t count)
{
	unsigned first = STDERR_FILENO + 1;

	qsort(kept, count, sizeof(*kept), by_number);
	for (size_t i = 0; i < count; i++) {
		unsigned fd = (unsigned)kept[i];

		if (fd > first)
			close_range(first, fd - 1, 0);
		first = fd + 1;
	}
	close_range(first, ~0u, 0);
}

/* None of this is needed, and some is not allowed everywhere: as much of it as can be had. */
static void ask_for_low_latency(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : write(fd, OOM_SCORE, strlen(OOM_SCORE));

	(void)n;
	if (fd >= 0)
		close(fd);
	setpriority(PRIO_PROCESS, 0, NICE);
	/* the least there is, 1 ns: by default a sleep is up to 50 us longer than asked for */
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
}

static int enter_background(const struct daemon_params *p, int pipe, struct error *why)
{
	int kept[] = {pipe, registry_fd(p->state), -1, -1}, r;
	sigset_t none;

	/* Whatever ends the process that waits for the fabric ends the fabric, until it is up. */
	prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM, 0ul, 0ul, 0ul);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	r = redirect(p->state, why);
	if (r < 0)
		return r;
	folder_fds(p->live.folder, kept + 2);
	close_others(kept, sizeof(kept) / sizeof(kept[0]));
	ask_for_low_latency();
	return crash_watch(why);
}

/* A failure to report is a failure: who waits is gone, and with it the wish for a fabric. */
static int send_report(int pipe, int code, const struct error *why)
{
	struct report report = {.code = code};
	ssize_t n;

	if (why)
		report.why = *why;
	do
		n = write(pipe, &report, sizeof(report));
	while (n < 0 && errno == EINTR);
	return n == sizeof(report) ? 0 : -EPIPE;
}

/* struct lock_wait's; arg: the pipe. */
static void report_wait(void *arg, const char *text)
{
	struct error why = ERROR_INIT;

	error_set(&why, 0, "%s", text);
	send_report(*(int *)arg, WAITS, &why);
}

/* Up to the moment from which nobody waits. On error nothing stays but the directory. */
static int come_up(const struct daemon_params *p, int pipe, struct live **ret, struct error *why)
{
	const struct lock_wait wait = {p->stop, report_wait, &pipe};
	struct live_params params = p->live;
	struct live *l;
	int r;

	params.wait = &wait; /* only used until it is open */
	params.requests = &live_requests;
	r = enter_background(p, pipe, why);
	if (!r)
		r = registry_set(
			p->state, REGISTRY_STARTING, NULL, why); /* now with this process's id */
	if (!r)
		r = live_open(&l, &params, why);
	if (r < 0)
		return r;
	r = *p->stop ? error_set(why, -EINTR, INTERRUPTED) : 0;
	if (!r)
		r = registry_set(p->state, REGISTRY_RUNNING, NULL, why);
	if (!r) {
		prctl(PR_SET_PDEATHSIG, 0ul, 0ul, 0ul, 0ul);
		r = send_report(pipe, 0, NULL);
	}
	if (r < 0) {
		live_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

static void end_programs(const struct registry_entry *s)
{
	struct programs programs;

	programs_hold(&programs, registry_name(s), registry_nodes(s));
	programs_end(&programs);
	programs_release(&programs);
}

/* After a failure the directory stays, with the reason. */
static int serve_until_down(const struct daemon_params *p, struct live *l, struct error *why)
{
	int r = live_run(l, p->stop, why);
	bool asked = !r && !*p->stop;

	registry_set(
		p->state, r < 0 ? REGISTRY_FAILED : REGISTRY_ENDED, r < 0 ? why->text : NULL, NULL);
	/* who asked for the end looks after the programs, and may itself be run by one of them */
	if (!asked)
		end_programs(p->state);
	live_close(l);
	if (!r)
		registry_remove(p->state);
	return r;
}

static int run_fabric(const struct daemon_params *p, int pipe, struct error *why)
{
	struct live *l = NULL;
	int r = come_up(p, pipe, &l, why);

	if (r < 0) {
		registry_remove(p->state);
		send_report(pipe, r, why);
	}
	close(pipe);
	return r < 0 ? r : serve_until_down(p, l, why);
}

/* ---- the one that waits ---- */

/* Waits for it, and forwards a request to stop, which it obeys after the current step. */
static ssize_t await_report(const struct daemon_params *p, int pipe, pid_t pid, struct report *ret)
{
	bool waits;
	ssize_t n;

	do {
		n = read(pipe, ret, sizeof(*ret));
		if (n < 0 && *p->stop)
			kill(pid, SIGTERM);
		waits = n == sizeof(*ret) && ret->code == WAITS;
		if (waits && p->wait && p->wait->notify)
			p->wait->notify(p->wait->arg, ret->why.text);
	} while (waits || (n < 0 && errno == EINTR));
	return n;
}

static int await_end(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int explain_death(const struct daemon_params *p, int status, struct error *why)
{
	const char *name = registry_name(p->state);

	if (WIFSIGNALED(status))
		return error_set(why, -ECHILD, "%s died while it came up: signal %d (%s)", name,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_set(why, -ECHILD, "%s died while it came up: exit status %d", name,
		WEXITSTATUS(status));
}

static int await_fabric(const struct daemon_params *p, int pipe, pid_t pid, struct error *why)
{
	struct report report;
	ssize_t n = await_report(p, pipe, pid, &report);
	int status;

	if (n == sizeof(report) && !report.code && !*p->stop)
		return 0;
	if (n == sizeof(report) && !report.code)
		kill(pid, SIGTERM);
	status = await_end(pid);
	if (n != sizeof(report))
		return explain_death(p, status, why);
	if (!report.code || *p->stop)
		return error_set(why, -EINTR, INTERRUPTED);
	*why = report.why;
	return report.code;
}

int daemon_start(const struct daemon_params *params, pid_t *ret_pid, struct error *why)
{
	int fds[2], r;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(why, -errno, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL); /* else what waits to be written would be, twice */
	pid = fork();
	if (pid < 0) {
		r = error_set(why, -errno, "cannot fork: %s", strerror(errno));
		close(fds[0]);
		close(fds[1]);
		return r;
	}
	if (!pid) {
		close(fds[0]);
		*ret_pid = 0;
		return run_fabric(params, fds[1], why);
	}
	close(fds[1]);
	r = await_fabric(params, fds[0], pid, why);
	close(fds[0]);
	*ret_pid = pid; /* of a process that may be gone */
	return r;
}
