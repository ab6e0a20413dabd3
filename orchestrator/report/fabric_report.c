/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/fabric_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/netgraph.h"
#include "base/units.h"
#include "report/fabric_report_parts.h"
#include "topology/topology_kind.h"

/* Pairs of hosts whose shortest paths have that many links. */
struct paths {
	uint32_t links;
	uint64_t least, most; /* equal-cost paths of a pair */
};

static uint64_t add_paths(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

/* Numbers of shortest paths from edge switch e to all others. */
static void count_paths(
	const struct netgraph *g, uint32_t e, uint8_t *dist, uint32_t *order, uint64_t *paths)
{
	uint32_t reached = netgraph_walk(g, g->edges[e], NULL, dist, order);

	memset(paths, 0, g->net->switch_count * sizeof(*paths));
	paths[g->edges[e]] = 1;
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t from = order[i];

		for (uint32_t a = g->first[from]; a < g->first[from + 1]; a++) {
			uint32_t to = g->arcs[a].to;

			if (dist[to] == dist[from] + 1)
				paths[to] = add_paths(paths[to], paths[from]);
		}
	}
}

/* Enters what the walk from edge e found; rows are indexed by hops between edge switches. */
static void enter_paths(struct paths *rows, const struct netgraph *g, uint32_t e,
	const uint8_t *dist, const uint64_t *paths)
{
	for (uint32_t other = 0; other < g->edge_count; other++) {
		uint32_t s = g->edges[other];
		struct paths *row = &rows[dist[s]];

		/* A switch with a single host has no pair of its own, one of another plane none. */
		if ((other == e && g->host_first[e + 1] - g->host_first[e] < 2) ||
			dist[s] == NETGRAPH_FAR)
			continue;
		if (!row->links || paths[s] < row->least)
			row->least = paths[s];
		if (paths[s] > row->most)
			row->most = paths[s];
		row->links = dist[s] + 2u;
	}
}

static int find_paths(struct paths *rows, const struct fabric *f)
{
	size_t switches = (size_t)f->net.switch_count + 1;
	uint8_t *dist = calloc(switches, sizeof(*dist));
	uint32_t *order = calloc(switches, sizeof(*order));
	uint64_t *paths = calloc(switches, sizeof(*paths));
	struct netgraph g = NETGRAPH_INIT;
	int err = dist && order && paths ? netgraph_init(&g, &f->net) : -ENOMEM;
	uint32_t sources = err ? 0 : f->regular ? 1 : g.edge_count;

	for (uint32_t i = 0; i < sources; i++) {
		count_paths(&g, i, dist, order, paths);
		enter_paths(rows, &g, i, dist, paths);
	}
	netgraph_release(&g);
	free(dist);
	free(order);
	free(paths);
	return err;
}

/* Where the two hosts of such a pair are. */
static const char *whereabouts(const struct topology_kind *kind, uint32_t links)
{
	return links == 2 ? "under one switch" : links == 4 ? kind->near : kind->far;
}

static json_t *report_paths(const struct fabric *f, const struct topology_kind *kind)
{
	struct paths *rows = calloc(NETGRAPH_FAR + 1, sizeof(*rows));
	json_t *array = rows && find_paths(rows, f) == 0 ? json_array() : NULL;

	for (uint32_t i = 0; array && i <= NETGRAPH_FAR; i++)
		if (rows[i].links)
			json_array_append_new(array, json_pack("{s:s, s:I, s:I, s:I}", "pairs",
							     whereabouts(kind, rows[i].links),
							     "links", (json_int_t)rows[i].links,
							     "least", (json_int_t)rows[i].least,
							     "most", (json_int_t)rows[i].most));
	free(rows);
	return array;
}

/* How much more comes from below a switch than goes up: 1 is balanced; 0: it has no ports up. */
static double oversubscription(const struct fabric *f, uint32_t node)
{
	const struct net_node *sw = &f->net.nodes[node];
	double down = 0, up = 0;

	for (uint32_t i = 0; i < sw->port_count; i++) {
		const struct net_port *port = &f->net.ports[sw->first_port + i];
		uint32_t tier = f->nodes[f->net.ports[port->peer].node].tier;

		if (tier < f->nodes[node].tier)
			down += (double)port->rate_bps;
		else if (tier > f->nodes[node].tier)
			up += (double)port->rate_bps;
	}
	return up > 0 ? down / up : 0;
}

/* From the switches that hosts hang on upwards; of the worst switch of a tier. */
static json_t *report_tiers(const struct fabric *f)
{
	json_t *array = json_array();

	for (uint32_t tier = 1; tier < f->tier_count; tier++) {
		json_int_t switches = 0;
		double worst = 0;

		for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
			double ratio = f->nodes[i].tier == tier ? oversubscription(f, i) : 0;

			switches += f->nodes[i].tier == tier;
			if (ratio > worst)
				worst = ratio;
		}
		json_array_append_new(
			array, json_pack("{s:I, s:o}", "switches", switches, "oversubscription",
				       worst > 0 ? json_real(worst) : json_null()));
	}
	return array;
}

