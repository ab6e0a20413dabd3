/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
	uint32_t n;
	int (*work)(void *context, uint32_t index, struct error *why);
	void *context;
	atomic_uint next;
	atomic_int failed; /* 0, or the first -errno */
	struct error *why;
};

static void *job_run(void *argument)
{
	struct job *job = argument;

	while (!atomic_load_explicit(&job->failed, memory_order_relaxed)) {
		uint32_t i = atomic_fetch_add(&job->next, 1);
		struct error why = ERROR_INIT;
		int none = 0, r;

		if (i >= job->n)
			break;
		r = job->work(job->context, i, &why);
		/* Only the thread that sets the code writes the text. */
		if (r < 0 && atomic_compare_exchange_strong(&job->failed, &none, r) && job->why)
			*job->why = why;
	}
	return NULL;
}

static unsigned start_threads(struct job *job, pthread_t *threads, unsigned count)
{
	sigset_t all, before;
	unsigned started = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < count && !pthread_create(&threads[started], NULL, job_run, job))
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

int parallel_for(uint32_t n, unsigned threads,
	int (*work)(void *context, uint32_t index, struct error *why), void *context,
	struct error *why)
{
	struct job job = {.n = n, .work = work, .context = context, .why = why};
	unsigned started, i;
	pthread_t *handles;

	if (!n)
		return 0;
	if (threads > n)
		threads = n;
	handles = calloc(threads, sizeof(*handles));
	if (!handles)
		return error_set(why, -ENOMEM, "out of memory");
	started = start_threads(&job, handles, threads);
	for (i = 0; i < started; i++)
		pthread_join(handles[i], NULL);
	free(handles);
	if (!started)
		return error_set(why, -EAGAIN,
			"cannot start a thread; raise the limit of processes (ulimit -u)");
	return job.failed;
}

unsigned parallel_cores(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores < 1 ? 1 : cores > 16 ? 16 : (unsigned)cores;
}
