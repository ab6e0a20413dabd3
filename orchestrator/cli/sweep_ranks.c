/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sweep_ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/parents.h"
#include "cli/stop.h"
#include "cli/sweep_runs.h"
#include "sweep/handout.h"
#include "sweep/jobs.h"
#include "sweep/ranks.h"

/* A run's folder holds files alone. */
static void remove_files(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

/* ---- rank 0 ---- */

/* An item is the arguments of a run, as JSON. */
static char *make_item(const struct sweep_work *w, size_t run)
{
	char **argv = sweep_arguments(w, run), *text = NULL;
	json_t *list = json_array();

	for (size_t i = 0; argv && argv[i]; i++)
		json_array_append_new(list, json_string(argv[i]));
	if (argv)
		text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	sweep_settings_free(argv);
	return text;
}

struct handing {
	struct sweep_work *w;
	size_t *runs; /* of each item */
	char **items;
	size_t count, left; /* left: of which nothing has come */
};

/* What an earlier try left there is no result. */
static int take_result(void *arg, const struct handout_result *result)
{
	struct handing *h = arg;
	size_t run = h->runs[result->item], workers = (size_t)ranks_size(h->w->ranks) - 1;
	char *folder = sweep_run_folder(h->w, run);
	struct error why = ERROR_INIT;
	int r = folder ? 0 : -ENOMEM;

	if (folder && result->status == 0) {
		parents_make(folder);
		remove_files(folder);
		r = bundle_unpack(result->bundle->bytes, result->bundle->length, folder, &why);
	}
	free(folder);
	sweep_take(h->w, run, r == 0 && result->status == 0,
		result->status < 0 ? result->why : why.text);
	h->left--;
	sweep_show_progress(h->w, h->left < workers ? h->left : workers);
	return stop_asked || result->status == -EINTR ? -EINTR : 0;
}

int sweep_hand_out(struct sweep_work *w)
{
	struct handing h = {.w = w};
	int r = -ENOMEM;

	h.runs = calloc(w->plan->count, sizeof(*h.runs));
	h.items = calloc(w->plan->count, sizeof(*h.items));
	for (size_t i = 0; h.runs && h.items && i < w->plan->count; i++) {
		if (w->table->summaries[i])
			continue;
		h.runs[h.count] = i;
		h.items[h.count] = make_item(w, i);
		if (!h.items[h.count++])
			goto out;
	}
	h.left = h.count;
	if (h.runs && h.items)
		r = handout_lead(w->ranks, (const char *const *)h.items, h.count, take_result, &h);
out:
	for (size_t i = 0; h.items && i < h.count; i++)
		free(h.items[i]);
	free(h.items);
	free(h.runs);
	return r;
}

/* ---- the others ---- */

#define ARGUMENTS_MAX 512

/* Waits for the only job. It is told to stop if this process is: once, since three times kill. */
static void wait_for(struct jobs *jobs, struct job_end *end)
{
	bool told = false;

	while (jobs_wait(jobs, 0.25, end) < 0) {
		if (stop_asked && !told)
			jobs_stop(jobs);
		told = stop_asked;
	}
}

static int run_in(const char *folder, const json_t *list, struct jobs *jobs, struct error *why)
{
	char *argv[ARGUMENTS_MAX] = {NULL};
	struct job_end end;
	size_t count = json_array_size(list);
	int r;

	if (!count || count > ARGUMENTS_MAX - 3)
		return error_set(why, -EINVAL, "%zu arguments", count);
	for (size_t i = 0; i < count; i++)
		argv[i] = (char *)json_string_value(json_array_get(list, i));
	argv[count] = (char *)"--output";
	argv[count + 1] = (char *)folder;
	r = jobs_start(jobs, 0, argv);
	if (r < 0)
		return error_set(why, r, "can't start a run: %s", strerror(-r));
	wait_for(jobs, &end);
	if (WIFEXITED(end.status) && WEXITSTATUS(end.status) <= EXIT_EXPECT)
		return 0;
	job_end_text(&end, why->text, sizeof(why->text));
	return -EIO;
}

/* In a folder of its own, which goes as a bundle. */
static int do_item(void *arg, const char *item, struct bundle *ret, struct error *why)
{
	const char *place = getenv("TMPDIR");
	json_t *list = json_loads(item, 0, NULL);
	char *folder = NULL;
	int r = -ENOMEM;

	if (stop_asked) {
		json_decref(list);
		return error_set(why, -EINTR, "its process was told to stop");
	}
	if (asprintf(&folder, "%s/fabricbed-XXXXXX", place && *place ? place : "/tmp") < 0)
		folder = NULL;
	if (folder && !mkdtemp(folder)) {
		r = error_set(why, -errno, "can't make %s: %s", folder, strerror(errno));
	} else if (folder) {
		r = run_in(folder, list, arg, why);
		if (r == 0)
			r = bundle_pack(ret, folder, why);
		remove_files(folder);
		rmdir(folder);
	}
	free(folder);
	json_decref(list);
	return r;
}

int sweep_serve(struct ranks *ranks)
{
	struct jobs *jobs = NULL;
	int r = jobs_new(&jobs, 1);

	if (r == 0)
		r = handout_work(ranks, do_item, jobs);
	jobs_free(jobs);
	return r;
}
