/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bringup/bringup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "abi/wire.h"
#include "base/net.h"
#include "base/parallel.h"
#include "bringup/external.h"
#include "bringup/record.h"
#include "bringup/stack.h"
#include "bringup/watch.h"
#include "dataplane/kernel.h"
#include "io/netlink.h"
#include "io/netns.h"
#include "io/probe.h"
#include "topology/fabric.h"

#define MTU_MIN   1500u
#define IP6_MIN   1280u /* RFC 8200, section 5 */
#define ETH_BYTES sizeof(struct eth_hdr)

struct built {
	struct record *record;
	struct dataplane *dp;
	uint32_t node_count, host_count;
	bool *named;               /* a node: its namespace is there */
	struct tap *taps;          /* a host, by number; TAP_NONE: none */
	struct external *external; /* NULL: there is nothing of it */
};

/* What the threads that build share. */
struct site {
	struct built *b;
	const struct build_params *params;
	const struct fabric *f;
	const struct build_watch *watch;
	int *netns_fds; /* a node; -1: none */
	uint32_t mtu;
	bool ip6;
};

static int step(const struct site *s, enum build_step which, uint32_t index, struct error *why)
{
	int r = s->watch ? s->watch->before(s->watch->context, which, index) : 0;

	return r < 0 ? error_set(why, r, "stopped by the watch: %s", strerror(-r)) : 0;
}

/* A host's interfaces are link0, link1, ...; a switch's p0, p1, ... */
static void interface_name(const struct fabric *f, uint32_t port, char ret[IF_NAMESIZE])
{
	const struct net_node *node = &f->net.nodes[f->net.ports[port].node];

	snprintf(ret, IF_NAMESIZE, "%s%u", node->kind == NODE_HOST ? "link" : "p",
		(port - node->first_port) & 0xffffff);
}

static struct veth_end veth_end(const struct site *s, uint32_t port)
{
	struct veth_end end = {
		.netns_fd = s->netns_fds[s->f->net.ports[port].node],
		.index = port,
	};

	port_mac(port, end.mac);

	interface_name(s->f, port, end.name);
	return end;
}

static int create_namespace(void *context, uint32_t i, struct error *why)
{
	const struct site *s = context;
	const char *name = record_netns(s->b->record, i);
	int r;

	r = step(s, BUILD_NAMESPACE, i, why);
	if (r < 0)
		return r;
	r = netns_create(name, &s->netns_fds[i]);
	if (r < 0)
		return error_set(why, r, "cannot create the namespace %s: %s%s", name, strerror(-r),
			r == -EPERM ? "; run as root" : "");
	s->b->named[i] = true;
	return 0;
}

static int enter_namespace(const struct site *s, uint32_t i, struct error *why)
{
	int r = netns_enter(s->netns_fds[i]);

	return r < 0 ? error_set(why, r, "cannot enter the namespace %s: %s",
			       record_netns(s->b->record, i), strerror(-r))
		     : 0;
}

static int open_sockets(const struct site *s, uint32_t i, struct error *why)
{
	const struct net_node *node = &s->f->net.nodes[i];
	uint32_t port, end = node->first_port + node->port_count;
	int r;

	r = enter_namespace(s, i, why);
	for (port = node->first_port; !r && port < end; port++) {
		r = step(s, BUILD_SOCKET, port, why);
		if (!r)
			r = dataplane_kernel_open_port(s->b->dp, port, why);
	}
	return r;
}

static int build_links(const struct site *s, struct error *why)
{
	struct rtnl *rtnl = NULL;
	struct veth_end a, b;
	uint32_t i;
	int r;

	r = netns_enter_anonymous();
	if (r < 0)
		return error_set(why, r, "cannot create a network namespace: %s", strerror(-r));
	r = rtnl_open(&rtnl, why);
	for (i = 0; !r && i < s->f->net.link_count; i++) {
		r = step(s, BUILD_LINK, i, why);
		a = veth_end(s, s->f->links[i].a);
		b = veth_end(s, s->f->links[i].b);
		rtnl_add_veth(rtnl, &a, &b, s->mtu);
	}
	if (!r)
		r = rtnl_flush(rtnl, why);
	rtnl_close(rtnl);
	return r;
}

