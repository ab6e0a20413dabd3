/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WORDS_FIXTURE_H
#define FABRICBED_WORDS_FIXTURE_H

/* Faults from words. Include after cmocka.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/scenario.h"

/* scenario_fault_words() of a text whose words are parted by blanks. */
static inline int words_read(struct fault_spec *ret, const char *text, struct diags *d)
{
	char *copy = strdup(text), *save = NULL;
	const char *words[64];
	size_t count = 0;
	int r;

	for (char *w = strtok_r(copy, " ", &save); w && count < 64; w = strtok_r(NULL, " ", &save))
		words[count++] = w;
	r = scenario_fault_words(ret, words, count, d);
	free(copy);
	return r;
}

/* Of words that must be fine; to be released. */
static inline struct fault_spec words_fault(const char *text)
{
	struct diags d = DIAGS_INIT;
	struct fault_spec f = {0};
	int r = words_read(&f, text, &d);

	if (r || d.count)
		fail_msg("%s: %s", text, d.count ? d.items[0].text : "no message");
	diags_release(&d);
	return f;
}

/* The "column: message" lines about wrong words, all of them. */
static inline void words_expect(const char *text, const char *messages)
{
	struct diags d = DIAGS_INIT;
	struct fault_spec f = {.at_ps = 77};
	char *found;
	size_t length;
	FILE *out = open_memstream(&found, &length);

	assert_int_equal(words_read(&f, text, &d), -EINVAL);
	assert_int_equal(f.at_ps, 77);
	for (size_t i = 0; i < d.count; i++) {
		assert_int_equal(d.items[i].pos.line, 1);
		fprintf(out, "%u: %s\n", d.items[i].pos.column, d.items[i].text);
	}
	fclose(out);
	assert_string_equal(found, messages);
	free(found);
	diags_release(&d);
}

#endif
