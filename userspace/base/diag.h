/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DIAG_H
#define FABRICBED_DIAG_H

/* What is wrong with the user's input: collected, not printed; all of it in one go. */
#include <stdbool.h>
#include <stddef.h>

/* Line and column count from 1; line 0 means that there is no place in the file. */
struct diag_pos {
	unsigned line, column;
};

struct diag {
	struct diag_pos pos;
	char *text; /* "topology.fat_tree.k: 5 is odd; ..." */
};

struct diags {
	struct diag *items; /* in the order of their positions after diags_sort() */
	size_t count;
	bool out_of_memory; /* a message was lost to it */
};

#define DIAGS_INIT                                                                                 \
	{                                                                                          \
		0                                                                                  \
	}

/* Adds a formatted message. */
__attribute__((format(printf, 3, 4))) void diags_add(
	struct diags *d, struct diag_pos pos, const char *format, ...);

/* Sorts by position, stable; messages without one come first. */
void diags_sort(struct diags *d);

void diags_release(struct diags *d);

/*
 * The one of `words` that `word` most likely meant (fewest edits, at most a third of its letters),
 * or NULL.
 */
const char *nearest_word(const char *word, const char *const *words, size_t count);

/*
 * The end of a message that refuses `word`: "; did you mean 'X'?" with the nearest of `words`, else
 * `otherwise`. Returns buf.
 */
#define DIAG_HINT 192
const char *diag_hint(char buf[DIAG_HINT], const char *word, const char *const *words, size_t count,
	const char *otherwise);

#endif
