/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/flow_rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/strbuf.h"
#include "base/units.h"

#define FLOW_SPOOL "flows.csv.part"
#define ROW        2048

struct flow_end {
	uint64_t at_ps;
	uint32_t flow;
};

/* A flow as its row tells it. */
struct flow_row {
	const struct flow_rows *rows;
	const struct engine *e;
	uint32_t flow;
	struct engine_flow_result is;
	struct engine_flow_wire wire;
};

/* X(title, how it is written) of f->flow, whose result is f->is. What did not happen is empty. */
#define FLOW_COLUMNS(X)                                                                            \
	X(flow, put_count(b, f->flow))                                                             \
	X(src, put_host(b, f, f->is.flow.src_host))                                                \
	X(dst, put_host(b, f, f->is.flow.dst_host))                                                \
	X(bytes, put_count(b, f->is.flow.bytes))                                                   \
	X(start_us, put_us(b, f->is.start_ps != UINT64_MAX, f->is.start_ps))                       \
	X(fct_us, put_us(b, f->is.finish_ps, f->is.finish_ps - f->is.start_ps))                    \
	X(delivery_us, put_us(b, f->is.delivered_ps, f->is.delivered_ps - f->is.start_ps))         \
	X(retransmitted, put_count(b, f->is.sender.retransmitted))                                 \
	X(spurious, put_count(b, f->is.receiver.duplicates))                                       \
	X(paths, put_count(b, f->is.sender.paths_used))                                            \
	X(timeouts, put_count(b, f->is.sender.timeouts))                                           \
	X(ideal_us, put_us(b, f->is.flow.ideal_ps, f->is.flow.ideal_ps))                           \
	X(fct_slowdown, put_slowdown(b, &f->is))                                                   \
	X(delivered_bytes, put_count(b, f->is.received))                                           \
	X(packets, put_count(b, f->is.sender.packets_sent))                                        \
	X(marks, put_count(b, f->is.sender.marks))                                                 \
	X(out_of_order, put_count(b, f->is.receiver.out_of_order))                                 \
	X(qp, put_count(b, f->wire.qp))                                                            \
	X(qps, put_count(b, f->wire.qps))                                                          \
	X(udp_ports, put_ports(b, f))                                                              \
	X(dscp, put_count(b, f->wire.dscp))                                                        \
	X(entry, put_count(b, f->is.flow.entry))                                                   \
	X(measured, put_count(b, !f->is.flow.unmeasured))                                          \
	X(transport, strbuf_add(b, "%s", f->wire.transport ? f->wire.transport : ""))              \
	X(lost, put_count(b, f->is.sender.lost))                                                   \
	X(trimmed, put_count(b, f->is.receiver.trimmed))                                           \
	X(returned, put_count(b, f->is.sender.returned))                                           \
	X(reordered, put_count(b, f->is.receiver.reordered))                                       \
	X(reorder_sum, put_count(b, f->is.receiver.reorder_sum))                                   \
	X(reorder_max, put_count(b, f->is.receiver.reorder_most))

static void put_count(struct strbuf *b, uint64_t n)
{
	strbuf_add(b, "%llu", (unsigned long long)n);
}

static void put_us(struct strbuf *b, bool happened, uint64_t ps)
{
	if (happened)
		strbuf_add(b, "%llu.%06llu", (unsigned long long)(ps / PS_PER_US),
			(unsigned long long)(ps % PS_PER_US));
}

static void put_slowdown(struct strbuf *b, const struct engine_flow_result *f)
{
	double slowdown = engine_flow_slowdown(f);

	if (slowdown > 0)
		strbuf_add(b, "%.6f", slowdown);
}

static void put_host(struct strbuf *b, const struct flow_row *f, uint32_t host)
{
	char name[RECORDER_NAME];

	strbuf_add(b, "%s", f->rows->host_name(f->rows->name_arg, host, name));
}

