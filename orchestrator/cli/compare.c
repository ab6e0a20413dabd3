/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <string.h>
#include "base/outstream.h"
#include "cli/cli.h"
#include "report/number.h"
#include "telemetry/summary.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum kind { PLAIN, TIME, RATE, BYTES };

static const struct {
	const char *metric, *title;
	enum kind kind;
} rows[] = {
	{"flows.fct_us.mean", "completion, mean", TIME},
	{"flows.fct_us.p99", "completion, p99", TIME},
	{"flows.fct_us.max", "completion, max", TIME},
	{"slowdown", "max / ideal", PLAIN},
	{"flows.unfinished", "flows unfinished", PLAIN},
	{"flows.goodput_gbps", "goodput", RATE},
	{"queues.max_depth_bytes", "deepest queue", BYTES},
	{"queues.max_delay_us", "longest wait", TIME},
	{"packets.dropped", "packets dropped", PLAIN},
	{"packets.retransmitted", "retransmitted", PLAIN},
	{"packets.marked", "marked", PLAIN},
	{"pfc.pauses_sent", "pauses sent", PLAIN},
	{"pfc.paused_us", "paused", TIME},
};

int compare_write(struct folder *folder, const json_t *summaries)
{
	struct error why = ERROR_INIT;
	struct outstream out;
	int r = outstream_create(&out, folder_fd(folder), "compare.json" OUTSTREAM_NEW);

	if (r == 0) {
		json_dumpf(summaries, out.file, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
		r = outstream_close(&out);
	}
	if (r < 0)
		error_set(&why, r, "can't write %s/compare.json: %s", folder_path(folder),
			strerror(-r));
	else
		r = folder_publish(folder, &why);
	if (r < 0)
		cli_error("%s", why.text);
	return r;
}

#define TITLE 16 /* columns of the longest title */
#define CELL  64

/* What a variant's cell says: the value, and behind it how often the first variant's that is. */
static void write_cell(char cell[CELL], enum kind kind, double value, double first, bool is_first)
{
	char text[NUMBER_TEXT], ratio[32] = "";

	if (kind == TIME)
		number_time(text, value);
	else if (kind == RATE)
		number_rate(text, value);
	else if (kind == BYTES)
		number_bytes(text, value);
	else
		snprintf(text, sizeof(text), value == nearbyint(value) ? "%.0f" : "%.4g", value);
	if (!is_first && first > 0 && value / first < 10)
		snprintf(ratio, sizeof(ratio), " (%.2fx)", value / first);
	else if (!is_first && first > 0)
		snprintf(ratio, sizeof(ratio), " (%.0fx)", value / first);
	snprintf(cell, CELL, "%s%s", text, ratio);
}

/* The cell of a row of one variant; row COUNT is the heading. */
static void make_cell(
	char cell[CELL], size_t row, const char *name, const json_t *summary, const json_t *first)
{
	double value = 0, base = 0;

	if (row == COUNT(rows)) {
		snprintf(cell, CELL, "%s", name);
		return;
	}
	snprintf(cell, CELL, "-");
	if (summary_lookup(summary, rows[row].metric, &value) < 0)
		return;
	summary_lookup(first, rows[row].metric, &base);
	write_cell(cell, rows[row].kind, value, base, summary == first);
}

static int column_width(const char *name, const json_t *summary, const json_t *first)
{
	size_t width = 0;
	char cell[CELL];

	for (size_t i = 0; i <= COUNT(rows); i++) {
		make_cell(cell, i, name, summary, first);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	return (int)width;
}

/* One variant a column, those from `from` up to `to`; no line ends in blanks. */
static void print_line(
	size_t row, void *from, const void *to, json_t *summaries, const json_t *first)
{
	char cell[CELL];
	int pad = 0;

	printf("  %-*s", TITLE, row == COUNT(rows) ? "" : rows[row].title);
	for (void *i = from; i != to; i = json_object_iter_next(summaries, i)) {
		const char *name = json_object_iter_key(i);
		const json_t *summary = json_object_iter_value(i);

		make_cell(cell, row, name, summary, first);
		printf("%*s  %s", pad, "", cell);
		pad = column_width(name, summary, first) - (int)strlen(cell);
	}
	putchar('\n');
}

void compare_print(const char *title, json_t *summaries, int width)
{
	const json_t *first = json_object_iter_value(json_object_iter(summaries));
	void *from = json_object_iter(summaries), *to;

	printf("%s, side by side\n", title);
	while (from) {
		int used = 2 + TITLE;

		/* as many as fit, and one at least */
		for (to = from; to; to = json_object_iter_next(summaries, to)) {
			used += 2 + column_width(json_object_iter_key(to),
					    json_object_iter_value(to), first);
			if (width && used > width && to != from)
				break;
		}
		print_line(COUNT(rows), from, to, summaries, first);
		for (size_t i = 0; i < COUNT(rows); i++)
			print_line(i, from, to, summaries, first);
		from = to;
		if (from)
			putchar('\n');
	}
}
