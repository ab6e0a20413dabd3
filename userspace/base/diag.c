/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

void diags_add(struct diags *d, struct diag_pos pos, const char *format, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0) {
		d->out_of_memory = true;
		return;
	}
	if (ARRAY_ADD(d->items, d->count, (struct diag){pos, text}) < 0) {
		free(text);
		d->out_of_memory = true;
	}
}

struct ranked {
	struct diag diag;
	size_t rank;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->diag.pos.line != y->diag.pos.line)
		return x->diag.pos.line < y->diag.pos.line ? -1 : 1;
	if (x->diag.pos.column != y->diag.pos.column)
		return x->diag.pos.column < y->diag.pos.column ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

void diags_sort(struct diags *d)
{
	struct ranked *ranked;

	if (d->count < 2)
		return;
	ranked = calloc(d->count, sizeof(*ranked));
	if (!ranked)
		return; /* messages out of order are better than none */
	for (size_t i = 0; i < d->count; i++)
		ranked[i] = (struct ranked){d->items[i], i};
	qsort(ranked, d->count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < d->count; i++)
		d->items[i] = ranked[i].diag;
	free(ranked);
}

void diags_release(struct diags *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->items[i].text);
	free(d->items);
	*d = (struct diags)DIAGS_INIT;
}

#define WORD_LIMIT 64 /* no key or name is longer */

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Edits (insert, delete, replace, swap of two neighbours) between two words of at most WORD_LIMIT
 * letters; case is free. The unrestricted distance: F. J. Damerau, "A technique for computer
 * detection and correction of spelling errors" (1964), computed as in R. Lowrance and R. A. Wagner,
 * "An extension of the string-to-string correction problem" (1975), algorithm S.
 */
static unsigned edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned h[WORD_LIMIT + 2][WORD_LIMIT + 2];
	unsigned far = (unsigned)(a_length + b_length);
	unsigned char last_row[256] = {0}; /* where each letter was last seen in a */

	h[0][0] = far;
	for (size_t i = 0; i <= a_length; i++) {
		h[i + 1][0] = far;
		h[i + 1][1] = (unsigned)i;
	}
	for (size_t j = 0; j <= b_length; j++) {
		h[0][j + 1] = far;
		h[1][j + 1] = (unsigned)j;
	}
	for (size_t i = 1; i <= a_length; i++) {
		int x = tolower((unsigned char)a[i - 1]);
		size_t last_column = 0; /* where x was last seen in b */

		for (size_t j = 1; j <= b_length; j++) {
			int y = tolower((unsigned char)b[j - 1]);
			size_t row = last_row[y], column = last_column;
			unsigned swap = h[row][column] + (unsigned)(i - row - 1) + 1 +
					(unsigned)(j - column - 1);

			if (x == y)
				last_column = j;
			h[i + 1][j + 1] = min2(
				min2(h[i][j] + (x != y), swap), min2(h[i + 1][j], h[i][j + 1]) + 1);
		}
		last_row[x] = (unsigned char)i;
	}
	return h[a_length + 1][b_length + 1];
}

const char *nearest_word(const char *word, const char *const *words, size_t count)
{
	size_t length = strlen(word);
	unsigned best = (unsigned)length / 3 + 1;
	const char *ret = NULL;

	if (length > WORD_LIMIT)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t other = strnlen(words[i], WORD_LIMIT + 1);
		unsigned n;

		if (other > WORD_LIMIT)
			continue;
		n = edits(word, length, words[i], other);
		if (n < best) {
			best = n;
			ret = words[i];
		}
	}
	return ret;
}

const char *diag_hint(char buf[DIAG_HINT], const char *word, const char *const *words, size_t count,
	const char *otherwise)
{
	const char *near = nearest_word(word, words, count);

	snprintf(buf, DIAG_HINT, near ? "; did you mean '%s'?" : "%s", near ? near : otherwise);
	return buf;
}
