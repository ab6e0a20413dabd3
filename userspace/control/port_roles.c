/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/port_roles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct roles {
	const struct net *net;
	uint8_t *levels; /* by node */
	uint8_t *heard;  /* by port: the neighbour's level */
	uint8_t *roles;  /* by port: enum port_role */
};

int roles_new(struct roles **ret, const struct net *net)
{
	size_t ports = PORT_FIRST + (size_t)net->port_count;
	struct roles *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->net = net;
	r->levels = calloc((size_t)net->node_count + 1, 1);
	r->heard = malloc(ports);
	r->roles = calloc(ports, 1);
	if (!r->levels || !r->heard || !r->roles) {
		roles_free(r);
		return -ENOMEM;
	}
	memset(r->heard, ROLES_UNKNOWN, ports);
	for (uint32_t i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];

		if (node->kind == NODE_HOST)
			memset(r->roles + node->first_port, ROLE_UP, node->port_count);
		else
			r->levels[i] = ROLES_UNKNOWN;
	}
	*ret = r;
	return 0;
}

void roles_free(struct roles *r)
{
	if (!r)
		return;
	free(r->levels);
	free(r->heard);
	free(r->roles);
	free(r);
}

/* One above the lowest neighbour; there is no number above 254. */
static uint8_t level_of(const struct roles *r, const struct net_node *node)
{
	uint32_t lowest = ROLES_UNKNOWN;

	for (uint32_t i = 0; i < node->port_count; i++)
		if (r->heard[node->first_port + i] < lowest)
			lowest = r->heard[node->first_port + i];
	return (uint8_t)(lowest < ROLES_UNKNOWN ? lowest + 1 : ROLES_UNKNOWN);
}

static enum port_role role_between(uint32_t own, uint32_t neighbour)
{
	if (own == ROLES_UNKNOWN || neighbour == ROLES_UNKNOWN)
		return ROLE_UNKNOWN;
	if (neighbour == own)
		return ROLE_CROSS;
	return neighbour > own ? ROLE_UP : ROLE_DOWN;
}

unsigned roles_learn(struct roles *r, uint32_t port, uint32_t level, bool another)
{
	uint32_t n = r->net->ports[port].node;
	const struct net_node *node = &r->net->nodes[n];
	unsigned changed = 0;
	uint8_t own;

	if (!another && level >= r->heard[port])
		return 0;
	r->heard[port] = (uint8_t)level;
	if (node->kind == NODE_HOST)
		return 0;
	own = level_of(r, node);
	if (own != r->levels[n])
		changed |= ROLES_LEVEL_CHANGED;
	r->levels[n] = own;
	for (uint32_t p = node->first_port; p < node->first_port + node->port_count; p++) {
		uint8_t role = (uint8_t)role_between(own, r->heard[p]);

		if (role != r->roles[p])
			changed |= ROLES_PORTS_CHANGED;
		r->roles[p] = role;
	}
	return changed;
}

uint32_t roles_level(const struct roles *r, uint32_t node)
{
	return r->levels[node];
}

uint32_t roles_neighbour_level(const struct roles *r, uint32_t port)
{
	return r->heard[port];
}

enum port_role roles_of(const struct roles *r, uint32_t port)
{
	return (enum port_role)r->roles[port];
}