/* Of each queue pair: "50000", "50000-50255", or in two parts where they pass the last port. */
static void put_ports(struct strbuf *b, const struct flow_row *f)
{
	for (uint32_t pair = 0; pair < f->wire.qps; pair++) {
		unsigned first = engine_flow_port(f->e, f->flow, pair, 0);
		unsigned last = engine_flow_port(f->e, f->flow, pair, f->wire.ports - 1);

		strbuf_add(b, "%s%u", pair ? " " : "", first);
		if (last < first)
			strbuf_add(b, "-%u %u", UINT16_MAX, ENTROPY_PORTS);
		if (last != first)
			strbuf_add(b, "-%u", last);
	}
}

static void put_row(struct flow_rows *rows, const struct engine *e, uint32_t flow,
	const struct engine_flow_result *is)
{
	struct flow_row row = {.rows = rows, .e = e, .flow = flow, .is = *is}, *f = &row;
	char text[ROW];
	struct strbuf line = STRBUF(text), *b = &line;

	if (rows->spool.fd < 0)
		return;
	engine_flow_wire(e, flow, &row.wire);
#define X(title, put)                                                                              \
	strbuf_add(b, "%s", b->length ? "," : "");                                                 \
	put;
	FLOW_COLUMNS(X)
#undef X
	strbuf_add(b, "\n");
	spool_put(&rows->spool, text, b->length);
}

int flow_rows_open(struct flow_rows *f, int directory)
{
	static const char titles[] =
#define X(title, put) "," #title
		FLOW_COLUMNS(X)
#undef X
			"\n";
	int r = directory < 0 ? 0 : spool_open(&f->spool, directory, FLOW_SPOOL);

	f->forgotten = (struct flow_totals)FLOW_TOTALS_INIT;
	if (r < 0 || directory < 0)
		return r;
	spool_put(&f->spool, titles + 1, strlen(titles + 1));
	/* for whoever looks at a run's file; a full disk shows with the first rows too */
	spool_flush(&f->spool);
	return 0;
}

void flow_rows_ended(struct flow_rows *f, uint64_t now_ps, uint32_t flow)
{
	if (ARRAY_ADD(f->ends, f->count, (struct flow_end){now_ps, flow}) < 0)
		f->lost++;
}

static int compare_ends(const void *x, const void *y)
{
	const struct flow_end *a = x, *b = y;

	if (a->at_ps != b->at_ps)
		return a->at_ps < b->at_ps ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* Up to the first that is not over; or all of them. */
static void put_ended(struct flow_rows *f, struct engine *e, bool all)
{
	struct engine_flow_result is;
	size_t done = 0;

	if (f->sorted < f->count)
		qsort(f->ends + f->sorted, f->count - f->sorted, sizeof(*f->ends), compare_ends);
	for (; done < f->count; done++) {
		engine_flow_result(e, f->ends[done].flow, &is);
		if (!is.over && !all)
			break;
		put_row(f, e, f->ends[done].flow, &is);
		if (is.flow.arrives && is.over && flow_totals_add(&f->forgotten, &is) == 0)
			engine_forget(e, f->ends[done].flow);
	}
	f->count -= done;
	f->sorted = f->count;
	if (done && f->count)
		memmove(f->ends, f->ends + done, f->count * sizeof(*f->ends));
}

void flow_rows_settled(struct flow_rows *f, struct engine *e)
{
	if (f->count)
		put_ended(f, e, false);
}

void flow_rows_end(struct flow_rows *f, struct engine *e)
{
	struct engine_flow_result is;

	if (f->whole)
		return;
	f->whole = true;
	if (f->count)
		put_ended(f, e, true);
	for (uint32_t i = 0; i < engine_flow_count(e); i++) {
		engine_flow_result(e, i, &is);
		if (engine_flow_counts(&is) && !is.finish_ps)
			put_row(f, e, i, &is);
	}
}

void flow_rows_remove(struct flow_rows *f)
{
	spool_remove(&f->spool);
	free(f->ends);
	f->ends = NULL;
	f->count = f->sorted = 0;
}

void flow_rows_release(struct flow_rows *f)
{
	flow_rows_remove(f);
	flow_totals_release(&f->forgotten);
}
