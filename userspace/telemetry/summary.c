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

/* What all flows together say. */
struct flow_totals {
	uint64_t *fct_ps; /* of finished flows, ascending */
	size_t finished;
	uint64_t bytes, first_start_ps, last_finish_ps;
	uint64_t retransmitted, spurious;
	double fct_sum_us;
};

static void totals_add(struct flow_totals *t, const struct engine_flow_result *f)
{
	t->bytes += f->flow.bytes;
	t->retransmitted += f->sender.retransmitted;
	t->spurious += f->receiver.duplicates;
	if (f->start_ps < t->first_start_ps)
		t->first_start_ps = f->start_ps;
	if (!f->finish_ps)
		return;
	if (f->finish_ps > t->last_finish_ps)
		t->last_finish_ps = f->finish_ps;
	t->fct_ps[t->finished++] = f->finish_ps - f->start_ps;
	t->fct_sum_us += (double)(f->finish_ps - f->start_ps) / PS_PER_US;
}

static int totals_collect(struct flow_totals *t, const struct engine *e, uint64_t flows)
{
	*t = (struct flow_totals){.first_start_ps = UINT64_MAX};
	t->fct_ps = calloc(flows ? flows : 1, sizeof(*t->fct_ps));
	if (!t->fct_ps)
		return -ENOMEM;
	for (uint32_t i = 0; i < engine_flow_count(e); i++) {
		struct engine_flow_result f;

		engine_flow_result(e, i, &f);
		if (f.flow.bytes)
			totals_add(t, &f);
	}
	qsort(t->fct_ps, t->finished, sizeof(*t->fct_ps), compare_u64);
	return 0;
}

/* A number that does not exist is null. */
static json_t *real_or_null(bool exists, double value)
{
	return exists ? json_real(value) : json_null();
}

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
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

static json_t *fct_mean(const struct flow_totals *t, bool exists)
{
	return real_or_null(exists, exists ? t->fct_sum_us / (double)t->finished : 0);
}

/* Nearest rank: the smallest value that at least `percent` of the values do not exceed. n > 0. */
static double fct_percentile_us(const struct flow_totals *t, unsigned percent)
{
	size_t rank = (t->finished * percent + 99) / 100;

	return (double)t->fct_ps[rank ? rank - 1 : 0] / PS_PER_US;
}

static json_t *fct_rank(const struct flow_totals *t, bool exists, unsigned percent)
{
	return real_or_null(exists, exists ? fct_percentile_us(t, percent) : 0);
}

static json_t *slowdown(const struct flow_totals *t, const struct summary_info *info, bool exists)
{
	exists &= info->ideal_ps != 0;
	return real_or_null(exists,
		exists ? fct_percentile_us(t, 100) * PS_PER_US / (double)info->ideal_ps : 0);
}

/* Whether all flows have finished, and there are any: else what they took is not known. */
static bool all_finished(const struct flow_totals *t, const struct engine_stats *s)
{
	return t->finished && t->finished == s->flows;
}

static json_t *goodput(const struct flow_totals *t, const struct engine_stats *s)
{
	uint64_t span = t->finished ? t->last_finish_ps - t->first_start_ps : 0;

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

/* Sets the value at a dotted path, whose objects are made as they come. Takes the reference. */
static void set_at(json_t *at, const char *path, json_t *value)
{
	char key[METRIC_NAME];
	size_t length;

	for (; path[length = strcspn(path, ".")]; path += length + 1) {
		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		if (!json_object_get(at, key))
			json_object_set_new(at, key, json_object());
		at = json_object_get(at, key);
	}
	json_object_set_new(at, path, value);
}

static void set_metrics(json_t *summary, const struct summary_info *info, const struct engine *e,
	const struct engine_stats *s, const struct flow_totals *t)
{
#define SET_COUNT(section, name, help) set_at(summary, #section "." #name, count(s->name));
#define SET(path, json, ...)           set_at(summary, path, json);
	METRICS(SET_COUNT, SET, SET, METRIC_SKIP)
#undef SET_COUNT
#undef SET
}

json_t *summary_new(const struct summary_info *info, const struct engine *e)
{
	struct engine_stats s;
	struct flow_totals t;
	json_t *summary;
	char hash[17];

	engine_stats(e, &s);
	if (totals_collect(&t, e, s.flows) < 0)
		return NULL;
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)s.trace_hash);
	summary = json_pack("{s:s, s:I, s:s, s:s, s:s, s:s}", "scenario", info->scenario, "seed",
		(json_int_t)info->seed, "dataplane", info->dataplane, "clock", info->clock,
		"version", info->version, "trace_hash", hash);
	set_metrics(summary, info, e, &s, &t);
	free(t.fct_ps);
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

int summary_lookup(const json_t *summary, const char *metric, double *ret)
{
	const json_t *at = look(summary, metric);

	if (at ? !json_is_number(at) && strcmp(metric, "packets.dropped") : !is_drop_reason(metric))
		return -ENOENT;
	*ret = look_number(at, "");
	return 0;
}
