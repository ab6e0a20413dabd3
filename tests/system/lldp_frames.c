/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lldp_frames FILE: writes a capture of what the ports of a small fabric send for foreign decoders
 * to read: h0, tor0.0 to h0, core0 while it knows nothing, tor0.0 to core0, core0 when it knows its
 * level.
 */
#include <stdio.h>
#include <string.h>
#include "control/lldp_agent.h"

/* h0 (port 2) - tor0.0 (ports 3, 4) - core0 (port 5) */
struct fabric3 {
	struct net_node nodes[3];
	struct net_port ports[PORT_FIRST + 4];
	struct net net;
};

static void wire(struct fabric3 *f)
{
	*f = (struct fabric3){
		.nodes = {{NODE_HOST, 0, 2, 1}, {NODE_SWITCH, 0, 3, 2}, {NODE_SWITCH, 1, 5, 1}},
		.ports = {[2] = {.node = 0, .peer = 3},
			[3] = {.node = 1, .peer = 2},
			[4] = {.node = 1, .peer = 5},
			[5] = {.node = 2, .peer = 4}},
	};
	f->net = (struct net){
		.nodes = f->nodes,
		.node_count = 3,
		.host_count = 1,
		.switch_count = 2,
		.ports = f->ports,
		.port_count = 4,
		.link_count = 2,
	};
}

static const char *node_name(const void *arg, uint32_t node, char *buf)
{
	static const char *const names[] = {"h0", "tor0.0", "core0"};

	(void)arg;
	snprintf(buf, LLDP_NAME, "%s", names[node]);
	return buf;
}

static const char *port_name(const void *arg, uint32_t port, char *buf)
{
	const struct net *net = arg;
	char own[LLDP_NAME], peer[LLDP_NAME];

	snprintf(buf, LLDP_NAME, "%.30s->%.30s", node_name(NULL, net->ports[port].node, own),
		node_name(NULL, net->ports[net->ports[port].peer].node, peer));
	return buf;
}

/* A pcap header, of Ethernet frames and microseconds, in this machine's byte order. */
static bool begin(FILE *out)
{
	const uint32_t head[] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1};

	return fwrite(head, sizeof(head), 1, out) == 1;
}

/* Writes what a port sends now, and lets the other end hear it. */
static bool send_from(FILE *out, struct lldp *l, const struct net *net, uint32_t port)
{
	uint8_t bytes[LLDP_FRAME_MAX];
	uint32_t length = lldp_make(l, port, bytes);
	const uint32_t head[] = {1, 0, length, length};

	lldp_receive(l, net->ports[port].peer, bytes, length, 0);
	return fwrite(head, sizeof(head), 1, out) == 1 && fwrite(bytes, length, 1, out) == 1;
}

int main(int argc, char **argv)
{
	static const uint32_t ports[] = {2, 3, 5, 4, 5};
	struct fabric3 f;
	struct lldp_params p = {
		.interval_ps = 30000000000000ull,
		.node_name = node_name,
		.port_name = port_name,
		.name_arg = &f.net,
	};
	struct lldp *l = NULL;
	FILE *out = argc == 2 ? fopen(argv[1], "wb") : NULL;
	bool good;

	wire(&f);
	if (!out || lldp_new(&l, &f.net, &p))
		return 1;
	good = begin(out);
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		good = good && send_from(out, l, &f.net, ports[i]);
	lldp_free(l);
	return fclose(out) || !good;
}
