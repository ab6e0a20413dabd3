/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/cost.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/shared_state.h"
#include "base/numbers.h"
#include "engine/pool.h"
#include "engine/reorder.h"
#include "session/names.h"
#include "session/setup.h"
#include "session/traffic.h"
#include "scenario/scenario.h"
#include "topology/targets.h"
#include "topology/fabric.h"
#include "transport/kind.h"
#include "workload/kind.h"
#include "workload/strain.h"

/*
 * What is not computed below, measured on amd64: the process and its libraries; of a port, what the
 * engine, the recorder and the fabric keep beside the dataplane's tables, a node's share included;
 * of an operation, its row in the engine, its record, its events, and its setup.
 */
#define PROCESS_BYTES   (5u << 20)
#define PORT_BYTES      470u
#define OPERATION_BYTES 370u
#define WAIT_BYTES      20u
#define SAMPLE_BYTES    32u /* of one that is forgotten: what percentiles need */
#define PART_BYTES      400u
#define ARRIVED_ROWS    4u /* rows of one under way and of those that its page keeps */

/*
 * Kernel memory of a fabric: of a port its half of a veth pair, a socket with its rings, and its
 * share of the tables; of a node the namespace. From its first frame on a veth keeps a pool of
 * pages (64 at once, include/net/page_pool).
 */
#define KERNEL_PORT_BYTES (78u << 10)
#define KERNEL_NODE_BYTES (250u << 10)
#define KERNEL_POOL_BYTES (64u * PAGE)

#define KERNEL_HOP_NS 2250.0
#define INLINE_HOP_NS 80.0

#define PAGE 4096u

/*
 * While all links are up a switch uses about as many of its groups as it has ports; the system
 * backs whole pages of them.
 */
static uint64_t switch_bytes(const struct fabric *f, uint32_t node)
{
	uint64_t groups = f->net.nodes[node].port_count * sizeof(struct group);
	uint64_t blocks = (f->net.host_count + ROUTE_BLOCK - 1) / ROUTE_BLOCK;

	return blocks * sizeof(struct route_block) + (groups + PAGE - 1) / PAGE * PAGE + PAGE / 2;
}

static uint64_t fabric_bytes(const struct scenario *s, const struct fabric *f, bool lasting)
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
		bytes += sizeof(struct switch_balance);
		bytes += (uint64_t)setup_flow_sets(f, lasting) * sizeof(struct flow_set);
	}
	/* routing: hops from each switch to each that has hosts */
	return bytes + edges * f->net.switch_count;
}

/* Those that wait for nothing: about as many are under way at any time. */
static uint64_t chain_count(const struct operations *m)
{
	uint64_t chains = 0;

	for (size_t i = 0; i < m->count; i++)
		chains += !m->items[i].waits;
	return chains;
}

/* What arrives as time passes: of a row of the engine's, how long it stays is not known. */
static uint64_t arrivals_bytes(const struct scenario *s, const struct fabric *f, uint64_t open)
{
	const struct workload_hosts hosts = fabric_workload_hosts(f);
	double bytes = 0;

	for (size_t i = 0; arrivals_find(s, &i); i++) {
		const struct workload_kind *kind = workload_kinds[s->workloads[i].kind];
		const void *o = s->workloads[i].options;

		bytes += kind->arrivals->under_way(o, &hosts) *
			 (double)(ARRIVED_ROWS * OPERATION_BYTES + open);
		bytes += kind->count(o, &hosts) * SAMPLE_BYTES;
		bytes += ARRIVALS_PART * PART_BYTES;
	}
	return (uint64_t)bytes;
}

/* What counting reordered packets takes for a flow: more if the transport itself spreads them. */
static uint64_t reorder_bytes(const struct transport_choice *t)
{
	struct transport_facts facts = transport_facts(t);

	return facts.qps *
	       (sizeof(struct reorder) + (facts.spreads ? sizeof(struct reorder_history) : 0));
}

