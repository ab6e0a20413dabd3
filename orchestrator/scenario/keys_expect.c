/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/metrics.h"
#include "base/numbers.h"
#include "scenario/check.h"
#include "scenario/text.h"

#define METRICS_LIMIT 256
#define FIDELITY      "fidelity."

/* What a number of schema 1 is called now; NULL: there was none of that name. */
static const char *new_name(const char *metric, char buf[METRIC_NAME])
{
	static const char old[] = ".slowdown.";
	const char *at = strstr(metric, old);

	if (!at || strncmp(metric, "flows.", 6))
		return NULL;
	snprintf(buf, METRIC_NAME, "%.*s.fct_slowdown.%s", (int)(at - metric), metric,
		at + strlen(old));
	return buf;
}

/* Too many to list in a message: it names the closest, or one with that word, and the command. */
int metric_check(const char *metric, struct error *why)
{
	char text[METRICS_LIMIT][METRIC_NAME], shown[TEXT_SHOWN], buf[METRIC_NAME];
	const char *names[METRICS_LIMIT], *hint, *now = new_name(metric, buf);
	size_t count = 0;

	for (; count < METRICS_LIMIT && (names[count] = metric_name(count, text[count])); count++)
		if (!strcmp(metric, names[count]))
			return 0;
	for (size_t i = 0; now && i < count; i++)
		if (!strcmp(now, names[i]))
			return error_set(why, -EINVAL, "'%s' is called %s now", metric, now);
	hint = nearest_word(metric, names, count);
	for (size_t i = 0; !hint && i < count; i++)
		if (strlen(metric) > 1 && strstr(names[i], metric))
			hint = names[i];
	return error_set(why, -EINVAL,
		"'%s' is no number of summary.json; %s%s%s'fabricbed help metrics' lists them",
		text_shown(shown, metric), hint ? "did you mean '" : "", hint ? hint : "",
		hint ? "'? " : "");
}

bool check_metric(struct check *c, const struct tree *n, void *target)
{
	struct error why = ERROR_INIT;

	(void)target;
	return metric_check(n->text, &why) == 0 || explain_value(c->diags, n, "%s", why.text);
}

bool expect_has_of(const char *metric)
{
	static const char *const sections[] = {
		"flows.fct_us.", "flows.fct_slowdown.", "flows.by_size."};

	for (size_t i = 0; i < COUNT(sections); i++)
		if (!strncmp(metric, sections[i], strlen(sections[i])))
			return true;
	return !strcmp(metric, "slowdown");
}

/* `of` where it says nothing. */
static bool check_of(struct check *c, const struct tree *n, void *expect, uint64_t valid)
{
	const struct tree *of = tree_get(n, "of");
	const struct expect_spec *e = expect;

	(void)valid;
	if (!of || !e->metric || expect_has_of(e->metric))
		return true;
	return explain_value(
		c->diags, of, "%s is not of completion times; leave 'of' out", e->metric);
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
