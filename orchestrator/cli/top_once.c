/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/term.h"
#include "cli/top.h"
#include "cli/top_header.h"
#include "cli/top_table.h"
#include "base/json.h"
#include "report/table.h"

#define TIMEOUT_NS 10000000000ull

static int sample(struct top *t)
{
	struct pollfd p = {.fd = top_feed_fd(t->feed), .events = POLLIN};
	uint64_t end = top_clock() + TIMEOUT_NS;
	struct top_answers answers = {0};
	int r = top_feed_ask(t->feed, (1u << TOP_VIEWS) - 1);

	while (r == 0) {
		if (poll(&p, 1, top_until(end, INT32_MAX)) == 0) {
			cli_error("%s does not answer", t->name);
			return EXIT_RUN;
		}
		r = top_feed_take(t->feed, &answers);
	}
	if (r < 0) {
		cli_error("%s went away: %s", t->name, strerror(-r));
		return EXIT_RUN;
	}
	if (*answers.refusal) {
		cli_error("%s", answers.refusal);
		top_answers_release(&answers);
		return EXIT_RUN;
	}
	top_push(t, &answers);
	return EXIT_WELL;
}

/* The interval counts from the first reply; a fabric that goes away meanwhile shows at once. */
static void wait_interval(struct top *t)
{
	struct pollfd p = {.fd = top_feed_fd(t->feed), .events = POLLIN};
	uint64_t end = top_clock() + t->interval_ns;

	while (top_clock() < end && poll(&p, 1, top_until(end, INT32_MAX)) <= 0)
		;
}

static int show_view(struct top *t, enum top_view view, json_t *all)
{
	const struct top_view_spec *spec = top_view_spec(view);
	json_t *rows = top_rows(view, &t->views[view]);

	if (!rows) {
		cli_error("%s: what it says of %s is not understood", t->name, spec->name);
		return EXIT_RUN;
	}
	top_sort(rows, view, spec->sorted, false);
	if (all) {
		json_object_set(all, spec->name, rows);
	} else {
		printf("\n%s (%zu)\n", spec->name, json_array_size(rows));
		table_print(rows, stdout, term_width());
	}
	json_decref(rows);
	return EXIT_WELL;
}

/* As text, or into *all if that is not NULL. */
static int show(struct top *t, json_t *all)
{
	int status = EXIT_WELL;

	for (int i = 0; i < TOP_VIEWS && status == EXIT_WELL; i++)
		status = show_view(t, (enum top_view)i, all);
	return status;
}

static int show_text(struct top *t)
{
	struct top_line lines[TOP_HEADER_LINES];

	top_header_make(lines, &t->status);
	for (size_t i = 0; i < TOP_HEADER_LINES; i++)
		puts(lines[i].text);
	return show(t, NULL);
}

static int show_json(struct top *t)
{
	json_t *all = json_pack("{s:O, s:f}", "status", t->status.now, "interval_us",
		top_pair_seconds(&t->views[TOP_LINKS]) * 1e6);
	int status = show(t, all);

	if (status == EXIT_WELL)
		print_json(all, stdout);
	json_decref(all);
	return status;
}

int top_once(struct top *t, bool json)
{
	int status = sample(t);

	if (status != EXIT_WELL)
		return status;
	wait_interval(t);
	status = sample(t);
	if (status != EXIT_WELL)
		return status;
	return json ? show_json(t) : show_text(t);
}
