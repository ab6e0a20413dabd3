/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Scenario text from anybody. What loads must be written as text that loads again and is written
 * the same. What follows a NUL in the input, which YAML does not allow anyway, is a --set. The same
 * input is also read for its workloads alone, and as the words of a fault, which must come to words
 * of the same fault.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct scenario *load(
	const char *text, size_t length, const char *const *sets, size_t set_count, int must)
{
	struct diags d = DIAGS_INIT;
	struct scenario *s = NULL;
	int r = scenario_load_text(&s, "fuzz.yaml", text, length, sets, set_count, &d);

	if ((r == 0) != (d.count == 0) || (r == 0) != (s != NULL)) {
		fprintf(stderr, "result %d with %zu messages\n", r, d.count);
		abort();
	}
	if (r && must) {
		fprintf(stderr, "%s\n%u:%u: %s\n", text, d.items[0].pos.line, d.items[0].pos.column,
			d.items[0].text);
		abort();
	}
	diags_release(&d);
	return s;
}

static char *write_text(const struct scenario *s, size_t *ret_length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_length);

	if (!out || scenario_write(s, out) || fclose(out))
		abort();
	return text;
}

static void check_writing(const struct scenario *s)
{
	size_t length, length_again;
	char *text = write_text(s, &length), *text_again;
	struct scenario *again = load(text, length, NULL, 0, 1);

	text_again = write_text(again, &length_again);
	if (strcmp(text, text_again)) {
		fprintf(stderr, "%s\n----\n%s", text, text_again);
		abort();
	}
	scenario_free(again);
	free(text);
	free(text_again);
}

static void check_result(int r, const struct diags *d)
{
	if (!r != !d->count) {
		fprintf(stderr, "result %d with %zu messages\n", r, d->count);
		abort();
	}
}

static void check_workloads(const char *text, size_t length)
{
	struct diags d = DIAGS_INIT;
	struct workload_spec *w = NULL;
	size_t count = 0;
	int r = scenario_workloads(&w, &count, NULL, text, length, &d);

	check_result(r, &d);
	if (!r && !count)
		abort();
	for (size_t i = 0; i < count; i++)
		workload_spec_release(&w[i]);
	free(w);
	diags_release(&d);
}

#define WORDS 40

/* Cuts the text at its blanks, in place. */
static int read_words(struct fault_spec *ret, char *text)
{
	const char *words[WORDS];
	size_t count = 0;
	struct diags d = DIAGS_INIT;
	char *save = NULL;
	int r;

	for (char *w = strtok_r(text, " \n", &save); w && count < WORDS;
		w = strtok_r(NULL, " \n", &save))
		words[count++] = w;
	r = scenario_fault_words(ret, words, count, &d);
	check_result(r, &d);
	diags_release(&d);
	return r;
}

static void check_words(const char *data, size_t length)
{
	char first[FAULT_WORDS], second[FAULT_WORDS];
	char *text = strndup(data, length);
	struct fault_spec f, again;

	if (!text)
		abort();
	if (!read_words(&f, text)) {
		if (fault_words(&f, first, sizeof(first)))
			abort();
		strcpy(second, first);
		if (read_words(&again, second) || fault_words(&again, second, sizeof(second)) ||
			strcmp(first, second)) {
			fprintf(stderr, "%s\n", first);
			abort();
		}
		fault_spec_release(&f);
		fault_spec_release(&again);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t length = nul ? (size_t)(nul - data) : size;
	char *set = nul ? strndup((const char *)nul + 1, size - length - 1) : NULL;
	const char *const sets[] = {set};
	struct scenario *s;

	if (nul && !set)
		abort();
	s = load((const char *)data, length, sets, nul != NULL, 0);
	if (s)
		check_writing(s);
	check_workloads((const char *)data, length);
	check_words((const char *)data, length);
	scenario_free(s);
	free(set);
	return 0;
}
