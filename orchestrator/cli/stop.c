/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

volatile bool stop_asked;

static void on_signal(int signal)
{
	(void)signal;
	stop_asked = true;
}

void stop_catch(int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, NULL);
}

void stop_release(void)
{
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i], SIG_DFL);
}
