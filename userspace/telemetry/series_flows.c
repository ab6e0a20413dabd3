/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flow_series.csv: what a flow delivered in each interval, and what its sender goes by. */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "telemetry/series_rows.h"

/* A flow that was under way at some time of the interval. */
struct sampled {
	struct engine_flow_now is;
	bool ended;
};

struct list {
	struct sampled *items;
	size_t count;
};

struct flows {
	struct list last; /* those under way at the last sample, by number */
	struct list seen; /* those of the present interval */
	size_t settled;   /* of `seen`, those that have ended and whose figures are known */
	bool lacks;       /* for want of memory */
};

static int flows_open(struct series *s)
{
	s->state = calloc(1, sizeof(struct flows));
	return s->state ? 0 : -ENOMEM;
}

static void flows_release(struct series *s)
{
	struct flows *f = s->state;

	free(f->last.items);
	free(f->seen.items);
	free(f);
}

static void add(struct flows *f, const struct sampled *one)
{
	if (ARRAY_ADD(f->seen.items, f->seen.count, *one) < 0)
		f->lacks = true;
}

static void flows_ended(struct series *s, uint32_t flow)
{
	add(s->state, &(struct sampled){.is.flow = flow, .ended = true});
}

/* Before the engine may forget it. */
static void flows_settled(struct series *s, const struct engine *e)
{
	struct flows *f = s->state;

	for (; f->settled < f->seen.count; f->settled++) {
		struct engine_flow_now *now = &f->seen.items[f->settled].is;
		struct engine_flow_result r;

		engine_flow_result(e, now->flow, &r);
		now->received = r.flow.bytes;
		now->marks = r.sender.marks;
		now->sender = (struct sender_state)SENDER_STATE_NONE;
	}
}

static void add_now(void *state, const struct engine_flow_now *now)
{
	add(state, &(struct sampled){.is = *now});
}

static int compare(const void *x, const void *y)
{
	const struct sampled *a = x, *b = y;

	return a->is.flow < b->is.flow ? -1 : a->is.flow > b->is.flow;
}

static void put_if(struct series_row *row, uint64_t n, bool as_rate)
{
	if (n == SENDER_NONE)
		row_none(row);
	else if (as_rate)
		row_millionths(row, n);
	else
		row_count(row, n);
}

static void put_flow(struct series *s, const struct sampled *one, const struct engine_flow_now *was,
	uint64_t now_ps)
{
	const struct sender_state *sender = &one->is.sender;
	struct series_row row;

	row_begin(&row, now_ps);
	row_count(&row, one->is.flow);
	row_millionths(&row, series_kbps(one->is.received - was->received, now_ps - s->last_ps));
	put_if(&row, sender->rate_bps == SENDER_NONE ? SENDER_NONE : sender->rate_bps / 1000, true);
	put_if(&row, sender->window_bytes, false);
	put_if(&row, sender->rtt_ps, true);
	row_count(&row, sender->in_flight_bytes);
	row_count(&row, one->is.marks - was->marks);
	row_end(s, &row);
}

static void flows_sample(struct series *s, const struct engine *e, uint64_t now_ps)
{
	const struct engine_flow_now none = {0};
	struct flows *f = s->state;
	struct list last = f->last;
	size_t at = 0, kept = 0;

	flows_settled(s, e);
	engine_flows_now(e, add_now, f);
	if (f->seen.count)
		qsort(f->seen.items, f->seen.count, sizeof(*f->seen.items), compare);
	for (size_t i = 0; i < f->seen.count; i++) {
		struct sampled *one = &f->seen.items[i];
		bool known;

		while (at < last.count && last.items[at].is.flow < one->is.flow)
			at++;
		known = at < last.count && last.items[at].is.flow == one->is.flow;
		put_flow(s, one, known ? &last.items[at].is : &none, now_ps);
		if (!one->ended)
			f->seen.items[kept++] = *one;
	}
	f->last = (struct list){f->seen.items, kept};
	f->seen = (struct list){last.items, 0};
	f->settled = 0;
	if (f->lacks)
		s->spool.lost++, s->spool.why_lost = -ENOMEM;
	f->lacks = false;
}

const struct series_ops series_flows = {
	.file = "flow_series.csv",
	.spool_name = "flow_series.csv.part",
	.titles = "t_us,flow,throughput_gbps,rate_gbps,window_bytes,rtt_us,in_flight_bytes,marks\n",
	.open = flows_open,
	.sample = flows_sample,
	.ended = flows_ended,
	.settled = flows_settled,
	.release = flows_release,
};
