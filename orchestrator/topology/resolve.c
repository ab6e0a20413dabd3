/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/shared_state.h"
#include "base/netgraph.h"
#include "base/numbers.h"
#include "base/wiretime.h"
#include "scenario/scenario.h"
#include "topology/missing.h"
#include "transport/kind.h"

/* A packet sent with a TTL of 64 is forwarded 63 times. */
#define PATH_SWITCHES_MAX 63

void resolve_overrides(struct fabric *f, const struct topology_spec *t, struct diags *diags)
{
	for (size_t i = 0; i < t->override_count; i++) {
		const struct link_override *o = &t->overrides[i];
		bool matched = false;

		for (uint32_t l = 0; l < f->net.link_count; l++) {
			if (!fabric_link_matches(f, l, o->match))
				continue;
			matched = true;
			for (int end = 0; end < 2; end++) {
				struct net_port *port =
					&f->net.ports[end ? f->links[l].b : f->links[l].a];

				if (o->rate_bps)
					port->rate_bps = o->rate_bps;
				if (o->delay_ps != UINT64_MAX)
					port->delay_ps = o->delay_ps;
			}
		}
		if (!matched)
			report_no_link(f, "topology.links.match", o->match, o->pos, diags);
	}
}

struct way {
	uint64_t out, back; /* longest time of a full packet and of a SACK */
	uint32_t width;     /* equal-cost ports towards the source */
};

/* Round trips over an edge switch's two slowest host links. */
struct host_trips {
	uint64_t slowest, second;
};

/*
 * The walk that finds the fabric's longest idle round trip. With the rates and delays of a scenario
 * sums stay within 64 bits of picoseconds.
 */
struct walk {
	const struct fabric *f;
	struct netgraph g;
	uint8_t *dist;
	uint32_t *order;
	struct way *to, *over;   /* by switch, and by arc */
	struct host_trips *edge; /* by switch */
	uint64_t longest;
};

static void walk_release(struct walk *w)
{
	netgraph_release(&w->g);
	free(w->dist);
	free(w->order);
	free(w->to);
	free(w->over);
	free(w->edge);
}

static int walk_init(struct walk *w, const struct fabric *f)
{
	size_t switches = (size_t)f->net.switch_count + 1;
	int err = netgraph_init(&w->g, &f->net);

	if (err)
		return err;
	w->f = f;
	w->dist = calloc(switches, sizeof(*w->dist));
	w->order = calloc(switches, sizeof(*w->order));
	w->to = calloc(switches, sizeof(*w->to));
	w->over = calloc((size_t)f->net.port_count + 1, sizeof(*w->over));
	w->edge = calloc(switches, sizeof(*w->edge));
	return w->dist && w->order && w->to && w->over && w->edge ? 0 : -ENOMEM;
}

static void time_links(struct walk *w)
{
	const struct net *net = &w->f->net;
	uint32_t sack = sack_frame_bytes(w->f->ip6);

	for (uint32_t a = 0; a < w->g.first[net->switch_count]; a++) {
		const struct net_port *port = &net->ports[w->g.arcs[a].port];

		w->over[a].out =
			serialise_ps(w->f->packet_bytes, port->rate_bps) + net_port_flight(port);
		w->over[a].back = serialise_ps(sack, port->rate_bps) + net_port_flight(port);
	}
	for (uint32_t h = 0; h < net->host_count; h++) {
		const struct net_port *port = &net->ports[net->nodes[h].first_port];
		struct host_trips *trips = &w->edge[w->g.host_edge[h]];
		uint64_t time = serialise_ps(w->f->packet_bytes, port->rate_bps) +
				serialise_ps(sack, port->rate_bps) + net_port_flight(port) +
				net_port_flight(&net->ports[port->peer]);

		if (time > trips->slowest) {
			trips->second = trips->slowest;
			trips->slowest = time;
		} else {
			trips->second = max_u64(trips->second, time);
		}
	}
}

/* Longest ways from edge switch e to all others over any of their shortest paths. */
static uint32_t walk_from(struct walk *w, uint32_t e)
{
	uint32_t reached = netgraph_walk(&w->g, w->g.edges[e], NULL, w->dist, w->order);

	memset(w->to, 0, w->f->net.switch_count * sizeof(*w->to));
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t from = w->order[i];

		for (uint32_t a = w->g.first[from]; a < w->g.first[from + 1]; a++) {
			uint32_t s = w->g.arcs[a].to;
			struct way *to = &w->to[s];

			if (w->dist[s] != w->dist[from] + 1)
				continue;
			to->width++;
			to->out = max_u64(to->out, w->to[from].out + w->over[a].out);
			to->back = max_u64(to->back, w->to[from].back + w->over[a].back);
		}
	}
	return reached;
}

