/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/lldp_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng_stream.h"
#include "base/units.h"

#define TX_HOLD 4 /* intervals without a frame that a neighbour lives: msgTxHold's default */
#define TTL_MAX 65535

/* Who was heard at a port, and when. */
struct heard {
	bool known;
	uint64_t chassis_key; /* tells one chassis from another, however long its id */
	uint64_t at_ps, expires_ps;
	struct lldp_counts counts;
	char chassis[LLDP_TEXT], port[LLDP_TEXT], system[LLDP_TEXT];
};

struct lldp {
	const struct net *net;
	struct lldp_params params;
	uint16_t ttl_s;
	struct roles *roles;
	struct heard *heard; /* by port */
};

_Static_assert(LLDP_LEVEL_UNKNOWN == ROLES_UNKNOWN, "the wire's levels are those of roles");

/*
 * 802.1AB, 9.2.5.22: txTTL = min(65535, msgTxInterval x msgTxHold + 1), in seconds. Model intervals
 * may be far shorter than a second, so that the product is rounded down before: at least 1 s.
 */
static uint16_t ttl_of(uint64_t interval_ps)
{
	uint64_t held_s = interval_ps / (PS_PER_S / TX_HOLD);

	return (uint16_t)(held_s < TTL_MAX ? held_s + 1 : TTL_MAX);
}

int lldp_new(struct lldp **ret, const struct net *net, const struct lldp_params *p)
{
	struct lldp *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->net = net;
	l->params = *p;
	l->ttl_s = ttl_of(p->interval_ps);
	l->heard = calloc(PORT_FIRST + (size_t)net->port_count, sizeof(*l->heard));
	if (!l->heard || roles_new(&l->roles, net)) {
		lldp_free(l);
		return -ENOMEM;
	}
	*ret = l;
	return 0;
}

void lldp_free(struct lldp *l)
{
	if (!l)
		return;
	roles_free(l->roles);
	free(l->heard);
	free(l);
}

/* Role and orientation are the same thing in two numberings. */
static uint8_t orientation_of(enum port_role role)
{
	static const uint8_t faces[] = {
		[ROLE_UNKNOWN] = LLDP_FACES_UNKNOWN,
		[ROLE_UP] = LLDP_FACES_UP,
		[ROLE_DOWN] = LLDP_FACES_DOWN,
		[ROLE_CROSS] = LLDP_FACES_ACROSS,
	};

	return faces[role];
}

static uint32_t cut(const char *name)
{
	return (uint32_t)strnlen(name, LLDP_NAME_MAX);
}

/*
 * A switch here routes (it lowers the TTL and rewrites MAC addresses), and queues by class as a
 * bridge does: it can be both and acts as a router.
 */
uint32_t lldp_make(const struct lldp *l, uint32_t port, uint8_t *bytes)
{
	uint32_t n = l->net->ports[port].node;
	const struct net_node *node = &l->net->nodes[n];
	bool host = node->kind == NODE_HOST;
	char node_buf[LLDP_NAME], port_buf[LLDP_NAME];
	const char *node_name = l->params.node_name(l->params.name_arg, n, node_buf);
	const char *port_name = l->params.port_name(l->params.name_arg, port, port_buf);
	uint8_t source[6], chassis[1 + 6] = {LLDP_CHASSIS_MAC}, port_id[1 + LLDP_NAME_MAX];
	struct lldp_frame f = {
		.chassis = chassis,
		.chassis_length = sizeof(chassis),
		.port = port_id,
		.port_length = 1 + cut(port_name),
		.system = (const uint8_t *)node_name,
		.system_length = cut(node_name),
		.ttl_s = l->ttl_s,
		.capabilities = host ? LLDP_CAN_STATION : LLDP_CAN_BRIDGE | LLDP_CAN_ROUTE,
		.enabled = host ? LLDP_CAN_STATION : LLDP_CAN_ROUTE,
		.has_system = true,
		.has_capabilities = true,
		.has_topology = true,
		.device = host ? LLDP_DEVICE_STATION : LLDP_DEVICE_ROUTER,
		.level = (uint8_t)roles_level(l->roles, n),
		.orientation = orientation_of(roles_of(l->roles, port)),
	};

	port_mac(port, source);
	port_mac(node->first_port, chassis + 1);
	port_id[0] = LLDP_PORT_NAME;
	memcpy(port_id + 1, port_name, f.port_length - 1);
	return lldp_frame_write(bytes, source, &f);
}