static uint64_t flow_bytes(
	const struct scenario *s, const struct fabric *f, const struct operations *m)
{
	const struct flow_spec longest = {.bytes = MESSAGE_BYTES_MAX};
	struct engine_transport transports[OPERATION_TRANSPORTS];
	const struct transport_choice *choice;
	uint64_t sender = 0, receiver = 0, open;

	/* all flows have room for the largest */
	setup_transports(transports, s, f);
	for (uint32_t i = 0; (choice = scenario_transport(s, i)); i++) {
		const struct engine_transport *t = &transports[i];

		sender = max_u64(sender, t->ops->size(&t->env, &longest, true));
		receiver = max_u64(
			receiver, t->ops->size(&t->env, &longest, false) + reorder_bytes(choice));
	}
	open = sender + receiver;

	return m->count * OPERATION_BYTES + m->wait_count * WAIT_BYTES + chain_count(m) * open +
	       arrivals_bytes(s, f, open);
}

/* Packets of the largest window. */
static uint64_t window_packets(const struct scenario *s, const struct fabric *f)
{
	const struct transport_choice *t;
	uint64_t most = 0;

	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++) {
		struct quantity window = transport_facts(t).window;
		double bdp = window.unit == QUANTITY_BDP ? (double)f->bdp_bytes : 1;

		if (scenario_uses_transport(s, i))
			most = max_u64(most, (uint64_t)(bdp * window.value) / f->packet_bytes + 1);
	}
	return most;
}

/* Packets or ACKs in flight: a window of each sending host, however many flows it has. */
static uint64_t packet_bytes(
	const struct scenario *s, const struct fabric *f, const struct operations *m)
{
	uint64_t slot = packet_slot_bytes(setup_frame_capacity(s, f));
	size_t entry = 0;
	bool open_loop = arrivals_find(s, &entry);
	uint64_t most = window_packets(s, f) *
			(!open_loop && m->count < f->net.host_count ? m->count : f->net.host_count);
	uint64_t packets = open_loop ? most : 0;

	for (size_t i = 0; i < m->count && packets < most; i++)
		packets += (m->items[i].bytes + f->mtu - 1) / f->mtu;
	return slot * (packets < most ? packets : most);
}

/* Ports to which the messages' packets and answers may come. 0 or -ENOMEM. */
static int count_reached(
	uint32_t *ret, const struct scenario *s, const struct fabric *f, const struct operations *m)
{
	uint32_t count = f->net.link_count;
	struct strain_links links = {calloc((size_t)count + 1, sizeof(uint64_t)),
		calloc((size_t)count + 1, sizeof(uint64_t))};
	struct workload_frames frames;
	struct strain *strain = NULL;
	int err = links.rate_bps && links.delay_ps ? 0 : -ENOMEM;

	for (uint32_t l = 0; !err && l < count; l++)
		links.rate_bps[l] = f->net.ports[f->links[l].a].rate_bps;
	setup_frames(&frames, s, f);
	if (!err)
		err = strain_new(&strain, &f->net, &frames, &links);
	if (!err)
		err = strain_take(strain, m);
	if (!err)
		*ret = 2 * strain_found(strain).links; /* answers go back */
	strain_free(strain);
	free(links.rate_bps);
	free(links.delay_ps);
	return err;
}

/* As many chains of messages as hosts reach about all; following each would take too long. */
static bool reaches_all(
	const struct scenario *s, const struct fabric *f, const struct operations *m)
{
	size_t entry = 0;

	return s->sw.lldp_ps || chain_count(m) >= f->net.host_count || arrivals_find(s, &entry);
}

static int kernel_bytes(
	uint64_t *ret, const struct scenario *s, const struct fabric *f, const struct operations *m)
{
	const struct net *net = &f->net;
	uint32_t reached = net->port_count;
	int err = reaches_all(s, f, m) ? 0 : count_reached(&reached, s, f, m);

	*ret = (uint64_t)net->port_count * KERNEL_PORT_BYTES +
	       (uint64_t)net->node_count * KERNEL_NODE_BYTES +
	       (uint64_t)reached * KERNEL_POOL_BYTES;
	return err;
}

static uint64_t process_bytes(
	const struct scenario *s, const struct fabric *f, const struct operations *m, bool lasting)
{
	return PROCESS_BYTES + fabric_bytes(s, f, lasting) + flow_bytes(s, f, m) +
	       packet_bytes(s, f, m);
}

