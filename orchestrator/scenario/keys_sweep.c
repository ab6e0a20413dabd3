/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/numbers.h"
#include "scenario/check.h"
#include "scenario/text.h"

#define GRID_LIMIT   16
#define VALUES_LIMIT 1024
#define SEEDS_LIMIT  10000

/* ---- grid ---- */

#define OF_PARAMETER(member) offsetof(struct sweep_parameter, member)

static const struct key value_item = {.kind = VALUE_TEXT, .expected = "a single value such as 2MB"};
static const struct list value_list = {.item = &value_item,
	.size = sizeof(char *),
	.count = OF_PARAMETER(value_count),
	.many = "values",
	.limit = VALUES_LIMIT,
	.lone = true};

const char *sweep_parameter_name(const struct sweep_parameter *p)
{
	const char *dot = strrchr(p->key, '.');

	return p->name ? p->name : dot ? dot + 1 : p->key;
}

/* Letters, digits and '_', a letter first: it is the name of a column. */
static bool is_column(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char others[] =
		"_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return strspn(text, letters) && strspn(text, others) == strlen(text);
}

static bool check_parameter(struct check *c, const struct tree *n, void *parameter, uint64_t valid)
{
	static const char *const taken[] = {"run", "variant", "seed", "status", "trace_hash"};
	const struct sweep_parameter *p = parameter;
	const char *name = sweep_parameter_name(p);

	(void)valid;
	if (!p->value_count)
		return explain_value(
			c->diags, tree_get(n, "values"), "empty; expected at least one value");
	if (!strcmp(p->key, "seed"))
		return explain_value(c->diags, tree_get(n, "key"),
			"seeds have a list of their own; write seeds: 1..10 beside grid");
	for (size_t i = 0; i < COUNT(taken); i++)
		if (!strcmp(name, taken[i]) || !is_column(name))
			return explain_value(c->diags, tree_get(n, p->name ? "as" : "key"),
				"'%s' can't be the name of a parameter%s; give another by as:",
				name,
				is_column(name) ? ", the table has a column of that name" : "");
	return true;
}

static const struct key parameter_keys[] = {
	KEY("key", LABEL, struct sweep_parameter, key, .required = true, .max = LABEL_LIMIT,
		.expected = "a key of the scenario such as host.transport.strack.spray",
		.help = "the key that takes the values, as --set names it"),
	KEY("as", LABEL, struct sweep_parameter, name, .max = 31, .is_valid = is_column,
		.expected = "a name of letters, digits and '_', a letter first",
		.usual = "the key's last word", .help = "the name of its column"),
	KEY("values", LIST, struct sweep_parameter, values, .required = true, .list = &value_list,
		.expected = "a list such as [64KB, 2MB]", .help = "what it is set to, in turn"),
};

static const struct map parameter_map = {KEYS(parameter_keys), .check = check_parameter};

/* ---- seeds ---- */

static bool explain_seeds(struct check *c, const struct tree *n)
{
	return explain_unexpected(c->diags, n, "seeds such as 1..10 or [1, 5, 7]");
}

static bool add_seed(struct check *c, const struct tree *n, struct sweep_seeds *s, uint64_t seed)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i] == seed)
			return explain_value(
				c->diags, n, "seed %llu is there twice", (unsigned long long)seed);
	if (s->count == SEEDS_LIMIT)
		return explain_value(c->diags, n, "more than %d seeds", SEEDS_LIMIT);
	if (ARRAY_ADD(s->items, s->count, seed) == 0)
		return true;
	c->out_of_memory = true;
	return false;
}

/* One, or "first..last". */
static bool read_seed(struct check *c, const struct tree *n, struct sweep_seeds *s)
{
	const struct integer_kind *whole = integer_kind(VALUE_SEED);
	const char *dots = n->kind == TREE_SCALAR ? strstr(n->text, "..") : NULL;
	uint64_t first = 0, last = 0;
	char text[32];
	bool fine;

	if (n->kind != TREE_SCALAR)
		return explain_seeds(c, n);
	snprintf(text, sizeof(text), "%.*s", (int)(dots ? dots - n->text : 31), n->text);
	if (whole->parse(text, &first) || whole->parse(dots ? dots + 2 : n->text, &last))
		return explain_seeds(c, n);
	if (last < first || last - first >= SEEDS_LIMIT)
		return explain_value(c->diags, n, "%s is %s", n->text,
			last < first ? "no range; the first is the smaller" : "too many seeds");
	fine = add_seed(c, n, s, first);
	for (uint64_t seed = first; fine && seed < last; seed++)
		fine = add_seed(c, n, s, seed + 1);
	return fine;
}

