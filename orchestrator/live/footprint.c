/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/footprint.h"

#include "abi/state.h"
#include "engine/pool.h"
#include "live/setup.h"

/*
 * What is not computed below, measured on amd64: the process and its libraries; of a port, what the engine, the recorder and
 * the fabric keep of it beside the dataplane's tables, a node's share included; of a flow, its places in the engine, its events, and
 * the message that it was while it was set up.
 */
#define PROCESS_BYTES (5u << 20)
#define PORT_BYTES    470u
#define FLOW_BYTES    264u

#define PAGE 4096u

/*
 * A switch uses about as many groups as it has ports while all links are up, of those that are laid out for it; the system
 * backs whole pages of them.
 */
static uint64_t switch_bytes(const struct fabric *f, uint32_t node)
{
	uint64_t groups = f->net.nodes[node].port_count * sizeof(struct group);
	uint64_t blocks = (f->net.host_count + ROUTE_BLOCK - 1) / ROUTE_BLOCK;

	return blocks * sizeof(struct route_block) + (groups + PAGE - 1) / PAGE * PAGE + PAGE / 2;
}

static uint64_t fabric_bytes(const struct scenario *s, const struct fabric *f)
{
	uint64_t port = PORT_BYTES + sizeof(struct port) +
			CLASSES * (sizeof(struct queue) + sizeof(struct ingress));
	uint64_t bytes, edges = 0;

	bytes = port * f->net.port_count;
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		edges += f->nodes[i].tier == 1;
		bytes += switch_bytes(f, i);
		if (s->sw.cnp_ps)
			bytes += FLOW_SLOTS * sizeof(struct flow_mark);
	}
	/* routing: hops from each switch to each that has hosts */
	return bytes + edges * f->net.switch_count;
}

static uint64_t flow_bytes(
	const struct scenario *s, const struct fabric *f, const struct messages *m)
{
	struct transport_env env;
	struct setup_options options;
	const struct transport_ops *ops = setup_transport(&env, &options, s, f);
	uint64_t bytes = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct flow_spec spec = {.bytes = m->items[i].bytes};

		bytes += FLOW_BYTES + ops->size(&env, &spec, true) + ops->size(&env, &spec, false);
	}
	return bytes;
}

/* Packets under way, or their answers: a window of each host that sends, however many flows it has. */
static uint64_t packet_bytes(const struct scenario *s, const struct fabric *f,
	const struct messages *m, uint64_t packets)
{
	uint64_t slot = packet_slot_bytes(setup_frame_capacity(s, f));
	struct transport_env env;
	struct setup_options options;
	double share = setup_transport(&env, &options, s, f) == &strack_transport
			       ? options.strack.window_share
			       : 1;
	uint64_t window = (uint64_t)((double)f->bdp_bytes * share) / f->packet_bytes + 1;
	uint64_t flows = m->count;

	if (flows > f->net.host_count)
		flows = f->net.host_count;
	if (packets > flows * window)
		packets = flows * window;
	return slot * packets;
}

uint64_t footprint_bytes(const struct scenario *s, const struct fabric *f, const struct messages *m,
	uint64_t packets)
{
	return PROCESS_BYTES + fabric_bytes(s, f) + flow_bytes(s, f, m) +
	       packet_bytes(s, f, m, packets);
}