int cost_foresee(struct cost *ret_inline, struct cost *ret_kernel, const struct scenario *s,
	const struct fabric *f, const struct operations *m, const struct workload_size *size)
{
	const struct transport_choice *t;
	double hops = 0;
	uint64_t kernel;
	int err = kernel_bytes(&kernel, s, f, m);

	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++)
		hops += (double)size->transports[i].packet_hops *
			(1 + 1 / transport_facts(t).packets_per_ack);
	if (err)
		return err;
	*ret_inline = (struct cost){
		process_bytes(s, f, m, false), hops * (COST_ENGINE_NS + INLINE_HOP_NS) * 1e-9};
	*ret_kernel = (struct cost){
		ret_inline->memory_bytes + kernel, hops * (COST_ENGINE_NS + KERNEL_HOP_NS) * 1e-9};
	return 0;
}

int cost_memory(
	uint64_t *ret, const struct scenario *s, const struct fabric *f, bool kernel, bool lasting)
{
	struct operations m = OPERATIONS_INIT;
	uint64_t more = 0;
	int err = traffic_list(&m, s, f, 0);

	if (!err && kernel)
		err = kernel_bytes(&more, s, f, &m);
	if (!err)
		*ret = process_bytes(s, f, &m, lasting) + more;
	operations_release(&m);
	return err;
}

/* ---- series ---- */

/* What a sample tells of: how many, and how long their names are together. */
struct subjects {
	uint64_t count, name_bytes;
};

static void count_subject(struct subjects *to, const char *name)
{
	to->count++;
	to->name_bytes += strlen(name);
}

static struct subjects matching_ports(const struct fabric *f, const char *match, uint32_t first)
{
	struct subjects found = {0};
	char name[RECORDER_NAME];

	for (uint32_t p = first; p < PORT_FIRST + f->net.port_count; p++)
		if (!match || port_matches(f, p, match))
			count_subject(&found, port_name(f, p, name));
	return found;
}

/* Queues of classes that are used, at the ports of switches. */
static struct subjects matching_queues(const struct fabric *f, const char *match)
{
	struct subjects found = matching_ports(f, match, PORT_FIRST + f->net.host_count);
	uint64_t classes = 0;

	for (uint32_t c = 0; c < CLASSES; c++)
		classes += f->switching.classes[c].used;
	return (struct subjects){found.count * classes, found.name_bytes * classes};
}

static struct subjects switches_with_uplinks(const struct fabric *f)
{
	struct subjects found = {0};

	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		const struct net_node *n = &f->net.nodes[i];
		uint32_t uplinks = 0;

		for (uint32_t p = n->first_port; p < n->first_port + n->port_count; p++)
			uplinks += f->nodes[f->net.ports[f->net.ports[p].peer].node].tier >
				   f->nodes[i].tier;
		if (uplinks > 1)
			count_subject(&found, f->nodes[i].name);
	}
	return found;
}

/* Bytes of a row behind its time and its name, in usual runs. */
static const uint64_t row_rest[SERIES_KINDS] = {
	[SERIES_PORTS] = 39,
	[SERIES_FLOWS] = 40,
	[SERIES_QUEUES] = 16,
	[SERIES_IMBALANCE] = 21,
};

struct series_cost cost_series(const struct scenario *s, const struct fabric *f,
	enum series_kind kind, const struct ending *e)
{
	const struct series_spec *spec = &s->series[kind];
	uint64_t lasts = s->until_ps ? min_u64(s->until_ps, e->least_ps) : e->least_ps;
	uint64_t samples = lasts / spec->every_ps + (lasts % spec->every_ps != 0);
	uint64_t rest = row_rest[kind] + (uint64_t)snprintf(NULL, 0, "%.6f", (double)lasts / 1e6);
	struct subjects each;

	switch (kind) {
	case SERIES_FLOWS:
		/* each one has a row in every interval that it is under way in */
		each = (struct subjects){.count = min_u64(e->size.messages * samples,
						 e->size.messages + e->flows_ps / spec->every_ps)};
		samples = 1;
		break;
	case SERIES_PORTS:
		each = matching_ports(f, spec->match, PORT_FIRST);
		break;
	case SERIES_QUEUES:
		if (spec->above.unit != QUANTITY_AUTO)
			return (struct series_cost){.rows = UINT64_MAX};
		each = matching_queues(f, spec->match);
		break;
	default:
		each = switches_with_uplinks(f);
	}
	return (struct series_cost){
		each.count * samples, (each.count * rest + each.name_bytes) * samples};
}