static bool read_seeds(struct check *c, const struct tree *n, void *target)
{
	bool fine = true;

	if (!n)
		return true;
	if (n->kind != TREE_LIST)
		return read_seed(c, n, target);
	for (size_t i = 0; fine && i < n->count; i++)
		fine = read_seed(c, n->items[i], target);
	return fine;
}

static void release_seeds(void *target)
{
	struct sweep_seeds *s = target;

	free(s->items);
	*s = (struct sweep_seeds){0};
}

static const struct form seeds_form = {.read = read_seeds,
	.release = release_seeds,
	.expected = "seeds such as 1..10 or [1, 5, 7]",
	.word = true};

/* ---- expect ---- */

#define OF_EXPECT(member) offsetof(struct sweep_expect, member)
#define VARIANT           .max = 24, .expected = "the name of a variant of compare"

static const struct key variant_item = {.kind = VALUE_LABEL, VARIANT};
static const struct list order_list = {.item = &variant_item,
	.size = sizeof(char *),
	.count = OF_EXPECT(order_count),
	.many = "variants",
	.limit = 32};
static const char *const ats[] = {[SWEEP_EACH] = "each", [SWEEP_ANY] = "any", NULL};

static bool check_expect(struct check *c, const struct tree *n, void *expect, uint64_t valid)
{
	const struct sweep_expect *e = expect;
	static const char *const of_metrics[] = {"of", "over", "order", "where", NULL};

	(void)valid;
	if (!e->metric == !e->query)
		return explain_value(c->diags, n,
			e->metric ? "metric and query exclude each other; keep one"
				  : "expected a metric, or a query");
	if (e->query &&
		!has_none(c, n, of_metrics, "a query says itself what it is of; leave this out"))
		return false;
	if (e->bound == SWEEP_ORDER && e->order_count < 2)
		return explain_value(
			c->diags, tree_get(n, "order"), "expected two variants at least");
	if (e->over && !e->of)
		return explain_value(c->diags, tree_get(n, "over"),
			"it needs of: the variant whose mean is divided by that of %s", e->over);
	if (e->bound == SWEEP_ORDER && e->of)
		return explain_value(
			c->diags, tree_get(n, "of"), "order names all variants; leave this out");
	return true;
}

#define BOUND(word, its_help)                                                                      \
	KEY(word, NUMBER, struct sweep_expect, value, .choice = true, .help = its_help)
#define WHERE(type)                                                                                \
	{                                                                                          \
		.name = "where", .kind = VALUE_FORM, .form = &settings_form,                       \
		.offset = offsetof(type, where), .usual = "all points",                            \
		.expected = "parameters and their values, such as {message: 2MB}",                 \
		.help = "only points where parameters have these values"                           \
	}

/* The bounds in the order of enum sweep_bound. */
static const struct key expect_keys[] = {
	KEY("metric", LABEL, struct sweep_expect, metric, .max = LABEL_LIMIT, .check = check_metric,
		.expected = "a number of summary.json such as flows.fct_us.max", .usual = "query",
		.help = "a number of summary.json, whose mean over the seeds is taken at each point"),
	KEY("query", TEXT, struct sweep_expect, query, .usual = "metric",
		.help = "an SQL query of sweep.sqlite; the first column of each row is compared"),
	BOUND("at_most", "it must not be larger"),
	BOUND("at_least", "it must not be smaller"),
	BOUND("equals", "it must be this"),
	KEY("order", LIST, struct sweep_expect, order, .choice = true, .list = &order_list,
		.expected = "a list of variants such as [adaptive, oblivious]",
		.help = "variants, none of which has a larger mean than the next"),
	KEY("of", LABEL, struct sweep_expect, of, VARIANT, .usual = "each",
		.help = "the variant that it is about"),
	KEY("over", LABEL, struct sweep_expect, over, VARIANT, .usual = "not divided",
		.help = "the mean is divided by that of this variant"),
	WHERE(struct sweep_expect),
	KEY("at", WORD, struct sweep_expect, at, .fallback = "each", .words = ats,
		.help = "at each point, or at any: at one of them at least"),
	KEY("says", TEXT, struct sweep_expect, says, .usual = "nothing",
		.help = "the claim in words; it is printed with the result"),
	KEY("not_reached", TEXT, struct sweep_expect, not_reached, .usual = "it must hold",
		.help = "why it is known not to hold; it is told, and does not fail the sweep"),
};

static const struct map sweep_expect_map = {KEYS(expect_keys),
	.chosen = FIELD(struct sweep_expect, bound), .pos = OF_EXPECT(pos), .check = check_expect};

