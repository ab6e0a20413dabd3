/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/top.h"
#include "cli/top_header.h"
#include "cli/top_table.h"
#include "report/json.h"

/* What is printed is for pipes: no column is left out for want of room. */
#define WIDTH      400
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

/* The interval counts from the first answer, and a fabric that goes away meanwhile is heard of at once. */
static void wait_interval(struct top *t)
{
	struct pollfd p = {.fd = top_feed_fd(t->feed), .events = POLLIN};
	uint64_t end = top_clock() + t->interval_ns;

	while (top_clock() < end && poll(&p, 1, top_until(end, INT32_MAX)) <= 0)
		;
}

/* ---- text */

static void print_table(const struct top_table *t)
{
	const struct top_column *columns = top_view_spec(t->view)->columns;
	struct top_layout layout;
	char buf[TOP_CELL_MAX];

	printf("\n%s (%zu)\n", top_view_spec(t->view)->name, t->count);
	if (!t->count)
		return;
	top_layout_make(&layout, t, WIDTH, 0);
	layout.gap = 2;
	for (size_t i = 0; i < layout.count; i++) {
		const struct top_field *f = &layout.fields[i];

		printf("%*s%s", i ? layout.gap : 0, "",
			top_title_text(buf, &columns[f->column], f->width));
	}
	putchar('\n');
	for (size_t row = 0; row < t->count; row++) {
		for (size_t i = 0; i < layout.count; i++) {
			const struct top_field *f = &layout.fields[i];

			printf("%*s%s", i ? layout.gap : 0, "",
				top_cell_text(buf, &columns[f->column],
					&t->rows[row].cells[f->column], f->width));
		}
		putchar('\n');
	}
}

static void print_header(const struct top_pair *status)
{
	struct top_line lines[TOP_HEADER_LINES];

	top_header_make(lines, status);
	for (size_t i = 0; i < TOP_HEADER_LINES; i++)
		puts(lines[i].text);
}

/* ---- JSON */

static json_t *cell_json(const struct top_cell *c)
{
	if (c->text)
		return json_string(c->text);
	return isnan(c->number) || isinf(c->number) ? json_null() : json_real(c->number);
}

static json_t *view_json(const struct top_table *t)
{
	const struct top_column *columns = top_view_spec(t->view)->columns;
	json_t *rows = json_array();

	for (size_t i = 0; i < t->count; i++) {
		json_t *row = json_object();

		for (size_t c = 0; columns[c].title; c++)
			json_object_set_new(row, columns[c].name, cell_json(&t->rows[i].cells[c]));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* ---- both */

static int show(struct top *t, json_t *all)
{
	for (int i = 0; i < TOP_VIEWS; i++) {
		struct top_table table;
		int r = top_table_make(&table, (enum top_view)i, &t->views[i]);

		if (r < 0) {
			cli_error("%s: what it says of %s is not understood: %s", t->name,
				top_view_spec((enum top_view)i)->name, strerror(-r));
			return EXIT_RUN;
		}
		top_table_sort(&table, top_view_spec((enum top_view)i)->sorted, false);
		if (all)
			json_object_set_new(
				all, top_view_spec((enum top_view)i)->name, view_json(&table));
		else
			print_table(&table);
		top_table_release(&table);
	}
	return EXIT_WELL;
}

static int show_json(struct top *t)
{
	double seconds = top_pair_seconds(&t->views[TOP_LINKS]);
	json_t *all =
		json_pack("{s:O, s:f}", "status", t->status.now, "interval_us", seconds * 1e6);
	int status = show(t, all);

	if (status == EXIT_WELL) {
		print_json(all, stdout);
	}
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
	if (json)
		return show_json(t);
	print_header(&t->status);
	return show(t, NULL);
}
