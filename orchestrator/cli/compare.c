/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/compare.h"

#include <stdio.h>
#include <string.h>
#include "base/outstream.h"
#include "cli/cli.h"
#include "telemetry/summary.h"

static const struct {
	const char *metric, *title;
} rows[] = {
	{"flows.fct_us.mean", "completion, mean, us"},
	{"flows.fct_us.p99", "completion, p99, us"},
	{"flows.fct_us.max", "completion, max, us"},
	{"slowdown", "max over the bound"},
	{"flows.unfinished", "flows unfinished"},
	{"flows.goodput_gbps", "goodput, Gbps"},
	{"queues.max_depth_bytes", "deepest queue, bytes"},
	{"queues.max_delay_us", "longest wait, us"},
	{"packets.dropped", "packets dropped"},
	{"packets.retransmitted", "retransmitted"},
	{"packets.marked", "marked"},
	{"pfc.pauses_sent", "pauses sent"},
	{"pfc.paused_us", "paused, us"},
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

#define RATIO 11 /* columns for " (1.23x)" */

/* A value, or a variant's name, and its ratio; before it what the cell before is short of, so that no line ends in blanks. */
static void print_cell(const char *text, const char *ratio, int pad)
{
	printf("%*s  %12s%s", pad, "", text, ratio);
}

static void print_row(const char *metric, const char *title, const json_t *summaries)
{
	double first = 0;
	bool is_first = true;
	const char *name;
	json_t *summary;
	int pad = 0;

	printf("  %-22s", title);
	json_object_foreach((json_t *)summaries, name, summary)
	{
		char text[32] = "-", ratio[32] = "";
		double value = 0;
		bool exists = summary_lookup(summary, metric, &value) == 0;

		if (exists)
			snprintf(text, sizeof(text), "%.6g", value);
		if (is_first)
			first = value;
		else if (exists && first > 0)
			snprintf(ratio, sizeof(ratio), " (%.3gx)", value / first);
		print_cell(text, ratio, pad);
		pad = is_first ? 0 : RATIO - (int)strlen(ratio);
		is_first = false;
	}
	putchar('\n');
}

void compare_print(const char *title, const json_t *summaries)
{
	bool is_first = true;
	const char *name;
	json_t *summary;
	int pad = 0;

	printf("%s, side by side\n  %-22s", title, "");
	json_object_foreach((json_t *)summaries, name, summary)
	{
		print_cell(name, "", pad);
		pad = is_first ? 0 : RATIO;
		is_first = false;
	}
	putchar('\n');
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		print_row(rows[i].metric, rows[i].title, summaries);
}
