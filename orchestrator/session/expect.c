/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/expect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "scenario/scenario.h"
#include "telemetry/summary.h"

#define METRIC_TEXT 128

/* What a scenario expects that expects anything, unless it says itself what it expects of this. */
static const struct expect_spec implied = {
	.metric = (char *)"flows.unfinished", .bound = EXPECT_EQUALS, .value = 0};

static bool bound_holds(const struct expect_spec *e, double value)
{
	switch (e->bound) {
	case EXPECT_AT_MOST:
		return value <= e->value;
	case EXPECT_AT_LEAST:
		return value >= e->value;
	case EXPECT_EQUALS:
		return value == e->value;
	}
	return false;
}

/* Where the figure stands: those of the finished flows alone have a place of their own. */
static const char *path_of(const struct expect_spec *e, char buf[METRIC_TEXT])
{
	static const char flows[] = "flows.";
	size_t length = strlen(flows);

	if (e->of == EXPECT_OF_ALL || !expect_has_of(e->metric))
		return e->metric;
	if (strncmp(e->metric, flows, length))
		snprintf(buf, METRIC_TEXT, "%s_finished", e->metric);
	else
		snprintf(buf, METRIC_TEXT, "flows.finished.%s", e->metric + length);
	return buf;
}

/* Whether the metric is of a class of sizes, and no flow of the run is. */
static bool is_of_no_flow(const char *metric, const json_t *summary)
{
	static const char by_size[] = "flows.by_size.";
	size_t length = strlen(by_size);
	char path[METRIC_TEXT];
	double count;

	if (strncmp(metric, by_size, length))
		return false;
	snprintf(path, sizeof(path), "%.*s.count", (int)(length + strcspn(metric + length, ".")),
		metric);
	return summary_lookup(summary, path, &count) < 0;
}

/* Why there is no such figure. */
static json_t *absence(const struct expect_spec *e, const json_t *summary)
{
	double count = 0, unfinished = 0;

	summary_lookup(summary, "flows.count", &count);
	summary_lookup(summary, "flows.unfinished", &unfinished);
	if (strncmp(e->metric, "flows.", 6) && strcmp(e->metric, "slowdown") &&
		strncmp(e->metric, "ideal_", 6))
		return json_string("this run has no such figure");
	if (!count)
		return json_string("there was no flow");
	if (is_of_no_flow(e->metric, summary))
		return json_string("no measured flow is of that size");
	if (unfinished == count)
		return json_string("no flow has finished");
	if (unfinished)
		return json_sprintf("%.0f of %.0f flows have not finished", unfinished, count);
	return json_string("this run has no such figure");
}

static json_t *check_one(const struct expect_spec *e, const json_t *summary, bool *ret_ok)
{
	static const char *const bounds[] = {
		[EXPECT_AT_MOST] = "at_most",
		[EXPECT_AT_LEAST] = "at_least",
		[EXPECT_EQUALS] = "equals",
	};
	char path[METRIC_TEXT];
	double value = 0;
	bool exists = summary_lookup(summary, path_of(e, path), &value) == 0;
	json_t *found;

	*ret_ok = exists && bound_holds(e, value);
	found = json_pack("{s:s, s:{s:f}, s:o, s:b}", "metric", e->metric, "bound",
		bounds[e->bound], e->value, "value", exists ? json_real(value) : json_null(), "ok",
		(int)*ret_ok);
	if (e->of == EXPECT_OF_FINISHED)
		json_object_set_new(found, "of", json_string("finished"));
	if (e == &implied)
		json_object_set_new(found, "implied", json_true());
	if (!exists)
		json_object_set_new(found, "reason", absence(e, summary));
	return found;
}

static int add_one(const struct expect_spec *e, const json_t *summary, json_t *list, bool *ret_met)
{
	bool ok;

	if (json_array_append_new(list, check_one(e, summary, &ok)) < 0)
		return -ENOMEM;
	*ret_met &= ok;
	return 0;
}

int expect_check(const struct scenario *s, json_t *summary, bool *ret_met)
{
	json_t *list = json_array();
	bool met = true, silent = s->expect_count != 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->expect_count; i++) {
		silent &= strcmp(s->expects[i].metric, implied.metric) != 0;
		r = add_one(&s->expects[i], summary, list, &met);
	}
	if (r == 0 && silent)
		r = add_one(&implied, summary, list, &met);
	if (r < 0) {
		json_decref(list);
		return r;
	}
	if (json_object_set_new(summary, "expect", list) < 0)
		return -ENOMEM;
	*ret_met = met;
	return 0;
}