static json_t *report_estimate(const struct report_load *load)
{
	const struct report_cost *kernel = &load->kernel, *in_process = &load->in_process;

	return json_pack("{s:{s:f, s:f}, s:{s:f, s:f}}", "kernel", "memory_mb", kernel->memory_mb,
		"wall_s", kernel->wall_s, "inline", "memory_mb", in_process->memory_mb, "wall_s",
		in_process->wall_s);
}

static json_t *report_series(const struct report_load *load)
{
	json_t *array = json_array();

	for (size_t i = 0; i < load->series_count; i++) {
		const struct report_series *s = &load->series[i];
		bool known = s->rows != UINT64_MAX;

		json_array_append_new(array,
			json_pack("{s:s, s:f, s:o, s:o}", "file", s->file, "every_us", s->every_us,
				"rows", known ? json_integer((json_int_t)s->rows) : json_null(),
				"size_mb", real_or_null(known, s->mb)));
	}
	return array;
}

/* What a message has of the links: null where nothing is sent. */
static json_t *report_share(const struct report_load *load)
{
	if (load->no_share[0])
		return json_pack("{s:s}", "unknown", load->no_share);
	if (!load->most_share_bps)
		return json_null();
	return json_pack("{s:I, s:I}", "least_bps", (json_int_t)load->least_share_bps, "most_bps",
		(json_int_t)load->most_share_bps);
}

/* NICs of servers, where they are more than one. */
static json_t *report_servers(const struct fabric *f, const struct scenario *s)
{
	static const struct {
		const char *word, *where;
	} to[] = {
		[NICS_TO_LEAF] = {"leaf", "all of a server at one leaf"},
		[NICS_TO_RAILS] = {"rails", "NIC r at leaf r of the server's group of leaves"},
		[NICS_TO_PLANES] = {"planes", "NIC p in plane p, which no path joins with others"},
	};
	bool listed =
		topology_kinds[s->topology.kind]->listed && s->topology.nics_to == NICS_TO_LEAF;

	return json_pack("{s:I, s:I, s:s, s:s}", "count",
		(json_int_t)fabric_server(f, f->net.host_count), "nics", (json_int_t)f->nics,
		"nics_to", to[s->topology.nics_to].word, "where",
		listed ? "where their links are" : to[s->topology.nics_to].where);
}

/* How many runs `fabricbed sweep` would do. */
static json_t *report_sweep(const struct scenario *s)
{
	json_int_t points = 1, variants = s->variant_count ? (json_int_t)s->variant_count : 1;
	json_int_t seeds = s->sweep.seeds.count ? (json_int_t)s->sweep.seeds.count : 1;

	for (size_t i = 0; i < s->sweep.grid_count; i++)
		points *= (json_int_t)s->sweep.grid[i].value_count;
	return json_pack("{s:I, s:I, s:I, s:I}", "points", points, "variants", variants, "seeds",
		seeds, "runs", points * variants * seeds);
}

json_t *fabric_report(
	const struct fabric *f, const struct scenario *s, const struct report_load *load)
{
	const struct topology_kind *kind = topology_kinds[s->topology.kind];
	size_t more = 0;
	json_t *failures = report_failures(f, s, &more);
	json_t *picked = report_picked(f, s), *report;

	report = json_pack(
		"{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:f, s:I, s:I,"
		" s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:f, s:o}, s:o, s:o, s:o}",
		"scenario", s->name, "topology", kind->title, "hosts",
		(json_int_t)f->net.host_count, "switches", (json_int_t)f->net.switch_count, "links",
		(json_int_t)f->net.link_count, "ports", (json_int_t)f->net.port_count, "tiers",
		report_tiers(f), "paths", report_paths(f, kind), "host_rate_bps",
		(json_int_t)f->host_rate_bps, "base_rtt_us", (double)f->base_rtt_ps / PS_PER_US,
		"bdp_bytes", (json_int_t)f->bdp_bytes, "packet_bytes", (json_int_t)f->packet_bytes,
		"switch", report_switch(f, s), "transport_dscps", report_dscps(f, s, load),
		"failures", failures, "failures_more", (json_int_t)more, "clock", report_clock(s),
		"stack", report_stack(f, s), "external", report_external(s), "workload", "flows",
		(json_int_t)load->flows, "bytes", (json_int_t)load->bytes, "packets",
		(json_int_t)load->packets, "ideal_us", (double)load->ideal_ps / PS_PER_US,
		"fair_share", report_share(load), "estimate", report_estimate(load), "series",
		report_series(load), "notes", report_notes(f, s, load));
	if (!picked || json_array_size(picked))
		json_object_set(report, "picked", picked);
	json_decref(picked);
	if (s->transport_count || scenario_has_parts(&s->host.transport))
		json_object_set_new(report, "transports", report_transports(f, s, load));
	if (f->nics > 1)
		json_object_set_new(report, "servers", report_servers(f, s));
	if (s->sweep.on)
		json_object_set_new(report, "sweep", report_sweep(s));
	return report;
}
