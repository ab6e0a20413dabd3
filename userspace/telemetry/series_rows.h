/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SERIES_ROWS_H
#define FABRICBED_SERIES_ROWS_H

/* What the kinds of series are made of: their operations, their rows, the ports they tell of. */
#include "base/digits.h"
#include "base/numbers.h"
#include "base/units.h"
#include "telemetry/series.h"
#include "telemetry/spool.h"

struct series_ops;

struct series {
	const struct series_ops *ops;
	struct series_spec spec;
	const struct series_params *params;
	struct spool spool;        /* fd -1: it is off */
	uint64_t next_ps, last_ps; /* samples: the next one is due, the last one was */
	void *state;               /* its own */
};

struct series_ops {
	const char *file, *spool_name; /* "queues.csv", "queues.csv.part" */
	const char *titles;
	int (*open)(struct series *s); /* makes its state. 0 or -errno; NULL: it has none */
	/* Rows of now; last_ps is the time of the sample before. */
	void (*sample)(struct series *s, const struct engine *e, uint64_t now_ps);
	void (*dropped)(struct series *s, uint32_t port, enum drop_reason reason, uint32_t bytes);
	void (*ended)(struct series *s, uint32_t flow);
	void (*settled)(struct series *s, const struct engine *e);
	void (*release)(struct series *s);
};

extern const struct series_ops series_ports, series_flows, series_queues, series_imbalance;

#define SERIES_ROW (RECORDER_NAME + 12 * DIGITS_MAX)

/* A row as it is written: number after number, and what ends it. */
struct series_row {
	char *at;
	char text[SERIES_ROW];
};

static inline void row_begin(struct series_row *r, uint64_t now_ps)
{
	r->at = digits_put_millionths(r->text, now_ps);
}

static inline void row_text(struct series_row *r, const char *text)
{
	*r->at++ = ',';
	r->at = stpcpy(r->at, text);
}

static inline void row_count(struct series_row *r, uint64_t n)
{
	*r->at++ = ',';
	r->at = digits_put(r->at, n, 1);
}

/* Microseconds of ps; Gbps of kbps: millionths of what the title says. */
static inline void row_millionths(struct series_row *r, uint64_t n)
{
	*r->at++ = ',';
	r->at = digits_put_millionths(r->at, n);
}

static inline void row_none(struct series_row *r)
{
	*r->at++ = ',';
}

static inline void row_end(struct series *s, struct series_row *r)
{
	*r->at++ = '\n';
	spool_put(&s->spool, r->text, (size_t)(r->at - r->text));
}

/* The rate of so many bytes in a time: kbps, rounded; 0: no time. */
static inline uint64_t series_kbps(uint64_t bytes, uint64_t ps)
{
	return ps ? (uint64_t)((double)bytes * 8e9 / (double)ps + 0.5) : 0;
}

/* A port whose name matches. */
struct series_port {
	uint32_t port;
	char *name;
};

/* All of them, of switches alone if asked, to be released. 0 or -ENOMEM. */
int series_match_ports(
	const struct series *s, bool of_switches, struct series_port **ret, uint32_t *ret_count);
void series_release_ports(struct series_port *ports, uint32_t count);

#endif
