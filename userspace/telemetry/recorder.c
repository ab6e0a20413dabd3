/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/drop_name.h"
#include "base/numbers.h"
#include "base/outstream.h"
#include "base/units.h"
#include "telemetry/event_log.h"
#include "telemetry/flow_rows.h"

/* Drops at a port for one reason, or pauses of a queue, without a longer gap are one event. */
#define BURST_GAP_PS (10 * PS_PER_US)

struct burst {
	uint64_t first_ps, last_ps, frames, bytes;
};

/* Pauses of a queue. */
struct pauses {
	uint64_t first_ps, last_ps, count, paused_ps;
	uint64_t since_ps; /* of the one that lasts */
	bool lasts;
};

struct recorder {
	struct series_params params;
	struct series_set *series;
	struct flow_rows flows;
	struct event_log *events;
	uint64_t lost;                             /* events, for want of memory */
	bool written;                              /* bursts and series have ended */
	struct burst (*bursts)[DROP_REASON_COUNT]; /* by port id */
	struct pauses (*pauses)[CLASSES];          /* by port id */
	uint32_t port_end;
};

static int recorder_open_files(struct recorder *r)
{
	int error = event_log_open(&r->events, r->params.directory);

	if (error == 0)
		error = flow_rows_open(&r->flows, r->params.directory);
	return error == 0 ? series_open(&r->series, &r->params) : error;
}

int recorder_new(struct recorder **ret, const struct series_params *params)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int error = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->params = *params;
	r->flows.spool = (struct spool)SPOOL_NONE;
	r->flows.host_name = params->node_name; /* hosts are the first nodes */
	r->flows.name_arg = r->params.name_arg;
	r->port_end = PORT_FIRST + r->params.net->port_count;
	r->bursts = calloc(r->port_end, sizeof(*r->bursts));
	r->pauses = calloc(r->port_end, sizeof(*r->pauses));
	if (r->bursts && r->pauses)
		error = recorder_open_files(r);
	if (error < 0) {
		recorder_free(r);
		return error;
	}
	*ret = r;
	return 0;
}