static uint64_t key_of(const uint8_t *bytes, uint32_t length)
{
	uint64_t key = length;

	for (uint32_t i = 0; i < length; i++)
		key = rng_mix(key ^ bytes[i]);
	return key;
}

static bool is_printable(const uint8_t *bytes, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (bytes[i] < 0x20 || bytes[i] > 0x7e)
			return false;
	return true;
}

/* As it is, or in hexadecimal if it is binary or asked for. */
static void set_text(char text[LLDP_TEXT], const uint8_t *bytes, uint32_t length, bool hex)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t n = 0;

	hex = hex || !is_printable(bytes, length);
	for (uint32_t i = 0; i < length && n + (hex ? 3 : 1) < LLDP_TEXT; i++) {
		if (!hex) {
			text[n++] = (char)bytes[i];
			continue;
		}
		if (i)
			text[n++] = ':';
		text[n++] = digits[bytes[i] >> 4];
		text[n++] = digits[bytes[i] & 15];
	}
	text[n] = 0;
}

static void remember(struct heard *h, const struct lldp_frame *f)
{
	h->known = true;
	set_text(h->chassis, f->chassis + 1, f->chassis_length - 1,
		f->chassis[0] == LLDP_CHASSIS_MAC);
	set_text(h->port, f->port + 1, f->port_length - 1, f->port[0] == LLDP_PORT_MAC);
	set_text(h->system, f->system, f->system_length, false);
}

/* An end station is at level 0 whatever it says; who has no such TLV says nothing. */
static uint32_t level_claimed(const struct lldp_frame *f)
{
	if (!f->has_topology)
		return LLDP_LEVEL_UNKNOWN;
	return f->device == LLDP_DEVICE_STATION ? 0 : f->level;
}

unsigned lldp_receive(
	struct lldp *l, uint32_t port, const uint8_t *bytes, uint32_t captured, uint64_t now_ps)
{
	struct heard *h = &l->heard[port];
	struct lldp_frame f;
	bool another;
	uint64_t key;

	h->counts.received++;
	if (lldp_frame_read(&f, bytes, captured)) {
		h->counts.malformed++;
		return 0;
	}
	key = key_of(f.chassis, f.chassis_length);
	another = h->known && key != h->chassis_key;
	if (!f.ttl_s) {
		/* a farewell: it says nothing else, and nothing about anyone else */
		if (h->known && !another)
			h->expires_ps = now_ps;
		return 0;
	}
	h->chassis_key = key;
	h->at_ps = now_ps;
	h->expires_ps = now_ps + f.ttl_s * PS_PER_S;
	remember(h, &f);
	return roles_learn(l->roles, port, level_claimed(&f), another);
}

enum port_role lldp_role(const struct lldp *l, uint32_t port)
{
	return roles_of(l->roles, port);
}

uint32_t lldp_level(const struct lldp *l, uint32_t node)
{
	return roles_level(l->roles, node);
}

bool lldp_neighbour(const struct lldp *l, uint32_t port, struct lldp_neighbour *ret)
{
	const struct heard *h = &l->heard[port];

	if (!h->known)
		return false;
	*ret = (struct lldp_neighbour){
		.level = roles_neighbour_level(l->roles, port),
		.role = roles_of(l->roles, port),
		.heard_ps = h->at_ps,
		.expires_ps = h->expires_ps,
	};
	memcpy(ret->chassis, h->chassis, LLDP_TEXT);
	memcpy(ret->port, h->port, LLDP_TEXT);
	memcpy(ret->system, h->system, LLDP_TEXT);
	return true;
}

struct lldp_counts lldp_counts(const struct lldp *l, uint32_t port)
{
	return l->heard[port].counts;
}
