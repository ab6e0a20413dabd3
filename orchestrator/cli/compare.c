/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/numbers.h"
#include "base/outstream.h"
#include "cli/cli.h"
#include "base/json.h"
#include "report/number.h"
#include "report/table.h"

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

/* What a variant's cell says: the value, and behind it how often the first variant's that is. */
static json_t *make_cell(enum kind kind, const json_t *value, const json_t *first)
{
	char text[NUMBER_TEXT], ratio[32] = "";
	double number = json_number_value(value), times;

	if (!json_is_number(value))
		return json_string("-");
	if (kind == TIME)
		number_time(text, number);
	else if (kind == RATE)
		number_rate(text, number);
	else if (kind == BYTES)
		number_bytes(text, number);
	else
		snprintf(text, sizeof(text), number == nearbyint(number) ? "%.0f" : "%.4g", number);
	times = number / json_number_value(first);
	if (value != first && json_number_value(first) > 0)
		snprintf(ratio, sizeof(ratio), times < 10 ? " (%.2fx)" : " (%.0fx)", times);
	return json_sprintf("%s%s", text, ratio);
}

/* A number, or the sum of an object of counts; a new reference. NULL: there is neither. */
static json_t *figure(const json_t *summary, const char *metric)
{
	const json_t *value = look(summary, metric);

	return json_is_number(value) || json_is_object(value)
		       ? json_real(look_number(summary, metric))
		       : NULL;
}

void compare_print(const char *title, json_t *summaries, int width)
{
	json_t *table = json_array(), *summary;
	const char *name;

	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *row = json_pack("{s:s}", "", rows[i].title), *first = NULL;

		json_object_foreach(summaries, name, summary)
		{
			json_t *value = figure(summary, rows[i].metric);

			if (json_object_size(row) == 1)
				first = json_incref(value);
			json_object_set_new(row, name, make_cell(rows[i].kind, value, first));
			json_decref(value);
		}
		json_decref(first);
		json_array_append_new(table, row);
	}
	printf("%s, side by side\n", title);
	table_print_texts(table, stdout, width);
	json_decref(table);
}
