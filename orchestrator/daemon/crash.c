/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/crash.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "daemon/registry_dir.h"

#define STACK_BYTES 65536

struct crash {
	int signal;
	const char *words;
};

static const struct crash crashes[] = {
	{SIGSEGV, "segmentation fault"},
	{SIGBUS, "bus error"},
	{SIGABRT, "aborted"},
	{SIGFPE, "arithmetic error"},
	{SIGILL, "illegal instruction"},
	{SIGSYS, "bad system call"},
	{SIGTRAP, "trap"},
};

#define CRASHES (sizeof(crashes) / sizeof(crashes[0]))

/* Only what signal-safety(7) allows: no stdio, no memory. */
static size_t append(char *line, size_t used, const char *text)
{
	while (*text)
		line[used++] = *text++;
	return used;
}

static void on_crash(int signal)
{
	char line[128], number[3] = {(char)('0' + signal / 10), (char)('0' + signal % 10), 0};
	const char *words = "?";
	size_t n;

	for (size_t i = 0; i < CRASHES; i++)
		if (crashes[i].signal == signal)
			words = crashes[i].words;
	n = append(line, 0, CRASH_WORDS);
	n = append(line, n, signal < 10 ? number + 1 : number);
	n = append(line, n, " (");
	n = append(line, n, words);
	n = append(line, n, ")\n");
	if (write(STDERR_FILENO, line, n) < 0)
		_exit(128 + signal); /* nobody is left to report to */
	raise(signal);               /* whose action is the default again: SA_RESETHAND */
}

int crash_watch(struct error *why)
{
	struct sigaction action = {
		.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
	stack_t stack = {.ss_size = STACK_BYTES};

	stack.ss_sp =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) < 0)
		return error_set(
			why, -errno, "cannot set a stack for signals: %s", strerror(errno));
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CRASHES; i++)
		sigaction(crashes[i].signal, &action, NULL);
	return 0;
}
