/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "scenario/scenario.h"

/* ---- parameters as columns ---- */

static int parse_plain(const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);

	if (!*text || *end || strspn(text, "0123456789.+-eE") != strlen(text) || !isfinite(value))
		return -EINVAL;
	*ret = value;
	return 0;
}

#define PARSE_UNIT(name, parse, unit)                                                              \
	static int name(const char *text, double *ret)                                             \
	{                                                                                          \
		uint64_t value;                                                                    \
		int r = parse(text, &value);                                                       \
                                                                                                   \
		if (r == 0)                                                                        \
			*ret = (double)value / (unit);                                             \
		return r;                                                                          \
	}

PARSE_UNIT(parse_gbps, parse_rate, 1e9)
PARSE_UNIT(parse_us, parse_time, (double)PS_PER_US)
PARSE_UNIT(parse_size, parse_bytes, 1.0)

static int parse_hundredths(const char *text, double *ret)
{
	int r = parse_percent(text, ret);

	*ret *= r == 0 ? 100 : 1;
	return r;
}

/* The first kind that all values are of. */
static const struct {
	const char *suffix;
	int (*parse)(const char *text, double *ret);
} column_kinds[] = {
	{"", parse_plain},
	{"_gbps", parse_gbps},
	{"_us", parse_us},
	{"_bytes", parse_size},
	{"_percent", parse_hundredths},
};

static bool parse_all(const struct sweep_parameter *p, size_t kind, double *ret)
{
	for (size_t i = 0; i < p->value_count; i++)
		if (column_kinds[kind].parse(p->values[i], &ret[i]) < 0)
			return false;
	return true;
}

static int column_init(struct sweep_column *c, const struct sweep_parameter *p)
{
	size_t kind = 0;

	c->parameter = p;
	c->numbers = calloc(p->value_count, sizeof(*c->numbers));
	if (!c->numbers)
		return -ENOMEM;
	while (kind < COUNT(column_kinds) && !parse_all(p, kind, c->numbers))
		kind++;
	snprintf(c->name, sizeof(c->name), "%s%s", sweep_parameter_name(p),
		kind < COUNT(column_kinds) ? column_kinds[kind].suffix : "");
	if (kind == COUNT(column_kinds)) {
		free(c->numbers);
		c->numbers = NULL;
	}
	return 0;
}

/* ---- the plan ---- */

bool sweep_sets_key(const char *setting, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(setting, key, length) && (setting[length] == '=' || setting[length] == '.');
}

static int check_variant(const struct scenario *s, const struct variant_spec *v, struct error *why)
{
	for (size_t i = 0; i < v->set.count; i++) {
		if (s->sweep.seeds.count && sweep_sets_key(v->set.items[i], "seed"))
			return error_set(why, -EINVAL,
				"variant %s has a seed of its own, which the seeds of the sweep would take the place of; keep one",
				v->name);
		for (size_t k = 0; k < s->sweep.grid_count; k++)
			if (sweep_sets_key(v->set.items[i], s->sweep.grid[k].key))
				return error_set(why, -EINVAL,
					"variant %s sets %s, which the sweep's grid sets too; keep one",
					v->name, s->sweep.grid[k].key);
	}
	return 0;
}

static int count_runs(struct sweep_plan *p, struct error *why)
{
	const struct scenario *s = p->base;

	p->points = 1;
	for (size_t i = 0; i < s->sweep.grid_count && p->points <= SWEEP_RUNS_MAX; i++)
		p->points *= s->sweep.grid[i].value_count;
	p->variants = s->variant_count ? s->variant_count : 1;
	p->seeds = s->sweep.seeds.count ? s->sweep.seeds.count : 1;
	if (p->points > SWEEP_RUNS_MAX / p->variants / p->seeds)
		return error_set(why, -EINVAL, "the sweep has more than %d runs", SWEEP_RUNS_MAX);
	p->count = p->points * p->variants * p->seeds;
	return 0;
}

static int plan_fill(struct sweep_plan *p, struct error *why)
{
	const struct scenario *s = p->base;
	int r = count_runs(p, why);

	for (size_t i = 0; r == 0 && i < s->variant_count; i++)
		r = check_variant(s, &s->variants[i], why);
	if (r < 0)
		return r;
	p->columns = calloc(s->sweep.grid_count + 1, sizeof(*p->columns));
	p->runs = calloc(p->count, sizeof(*p->runs));
	if (!p->columns || !p->runs)
		return error_set(why, -ENOMEM, "out of memory");
	for (; p->column_count < s->sweep.grid_count; p->column_count++)
		if (column_init(&p->columns[p->column_count], &s->sweep.grid[p->column_count]) < 0)
			return error_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < p->count; i++)
		p->runs[i] = (struct sweep_run){
			.point = i / p->seeds / p->variants,
			.variant = i / p->seeds % p->variants,
			.seed = s->sweep.seeds.count ? s->sweep.seeds.items[i % p->seeds] : s->seed,
		};
	return 0;
}