/* Takes the reference. */
static void add_event(struct recorder *r, struct event_place place, json_t *event)
{
	json_t *whole = json_pack("{s:f}", "t_us", (double)place.at_ps / PS_PER_US);
	char *text = NULL, *line = NULL;

	if (whole && event && json_object_update(whole, event) == 0)
		text = json_dumps(whole, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(whole);
	json_decref(event);
	if (text && asprintf(&line, "%s\n", text) >= 0) {
		event_log_add(r->events, place, line);
		free(line);
	} else {
		r->lost++;
	}
	free(text);
}

void recorder_event(struct recorder *r, uint64_t now_ps, json_t *event)
{
	add_event(r, (struct event_place){now_ps, 0}, event);
}

/*
 * Which of two ports reports first depends on where the engine was stopped, so that at one time the
 * port decides, after commands. kind: reason or class, unique at one port and time.
 */
static struct event_place port_place(uint64_t at_ps, uint32_t port, uint32_t kind)
{
	return (struct event_place){at_ps, (uint64_t)port << 32 | kind};
}

/* Where a reader looks for it: drops on a link at its direction, others where they were queued. */
static uint32_t burst_port(const struct recorder *r, uint32_t port, enum drop_reason reason)
{
	return drop_place(reason) == DROP_AT_WIRE ? r->params.net->ports[port].peer : port;
}

static void burst_end(struct recorder *r, uint32_t port, enum drop_reason reason)
{
	struct burst *b = &r->bursts[port][reason];
	char name[RECORDER_NAME];

	if (!b->frames)
		return;
	add_event(r, port_place(b->first_ps, port, CLASSES + reason),
		json_pack("{s:s, s:s, s:s, s:I, s:I, s:f}", "event", "drops", "port",
			r->params.port_name(r->params.name_arg, burst_port(r, port, reason), name),
			"reason", drop_name(reason), "frames", (json_int_t)b->frames, "bytes",
			(json_int_t)b->bytes, "until_us", (double)b->last_ps / PS_PER_US));
	b->frames = 0;
}

void recorder_dropped(
	struct recorder *r, uint64_t now_ps, uint32_t port, enum drop_reason reason, uint32_t bytes)
{
	struct burst *b = &r->bursts[port][reason];

	series_dropped(r->series, port, reason, bytes);
	if (b->frames && now_ps > b->last_ps + BURST_GAP_PS)
		burst_end(r, port, reason);
	if (!b->frames)
		*b = (struct burst){.first_ps = now_ps};
	b->last_ps = now_ps;
	b->frames++;
	b->bytes += bytes;
}

static void bursts_end(struct recorder *r)
{
	for (uint32_t port = PORT_FIRST; port < r->port_end; port++)
		for (int reason = 0; reason < DROP_REASON_COUNT; reason++)
			burst_end(r, port, (enum drop_reason)reason);
}

static void pauses_end(struct recorder *r, uint32_t port, uint32_t class)
{
	struct pauses *p = &r->pauses[port][class];
	char name[RECORDER_NAME];

	if (!p->count)
		return;
	add_event(r, port_place(p->first_ps, port, class),
		json_pack("{s:s, s:s, s:i, s:I, s:f, s:f, s:b}", "event", "pauses", "port",
			r->params.port_name(r->params.name_arg, port, name), "class", (int)class,
			"count", (json_int_t)p->count, "paused_us",
			(double)p->paused_ps / PS_PER_US, "until_us",
			(double)p->last_ps / PS_PER_US, "lasts", (int)p->lasts));
	*p = (struct pauses){0};
}

static void pause_begins(struct recorder *r, uint32_t port, uint32_t class, uint64_t now_ps)
{
	struct pauses *p = &r->pauses[port][class];

	if (p->count && now_ps > p->last_ps + BURST_GAP_PS)
		pauses_end(r, port, class);
	if (!p->count)
		p->first_ps = now_ps;
	p->count++;
	p->since_ps = p->last_ps = now_ps;
	p->lasts = true;
}

static void pause_ends(struct pauses *p, uint64_t now_ps)
{
	p->paused_ps += now_ps - p->since_ps;
	p->last_ps = now_ps;
	p->lasts = false;
}

void recorder_paused(
	struct recorder *r, uint64_t now_ps, uint32_t port, uint8_t before, uint8_t after)
{
	for (uint32_t c = 0; c < CLASSES; c++) {
		if (after & ~before & 1u << c)
			pause_begins(r, port, c, now_ps);
		else if (before & ~after & 1u << c)
			pause_ends(&r->pauses[port][c], now_ps);
	}
}

void recorder_ended(struct recorder *r, uint64_t now_ps, uint32_t flow)
{
	series_ended(r->series, flow);
	flow_rows_ended(&r->flows, now_ps, flow);
}

void recorder_settled(struct recorder *r, struct engine *e)
{
	series_settled(r->series, e);
	flow_rows_settled(&r->flows, e);
}

void recorder_end_flows(struct recorder *r, struct engine *e)
{
	series_end(r->series, e, engine_now(e));
	flow_rows_end(&r->flows, e);
}

const struct flow_totals *recorder_forgotten(const struct recorder *r)
{
	return &r->flows.forgotten;
}

void recorder_end(struct recorder *r, uint64_t now_ps)
{
	for (uint32_t i = PORT_FIRST * CLASSES; i < r->port_end * CLASSES; i++) {
		struct pauses *p = &r->pauses[i / CLASSES][i % CLASSES];

		if (!p->lasts || r->written)
			continue;
		pause_ends(p, now_ps);
		p->lasts = true;
	}
}

uint64_t recorder_next_sample(const struct recorder *r)
{
	return series_next(r->series);
}

void recorder_sample(struct recorder *r, const struct engine *e, uint64_t now_ps, uint64_t least_ps)
{
	series_sample(r->series, e, now_ps, least_ps);
}

int recorder_flush(struct recorder *r)
{
	int events = event_log_flush(r->events), series = series_flush(r->series);
	int flows = spool_flush(&r->flows.spool);

	return events ? events : series ? series : flows;
}

uint64_t recorder_lost(const struct recorder *r, int *ret_why)
{
	int why = -ENOMEM;
	uint64_t lost = r->lost + r->flows.lost + event_log_lost(r->events, &why);

	lost += series_lost(r->series, &why) + r->flows.spool.lost;
	if (r->flows.spool.lost)
		why = r->flows.spool.why_lost;
	if (lost)
		*ret_why = why;
	return lost;
}

static void end_series(struct recorder *r)
{
	if (!r->written) {
		bursts_end(r);
		for (uint32_t i = PORT_FIRST * CLASSES; i < r->port_end * CLASSES; i++)
			pauses_end(r, i / CLASSES, i % CLASSES);
	}
	r->written = true;
}

int recorder_write(struct recorder *r, int directory)
{
	int error;

	end_series(r);
	error = event_log_write(r->events, directory, "events.jsonl" OUTSTREAM_NEW);
	if (error == 0 && r->flows.spool.fd >= 0)
		error = spool_copy(&r->flows.spool, directory, "flows.csv" OUTSTREAM_NEW);
	return error == 0 ? series_write(r->series, directory) : error;
}

void recorder_done(struct recorder *r)
{
	event_log_remove(r->events);
	flow_rows_remove(&r->flows);
	series_remove(r->series);
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	flow_rows_release(&r->flows);
	series_free(r->series);
	event_log_free(r->events);
	free(r->bursts);
	free(r->pauses);
	free(r);
}

int recorder_write_pauses(
	int directory, const struct engine *e, recorder_port_name port_name, const void *name_arg)
{
	const struct sw_tables *t = engine_tables(e);
	char name[RECORDER_NAME];
	struct outstream out;
	bool lossless[CLASSES] = {0}; /* at switches, and so at hosts, which obey */
	int r = outstream_create(&out, directory, "pauses.csv" OUTSTREAM_NEW);

	if (r < 0)
		return r;
	fprintf(out.file, "port,class,pauses_sent,resumes_sent,pauses_received,paused_us,"
			  "max_ingress_bytes\n");
	for (uint32_t i = PORT_FIRST * CLASSES; i < t->count.queues; i++)
		lossless[i % CLASSES] |= t->queues[i].lossless;
	for (uint32_t i = PORT_FIRST * CLASSES; i < t->count.queues; i++) {
		const struct ingress *in = &t->ingresses[i];
		uint32_t port = i / CLASSES, class = i % CLASSES;

		if (lossless[class])
			fprintf(out.file, "%s,%u,%llu,%llu,%llu,%.6f,%u\n",
				port_name(name_arg, port, name), class,
				(unsigned long long)in->pauses_sent,
				(unsigned long long)in->resumes_sent,
				(unsigned long long)in->pauses_received,
				(double)engine_paused(e, port, class) / PS_PER_US, in->max_bytes);
	}
	return outstream_close(&out);
}
