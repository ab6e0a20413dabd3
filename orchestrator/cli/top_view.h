/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_VIEW_H
#define FABRICBED_TOP_VIEW_H

/* How the user looks at the tables: what keys change and what the screen draws by. */
#include "cli/top_model.h"

#define TOP_FILTER_MAX 64

struct top_look {
	enum top_view view;
	size_t sorted[TOP_VIEWS]; /* column */
	bool reversed[TOP_VIEWS];
	char filter[TOP_FILTER_MAX];
	bool typing; /* a filter */
	char typed[TOP_FILTER_MAX];
	size_t scroll; /* rows above the screen's first */
	bool frozen;
	bool help;
};

enum top_deed {
	TOP_STAY,
	TOP_LOOK, /* at another view: its samples are missing */
	TOP_QUIT,
};

void top_look_init(struct top_look *l);

/* What a key of curses does; page: rows on the screen. */
enum top_deed top_look_key(struct top_look *l, int key, size_t page);

/* Keeps the screen's first row where there is one. */
void top_look_settle(struct top_look *l, size_t rows, size_t page);

#endif
