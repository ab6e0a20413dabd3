/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/lldp_agents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/outstream.h"
#include "topology/fabric.h"

struct agents {
	const struct fabric *fabric;
	lldp_name port_name;
	struct lldp *lldp;
};

static const char *node_name(const void *arg, uint32_t node, char *buf)
{
	const struct fabric *f = arg;

	snprintf(buf, LLDP_NAME, "%s", f->nodes[node].name);
	return buf;
}

int agents_new(
	struct agents **ret, const struct fabric *f, uint64_t interval_ps, lldp_name port_name)
{
	struct lldp_params p = {
		.interval_ps = interval_ps,
		.node_name = node_name,
		.port_name = port_name,
		.name_arg = f,
	};
	struct agents *a = calloc(1, sizeof(*a));
	int r = a ? lldp_new(&a->lldp, &f->net, &p) : -ENOMEM;

	if (r < 0) {
		free(a);
		return r;
	}
	a->fabric = f;
	a->port_name = port_name;
	*ret = a;
	return 0;
}

void agents_free(struct agents *a)
{
	if (!a)
		return;
	lldp_free(a->lldp);
	free(a);
}

static void send(struct agents *a, struct engine *e, uint32_t port, uint64_t now_ps)
{
	uint8_t bytes[LLDP_FRAME_MAX];
	uint32_t length = lldp_make(a->lldp, port, bytes);

	/* a failure is the engine's, which reports it when it runs on */
	engine_send_control(e, port, bytes, length, now_ps);
}

uint32_t agents_tick(struct agents *a, struct engine *e, struct sw_tables *t)
{
	uint32_t changed = 0;

	for (uint32_t i = 0; i < a->fabric->net.port_count; i++) {
		uint32_t port = PORT_FIRST + i;
		enum port_role role = lldp_role(a->lldp, port);

		changed += t->ports[port].role != role;
		t->ports[port].role = (uint8_t)role;
		send(a, e, port, engine_now(e));
	}
	return changed;
}

void agents_receive(struct agents *a, struct engine *e, uint64_t now_ps, uint32_t port,
	const uint8_t *bytes, uint32_t captured)
{
	const struct net_node *n = &a->fabric->net.nodes[a->fabric->net.ports[port].node];
	unsigned changed = lldp_receive(a->lldp, port, bytes, captured, now_ps);

	if (!(changed & LLDP_LEVEL_CHANGED))
		return;
	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++)
		send(a, e, id, now_ps);
}

/* A level that is not known is an empty field. */
static void write_level(FILE *out, uint32_t level)
{
	if (level != LLDP_LEVEL_UNKNOWN)
		fprintf(out, "%u", level);
	fputc(',', out);
}

static void write_port(const struct agents *a, FILE *out, uint32_t port)
{
	static const char *const roles[] = {[ROLE_UNKNOWN] = "unknown",
		[ROLE_UP] = "up",
		[ROLE_DOWN] = "down",
		[ROLE_CROSS] = "cross"};
	struct lldp_neighbour n = {.level = LLDP_LEVEL_UNKNOWN};
	char name[LLDP_NAME];

	lldp_neighbour(a->lldp, port, &n);
	fprintf(out, "%s,", a->port_name(a->fabric, port, name));
	write_level(out, lldp_level(a->lldp, a->fabric->net.ports[port].node));
	fprintf(out, "%s,%s,%s,", roles[lldp_role(a->lldp, port)], n.system, n.port);
	write_level(out, n.level);
	fprintf(out, "%llu\n", (unsigned long long)lldp_counts(a->lldp, port).received);
}

int agents_write(const struct agents *a, int directory)
{
	struct outstream out;
	int r = outstream_create(&out, directory, "roles.csv" OUTSTREAM_NEW);

	if (r < 0)
		return r;
	fprintf(out.file, "port,level,role,neighbour,neighbour_port,neighbour_level,lldp_frames\n");
	for (uint32_t i = 0; i < a->fabric->net.port_count; i++)
		write_port(a, out.file, PORT_FIRST + i);
	return outstream_close(&out);
}

const struct lldp *agents_lldp(const struct agents *a)
{
	return a->lldp;
}
