/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/pods.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that hangs together with a host without the top tier. */
static void walk_pod(struct pods *p, const struct fabric *f, uint32_t host, uint32_t *stack)
{
	const struct net *net = &f->net;
	uint32_t pod = p->count++, depth = 0;

	stack[depth++] = host;
	p->of[host] = pod;
	p->first_switch[pod] = UINT32_MAX;
	while (depth) {
		uint32_t node = stack[--depth];

		if (node >= net->host_count && node < p->first_switch[pod])
			p->first_switch[pod] = node;
		for (uint32_t i = 0; i < net->nodes[node].port_count; i++) {
			const struct net_port *port = &net->ports[net->nodes[node].first_port + i];
			uint32_t next = net->ports[port->peer].node;

			if (p->of[next] != NO_POD || fabric_is_top(f, next))
				continue;
			p->of[next] = pod;
			stack[depth++] = next;
		}
	}
}

int pods_init(struct pods *p, const struct fabric *f)
{
	uint32_t *stack = calloc(f->net.node_count, sizeof(*stack));

	*p = (struct pods){
		.of = malloc(f->net.node_count * sizeof(*p->of)),
		.first_switch = calloc(f->net.host_count, sizeof(*p->first_switch)),
	};
	if (!stack || !p->of || !p->first_switch) {
		free(stack);
		pods_release(p);
		return -ENOMEM;
	}
	memset(p->of, 0xff, f->net.node_count * sizeof(*p->of));
	for (uint32_t h = 0; h < f->net.host_count && f->tier_count > 2; h++)
		if (p->of[h] == NO_POD)
			walk_pod(p, f, h, stack);
	free(stack);
	return 0;
}

void pods_release(struct pods *p)
{
	free(p->of);
	free(p->first_switch);
	*p = (struct pods)PODS_INIT;
}

const char *pod_name(const struct fabric *f, const struct pods *p, uint32_t pod, char buf[POD_NAME])
{
	const char *first = f->nodes[p->first_switch[pod]].name;

	if (f->has_pods && f->planes == 1)
		snprintf(buf, POD_NAME, "pod %u", pod);
	else
		snprintf(buf, POD_NAME, "%s%s", f->has_pods ? "the pod of " : "", first);
	return buf;
}