/*
 * Index 0: all veth pairs, by one thread, since the kernel makes one interface at a time (RTNL).
 * The others: the sockets of node index - 1, which need a namespace and no interface.
 */
static int build_links_or_sockets(void *context, uint32_t index, struct error *why)
{
	return index ? open_sockets(context, index - 1, why) : build_links(context, why);
}

static int set_up_port(const struct site *s, struct rtnl *rtnl, uint32_t port, struct error *why)
{
	const struct net_port *p = &s->f->net.ports[port];
	bool is_host = s->f->net.nodes[p->node].kind == NODE_HOST;
	int program = dataplane_kernel_program_fd(s->b->dp, is_host ? PORT_HOST : PORT_SWITCH);
	char peer[IF_NAMESIZE], alias[NODE_NAME + IF_NAMESIZE];
	int r;

	r = step(s, BUILD_INTERFACE, port, why);
	if (r < 0)
		return r;
	interface_name(s->f, p->peer, peer);
	snprintf(alias, sizeof(alias), "%s:%s", s->f->nodes[s->f->net.ports[p->peer].node].name,
		peer);
	rtnl_set_alias(rtnl, port, alias);
	if (s->ip6)
		rtnl_no_autoconf(rtnl, port);
	rtnl_attach_xdp(rtnl, port, program);
	rtnl_link_up(rtnl, port);
	if (is_host && !s->params->stacks)
		stack_add_addresses(rtnl, port, s->f->net.nodes[p->node].number, s->ip6);
	return 0;
}

static int bind_ports(const struct site *s, const struct net_node *node, struct error *why)
{
	uint32_t port, end = node->first_port + node->port_count;
	int r = 0;

	for (port = node->first_port; !r && port < end; port++) {
		r = step(s, BUILD_BIND, port, why);
		if (!r)
			r = dataplane_kernel_bind_port(
				s->b->dp, port, s->f->net.ports[port].peer, why);
	}
	return r;
}

static int set_up_stack(const struct site *s, struct rtnl *rtnl, uint32_t node, struct error *why)
{
	const struct net_node *host = &s->f->net.nodes[node];
	struct stack stack = {
		.params = s->params,
		.host = host->number,
		.index = PORT_FIRST + s->f->net.port_count,
		.port = host->first_port,
		.program_fd = s->params->egress ? dataplane_kernel_egress_fd(s->b->dp) : -1,
		.ip6 = s->ip6 && s->params->stack_mtu >= IP6_MIN,
	};
	int r;

	r = step(s, BUILD_STACK, node, why);
	return r < 0 ? r : stack_open(&s->b->taps[host->number], &stack, rtnl, why);
}

/* Programs, addresses, sockets and the stack's card of a node. */
static int finish_node(void *context, uint32_t i, struct error *why)
{
	const struct site *s = context;
	const struct net_node *node = &s->f->net.nodes[i];
	uint32_t port, end = node->first_port + node->port_count;
	struct rtnl *rtnl = NULL;
	int r;

	r = enter_namespace(s, i, why);
	if (r < 0)
		return r;
	r = rtnl_open(&rtnl, why);
	for (port = node->first_port; !r && port < end; port++)
		r = set_up_port(s, rtnl, port, why);
	if (!r && s->params->stacks && node->kind == NODE_HOST)
		r = set_up_stack(s, rtnl, i, why);
	if (!r)
		r = rtnl_flush(rtnl, why);
	rtnl_close(rtnl);
	return r < 0 ? r : bind_ports(s, node, why);
}

static uint32_t gateway_node(const struct build_params *p)
{
	uint32_t i = 0;

	while (p->fabric->net.nodes[i].number != p->gateway)
		i++; /* hosts come first */
	return i;
}