int sweep_plan_new(struct sweep_plan **ret, const struct scenario *base, struct error *why)
{
	struct sweep_plan *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_set(why, -ENOMEM, "out of memory");
	p->base = base;
	r = plan_fill(p, why);
	if (r < 0)
		sweep_plan_free(p);
	else
		*ret = p;
	return r;
}

void sweep_plan_free(struct sweep_plan *p)
{
	for (size_t i = 0; p && i < p->column_count; i++)
		free(p->columns[i].numbers);
	if (p) {
		free(p->columns);
		free(p->runs);
	}
	free(p);
}

size_t sweep_plan_value(const struct sweep_plan *p, size_t point, size_t column)
{
	for (size_t i = p->column_count - 1; i > column; i--)
		point /= p->columns[i].parameter->value_count;
	return point % p->columns[column].parameter->value_count;
}

struct sweep_run *sweep_plan_run(
	const struct sweep_plan *p, size_t point, size_t variant, size_t seed)
{
	return &p->runs[(point * p->variants + variant) * p->seeds + seed];
}

const char *sweep_plan_variant(const struct sweep_plan *p, size_t variant)
{
	return p->base->variant_count ? p->base->variants[variant].name : "";
}

static const char *value_text(const struct sweep_plan *p, size_t point, size_t column)
{
	return p->columns[column].parameter->values[sweep_plan_value(p, point, column)];
}

/* Texts up to the first that there was no memory for. */
static bool add_setting(char **texts, size_t *count, char *text)
{
	texts[*count] = text;
	*count += text != NULL;
	return text;
}

static char *setting(const char *key, const char *value)
{
	char *text;

	return asprintf(&text, "%s=%s", key, value) < 0 ? NULL : text;
}

char **sweep_run_settings(const struct sweep_plan *p, const struct sweep_run *run,
	const char *const *given, size_t given_count)
{
	const struct variant_spec *v =
		p->base->variant_count ? &p->base->variants[run->variant] : NULL;
	size_t of_variant = v ? v->set.count : 0, count = 0;
	char **texts = calloc(of_variant + given_count + p->column_count + 2, sizeof(*texts));
	bool fine = texts;
	char seed[24];

	for (size_t i = 0; fine && i < of_variant; i++)
		fine = add_setting(texts, &count, strdup(v->set.items[i]));
	for (size_t i = 0; fine && i < given_count; i++)
		fine = add_setting(texts, &count, strdup(given[i]));
	for (size_t i = 0; fine && i < p->column_count; i++)
		fine = add_setting(texts, &count,
			setting(p->columns[i].parameter->key, value_text(p, run->point, i)));
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)run->seed);
	if (fine && p->base->sweep.seeds.count)
		fine = add_setting(texts, &count, setting("seed", seed));
	if (fine)
		return texts;
	sweep_settings_free(texts);
	return NULL;
}

void sweep_settings_free(char **settings)
{
	for (size_t i = 0; settings && settings[i]; i++)
		free(settings[i]);
	free(settings);
}

const char *sweep_run_text(
	const struct sweep_plan *p, const struct sweep_run *run, char buf[SWEEP_RUN_TEXT])
{
	struct strbuf b = strbuf_init(buf, SWEEP_RUN_TEXT);
	const char *variant = sweep_plan_variant(p, run->variant);

	strbuf_add(&b, "%s", variant);
	for (size_t i = 0; i < p->column_count; i++)
		strbuf_add(&b, "%s%s=%s", b.length ? " " : "",
			sweep_parameter_name(p->columns[i].parameter),
			value_text(p, run->point, i));
	strbuf_add(&b, "%sseed %llu", b.length ? ", " : "", (unsigned long long)run->seed);
	return buf;
}

bool sweep_point_is(const struct sweep_plan *p, size_t point, const struct settings *where)
{
	for (size_t i = 0; i < where->count; i++) {
		const char *equals = strchr(where->items[i], '=');

		for (size_t k = 0; k < p->column_count; k++) {
			const char *name = sweep_parameter_name(p->columns[k].parameter);

			if (strlen(name) == (size_t)(equals - where->items[i]) &&
				!strncmp(name, where->items[i], strlen(name)) &&
				strcmp(value_text(p, point, k), equals + 1))
				return false;
		}
	}
	return true;
}
