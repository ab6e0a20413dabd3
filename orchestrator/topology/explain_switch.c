/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/explain_parts.h"

#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/headroom.h"

static void explain_pools(struct explain *e, const struct fabric *f)
{
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		struct explain_pool pool = {
			f->nodes[i].name, fabric_pool(f, i), fabric_pool_left(f, i)};

		if (!e->smallest.name || pool.left < e->smallest.left)
			e->smallest = pool;
		if (!e->largest.name || pool.left > e->largest.left)
			e->largest = pool;
	}
}

static uint64_t sent_in(uint64_t ps, uint64_t rate_bps)
{
	return (uint64_t)((unsigned __int128)ps * rate_bps / (8 * PS_PER_S));
}

static struct explain_headroom headroom_row(const struct fabric *f, uint32_t class, uint32_t link)
{
	const struct fabric_class *c = &f->switching.classes[class];
	const struct net_port *port = &f->net.ports[f->links[link].a];
	struct explain_headroom row = {
		.class = class,
		.rate_bps = port->rate_bps,
		.delay_ps = port->delay_ps,
		.bytes = fabric_headroom(f, c, f->links[link].a),
		.automatic = c->headroom_bytes == UINT64_MAX,
		.frame = wire_bytes(f->packet_bytes),
		.pfc = wire_bytes(PFC_FRAME),
		.control = f->switching.control_bytes,
		.flight = sent_in(2 * port->delay_ps, port->rate_bps),
		.response = sent_in(f->switching.response_ps, port->rate_bps),
	};

	fabric_link_name(f, link, row.name);
	if (f->switching.shared)
		return row;
	row.xoff_bytes = c->xoff_bytes == UINT64_MAX ? c->limit_bytes - row.bytes : c->xoff_bytes;
	row.xon_bytes = row.xoff_bytes > c->xon_bytes ? row.xoff_bytes - c->xon_bytes : 0;
	return row;
}

/* By rate and delay; the first of equal links stands for them. */
static int compare_links(const void *a, const void *b, void *fabric)
{
	const struct fabric *f = fabric;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct net_port *p = &f->net.ports[f->links[x].a], *q = &f->net.ports[f->links[y].a];

	if (p->rate_bps != q->rate_bps)
		return p->rate_bps < q->rate_bps ? -1 : 1;
	if (p->delay_ps != q->delay_ps)
		return p->delay_ps < q->delay_ps ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool same_kind(const struct explain_headroom *a, const struct explain_headroom *b)
{
	return a->class == b->class && a->rate_bps == b->rate_bps && a->delay_ps == b->delay_ps;
}

static int add_headroom(struct explain *e, struct explain_headroom *row)
{
	if (e->headroom_count && same_kind(&e->headrooms[e->headroom_count - 1], row)) {
		e->headrooms[e->headroom_count - 1].links++;
		return 0;
	}
	row->links = 1;
	return ARRAY_ADD(e->headrooms, e->headroom_count, *row);
}

static int explain_headrooms(struct explain *e, const struct fabric *f)
{
	uint32_t *links = calloc((size_t)f->net.link_count + 1, sizeof(*links));
	int err = links ? 0 : -ENOMEM;

	for (uint32_t l = 0; !err && l < f->net.link_count; l++)
		links[l] = l;
	if (!err)
		qsort_r(links, f->net.link_count, sizeof(*links), compare_links, (void *)f);
	for (uint32_t i = 0; !err && i < SCENARIO_CLASSES; i++) {
		if (!f->switching.classes[i].used || !f->switching.classes[i].lossless)
			continue;
		for (uint32_t l = 0; !err && l < f->net.link_count; l++) {
			struct explain_headroom row = headroom_row(f, i, links[l]);

			err = add_headroom(e, &row);
		}
	}
	free(links);
	return err;
}

int explain_switch(struct explain *e, const struct fabric *f)
{
	if (f->switching.shared)
		explain_pools(e, f);
	return explain_headrooms(e, f);
}