/* ---- plots ---- */

static const char *const pictures[] = {[SWEEP_LINES] = "lines",
	[SWEEP_POINTS] = "points",
	[SWEEP_BARS] = "bars",
	[SWEEP_CDF] = "cdf",
	NULL};
static const char *const logs[] = {[SWEEP_LINEAR] = "off",
	[SWEEP_LOG_X] = "x",
	[SWEEP_LOG_Y] = "y",
	[SWEEP_LOG_XY] = "xy",
	NULL};

static bool check_plot(struct check *c, const struct tree *n, void *plot, uint64_t valid)
{
	static const char *const of_means[] = {"x", "y", "where", NULL};

	(void)valid;
	return !((struct sweep_plot *)plot)->query ||
	       has_none(c, n, of_means, "a query gives x and y itself; leave this out");
}

static const struct key plot_keys[] = {
	KEY("name", LABEL, struct sweep_plot, name, .required = true, NAME,
		.help = "its files are NAME.svg and NAME.gnuplot"),
	KEY("kind", WORD, struct sweep_plot, kind, .fallback = "lines", .words = pictures,
		.help = "lines with 95% confidence, points, bars, or a distribution of y"),
	KEY("x", LABEL, struct sweep_plot, x, .max = 31, .expected = "the name of a parameter",
		.usual = "the first", .help = "the parameter along the axis; of bars and lines"),
	KEY("y", LABEL, struct sweep_plot, y, .max = LABEL_LIMIT, .check = check_metric,
		.expected = "a number of summary.json such as flows.fct_us.max",
		.usual = "the sweep's metric", .help = "what is drawn"),
	KEY("query", TEXT, struct sweep_plot, query, .usual = "the means of y",
		.help = "an SQL query of sweep.sqlite with the columns x, y and series"),
	WHERE(struct sweep_plot),
	KEY("log", WORD, struct sweep_plot, log, .fallback = "off", .words = logs,
		.help = "axes that are logarithmic"),
	KEY("title", TEXT, struct sweep_plot, title, .usual = "the scenario's name",
		.help = "above the picture"),
	KEY("x_label", TEXT, struct sweep_plot, x_label, .usual = "the column",
		.help = "below the picture"),
	KEY("y_label", TEXT, struct sweep_plot, y_label, .usual = "the column",
		.help = "beside the picture"),
};

static const struct map plot_map = {KEYS(plot_keys), .check = check_plot};

/* ---- the section ---- */

#define OF_SWEEP(member) offsetof(struct sweep_spec, member)

static const char *const table_words[] = {
	"flows", "ports", "queues", "pauses", "port_series", "flow_series", "imbalance", NULL};

/* A file of results; the name stands for the table as well. */
static bool check_table(struct check *c, const struct tree *n, void *target)
{
	(void)target;
	for (size_t i = 0; table_words[i]; i++)
		if (!strcmp(n->text, table_words[i]))
			return true;
	return explain_unknown_word(c->diags, n, table_words, COUNT(table_words) - 1);
}

static const struct key table_item = {.kind = VALUE_LABEL,
	.max = 24,
	.check = check_table,
	.expected = "the name of a table of results such as flows"};
static const struct list grid_list = {.item = ITEM(&parameter_map),
	.size = sizeof(struct sweep_parameter),
	.count = OF_SWEEP(grid_count),
	.many = "parameters",
	.limit = GRID_LIMIT};
static const struct list table_list = {.item = &table_item,
	.size = sizeof(char *),
	.count = OF_SWEEP(table_count),
	.many = "tables",
	.limit = COUNT(table_words) - 1};
static const struct list scale_list = {.item = ITEM(&variant_map),
	.size = sizeof(struct variant_spec),
	.count = OF_SWEEP(scale_count),
	.many = "scales",
	.limit = 8};
static const struct list sweep_expect_list = {.item = ITEM(&sweep_expect_map),
	.size = sizeof(struct sweep_expect),
	.count = OF_SWEEP(expect_count)};
static const struct list plot_list = {
	.item = ITEM(&plot_map), .size = sizeof(struct sweep_plot), .count = OF_SWEEP(plot_count)};

