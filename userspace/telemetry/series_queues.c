/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* queues.csv: how deep queues are. */
#include <errno.h>
#include <stdlib.h>
#include "base/wiretime.h"
#include "telemetry/series_rows.h"

struct queues {
	struct series_port *ports;
	uint32_t count;
};

static int queues_open(struct series *s)
{
	struct queues *q = s->state = calloc(1, sizeof(*q));

	return q ? series_match_ports(s, true, &q->ports, &q->count) : -ENOMEM;
}

static void queues_release(struct series *s)
{
	struct queues *q = s->state;

	series_release_ports(q->ports, q->count);
	free(q);
}

static bool is_deep(const struct series_spec *spec, uint32_t bytes, uint64_t ps)
{
	if (spec->above.unit == QUANTITY_AUTO)
		return true;
	return (double)(spec->above.unit == QUANTITY_TIME ? ps : bytes) > spec->above.value;
}

static void queues_sample(struct series *s, const struct engine *e, uint64_t now_ps)
{
	const struct queues *q = s->state;

	for (uint32_t i = 0; i < q->count * CLASSES; i++) {
		const struct series_port *port = &q->ports[i / CLASSES];
		uint32_t class = i % CLASSES;
		struct series_row row;
		uint64_t delay_ps;
		uint32_t depth;

		if (!(s->params->classes >> class & 1))
			continue;
		depth = engine_queue_depth(e, port->port, class);
		delay_ps = depth ? bytes_ps(depth, engine_link_rate(e, port->port)) : 0;
		if (!is_deep(&s->spec, depth, delay_ps))
			continue;
		row_begin(&row, now_ps);
		row_text(&row, port->name);
		row_count(&row, class);
		row_count(&row, depth);
		row_millionths(&row, delay_ps);
		row_end(s, &row);
	}
}

const struct series_ops series_queues = {
	.file = "queues.csv",
	.spool_name = "queues.csv.part",
	.titles = "t_us,port,class,depth_bytes,delay_us\n",
	.open = queues_open,
	.sample = queues_sample,
	.release = queues_release,
};
