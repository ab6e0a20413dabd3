/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/drop_name.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/numbers.h"
#include "base/units.h"
#include "telemetry/flow_totals.h"

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *hash_text(uint64_t hash)
{
	return json_sprintf("%016llx", (unsigned long long)hash);
}

static json_t *us(uint64_t ps)
{
	return json_real((double)ps / PS_PER_US);
}

static json_t *us_or_null(uint64_t ps)
{
	return ps ? us(ps) : json_null();
}

static json_t *ratio(uint64_t n, double by)
{
	return real_or_null(by > 0, by > 0 ? (double)n / by : 0);
}

static const char *const size_class_names[] = {
#define SIZE_CLASS(key, limit) key,
	SIZE_CLASSES(SIZE_CLASS)
#undef SIZE_CLASS
};

/* Whether all flows of a class have finished; or any, for figures of the finished ones alone. */
static bool is_known(const struct flow_totals *t, size_t class, bool of_finished)
{
	return t->finished[class] &&
	       (of_finished || (!t->arriving && t->finished[class] == t->measured[class]));
}

enum figure { FCT_US, FCT_SLOWDOWN };

/* 0: not known. */
static double figure_of(const struct flow_sample *f, enum figure figure)
{
	if (figure == FCT_US)
		return (double)f->fct_ps / PS_PER_US;
	return f->ideal_ps ? (double)f->fct_ps / (double)f->ideal_ps : 0;
}

static int compare_reals(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/* The mean and the ranks. Sorts the values; count 0: there are none. */
static json_t *spread_json(double *values, size_t count)
{
	static const struct {
		const char *key;
		size_t permille;
	} ranks[] = {
#define RANK(key, permille, title, ...) {key, permille},
		SPREAD_RANKS(RANK, )
#undef RANK
	};
	json_t *spread = json_object();
	double sum = 0;

	qsort(values, count, sizeof(*values), compare_reals);
	/* in this order, so that rounding does not depend on which flow ended first */
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	json_object_set_new(spread, "mean", real_or_null(count, count ? sum / (double)count : 0));
	/* nearest rank: the smallest value that such a share of the values do not exceed */
	for (size_t i = 0; i < COUNT(ranks); i++) {
		size_t rank = (count * ranks[i].permille + 999) / 1000;

		json_object_set_new(
			spread, ranks[i].key, real_or_null(count, count ? values[rank - 1] : 0));
	}
	return spread;
}

static json_t *spread(
	const struct flow_totals *t, size_t class, enum figure figure, bool of_finished)
{
	size_t wanted = is_known(t, class, of_finished) ? t->finished[class] : 0, count = 0;
	double *values = calloc(wanted + 1, sizeof(*values));
	json_t *found;

	for (size_t i = 0; values && wanted && i < t->finished[ALL_SIZES]; i++) {
		const struct flow_sample *f = flow_totals_sample(t, i);

		if (class == ALL_SIZES || f->size_class == class) {
			values[count] = figure_of(f, figure);
			count += values[count] > 0;
		}
	}
	found = values ? spread_json(values, count == wanted ? count : 0) : NULL;
	free(values);
	return found;
}

/* The same by the sizes of messages. */
static json_t *by_size(const struct flow_totals *t, bool of_finished)
{
	json_t *classes = json_object();

	for (size_t i = 0; i < ALL_SIZES; i++) {
		size_t count = of_finished ? t->finished[i] : t->measured[i];

		if (count)
			json_object_set_new(classes, size_class_names[i],
				json_pack("{s:I, s:o, s:o}", "count", (json_int_t)count, "fct_us",
					spread(t, i, FCT_US, of_finished), "fct_slowdown",
					spread(t, i, FCT_SLOWDOWN, of_finished)));
	}
	return classes;
}

/* Of the flow that took longest, by a bound on that; 0: there is none. */
static json_t *slowdown(const struct flow_totals *t, uint64_t bound_ps, bool of_finished)
{
	bool exists = bound_ps && is_known(t, ALL_SIZES, of_finished);

	return real_or_null(exists, exists ? (double)t->longest_ps / (double)bound_ps : 0);
}

/* The mean over the measured flows. */
static json_t *per_flow(const struct flow_totals *t, enum flow_figure figure)
{
	size_t flows = t->measured[ALL_SIZES];

	return real_or_null(
		flows, flows ? (double)t->per_flow[figure] / FLOW_UNIT / (double)flows : 0);
}

static json_t *most_of_flow(const struct flow_totals *t, enum flow_figure figure)
{
	return real_or_null(t->measured[ALL_SIZES], t->most[figure]);
}

static json_t *reorder_mean(const struct flow_totals *t)
{
	return json_real(t->reordered ? (double)t->reorder_sum / (double)t->reordered : 0);
}

static json_t *goodput(const struct flow_totals *t, const struct engine_stats *s)
{
	uint64_t span = s->flows_done ? t->last_finish_ps - t->first_start_ps : 0;

	return real_or_null(span, span ? (double)s->bytes_delivered * 8000.0 / (double)span : 0);
}

json_t *summary_dropped(const struct engine_stats *s)
{
	json_t *reasons = json_object();

	for (int i = DROP_NONE + 1; reasons && i < DROP_REASON_COUNT; i++)
		if (s->dropped[i])
			json_object_set_new(
				reasons, drop_name((enum drop_reason)i), count(s->dropped[i]));
	return reasons;
}

static double peak_rss_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* A counter of struct switch_balance, over all switches; NULL: they have no flow tables. */
static json_t *flow_tables(const struct engine *e, size_t offset)
{
	const struct sw_tables *t = engine_tables(e);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->count.balances; i++)
		sum += *(const uint64_t *)((const char *)&t->balances[i] + offset);
	return t->config.flow_sets ? count(sum) : NULL;
}