/* Before anything is made: the bridge may not be there. */
static int plan_external(const struct site *s, struct error *why)
{
	const struct build_params *p = s->params;
	struct record *record = s->b->record;

	return external_plan(&s->b->external, p->external, record_name(record),
		record_netns(record, gateway_node(p)), why);
}

static int note_external(const struct site *s, struct error *why)
{
	char *line = NULL;
	int r = external_write(s->b->external, &line);

	if (!r)
		r = record_note(s->b->record, line);
	free(line);
	return r < 0 ? error_set(
			       why, r, "cannot record the way out of the fabric: %s", strerror(-r))
		     : 0;
}

/* By the calling thread, which is still where it came from. */
static int build_external(const struct site *s, struct error *why)
{
	const struct build_params *p = s->params;
	struct external_site site = {
		.spec = p->external,
		.fabric = record_name(s->b->record),
		.netns_fd = s->netns_fds[gateway_node(p)],
		.index = PORT_FIRST + s->f->net.port_count + 1, /* eth0 has the one before */
		.ip6 = s->ip6,
	};
	int r = note_external(s, why);

	return r < 0 ? r : external_open(s->b->external, &site, why);
}

static int allow_descriptors(const struct build_params *params, struct error *why)
{
	const struct net *net = &params->fabric->net;
	rlim_t need = probe_files_needed(net->port_count, net->node_count) +
		      (params->stacks ? 2 * net->host_count : 0);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return error_set(
			why, -errno, "cannot read the limit of open files: %s", strerror(errno));
	if (limit.rlim_cur >= need)
		return 0;
	limit.rlim_cur = need;
	if (need > limit.rlim_max)
		limit.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return error_set(why, -EMFILE,
			"%u ports and %u nodes need %llu open files, more than allowed; "
			"raise the limit (ulimit -Hn), or use --dataplane inline",
			net->port_count, net->node_count, (unsigned long long)need);
	return 0;
}

static int build_all(struct site *s, struct error *why)
{
	const struct build_params *p = s->params;
	unsigned cores = parallel_cores();
	struct built *b = s->b;
	int r;

	r = allow_descriptors(p, why);
	if (!r)
		r = step(s, BUILD_CLAIM, 0, why);
	if (!r)
		r = record_claim(&b->record, p->name, p->exact, s->f, p->wait, why);
	if (!r && p->external)
		r = plan_external(s, why);
	if (!r)
		r = step(s, BUILD_PROGRAMS, 0, why);
	if (!r)
		r = dataplane_kernel_load(
			&b->dp, p->sizes, p->frame_capacity, p->egress, p->policy, why);
	if (!r)
		r = parallel_for(b->node_count, cores, create_namespace, s, why);
	if (!r)
		r = parallel_for(1 + b->node_count, cores, build_links_or_sockets, s, why);
	if (!r)
		r = parallel_for(b->node_count, cores, finish_node, s, why);
	if (!r && p->external)
		r = build_external(s, why);
	return r;
}

static uint32_t interface_mtu(uint32_t frame_capacity)
{
	uint32_t mtu = HOP_BYTES + frame_capacity - (uint32_t)ETH_BYTES;

	return mtu < MTU_MIN ? MTU_MIN : mtu;
}

static struct built *built_new(const struct fabric *f)
{
	struct built *b = calloc(1, sizeof(*b));
	uint32_t i;

	if (!b)
		return NULL;
	b->named = calloc(f->net.node_count, sizeof(*b->named));
	b->taps = malloc((f->net.host_count + 1) * sizeof(*b->taps));
	if (!b->named || !b->taps) {
		build_down(b);
		return NULL;
	}
	b->node_count = f->net.node_count;
	b->host_count = f->net.host_count;
	for (i = 0; i < b->host_count; i++)
		b->taps[i] = TAP_NONE;
	return b;
}

