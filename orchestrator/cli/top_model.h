/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_MODEL_H
#define FABRICBED_TOP_MODEL_H

/* What `top` shows, without a screen: tables made of two samples of rows (docs/control.md). */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "report/layout.h"

enum top_view { TOP_LINKS, TOP_QUEUES, TOP_FLOWS, TOP_FAULTS, TOP_NODES, TOP_VIEWS };

/* What of a row a cell takes, and of which sample. */
enum top_measure {
	TOP_LEVEL,     /* as it is now */
	TOP_RATE,      /* its growth a second of model time */
	TOP_SHARE,     /* of microseconds: their growth in percent of model time */
	TOP_UP,        /* a truth: "up" or "down" */
	TOP_PAUSED,    /* a truth: "paused" or nothing */
	TOP_LOAD_GBPS, /* of a port: on the wire */
	TOP_LOAD,      /* of a port: the same in percent of its rate */
	TOP_FILL,      /* of a queue: percent of its limit */
	TOP_GOODPUT,   /* of a flow that is done: Gbps */
	TOP_PROGRESS,  /* of a flow: "active" or "done" */
};

struct top_column {
	struct layout_column shown; /* its key: as a word, and in JSON */
	const char *key;            /* of the row of `show` */
	enum top_measure measure;
	char letter; /* the key that sorts by it; 0: none */
};

struct top_view_spec {
	const char *name;                 /* of the view */
	const char *what;                 /* of the request `show` */
	const struct top_column *columns; /* end with a NULL title; the first names the row */
	size_t keys;                      /* so many of the first ones identify a row */
	size_t sorted;                    /* the column by which it is sorted at first */
};

const struct top_view_spec *top_view_spec(enum top_view view);
size_t top_column_count(enum top_view view);

/*
 * The two samples that rates are made of. While model time stands still the older one stays, so
 * that the last step is still shown; when it goes back (another fabric of that name) there is none.
 */
struct top_pair {
	json_t *before, *now; /* NULL: none yet */
	unsigned taken;       /* samples so far */
};

/* Takes a new reference to a sample, an object with model_time_us. */
void top_pair_push(struct top_pair *p, json_t *sample);
void top_pair_release(struct top_pair *p);

/* Seconds of model time between the samples; 0: there are no two. */
double top_pair_seconds(const struct top_pair *p);

/* A number; of an object of counts their sum; NAN: neither. */
double top_number(const json_t *value);

/* Growth a second of model time; NAN where there are no two samples or a counter went back. */
double top_growth(const struct top_pair *p, const json_t *before, const json_t *now);

/*
 * The rows of a view, JSON objects with its columns: numbers, null if unknown, texts. NULL: the
 * sample has no rows, or there is no memory.
 */
json_t *top_rows(enum top_view view, const struct top_pair *p);

#endif
