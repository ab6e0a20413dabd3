/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * External merge sort: places are sorted in memory in runs of RUN_ENTRIES, each full run goes to a
 * second file, and all runs are merged at the end. Lines in order, as most are, need none of it.
 */
#include "telemetry/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/outstream.h"

#define RUN_ENTRIES   16384u
#define WINDOW        64u /* entries of a run that are looked at together */
#define INDEX_SPOOL   "events.index.part"
#define LINE_MAX_KEPT 4096u

struct entry {
	struct event_place place;
	uint64_t number; /* in the order in which they came */
	uint64_t offset; /* in the spool */
	uint64_t length;
};

struct event_log {
	struct spool lines, index;
	struct entry *run; /* that is being filled */
	size_t count;
	uint64_t total, runs; /* entries; full runs in the index */
	struct entry last;    /* that came */
	bool mixed;           /* they came in another order than theirs */
	uint64_t lost;        /* for want of memory for their places */
};

/* A run as it is merged. */
struct source {
	uint64_t next, end;    /* entries of the index; of the run in memory: of that */
	struct entry *entries; /* the window, or the run in memory */
	size_t at, count;
};

struct merge {
	const struct event_log *log;
	struct source *sources, **heap; /* the heap: those that have something left */
	size_t count;
};

int event_log_open(struct event_log **ret, int directory)
{
	struct event_log *l = calloc(1, sizeof(*l));
	int r = -ENOMEM;

	if (!l)
		return -ENOMEM;
	l->lines = l->index = (struct spool)SPOOL_NONE;
	l->run = malloc(RUN_ENTRIES * sizeof(*l->run));
	if (l->run)
		r = directory < 0 ? 0 : spool_open(&l->lines, directory, EVENT_SPOOL);
	if (r == 0 && directory >= 0)
		r = spool_open(&l->index, directory, INDEX_SPOOL);
	if (r < 0) {
		event_log_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->place.at_ps != b->place.at_ps)
		return a->place.at_ps < b->place.at_ps ? -1 : 1;
	if (a->place.rank != b->place.rank)
		return a->place.rank < b->place.rank ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Makes room in memory. False: the disk does not take the run. */
static bool end_run(struct event_log *l)
{
	qsort(l->run, l->count, sizeof(*l->run), compare);
	if (!spool_put(&l->index, (const char *)l->run, l->count * sizeof(*l->run)))
		return false;
	l->runs++;
	l->count = 0;
	return true;
}

void event_log_add(struct event_log *l, struct event_place place, const char *text)
{
	struct entry e = {place, l->total, spool_end(&l->lines), strlen(text)};

	if (l->lines.fd < 0)
		return;
	if (l->count == RUN_ENTRIES && !end_run(l)) {
		l->lost++;
		return;
	}
	if (!spool_put(&l->lines, text, e.length))
		return;
	l->mixed |= l->total && compare(&l->last, &e) > 0;
	l->last = l->run[l->count++] = e;
	l->total++;
}

int event_log_flush(struct event_log *l)
{
	int lines = spool_flush(&l->lines), index = spool_flush(&l->index);

	return lines ? lines : index;
}

uint64_t event_log_lost(const struct event_log *l, int *ret_why)
{
	if (l->lines.lost)
		*ret_why = l->lines.why_lost;
	else if (l->lost)
		*ret_why = l->index.why_lost;
	return l->lines.lost + l->lost;
}

/* ---- merging ---- */

/* The next entry of a source; NULL: there is none, or, with *ret_error, it can't be read. */
static const struct entry *source_peek(const struct event_log *l, struct source *s, int *ret_error)
{
	uint64_t left = s->end - s->next;

	if (s->at < s->count)
		return &s->entries[s->at];
	if (!left)
		return NULL;
	s->count = left < WINDOW ? left : WINDOW;
	s->at = 0;
	if (!spool_read(&l->index, s->next * sizeof(*s->entries), (char *)s->entries,
		    s->count * sizeof(*s->entries))) {
		*ret_error = -EIO;
		return NULL;
	}
	s->next += s->count;
	return s->entries;
}

static bool comes_before(const struct source *a, const struct source *b)
{
	return compare(&a->entries[a->at], &b->entries[b->at]) < 0;
}

static void sift_down(struct merge *m, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < m->count; i = child) {
		struct source *s = m->heap[i];

		if (child + 1 < m->count && comes_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!comes_before(m->heap[child], s))
			return;
		m->heap[i] = m->heap[child];
		m->heap[child] = s;
	}
}

static int merge_begin(struct merge *m, struct event_log *l)
{
	struct entry *windows = calloc(l->runs * WINDOW + 1, sizeof(*windows));
	int r = 0;

	*m = (struct merge){
		.log = l,
		.sources = calloc(l->runs + 1, sizeof(*m->sources)),
		.heap = calloc(l->runs + 1, sizeof(struct source *)),
	};
	if (!windows || !m->sources || !m->heap) {
		free(windows);
		return -ENOMEM;
	}
	qsort(l->run, l->count, sizeof(*l->run), compare);
	for (uint64_t i = 0; i <= l->runs; i++) {
		struct source *s = &m->sources[i];

		*s = (struct source){
			i * RUN_ENTRIES, (i + 1) * RUN_ENTRIES, windows + i * WINDOW, 0, 0};
		if (i == l->runs)
			*s = (struct source){.entries = l->run, .count = l->count};
		if (source_peek(l, s, &r))
			m->heap[m->count++] = s;
	}
	if (!l->runs)
		free(windows);
	for (size_t i = m->count; i-- > 0;)
		sift_down(m, i);
	return r;
}

static void merge_end(struct merge *m)
{
	if (m->sources && m->log->runs)
		free(m->sources[0].entries);
	free(m->sources);
	free(m->heap);
}

static int copy_line(const struct event_log *l, const struct entry *e, FILE *to)
{
	char bytes[LINE_MAX_KEPT];

	for (uint64_t done = 0; done < e->length;) {
		uint64_t left = e->length - done;
		size_t count = left < sizeof(bytes) ? left : sizeof(bytes);

		if (!spool_read(&l->lines, e->offset + done, bytes, count))
			return -EIO;
		fwrite(bytes, 1, count, to);
		done += count;
	}
	return 0;
}

static int merge_all(struct event_log *l, FILE *to)
{
	struct merge m;
	int r = merge_begin(&m, l);

	while (r == 0 && m.count) {
		struct source *s = m.heap[0];

		r = copy_line(l, &s->entries[s->at++], to);
		if (!source_peek(l, s, &r))
			m.heap[0] = m.heap[--m.count];
		sift_down(&m, 0);
	}
	merge_end(&m);
	return r;
}

int event_log_write(struct event_log *l, int directory, const char *name)
{
	struct outstream out;
	int r, closed;

	if (l->lines.fd < 0)
		return 0;
	if (!l->mixed)
		return spool_copy(&l->lines, directory, name);
	r = outstream_create(&out, directory, name);
	if (r < 0)
		return r;
	r = merge_all(l, out.file);
	closed = outstream_close(&out);
	return r < 0 ? r : closed;
}

void event_log_remove(struct event_log *l)
{
	spool_remove(&l->lines);
	spool_remove(&l->index);
}

void event_log_free(struct event_log *l)
{
	if (!l)
		return;
	event_log_remove(l);
	free(l->run);
	free(l);
}
