/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_FIXTURE_H
#define FABRICBED_SCENARIO_FIXTURE_H

/* Scenarios from text, and what is said about wrong ones. Include after cmocka.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"
#include "scenario/scenario.h"

#define NAMED "name: a\n"
#define SMALL NAMED "topology: {fat_tree: {k: 4}}\n"

/* The scenario of a text that must be fine. */
static inline struct scenario *load_sets(const char *text, const char *const *sets, size_t count)
{
	struct diags d = DIAGS_INIT;
	struct scenario *s = NULL;
	int r = scenario_load_text(&s, "t.yaml", text, strlen(text), sets, count, &d);

	if (r || d.count)
		fail_msg("%s", d.count ? d.items[0].text : "no message");
	diags_release(&d);
	return s;
}

static inline struct scenario *load(const char *text)
{
	return load_sets(text, NULL, 0);
}

/* A scenario as text; to be freed. */
static inline char *write_text(const struct scenario *s)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(scenario_write(s, out), 0);
	fclose(out);
	return text;
}

/* Loads wrong text and compares "line:column: message" lines, all of them. */
static inline void expect_sets(
	const char *text, const char *const *sets, size_t count, const char *messages)
{
	struct diags d = DIAGS_INIT;
	struct scenario *untouched = (struct scenario *)&d, *s = untouched;
	char *found;
	size_t length;
	FILE *out = open_memstream(&found, &length);

	assert_int_equal(
		scenario_load_text(&s, "t.yaml", text, strlen(text), sets, count, &d), -EINVAL);
	assert_ptr_equal(s, untouched);
	for (size_t i = 0; i < d.count; i++)
		fprintf(out, "%u:%u: %s\n", d.items[i].pos.line, d.items[i].pos.column,
			d.items[i].text);
	fclose(out);
	assert_string_equal(found, messages);
	free(found);
	diags_release(&d);
}

static inline void expect(const char *text, const char *messages)
{
	expect_sets(text, NULL, 0, messages);
}

#endif
