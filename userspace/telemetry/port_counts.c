/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/port_counts.h"

#include "base/drop_name.h"
#include "base/outstream.h"
#include "base/units.h"

uint64_t port_dropped(const struct sw_tables *t, uint32_t port, enum drop_reason reason)
{
	uint32_t at = drop_place(reason) == DROP_AT_WIRE ? t->ports[port].peer : port;

	return t->drops[at].frames[reason];
}

struct port_counts port_counts(const struct engine *e, uint32_t port)
{
	const struct sw_tables *t = engine_tables(e);
	const struct port *p = &t->ports[port];
	struct port_counts c = {
		.tx_frames = p->tx_frames,
		.tx_bytes = p->tx_bytes,
		.tx_control_bytes = p->tx_control_bytes,
		.busy_ps = engine_busy(e, port),
		.rx_frames = p->rx_frames,
		.marked = t->ports[p->peer].marked_frames,
		.trimmed = p->trimmed_frames,
	};

	for (unsigned i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++)
		c.dropped += port_dropped(t, port, (enum drop_reason)i);
	for (uint32_t class = 0; class < CLASSES; class ++) {
		const struct queue *q = &t->queues[port * CLASSES + class];
		const struct ingress *in = &t->ingresses[port * CLASSES + class];

		c.pauses_sent += in->pauses_sent;
		c.pauses_received += in->pauses_received;
		c.paused_ps += engine_paused(e, port, class);
		c.held_bytes += q->depth_bytes;
		if (q->depth_bytes > c.depth_bytes)
			c.depth_bytes = q->depth_bytes;
		if (q->max_depth_bytes > c.max_depth_bytes)
			c.max_depth_bytes = q->max_depth_bytes;
	}
	return c;
}

double port_utilisation(const struct engine *e, const struct port_counts *c)
{
	uint64_t now = engine_now(e);

	return now ? (double)c->busy_ps / (double)now : 0;
}

/* X(title, format, value) of port, whose counts are c; drops by reason stand between the two. */
#define COUNTED(X, name) X(#name, "%llu", (unsigned long long)c.name)
#define FIRST_COLUMNS(X)                                                                           \
	X("port", "%s", port_name(name_arg, port, name))                                           \
	X("rate_gbps", "%.6f", (double)engine_link_rate(e, port) / 1e9)                            \
	COUNTED(X, tx_frames)                                                                      \
	COUNTED(X, tx_bytes)                                                                       \
	X("utilisation", "%.6f", port_utilisation(e, &c))                                          \
	COUNTED(X, rx_frames)                                                                      \
	COUNTED(X, marked)                                                                         \
	COUNTED(X, trimmed)                                                                        \
	COUNTED(X, dropped)
#define LAST_COLUMNS(X)                                                                            \
	X("max_depth_bytes", "%u", c.max_depth_bytes)                                              \
	COUNTED(X, pauses_sent)                                                                    \
	COUNTED(X, pauses_received)                                                                \
	X("paused_us", "%.6f", (double)c.paused_ps / PS_PER_US)

static void put_titles(FILE *out)
{
#define X(title, format, value) title ","
	fputs(FIRST_COLUMNS(X), out);
	for (unsigned i = DROP_NONE + 1; drop_name(i); i++)
		fprintf(out, "dropped_%s,", drop_name(i));
#undef X
#define X(title, format, value) "," title
	fputs(&(LAST_COLUMNS(X) "\n")[1], out);
#undef X
}

static void put_row(FILE *out, const struct engine *e, uint32_t port, recorder_port_name port_name,
	const void *name_arg)
{
	const struct port_counts c = port_counts(e, port);
	char name[RECORDER_NAME];

#define X(title, format, value) fprintf(out, format ",", value);
	FIRST_COLUMNS(X)
	for (unsigned i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++)
		fprintf(out, "%llu%s",
			(unsigned long long)port_dropped(
				engine_tables(e), port, (enum drop_reason)i),
			i + 1 < DROP_REASON_COUNT ? "," : "");
#undef X
#define X(title, format, value) fprintf(out, "," format, value);
	LAST_COLUMNS(X)
#undef X
	fputc('\n', out);
}

int ports_write(int directory, const struct engine *e, uint32_t port_count,
	recorder_port_name port_name, const void *name_arg)
{
	struct outstream out;
	int r = outstream_create(&out, directory, "ports.csv" OUTSTREAM_NEW);

	if (r < 0)
		return r;
	put_titles(out.file);
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + port_count; port++)
		put_row(out.file, e, port, port_name, name_arg);
	return outstream_close(&out);
}
