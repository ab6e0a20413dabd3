/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* imbalance.csv: how unevenly a switch uses its uplinks. */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "telemetry/series_rows.h"

struct uplink {
	uint32_t node, port;
	uint64_t tx_bytes; /* at the last sample */
};

struct uplinks {
	struct uplink *items; /* those of a switch stand together */
	size_t count;
};

/* A switch's ports to nodes of higher levels, if there are at least two. */
static int add_switch(struct series *s, struct uplinks *u, uint32_t node)
{
	const struct series_params *p = s->params;
	const struct net_node *n = &p->net->nodes[node];
	uint32_t level = p->node_level(p->name_arg, node);
	size_t before = u->count;

	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++) {
		uint32_t to = p->net->ports[p->net->ports[id].peer].node;

		if (p->node_level(p->name_arg, to) > level &&
			ARRAY_ADD(u->items, u->count, (struct uplink){node, id, 0}) < 0)
			return -ENOMEM;
	}
	if (u->count - before < 2)
		u->count = before;
	return 0;
}

static int imbalance_open(struct series *s)
{
	struct uplinks *u = s->state = calloc(1, sizeof(*u));
	int r = u ? 0 : -ENOMEM;

	for (uint32_t i = s->params->net->host_count; r == 0 && i < s->params->net->node_count; i++)
		r = add_switch(s, u, i);
	return r;
}

static void imbalance_release(struct series *s)
{
	struct uplinks *u = s->state;

	free(u->items);
	free(u);
}

/* Bytes of a switch's uplinks in the interval. */
struct spread {
	uint64_t least, most, sum, count;
};

static void put_switch(struct series *s, uint32_t node, const struct spread *x, uint64_t now_ps)
{
	char name[RECORDER_NAME];
	struct series_row row;

	row_begin(&row, now_ps);
	row_text(&row, s->params->node_name(s->params->name_arg, node, name));
	if (x->sum)
		row_millionths(&row, (uint64_t)((double)(x->most - x->least) * 1e6 *
							(double)x->count / (double)x->sum +
						0.5));
	else
		row_none(&row);
	row_millionths(&row, series_kbps(x->sum, (now_ps - s->last_ps) * x->count));
	row_end(s, &row);
}

static void imbalance_sample(struct series *s, const struct engine *e, uint64_t now_ps)
{
	const struct sw_tables *t = engine_tables(e);
	struct uplinks *u = s->state;

	for (size_t i = 0; i < u->count;) {
		struct spread x = {.least = UINT64_MAX};
		uint32_t node = u->items[i].node;

		for (; i < u->count && u->items[i].node == node; i++) {
			uint64_t now = t->ports[u->items[i].port].tx_bytes;
			uint64_t bytes = now - u->items[i].tx_bytes;

			x.least = min_u64(x.least, bytes);
			x.most = max_u64(x.most, bytes);
			x.sum += bytes;
			x.count++;
			u->items[i].tx_bytes = now;
		}
		put_switch(s, node, &x, now_ps);
	}
}

const struct series_ops series_imbalance = {
	.file = "imbalance.csv",
	.spool_name = "imbalance.csv.part",
	.titles = "t_us,switch,imbalance,mean_gbps\n",
	.open = imbalance_open,
	.sample = imbalance_sample,
	.release = imbalance_release,
};
