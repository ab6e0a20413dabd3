/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>
#include "cli/cli.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

volatile bool stop_asked;
static volatile sig_atomic_t left; /* signals until one is deadly; 0: none is */

static void report_wait(void *arg, const char *text)
{
	(void)arg;
	cli_error("%s", text);
}

const struct lock_wait stop_wait = {.stop = &stop_asked, .notify = report_wait};

static void on_signal(int signal)
{
	static const char patience[] =
		"\nfabricbed: what was built is being taken down; once more kills it, and leaves that behind\n";
	ssize_t n;

	(void)signal;
	stop_asked = true;
	if (left && --left == 1) {
		n = write(STDERR_FILENO, patience, sizeof(patience) - 1);
		(void)n;
		stop_release();
	}
}

static void catch (int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, NULL);
}

void stop_catch(int flags)
{
	left = 0;
	catch (flags);
}

void stop_catch_two(int flags)
{
	left = 3;
	catch (flags);
}

void stop_release(void)
{
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i], SIG_DFL);
}
