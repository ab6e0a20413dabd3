/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a frame, at each port of a small fabric in turn: a host, an edge switch, a switch
 * above it. Levels and roles must stay what they can be, and what is said afterwards must be a
 * frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "control/lldp_agent.h"

/* h0 - s0 - s1 */
#define NODES 3
#define PORTS 4

static struct net_node nodes[NODES] = {
	{NODE_HOST, 0, 2, 1, 0},
	{NODE_SWITCH, 0, 3, 2, 0},
	{NODE_SWITCH, 1, 5, 1, 0},
};
static struct net_port ports[PORT_FIRST + PORTS] = {
	[2] = {.node = 0, .peer = 3},
	[3] = {.node = 1, .peer = 2},
	[4] = {.node = 1, .peer = 5},
	[5] = {.node = 2, .peer = 4},
};
static const struct net net = {
	.nodes = nodes,
	.node_count = NODES,
	.host_count = 1,
	.switch_count = 2,
	.ports = ports,
	.port_count = PORTS,
	.link_count = PORTS / 2,
};

static const char *name(const void *arg, uint32_t index, char *buf)
{
	(void)arg;
	snprintf(buf, LLDP_NAME, "n%u", index);
	return buf;
}

static bool is_text(const char text[LLDP_TEXT])
{
	size_t n = strnlen(text, LLDP_TEXT);

	for (size_t i = 0; i < n; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return n < LLDP_TEXT;
}

/* What was read lies within the frame, and can be written and read again. */
static void check_frame(const uint8_t *bytes, uint32_t size)
{
	uint8_t again[2048];
	struct lldp_frame f, g;
	uint32_t length;

	if (lldp_frame_read(&f, bytes, size))
		return;
	if (f.chassis < bytes || f.chassis + f.chassis_length > bytes + size || f.port < bytes ||
		f.port + f.port_length > bytes + size || f.chassis_length > 256 ||
		f.port_length > 256 || f.system_length > 255)
		abort();
	length = lldp_frame_write(again, bytes + 6, &f);
	if (lldp_frame_read(&g, again, length) || g.chassis_length != f.chassis_length ||
		memcmp(g.chassis, f.chassis, f.chassis_length) || g.port_length != f.port_length ||
		memcmp(g.port, f.port, f.port_length) || g.ttl_s != f.ttl_s ||
		g.has_system != f.has_system || g.system_length != f.system_length ||
		g.has_capabilities != f.has_capabilities || g.enabled != f.enabled ||
		g.has_topology != f.has_topology || g.device != f.device || g.level != f.level ||
		g.orientation != f.orientation)
		abort();
}

static void check(const struct lldp *l, uint32_t port)
{
	uint32_t level = lldp_level(l, ports[port].node);
	bool host = ports[port].node == 0;
	enum port_role role = lldp_role(l, port);
	struct lldp_neighbour n;
	uint8_t bytes[LLDP_FRAME_MAX];
	struct lldp_frame f;

	if (host ? level || role != ROLE_UP : !level || level > LLDP_LEVEL_UNKNOWN)
		abort();
	if (lldp_neighbour(l, port, &n)) {
		if (!is_text(n.chassis) || !is_text(n.port) || !is_text(n.system) || n.role != role)
			abort();
		if (!host && n.level < level - 1)
			abort();
	}
	if (lldp_frame_read(&f, bytes, lldp_make(l, port, bytes)) || f.level != level)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct lldp_params p = {.interval_ps = 1, .node_name = name, .port_name = name};
	struct lldp *l;

	if (lldp_new(&l, &net, &p))
		abort();
	check_frame(input, (uint32_t)size);
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + PORTS; port++) {
		lldp_receive(l, port, input, (uint32_t)size, port);
		check(l, port);
	}
	/* from there on it goes as among their own */
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + PORTS; port++) {
		uint8_t bytes[LLDP_FRAME_MAX];
		uint32_t length = lldp_make(l, port, bytes);

		lldp_receive(l, ports[port].peer, bytes, length, UINT32_MAX);
		check(l, ports[port].peer);
	}
	lldp_free(l);
	return 0;
}
