/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_series.csv: what a port sent, was offered, dropped, and was paused, in each interval. */
#include <errno.h>
#include <stdlib.h>
#include "base/drop_name.h"
#include "telemetry/port_counts.h"
#include "telemetry/series_rows.h"

struct ports {
	struct series_port *ports;
	struct port_counts *last; /* at the last sample */
	uint32_t count;
	/* By port id, since the last sample: bytes that its egress queues refused, or lost. */
	uint64_t *refused_bytes;
};

static int ports_open(struct series *s)
{
	struct ports *p = s->state = calloc(1, sizeof(*p));
	int r = p ? series_match_ports(s, false, &p->ports, &p->count) : -ENOMEM;

	if (r < 0)
		return r;
	p->last = calloc(p->count + 1, sizeof(*p->last));
	p->refused_bytes =
		calloc(PORT_FIRST + s->params->net->port_count, sizeof(*p->refused_bytes));
	return p->last && p->refused_bytes ? 0 : -ENOMEM;
}

static void ports_release(struct series *s)
{
	struct ports *p = s->state;

	series_release_ports(p->ports, p->count);
	free(p->last);
	free(p->refused_bytes);
	free(p);
}

static void ports_dropped(struct series *s, uint32_t port, enum drop_reason reason, uint32_t bytes)
{
	struct ports *p = s->state;

	/* a host's own queue is an egress too */
	if (drop_place(reason) == DROP_AT_EGRESS || reason == DROP_HOST_QUEUE)
		p->refused_bytes[port] += bytes;
}

/* What its queues were offered so far, but for what they refused: all that left or is in them. */
static uint64_t admitted(const struct port_counts *c)
{
	return c->tx_bytes - c->tx_control_bytes + c->held_bytes;
}

static void ports_sample(struct series *s, const struct engine *e, uint64_t now_ps)
{
	struct ports *p = s->state;
	uint64_t ps = now_ps - s->last_ps;

	for (uint32_t i = 0; i < p->count; i++) {
		const struct port_counts now = port_counts(e, p->ports[i].port), *was = &p->last[i];
		uint64_t *refused = &p->refused_bytes[p->ports[i].port];
		struct series_row row;

		row_begin(&row, now_ps);
		row_text(&row, p->ports[i].name);
		row_millionths(&row, series_kbps(now.tx_bytes - was->tx_bytes, ps));
		row_millionths(&row, series_kbps(admitted(&now) + *refused - admitted(was), ps));
		row_count(&row, now.marked - was->marked);
		row_count(&row, now.dropped - was->dropped);
		row_millionths(&row, now.paused_ps - was->paused_ps);
		row_count(&row, now.depth_bytes);
		row_end(s, &row);
		*refused = 0;
		p->last[i] = now;
	}
}

const struct series_ops series_ports = {
	.file = "port_series.csv",
	.spool_name = "port_series.csv.part",
	.titles = "t_us,port,tx_gbps,arrived_gbps,marked,dropped,paused_us,depth_bytes\n",
	.open = ports_open,
	.sample = ports_sample,
	.dropped = ports_dropped,
	.release = ports_release,
};