int build_up_watched(struct built **ret, const struct build_params *params,
	const struct build_watch *watch, struct error *why)
{
	const struct fabric *f = params->fabric;
	struct built *b = built_new(f);
	struct site s = {
		.b = b,
		.params = params,
		.f = f,
		.watch = watch,
		.netns_fds = malloc(f->net.node_count * sizeof(*s.netns_fds)),
		.mtu = interface_mtu(params->frame_capacity),
		.ip6 = !access("/proc/net/if_inet6", F_OK), /* a kernel may lack it */
	};
	uint32_t i;
	int r;

	if (!b || !s.netns_fds) {
		free(s.netns_fds);
		build_down(b);
		return error_set(why, -ENOMEM, "out of memory");
	}
	for (i = 0; i < b->node_count; i++)
		s.netns_fds[i] = -1;
	r = build_all(&s, why);
	for (i = 0; i < b->node_count; i++)
		if (s.netns_fds[i] >= 0)
			close(s.netns_fds[i]);
	free(s.netns_fds);
	if (r < 0) {
		build_down(b);
		return r;
	}
	*ret = b;
	return 0;
}

int build_up(struct built **ret, const struct build_params *params, struct error *why)
{
	return build_up_watched(ret, params, NULL, why);
}

/* What the threads share that attach a program to the switches' ports. */
struct swap_site {
	struct built *b;
	const struct net *net;
	int program_fd;
};

/* All ports of a switch get the program in the place of the one that they have. */
static int swap_node(void *context, uint32_t i, struct error *why)
{
	const struct swap_site *s = context;
	const struct net_node *node = &s->net->nodes[s->net->host_count + i];
	const char *name = record_netns(s->b->record, s->net->host_count + i);
	struct rtnl *rtnl = NULL;
	int fd = netns_open(name), r = fd < 0 ? fd : netns_enter(fd);

	if (fd >= 0)
		close(fd);
	if (r < 0)
		return error_set(why, r, "cannot enter the namespace %s: %s", name, strerror(-r));
	r = rtnl_open(&rtnl, why);
	for (uint32_t port = node->first_port; !r && port < node->first_port + node->port_count;
		port++)
		rtnl_attach_xdp(rtnl, port, s->program_fd);
	if (!r)
		r = rtnl_flush(rtnl, why);
	rtnl_close(rtnl);
	return r;
}

static int swap_nodes(struct built *b, const struct fabric *f, struct error *why)
{
	struct swap_site s = {b, &f->net, dataplane_kernel_program_fd(b->dp, PORT_SWITCH)};

	return parallel_for(f->net.switch_count, parallel_cores(), swap_node, &s, why);
}

int build_swap(struct built *b, const struct fabric *f, const struct policy_code *code,
	int *ret_lost, struct error *why)
{
	int r = dataplane_kernel_swap(b->dp, code, why);

	*ret_lost = 0;
	if (r < 0)
		return r;
	r = swap_nodes(b, f, why);
	if (r < 0) { /* some have it */
		*ret_lost = 1;
		dataplane_kernel_swap(b->dp, NULL, NULL);
		swap_nodes(b, f, NULL);
	}
	return r;
}

static int remove_node(void *context, uint32_t i, struct error *why)
{
	struct built *b = context;

	(void)why;
	if (b->named[i])
		netns_delete(record_netns(b->record, i));
	return 0;
}

void build_down(struct built *b)
{
	uint32_t i;

	if (!b)
		return;
	for (i = 0; i < b->host_count; i++)
		tap_close(&b->taps[i]);
	if (b->external)
		external_remove(b->external);
	if (b->dp)
		b->dp->ops->close(b->dp);
	parallel_for(b->node_count, parallel_cores(), remove_node, b, NULL);
	record_release(b->record);
	free(b->external);
	free(b->taps);
	free(b->named);
	free(b);
}

struct dataplane *build_dataplane(struct built *b)
{
	return b->dp;
}

const char *build_name(const struct built *b)
{
	return record_name(b->record);
}

int build_stack_fd(const struct built *b, uint32_t host)
{
	return b->taps[host].fd;
}

uint64_t build_stack_refused(const struct built *b, uint32_t host)
{
	return tap_refused(&b->taps[host], STACK_INTERFACE);
}

int build_sweep(const struct lock_wait *wait, struct error *why)
{
	return record_sweep(wait, why);
}
