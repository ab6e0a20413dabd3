/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/fabric.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/hop.h"
#include "scenario/scenario.h"
#include "workload/kind.h"

void fabric_free(struct fabric *f)
{
	if (!f)
		return;
	free(f->net.nodes);
	free(f->net.ports);
	free(f->nodes);
	free(f->links);
	free(f->by_name);
	free(f);
}

static char *append(char *to, const char *text)
{
	size_t length = strlen(text);

	memcpy(to, text, length + 1);
	return to + length;
}

/* Not by snprintf: globs are matched against every link's name, twice. */
static void write_name(
	const struct fabric *f, const struct fabric_link *link, bool from_b, char *to)
{
	const struct net_port *ports = f->net.ports;
	uint32_t from = from_b ? link->b : link->a;
	char digits[12], *d = digits + sizeof(digits) - 1;
	uint32_t n = link->parallel;

	to = append(to, f->nodes[ports[from].node].name);
	to = append(to, "-");
	to = append(to, f->nodes[ports[ports[from].peer].node].name);
	if (!link->is_parallel)
		return;
	*d = 0;
	do {
		*--d = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	*--d = '#';
	append(to, d);
}

const char *fabric_link_name(const struct fabric *f, uint32_t link, char buf[LINK_NAME])
{
	write_name(f, &f->links[link], false, buf);
	return buf;
}

const char *fabric_port_name(const struct fabric *f, uint32_t port, char buf[PORT_NAME])
{
	const struct net_port *p = &f->net.ports[port];
	const struct fabric_link *link = &f->links[p->link];
	int used = snprintf(buf, PORT_NAME, "%s->%s", f->nodes[p->node].name,
		f->nodes[f->net.ports[p->peer].node].name);

	if (link->is_parallel)
		snprintf(buf + used, PORT_NAME - (size_t)used, "#%u", link->parallel);
	return buf;
}

bool fabric_link_matches(const struct fabric *f, uint32_t link, const char *glob)
{
	bool plain = !strpbrk(glob, "*?[\\");
	char name[LINK_NAME];

	for (int from_b = 0; from_b < 2; from_b++) {
		write_name(f, &f->links[link], from_b, name);
		if (plain ? !strcmp(glob, name) : !fnmatch(glob, name, 0))
			return true;
	}
	return false;
}

bool fabric_node_matches(const struct fabric *f, uint32_t node, const char *glob)
{
	return !fnmatch(glob, f->nodes[node].name, 0);
}

bool fabric_holds_payload(const struct fabric *f)
{
	return f->packet_bytes <= VETH_FRAME_MAX;
}

uint64_t fabric_data_queue(const struct fabric *f, const struct scenario *s, uint32_t transport)
{
	const uint8_t *class_of = f->switching.config.class_of;
	uint32_t data = 1u << class_of[s->host.data_dscp], own = 0;
	uint32_t answers =
		1u << class_of[s->host.control_dscp] | 1u << class_of[s->host.notify_dscp];
	bool known = true;

	for (size_t i = 0; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		uint32_t dscp = w->dscp != DSCP_OF_HOSTS ? w->dscp : s->host.data_dscp;

		data |= 1u << class_of[dscp];
		if (w->transport_number != transport)
			continue;
		own |= 1u << class_of[dscp];
		known &= !workload_kinds[w->kind]->own_dscps;
	}
	return switching_data_queue(&f->switching, &f->net, own && known ? ~own : answers & ~data);
}

bool fabric_find_node(const struct fabric *f, const char *name, uint32_t *ret_node)
{
	uint32_t low = 0, high = f->net.node_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(f->nodes[f->by_name[middle]].name, name);

		if (!order) {
			*ret_node = f->by_name[middle];
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}
