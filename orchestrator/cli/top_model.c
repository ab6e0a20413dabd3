/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_model.h"

#include <math.h>
#include "abi/wire.h"
#include "base/strbuf.h"
#include "base/json.h"
#include "report/number.h"

static double model_time(const json_t *sample)
{
	return json_number_value(json_object_get(sample, "model_time_us"));
}

void top_pair_push(struct top_pair *p, json_t *sample)
{
	bool moved = p->now && model_time(sample) > model_time(p->now);
	bool back = p->now && model_time(sample) < model_time(p->now);

	if (moved || back) {
		json_decref(p->before);
		p->before = moved ? json_incref(p->now) : NULL;
	}
	json_decref(p->now);
	p->now = json_incref(sample);
	p->taken++;
}

void top_pair_release(struct top_pair *p)
{
	json_decref(p->before);
	json_decref(p->now);
	*p = (struct top_pair){0};
}

double top_pair_seconds(const struct top_pair *p)
{
	return p->before ? (model_time(p->now) - model_time(p->before)) / 1e6 : 0;
}

double top_number(const json_t *value)
{
	return json_is_number(value) || json_is_object(value) ? look_number(value, "") : NAN;
}

/* What the reader sees of a row is what it was at either end: NAN spreads by itself. */
double top_growth(const struct top_pair *p, const json_t *before, const json_t *now)
{
	double seconds = top_pair_seconds(p), grown = top_number(now) - top_number(before);

	return seconds > 0 && grown >= 0 ? grown / seconds : NAN;
}

static double growth_of(
	const struct top_pair *p, const json_t *before, const json_t *now, const char *key)
{
	return top_growth(p, json_object_get(before, key), json_object_get(now, key));
}

/*
 * Gbps that a port had on the wire: FCS, preamble and gap count, so that a link that is never idle
 * is at 100%. The padding of short frames does not, since nobody counts those.
 */
static double load_gbps(const struct top_pair *p, const json_t *before, const json_t *now)
{
	return 8e-9 *
	       (growth_of(p, before, now, "tx_bytes") +
		       growth_of(p, before, now, "tx_frames") * (ETH_FCS_BYTES + ETH_LEAD_BYTES));
}

static double share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

/* NULL: a number. */
static const char *word_of(const struct top_column *c, const json_t *value)
{
	switch (c->measure) {
	case TOP_UP:
		return json_is_true(value) ? "up" : "down";
	case TOP_PAUSED:
		return json_is_true(value) ? "paused" : "";
	case TOP_PROGRESS:
		return json_is_number(value) ? "done" : "active";
	default:
		return json_string_value(value);
	}
}

static double number_of(const struct top_column *c, const struct top_pair *p, const json_t *before,
	const json_t *now)
{
	double level = top_number(json_object_get(now, c->key));

	switch (c->measure) {
	case TOP_RATE:
		return growth_of(p, before, now, c->key);
	case TOP_SHARE:
		return growth_of(p, before, now, c->key) / 1e6 * 100;
	case TOP_LOAD_GBPS:
		return load_gbps(p, before, now);
	case TOP_LOAD:
		return share(
			load_gbps(p, before, now), top_number(json_object_get(now, "rate_gbps")));
	case TOP_FILL:
		return share(level, top_number(json_object_get(now, "limit_bytes")));
	case TOP_GOODPUT:
		return level * 8e-3 / top_number(json_object_get(now, "fct_us"));
	default:
		return level;
	}
}

/* The key of a row in its sample. */
static void row_key(const struct top_view_spec *spec, const json_t *row, char *buf, size_t size)
{
	struct strbuf b = strbuf_init(buf, size);

	for (size_t i = 0; i < spec->keys; i++) {
		const json_t *v = json_object_get(row, spec->columns[i].key);

		if (json_is_string(v))
			strbuf_add(&b, "%s ", json_string_value(v));
		else
			strbuf_add(&b, "%.0f ", json_number_value(v));
	}
}

#define KEY_MAX 256

/* The older sample's rows by their keys; rows come and go, so that places mean nothing. */
static json_t *index_rows(const struct top_view_spec *spec, const json_t *sample)
{
	json_t *by_key = json_object(), *row;
	char key[KEY_MAX];
	size_t i;

	json_array_foreach(json_object_get(sample, "rows"), i, row)
	{
		row_key(spec, row, key, sizeof(key));
		/* a name that is no UTF-8 is not in the index, and its row has no rates */
		json_object_set(by_key, key, row);
	}
	return by_key;
}

static json_t *cell_of(const struct top_column *c, const struct top_pair *p, const json_t *before,
	const json_t *row)
{
	const char *word =
		c->shown.format == NUMBER_NONE ? word_of(c, json_object_get(row, c->key)) : NULL;
	double number = word ? 0 : number_of(c, p, before, row);

	if (word)
		return json_string(word);
	return isfinite(number) ? json_real(number) : json_null();
}

json_t *top_rows(enum top_view view, const struct top_pair *p)
{
	const struct top_view_spec *spec = top_view_spec(view);
	const json_t *rows = json_object_get(p->now, "rows"), *row;
	json_t *by_key = index_rows(spec, p->before), *ret = json_array();
	char key[KEY_MAX];
	size_t i;

	if (!json_is_array(rows) || !by_key || !ret) {
		json_decref(by_key);
		json_decref(ret);
		return NULL;
	}
	json_array_foreach(rows, i, row)
	{
		json_t *cells = json_object();

		row_key(spec, row, key, sizeof(key));
		for (const struct top_column *c = spec->columns; c->shown.key; c++)
			json_object_set_new(cells, c->shown.key,
				cell_of(c, p, json_object_get(by_key, key), row));
		json_array_append_new(ret, cells);
	}
	json_decref(by_key);
	return ret;
}