static const struct key keys[] = {
	KEY("grid", LIST, struct sweep_spec, grid, .usual = "none", .list = &grid_list,
		.expected = "a list of {key, as, values}",
		.help = "parameters: all combinations of their values are run"),
	{.name = "seeds",
		.kind = VALUE_FORM,
		.form = &seeds_form,
		.offset = OF_SWEEP(seeds),
		.usual = "the scenario's",
		.expected = "seeds such as 1..10 or [1, 5, 7]",
		.help = "each combination is run with each of them"},
	KEY("metric", LABEL, struct sweep_spec, metric, .max = LABEL_LIMIT, .check = check_metric,
		.expected = "a number of summary.json such as flows.fct_us.max",
		.usual = "by the workload", .help = "what the screen shows of each combination"),
	KEY("tables", LIST, struct sweep_spec, tables, .usual = "none", .list = &table_list,
		.expected = "a list such as [flows, ports]",
		.help = "files of each run that sweep.sqlite has as tables, beside runs"),
	KEY("scales", LIST, struct sweep_spec, scales, .usual = "none", .list = &scale_list,
		.expected = "a list of {name, set}",
		.help = "the same sweep with other values, by --scale NAME"),
	KEY("expect", LIST, struct sweep_spec, expects, .usual = "none", .list = &sweep_expect_list,
		.expected = "a list of {metric | query, at_most | at_least | equals | order, ...}",
		.help = "what must come out of all runs together"),
	KEY("plots", LIST, struct sweep_spec, plots, .usual = "none", .list = &plot_list,
		.expected = "a list of {name, kind, x, y, ...}",
		.help = "pictures that are drawn of it"),
};

const struct map sweep_map = {KEYS(keys), .on = FIELD(struct sweep_spec, on)};

/* ---- against each other, and the variants ---- */

static bool check_variant_name(struct check *c, const struct tree *n, const struct scenario *s)
{
	const char *names[VARIANTS_LIMIT];

	for (size_t i = 0; i < s->variant_count; i++) {
		names[i] = s->variants[i].name;
		if (!strcmp(n->text, names[i]))
			return true;
	}
	if (!s->variant_count)
		return explain_value(c->diags, n, "there are no variants; add compare:");
	return explain_unknown_word(c->diags, n, names, s->variant_count);
}

static void check_where(struct check *c, const struct tree *n, const struct sweep_spec *sweep)
{
	const struct tree *where = tree_get(n, "where");
	const char *names[GRID_LIMIT];

	for (size_t i = 0; i < sweep->grid_count; i++)
		names[i] = sweep_parameter_name(&sweep->grid[i]);
	for (size_t i = 0; where && i < where->count; i++) {
		const struct tree *item = where->items[i];
		const struct sweep_parameter *p = NULL;
		bool known = false;

		for (size_t k = 0; !p && k < sweep->grid_count; k++)
			p = !strcmp(item->key, names[k]) ? &sweep->grid[k] : NULL;
		for (size_t k = 0; p && k < p->value_count; k++)
			known |= !strcmp(item->text, p->values[k]);
		if (!p)
			explain_unknown_key(c->diags, item, names, sweep->grid_count);
		else if (!known)
			explain_value(c->diags, item, "'%s' is none of the values of %s",
				item->text, item->key);
	}
}

void check_sweep(struct check *c, const struct tree *n, const struct scenario *s)
{
	static const char *const of[] = {"of", "over"};
	const struct sweep_spec *sweep = &s->sweep;
	const struct tree *expects = tree_get(n, "expect"), *plots = tree_get(n, "plots");

	for (size_t i = 0; i < sweep->grid_count; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(sweep_parameter_name(&sweep->grid[i]),
				    sweep_parameter_name(&sweep->grid[k])))
				explain_value(c->diags, tree_get(n, "grid")->items[i],
					"two parameters are called '%s'; give this one another name by as:",
					sweep_parameter_name(&sweep->grid[i]));
	for (size_t i = 0; i < sweep->expect_count; i++) {
		const struct tree *e = expects->items[i], *order = tree_get(e, "order");

		for (size_t k = 0; k < COUNT(of); k++)
			if (tree_get(e, of[k]))
				check_variant_name(c, tree_get(e, of[k]), s);
		for (size_t k = 0; order && k < order->count; k++)
			check_variant_name(c, order->items[k], s);
		check_where(c, e, sweep);
	}
	for (size_t i = 0; i < sweep->plot_count; i++) {
		const struct tree *x = tree_get(plots->items[i], "x");
		const char *names[GRID_LIMIT];
		bool known = !x;

		for (size_t k = 0; k < sweep->grid_count; k++) {
			names[k] = sweep_parameter_name(&sweep->grid[k]);
			known |= x && !strcmp(x->text, names[k]);
		}
		if (!known && !sweep->grid_count)
			explain_value(c->diags, x, "the sweep has no grid, and so no parameter");
		else if (!known)
			explain_unknown_word(c->diags, x, names, sweep->grid_count);
		check_where(c, plots->items[i], sweep);
	}
}
