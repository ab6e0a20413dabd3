/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/ports.h"

#include "abi/wire.h"
#include "base/rng.h"

static void port_configure(
	struct sw_tables *t, const struct net *net, const struct ports_params *p, uint32_t id)
{
	const struct net_node *node = &net->nodes[net->ports[id].node];
	uint32_t peer = net->ports[id].peer;
	const struct net_node *far = &net->nodes[net->ports[peer].node];
	struct port *port = &t->ports[id];

	*port = (struct port){
		.kind = node->kind == NODE_HOST ? PORT_HOST : PORT_SWITCH,
		.switch_id = node->kind == NODE_SWITCH ? node->number : 0,
		.host = node->kind == NODE_HOST ? node->number : HOST_NONE,
		.up = 1,
		.rng = rng_stream(p->seed, "port", id),
		.buffer_bytes = p->buffer_bytes,
	};
	port_mac(id, port->mac);
	port_mac(peer, port->peer_mac);
	/* the marks that the queue at the far end makes; a host's own queue makes none */
	if (far->kind == NODE_SWITCH) {
		port->kmin_bytes = p->kmin_bytes;
		port->kmax_bytes = p->kmax_bytes;
		port->pmax = (uint32_t)(p->pmax * 65536);
	}
}

void ports_configure(struct sw_tables *t, const struct net *net, const struct ports_params *p)
{
	for (uint32_t i = 0; i < net->port_count; i++)
		port_configure(t, net, p, PORT_FIRST + i);
	for (uint32_t i = 0; i < net->switch_count; i++) {
		t->switches[i].hash_seed = rng_stream(p->seed, "switch", i);
		t->switches[i].host_count = net->host_count;
	}
}
