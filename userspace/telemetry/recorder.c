/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/drop_name.h"
#include "base/units.h"

/* Drops at one port for one reason, or pauses of one queue, with no gap longer than this are one event. */
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

/*
 * A line of events.jsonl. A burst of drops is known when it has ended, but belongs where it began. Which of two ports tells
 * first depends on where the engine was stopped, so that at one time the port decides.
 */
struct line {
	uint64_t at_ps;
	uint32_t port; /* 0: of no port */
	uint32_t kind; /* reason or class, to tell apart what begins at one port at one time */
	size_t number; /* in the order in which they became known */
	char *text;
};

struct recorder {
	struct recorder_params params;
	FILE *queues, *events;
	struct line *lines;
	size_t line_count, line_capacity;
	bool out_of_memory;
	struct burst (*bursts)[DROP_REASON_COUNT]; /* by port id */
	struct pauses (*pauses)[CLASSES];          /* by port id */
	uint8_t *was_occupied;                     /* by port id, a bit a class */
	uint32_t port_end;
};

static FILE *open_in(const char *directory, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "we");
}

static int recorder_open_files(struct recorder *r)
{
	if (!r->params.directory)
		return 0;
	r->events = open_in(r->params.directory, "events.jsonl");
	if (!r->events)
		return -errno;
	if (!r->params.queues)
		return 0;
	r->queues = open_in(r->params.directory, "queues.csv");
	if (!r->queues)
		return -errno;
	fprintf(r->queues, "t_us,port,class,depth_bytes\n");
	return 0;
}

int recorder_new(struct recorder **ret, const struct recorder_params *params)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int error = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->params = *params;
	r->port_end = PORT_FIRST + params->net->port_count;
	r->bursts = calloc(r->port_end, sizeof(*r->bursts));
	r->pauses = calloc(r->port_end, sizeof(*r->pauses));
	r->was_occupied = calloc(r->port_end, 1);
	if (r->bursts && r->pauses && r->was_occupied)
		error = recorder_open_files(r);
	if (error < 0) {
		recorder_close(r);
		return error;
	}
	*ret = r;
	return 0;
}

static bool lines_reserve(struct recorder *r)
{
	size_t capacity = r->line_capacity ? 2 * r->line_capacity : 64;
	struct line *lines;

	if (r->line_count < r->line_capacity)
		return true;
	lines = realloc(r->lines, capacity * sizeof(*lines));
	if (!lines)
		return false;
	r->lines = lines;
	r->line_capacity = capacity;
	return true;
}

static void add_line(
	struct recorder *r, uint64_t now_ps, uint32_t port, uint32_t kind, json_t *event)
{
	json_t *whole = json_pack("{s:f}", "t_us", (double)now_ps / PS_PER_US);
	char *text = NULL;

