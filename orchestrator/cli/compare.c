/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int compare_write(const char *directory, const json_t *summaries)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/compare.json", directory) < 0)
		return -ENOMEM;
	r = json_dump_file(summaries, path, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	if (r < 0)
		cli_error("can't write %s: %s", path, strerror(errno));
	free(path);
	return r < 0 ? -EIO : 0;
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
