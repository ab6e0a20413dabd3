/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/drop_name.h"
#include "scenario/check.h"
#include "scenario/text.h"

/* Numbers in summary.json, but for packets.dropped.<reason>. */
static const char *const metrics[] = {
	"flows.count",
	"flows.unfinished",
	"flows.bytes",
	"flows.fct_us.mean",
	"flows.fct_us.p50",
	"flows.fct_us.p99",
	"flows.fct_us.max",
	"flows.goodput_gbps",
	"packets.sent",
	"packets.delivered",
	"packets.dropped",
	"packets.in_flight",
	"packets.marked",
	"packets.trimmed",
	"packets.returned",
	"packets.headers_delivered",
	"packets.remapped",
	"packets.notified",
	"packets.made",
	"packets.consumed",
	"packets.retransmitted",
	"packets.spurious",
	"packets.corrupt",
	"queues.max_depth_bytes",
	"queues.max_delay_us",
	"pfc.pauses_sent",
	"pfc.resumes_sent",
	"pfc.paused_us",
	"pfc.deadlocks",
	"ideal_us",
	"ideal_fabric_us",
	"slowdown",
	"model_time_us",
	"setup_s",
	"wall_s",
	"hops",
	"hops_per_s",
	"peak_rss_mb",
	"fidelity.late_us.p50",
	"fidelity.late_us.p99",
	"fidelity.late_us.max",
	"fidelity.slipped_us",
	"fidelity.lost",
};

#define FIDELITY "fidelity."

#define METRICS_LIMIT (COUNT(metrics) + 64)

static size_t list_metrics(
	const char *names[METRICS_LIMIT], char dropped[METRICS_LIMIT][METRIC_NAME])
{
	size_t count = COUNT(metrics);

	memcpy(names, metrics, sizeof(metrics));
	for (unsigned i = 1; drop_name(i) && count < METRICS_LIMIT; i++) {
		snprintf(dropped[count], METRIC_NAME, "packets.dropped.%s", drop_name(i));
		names[count] = dropped[count];
		count++;
	}
	return count;
}

const char *scenario_metric(size_t index, char buf[METRIC_NAME])
{
	const char *names[METRICS_LIMIT];
	char dropped[METRICS_LIMIT][METRIC_NAME];

	if (index >= list_metrics(names, dropped))
		return NULL;
	snprintf(buf, METRIC_NAME, "%s", names[index]);
	return buf;
}

/* They are too many for a message: the one that was likely meant, or that has the word in it, and where they all stand. */
static void explain_metric(
	struct check *c, const struct tree *n, const char *const *names, size_t count)
{
	const char *meant = nearest_word(n->text, names, count);

	for (size_t i = 0; !meant && i < count; i++)
		if (strlen(n->text) > 1 && strstr(names[i], n->text))
			meant = names[i];
	explain_value(c->diags, n,
		"'%s' is no number of summary.json; %s%s%s'fabricbed help metrics' lists them",
		text_shown((char[TEXT_SHOWN]){0}, n->text), meant ? "did you mean '" : "",
		meant ? meant : "", meant ? "'? " : "");
}

static bool check_metric(struct check *c, const struct tree *n, void *target)
{
	const char *names[METRICS_LIMIT];
	char dropped[METRICS_LIMIT][METRIC_NAME];
	size_t count = list_metrics(names, dropped);

	(void)target;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(n->text, names[i]))
			return true;
	explain_metric(c, n, names, count);
	return false;
}

bool expect_has_of(const char *metric)
{
	static const char fct[] = "flows.fct_us.";

	return !strcmp(metric, "slowdown") || !strncmp(metric, fct, strlen(fct));
}

/* `of` where it says nothing. */
static bool check_of(struct check *c, const struct tree *n, void *expect, uint64_t good)
{
	const struct tree *of = tree_get(n, "of");
	const struct expect_spec *e = expect;

	(void)good;
	if (!of || !e->metric || expect_has_of(e->metric))
		return true;
	explain_value(c->diags, of, "%s is not of completion times; leave 'of' out", e->metric);
	return false;
}

static bool has_of(const void *expect)
{
	return expect_has_of(((const struct expect_spec *)expect)->metric);
}

static const char *const ofs[] = {[EXPECT_OF_ALL] = "all", [EXPECT_OF_FINISHED] = "finished", NULL};

#define METRIC_EXPECTED "a number of summary.json such as flows.fct_us.max"
#define BOUND(word, its_help)                                                                      \
	KEY(word, NUMBER, struct expect_spec, value, .choice = true, .help = its_help)

/* The bounds in the order of enum expect_bound. */
static const struct key keys[] = {
	KEY("metric", LABEL, struct expect_spec, metric, .required = true, .max = LABEL_LIMIT,
		.check = check_metric, .expected = METRIC_EXPECTED,
		.help = "a number of summary.json; 'fabricbed help metrics' lists them"),
	BOUND("at_most", "it must not be larger"),
	BOUND("at_least", "it must not be smaller"),
	BOUND("equals", "it must be this"),
	KEY("of", WORD, struct expect_spec, of, .fallback = "all", .words = ofs, .applies = has_of,
		.help = "completion times of all flows, or of those that have finished"),
};

const struct map expect_map = {KEYS(keys), .chosen = FIELD(struct expect_spec, bound),
	.pos = offsetof(struct expect_spec, pos), .check = check_of, .partial = true};

void check_expects_clock(struct check *c, const struct tree *root, const struct scenario *s)
{
	const struct tree *list = tree_get(root, "expect");

	for (size_t i = 0; !s->clock.wall && i < s->expect_count; i++) {
		const char *metric = s->expects[i].metric;

		if (!strncmp(metric, FIDELITY, strlen(FIDELITY)))
			explain_value(c->diags, tree_get(list->items[i], "metric"),
				"%s is measured on the wall clock alone; add clock: wall, or leave it out",
				metric);
	}
}