	if (whole && event && json_object_update(whole, event) == 0)
		text = json_dumps(whole, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(whole);
	json_decref(event);
	if (!text || !lines_reserve(r)) {
		free(text);
		r->out_of_memory = true;
		return;
	}
	r->lines[r->line_count] = (struct line){now_ps, port, kind, r->line_count, text};
	r->line_count++;
}

void recorder_event(struct recorder *r, uint64_t now_ps, json_t *event)
{
	add_line(r, now_ps, 0, 0, event);
}

static int compare_lines(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->at_ps != b->at_ps)
		return a->at_ps < b->at_ps ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void lines_write(struct recorder *r)
{
	qsort(r->lines, r->line_count, sizeof(*r->lines), compare_lines);
	for (size_t i = 0; i < r->line_count; i++) {
		if (r->events)
			fprintf(r->events, "%s\n", r->lines[i].text);
		free(r->lines[i].text);
	}
	free(r->lines);
}

/* Where a reader looks for it: what died on a link by the link's direction, the rest where it was queued. */
static uint32_t burst_port(const struct recorder *r, uint32_t port, enum drop_reason reason)
{
	return drop_on_wire(reason) ? r->params.net->ports[port].peer : port;
}

static void burst_end(struct recorder *r, uint32_t port, enum drop_reason reason)
{
	struct burst *b = &r->bursts[port][reason];
	char name[RECORDER_NAME];

	if (!b->frames)
		return;
	add_line(r, b->first_ps, port, CLASSES + reason,
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
	add_line(r, p->first_ps, port, class,
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

void recorder_end(struct recorder *r, uint64_t now_ps)
{
	for (uint32_t i = PORT_FIRST * CLASSES; i < r->port_end * CLASSES; i++) {
		struct pauses *p = &r->pauses[i / CLASSES][i % CLASSES];

		if (!p->lasts)
			continue;
		pause_ends(p, now_ps);
		p->lasts = true;
	}
}

void recorder_sample(struct recorder *r, const struct engine *e, uint64_t now_ps)
{
	char name[RECORDER_NAME];

	if (!r->queues)
		return;
	for (uint32_t i = PORT_FIRST * CLASSES; i < r->port_end * CLASSES; i++) {
		uint32_t port = i / CLASSES, class = i % CLASSES;
		uint32_t depth = engine_queue_depth(e, port, class);
		uint8_t bit = (uint8_t)(1u << class);

		if (depth || r->was_occupied[port] & bit)
			fprintf(r->queues, "%.6f,%s,%u,%u\n", (double)now_ps / PS_PER_US,
				r->params.port_name(r->params.name_arg, port, name), class, depth);
		r->was_occupied[port] =
			(uint8_t)((r->was_occupied[port] & ~bit) | (depth ? bit : 0));
	}
}

/* -EIO if something was lost earlier: what the reason was then is no longer known. */
static int close_file(FILE *f)
{
	int r;

	if (!f)
		return 0;
	r = ferror(f) ? -EIO : 0;
	if (fflush(f) && errno)
		r = -errno;
	if (fclose(f) && r == 0)
		r = -errno;
	return r;
}

int recorder_close(struct recorder *r)
{
	int events, queues, lost;

	if (!r)
		return 0;
	if (r->bursts)
		bursts_end(r);
	for (uint32_t i = PORT_FIRST * CLASSES; r->pauses && i < r->port_end * CLASSES; i++)
		pauses_end(r, i / CLASSES, i % CLASSES);
	if (r->lines)
		lines_write(r);
	events = close_file(r->events);
	queues = close_file(r->queues);
	free(r->bursts);
	free(r->pauses);
	free(r->was_occupied);
	lost = r->out_of_memory ? -ENOMEM : 0;
	free(r);
	return events ? events : queues ? queues : lost;
}

static void write_flow(FILE *out, const struct engine *e, uint32_t flow,
	recorder_port_name host_name, const void *arg)
{
	char src[RECORDER_NAME], dst[RECORDER_NAME];
	struct engine_flow_result f;

	engine_flow_result(e, flow, &f);
	fprintf(out, "%u,%s,%s,%llu,", flow, host_name(arg, f.flow.src_host, src),
		host_name(arg, f.flow.dst_host, dst), (unsigned long long)f.flow.bytes);
	/* what did not happen is an empty field */
	if (f.start_ps != UINT64_MAX)
		fprintf(out, "%.6f", (double)f.start_ps / PS_PER_US);
	fputc(',', out);
	if (f.finish_ps)
		fprintf(out, "%.6f", (double)(f.finish_ps - f.start_ps) / PS_PER_US);
	fputc(',', out);
	if (f.delivered_ps)
		fprintf(out, "%.6f", (double)(f.delivered_ps - f.start_ps) / PS_PER_US);
	fprintf(out, ",%llu,%llu,%u,%llu\n", (unsigned long long)f.sender.retransmitted,
		(unsigned long long)f.receiver.duplicates, f.sender.paths_used,
		(unsigned long long)f.sender.timeouts);
}

int recorder_write_flows(const char *directory, const struct engine *e,
	recorder_port_name host_name, const void *name_arg)
{
	FILE *out = open_in(directory, "flows.csv");
	struct engine_stats s;

	if (!out)
		return -errno;
	engine_stats(e, &s);
	fprintf(out,
		"id,source,destination,bytes,start_us,fct_us,delivery_us,retransmissions,spurious,"
		"paths,timeouts\n");
	for (uint32_t i = 0; i < s.flows; i++)
		write_flow(out, e, i, host_name, name_arg);
	return close_file(out);
}

int recorder_write_pauses(const char *directory, const struct engine *e,
	recorder_port_name port_name, const void *name_arg)
{
	const struct sw_tables *t = engine_tables(e);
	FILE *out = open_in(directory, "pauses.csv");
	char name[RECORDER_NAME];

	if (!out)
		return -errno;
	fprintf(out, "port,class,pauses_sent,resumes_sent,pauses_received,paused_us,"
		     "max_ingress_bytes\n");
	for (uint32_t i = PORT_FIRST * CLASSES; i < t->queue_count; i++) {
		const struct ingress *in = &t->ingresses[i];
		uint32_t port = i / CLASSES, class = i % CLASSES;
		uint64_t paused = engine_paused(e, port, class);

		if (in->pauses_sent || in->pauses_received || paused || in->max_bytes)
			fprintf(out, "%s,%u,%llu,%llu,%llu,%.6f,%u\n",
				port_name(name_arg, port, name), class,
				(unsigned long long)in->pauses_sent,
				(unsigned long long)in->resumes_sent,
				(unsigned long long)in->pauses_received, (double)paused / PS_PER_US,
				in->max_bytes);
	}
	return close_file(out);
}