/*
 * Sets the value at a dotted path, whose objects are made as they come; NULL sets nothing. Takes
 * the reference.
 */
static void set_at(json_t *at, const char *path, json_t *value)
{
	char key[METRIC_NAME];
	size_t length;

	for (; value && path[length = strcspn(path, ".")]; path += length + 1) {
		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		if (!json_object_get(at, key))
			json_object_set_new(at, key, json_object());
		at = json_object_get(at, key);
	}
	if (value)
		json_object_set_new(at, path, value);
}

static void set_metrics(json_t *summary, const struct summary_info *info, const struct engine *e,
	const struct engine_stats *s, const struct flow_totals *t)
{
#define SET_COUNT(section, name, help) set_at(summary, #section "." #name, count(s->name));
#define SET(path, json, ...)           set_at(summary, path, json);
	METRICS(SET_COUNT, SET, SET, SET, METRIC_SKIP)
#undef SET_COUNT
#undef SET
	set_at(summary, "flows.by_size", by_size(t, false));
	set_at(summary, "flows.finished.by_size", by_size(t, true));
}

/* What need not be UTF-8; of what is not, '?' stands for each byte above 127. */
static json_t *foreign_text(const char *word)
{
	json_t *text = json_string(word);
	char *copy = text ? NULL : strdup(word);

	for (char *at = copy; at && *at; at++)
		if (*at & 0x80)
			*at = '?';
	if (copy)
		text = json_string(copy);
	free(copy);
	return text;
}

static json_t *provenance_json(const struct provenance *p)
{
	json_t *command = json_pack("[s]", "fabricbed");
	json_t *policy = p->policy ? json_pack("{s:o, s:o}", "file", foreign_text(p->policy),
					     "hash", hash_text(p->policy_hash))
				   : NULL;

	for (size_t i = 1; p->command[0] && p->command[i]; i++)
		json_array_append_new(command, foreign_text(p->command[i]));
	return json_pack("{s:s?, s:o, s:s, s:o, s:s, s:o, s:o*}", "commit", p->commit, "command",
		command, "date", p->date, "host", foreign_text(p->host), "kernel", p->kernel,
		"scenario_hash", hash_text(p->scenario_hash), "policy", policy);
}

json_t *summary_new(const struct summary_info *info, const struct engine *e,
	const struct flow_totals *forgotten)
{
	struct engine_stats s;
	struct flow_totals t;
	json_t *summary;

	engine_stats(e, &s);
	if (flow_totals_of(&t, e, forgotten) < 0)
		return NULL;
	t.arriving = t.count < info->messages;
	summary = json_pack("{s:i, s:s, s:I, s:s, s:s, s:s}", "schema", SUMMARY_SCHEMA, "scenario",
		info->scenario, "seed", (json_int_t)info->seed, "dataplane", info->dataplane,
		"clock", info->clock, "version", info->version);
	if (info->provenance)
		json_object_update_new(summary, provenance_json(info->provenance));
	json_object_set_new(summary, "trace_hash", hash_text(s.trace_hash));
	set_metrics(summary, info, e, &s, &t);
	flow_totals_release(&t);
	return summary;
}

/* Whether the metric is the count of a drop reason; those that did not occur are left out. */
static bool is_drop_reason(const char *metric)
{
	static const char dropped[] = "packets.dropped.";
	size_t length = strlen(dropped);

	if (strncmp(metric, dropped, length))
		return false;
	for (unsigned i = DROP_NONE + 1; drop_name(i); i++)
		if (!strcmp(metric + length, drop_name(i)))
			return true;
	return false;
}

/* Of messages: a class without any is left out. */
static bool is_size_count(const char *metric)
{
	static const char *const counts[] = {
#define X(key, limit) "flows.by_size." key ".count",
		SIZE_CLASSES(X)
#undef X
	};

	for (size_t i = 0; i < COUNT(counts); i++)
		if (!strcmp(metric, counts[i]))
			return true;
	return false;
}

int summary_lookup(const json_t *summary, const char *metric, double *ret)
{
	const json_t *at = look(summary, metric);

	if (at ? !json_is_number(at) && strcmp(metric, "packets.dropped")
	       : !is_drop_reason(metric) && !is_size_count(metric))
		return -ENOENT;
	*ret = look_number(at, "");
	return 0;
}