/* Returns false if what the walk from edge e found cannot work; says why. */
static bool judge_walk(struct walk *w, uint32_t e, uint32_t reached, const struct topology_spec *t,
	struct diags *diags)
{
	const struct fabric_node *switches = w->f->nodes + w->f->net.host_count;
	uint32_t far = w->order[reached - 1];

	if (w->dist[far] >= PATH_SWITCHES_MAX) {
		diags_add(diags, t->pos,
			"topology: more than %d switches between \"%s\" and \"%s\"; packets live no longer (TTL)",
			PATH_SWITCHES_MAX, switches[w->g.edges[e]].name, switches[far].name);
		return false;
	}
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t s = w->order[i];

		if (w->to[s].width <= GROUP_PORTS)
			continue;
		diags_add(diags, t->pos,
			"topology: \"%s\" has %u equal ways to \"%s\"; a switch spreads over at most %u; take fewer, faster links",
			switches[s].name, w->to[s].width, switches[w->g.edges[e]].name,
			GROUP_PORTS);
		return false;
	}
	return true;
}

static void take_longest(struct walk *w, uint32_t e)
{
	if (w->edge[e].second)
		w->longest = max_u64(w->longest, w->edge[e].slowest + w->edge[e].second);
	for (uint32_t other = 0; other < w->g.edge_count; other++) {
		const struct way *to = &w->to[w->g.edges[other]];

		if (other != e && w->dist[w->g.edges[other]] != NETGRAPH_FAR)
			w->longest = max_u64(w->longest,
				w->edge[e].slowest + w->edge[other].slowest + to->out + to->back);
	}
}

/* Whether one edge switch's view is everyone's: wired alike, and links of a tier are equal. */
static bool all_alike(const struct fabric *f)
{
	const struct net_port *first[4] = {NULL};

	if (!f->regular)
		return false;
	for (uint32_t l = 0; l < f->net.link_count; l++) {
		const struct net_port *port = &f->net.ports[f->links[l].a];
		uint32_t tier = f->nodes[port->node].tier;

		if (!first[tier])
			first[tier] = port;
		if (port->rate_bps != first[tier]->rate_bps ||
			port->delay_ps != first[tier]->delay_ps)
			return false;
	}
	return true;
}

static int walk_all(struct fabric *f, const struct topology_spec *t, struct diags *diags)
{
	struct walk w = {0};
	int err = walk_init(&w, f);

	if (!err) {
		uint32_t sources = all_alike(f) ? 1 : w.g.edge_count;

		time_links(&w);
		for (uint32_t e = 0; e < sources; e++) {
			uint32_t reached = walk_from(&w, e);

			if (!judge_walk(&w, e, reached, t, diags))
				break;
			take_longest(&w, e);
		}
		f->base_rtt_ps = w.longest;
	}
	walk_release(&w);
	return err;
}

/* Of the transport whose data has the longest headers; STrack's are reckoned with in any case. */
static uint32_t longest_frame(const struct scenario *s)
{
	uint32_t longest = data_frame_bytes(s->topology.mtu, s->host.ip6);
	const struct transport_choice *t;

	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++)
		longest = (uint32_t)max_u64(longest, frame_overhead(s->host.ip6) +
							     transport_kinds[t->kind]->data_bytes +
							     s->topology.mtu);
	return longest;
}

int resolve_times(struct fabric *f, const struct scenario *s, struct diags *diags)
{
	int err;

	f->mtu = s->topology.mtu;
	f->ip6 = s->host.ip6;
	f->packet_bytes = longest_frame(s);
	f->host_rate_bps = UINT64_MAX;
	for (uint32_t h = 0; h < f->net.host_count; h++) {
		uint64_t rate = f->net.ports[f->net.nodes[h].first_port].rate_bps;

		f->host_rate_bps = min_u64(f->host_rate_bps, rate);
	}
	f->switching.latency_ps = s->sw.latency_ps;
	net_set_latency(&f->net, s->sw.latency_ps);
	err = walk_all(f, &s->topology, diags);
	f->bdp_bytes =
		(uint64_t)((unsigned __int128)f->host_rate_bps * f->base_rtt_ps / (8 * PS_PER_S));
	return err;
}
