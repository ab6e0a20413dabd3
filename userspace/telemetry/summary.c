/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/drop_name.h"
#include "base/units.h"

/* What all flows together say. */
struct flow_totals {
	uint64_t *fct_ps; /* of finished flows, ascending */
	size_t finished;
	uint64_t bytes, first_start_ps, last_finish_ps;
	uint64_t retransmitted, spurious;
	double fct_sum_us;
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

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
	for (uint32_t i = 0; i < flows; i++) {
		struct engine_flow_result f;

		engine_flow_result(e, i, &f);
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

/* Nearest rank: the smallest value that at least `percent` of all values do not exceed. There are some. */
static double fct_percentile_us(const struct flow_totals *t, unsigned percent)
{
	size_t rank = (t->finished * percent + 99) / 100;

	return (double)t->fct_ps[rank ? rank - 1 : 0] / PS_PER_US;
}

static json_t *fct_json(const struct flow_totals *t, bool exists)
{
	static const struct {
		const char *key;
		unsigned percent;
	} ranks[] = {{"p50", 50}, {"p99", 99}, {"max", 100}};
	json_t *fct = json_object();

	json_object_set_new(fct, "mean",
		real_or_null(exists, exists ? t->fct_sum_us / (double)t->finished : 0));
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		json_object_set_new(fct, ranks[i].key,
			real_or_null(exists, exists ? fct_percentile_us(t, ranks[i].percent) : 0));
	return fct;
}

static json_t *slowdown_json(const struct flow_totals *t, uint64_t ideal_ps, bool exists)
{
	exists &= ideal_ps != 0;
	return real_or_null(
		exists, exists ? fct_percentile_us(t, 100) * PS_PER_US / (double)ideal_ps : 0);
}

/* Whether all flows have finished, and there are any: else what they took is not known. */
static bool all_finished(const struct flow_totals *t, const struct engine_stats *s)
{
	return t->finished && t->finished == s->flows;
}

static json_t *flows_json(const struct flow_totals *t, const struct engine_stats *s)
{
	uint64_t span = t->finished ? t->last_finish_ps - t->first_start_ps : 0;
	json_t *finished = json_pack("{s:I, s:o}", "count", (json_int_t)t->finished, "fct_us",
		fct_json(t, t->finished != 0));

	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "count", (json_int_t)s->flows,
		"unfinished", (json_int_t)(s->flows - s->flows_done), "bytes", (json_int_t)t->bytes,
		"fct_us", fct_json(t, all_finished(t, s)), "finished", finished, "goodput_gbps",
		real_or_null(
			span != 0, span ? (double)s->bytes_delivered * 8000.0 / (double)span : 0));
}

static json_t *dropped_json(const struct engine_stats *s)
{
	json_t *dropped = json_object();

	for (int i = DROP_NONE + 1; dropped && i < DROP_REASON_COUNT; i++)
		if (s->dropped[i])
			json_object_set_new(dropped, drop_name((enum drop_reason)i),
				json_integer((json_int_t)s->dropped[i]));
	return dropped;
}

static json_t *packets_json(const struct flow_totals *t, const struct engine_stats *s)
{
	const struct {
		const char *key;
		uint64_t count;
	} counts[] = {
		{"sent", s->sent},
		{"delivered", s->delivered},
		{"dropped", 0}, /* by reason, below */
		{"in_flight", s->in_flight},
		{"marked", s->marked},
		{"trimmed", s->trimmed},
		{"returned", s->returned},
		{"headers_delivered", s->headers},
		{"remapped", s->remapped},
		{"notified", s->notified},
		{"made", s->made},
		{"consumed", s->consumed},
		{"retransmitted", t->retransmitted},
		{"spurious", t->spurious},
		{"corrupt", s->corrupt},
	};
	json_t *packets = json_object();

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_object_set_new(
			packets, counts[i].key, json_integer((json_int_t)counts[i].count));
	json_object_set_new(packets, "dropped", dropped_json(s));
	return packets;
}

static json_t *pfc_json(const struct engine_stats *s)
{
	return json_pack("{s:I, s:I, s:f}", "pauses_sent", (json_int_t)s->pauses_sent,
		"resumes_sent", (json_int_t)s->resumes_sent, "paused_us",
		(double)s->paused_ps / PS_PER_US);
}

static json_t *machine_json(
	const struct summary_info *info, const struct engine *e, const struct engine_stats *s)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return json_pack("{s:f, s:f, s:f, s:I, s:o, s:f}", "model_time_us",
		(double)engine_now(e) / PS_PER_US, "setup_s", info->setup_s, "wall_s", info->wall_s,
		"hops", (json_int_t)s->hops, "hops_per_s",
		real_or_null(
			info->wall_s > 0, info->wall_s > 0 ? (double)s->hops / info->wall_s : 0),
		"peak_rss_mb", (double)usage.ru_maxrss / 1024);
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
	json_object_update_new(summary, machine_json(info, e, &s));
	json_object_set_new(summary, "flows", flows_json(&t, &s));
	json_object_set_new(summary, "packets", packets_json(&t, &s));
	json_object_set_new(summary, "queues",
		json_pack("{s:I, s:f}", "max_depth_bytes", (json_int_t)s.max_queue_bytes,
			"max_delay_us", (double)s.max_queue_delay_ps / PS_PER_US));
	json_object_set_new(summary, "pfc", pfc_json(&s));
	json_object_set_new(summary, "ideal_us",
		real_or_null(info->ideal_ps != 0, (double)info->ideal_ps / PS_PER_US));
	json_object_set_new(summary, "ideal_fabric_us",
		real_or_null(info->fabric_ps != 0, (double)info->fabric_ps / PS_PER_US));
	json_object_set_new(
		summary, "slowdown", slowdown_json(&t, info->ideal_ps, all_finished(&t, &s)));
	json_object_set_new(
		summary, "slowdown_finished", slowdown_json(&t, info->ideal_ps, t.finished != 0));
	free(t.fct_ps);
	return summary;
}

static double sum_of(const json_t *object)
{
	const char *key;
	json_t *value;
	double sum = 0;

	json_object_foreach((json_t *)object, key, value) sum += json_number_value(value);
	return sum;
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
	const json_t *at = summary;
	const char *rest = metric;

	while (at && *rest) {
		size_t length = strcspn(rest, ".");
		char key[64];

		if (length >= sizeof(key))
			return -ENOENT;
		memcpy(key, rest, length);
		key[length] = 0;
		at = json_object_get(at, key);
		rest += length + (rest[length] == '.');
	}
	if (json_is_number(at))
		*ret = json_number_value(at);
	else if (json_is_object(at) && !strcmp(metric, "packets.dropped"))
		*ret = sum_of(at);
	else if (!at && is_drop_reason(metric))
		*ret = 0;
	else
		return -ENOENT;
	return 0;
}
