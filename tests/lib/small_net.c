/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/small_net.h"
#include "lib/transport_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "abi/policies.h"
#include "control/ports.h"
#include "base/wiretime.h"

#define LINKS_MAX 256

/* A dataplane that lets the test see each frame before the real one does. */
struct meddled {
	struct dataplane dp; /* shares the inner one's tables */
	struct dataplane *inner;
	small_meddle meddle;
	void *arg;
};

static const struct strack_options default_options = STRACK_OPTIONS_DEFAULT;

static uint32_t add_port(struct small_net *s, uint32_t *used, uint32_t node)
{
	return s->net.nodes[node].first_port + used[node]++;
}

/* Ports of a node get consecutive ids, in the order of its links. */
static void build(struct small_net *s, uint32_t hosts, uint32_t switches,
	const struct small_link *links, uint32_t count)
{
	uint32_t nodes = hosts + switches, next = PORT_FIRST;
	uint32_t *used = calloc(nodes, sizeof(*used));

	s->net = (struct net){.node_count = nodes,
		.host_count = hosts,
		.switch_count = switches,
		.port_count = 2 * count,
		.link_count = count,
		.nodes = calloc(nodes, sizeof(*s->net.nodes)),
		.ports = calloc(PORT_FIRST + 2 * count, sizeof(*s->net.ports))};
	assert_true(used && s->net.nodes && s->net.ports);
	for (uint32_t i = 0; i < count; i++) {
		s->net.nodes[links[i].a].port_count++;
		s->net.nodes[links[i].b].port_count++;
	}
	for (uint32_t i = 0; i < nodes; i++) {
		s->net.nodes[i].kind = i < hosts ? NODE_HOST : NODE_SWITCH;
		s->net.nodes[i].number = i < hosts ? i : i - hosts;
		s->net.nodes[i].first_port = next;
		next += s->net.nodes[i].port_count;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct small_link *l = &links[i];
		uint32_t a = add_port(s, used, l->a), b = add_port(s, used, l->b);

		s->net.ports[a] = (struct net_port){l->a, b, i, l->rate_bps, l->delay_ps, 0};
		s->net.ports[b] = (struct net_port){l->b, a, i, l->rate_bps, l->delay_ps, 0};
	}
	free(used);
}

void small_net_chain(struct small_net *s, uint32_t switches, const uint64_t *rates_bps,
	const uint64_t *delays_ps)
{
	struct small_link links[LINKS_MAX];

	assert_in_range(switches, 1, LINKS_MAX - 1);
	for (uint32_t i = 0; i <= switches; i++)
		links[i] = (struct small_link){
			i ? i + 1 : 0, i == switches ? 1 : i + 2, rates_bps[i], delays_ps[i]};
	*s = (struct small_net){.hops = switches + 1};
	build(s, 2, switches, links, switches + 1);
}

void small_net_star(struct small_net *s, uint32_t hosts, uint64_t rate0_bps, uint64_t rate_bps,
	uint64_t delay_ps)
{
	struct small_link links[LINKS_MAX];

	assert_in_range(hosts, 2, LINKS_MAX);
	for (uint32_t i = 0; i < hosts; i++)
		links[i] = (struct small_link){i, hosts, i ? rate_bps : rate0_bps, delay_ps};
	*s = (struct small_net){.hops = 2};
	build(s, hosts, 1, links, hosts);
}

void small_net_fabric(struct small_net *s, uint32_t leaves, uint32_t spines,
	uint32_t hosts_per_leaf, uint64_t rate_bps, uint64_t delay_ps)
{
	uint32_t hosts = leaves * hosts_per_leaf, n = 0;
	struct small_link links[LINKS_MAX];

	assert_in_range(hosts + leaves * spines, 1, LINKS_MAX);
	for (uint32_t i = 0; i < hosts; i++)
		links[n++] = (struct small_link){i, hosts + i / hosts_per_leaf, rate_bps, delay_ps};
	for (uint32_t i = 0; i < leaves * spines; i++)
		links[n++] = (struct small_link){
			hosts + i / spines, hosts + leaves + i % spines, rate_bps, delay_ps};
	*s = (struct small_net){.hops = 4};
	build(s, hosts, leaves + spines, links, n);
}

static int meddled_submit(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	struct meddled *m = (struct meddled *)dp;
	int r = m->meddle(m->arg, dp, port, frames, n);

	return r < 0 ? r : m->inner->ops->submit(m->inner, port, frames, n);
}

static void meddled_close(struct dataplane *dp)
{
	struct meddled *m = (struct meddled *)dp;

	m->inner->ops->close(m->inner);
	free(m);
}

static const struct dataplane_ops meddled_ops = {
	.name = "meddled", .submit = meddled_submit, .close = meddled_close};

static struct dataplane *meddle_with(struct dataplane *inner, const struct small_config *c)
{
	struct meddled *m;

	if (!c->meddle)
		return inner;
	m = calloc(1, sizeof(*m));
	assert_non_null(m);
	*m = (struct meddled){*inner, inner, c->meddle, c->meddle_arg};
	m->dp.ops = &meddled_ops;
	return &m->dp;
}

static void open_dataplane(
	struct small_net *s, const struct small_config *c, const struct transport_env *env)
{
	struct sw_sizes sizes = {
		.ports = PORT_FIRST + s->net.port_count,
		.switches = s->net.switch_count,
	};
	struct switching switching = {
		.classes[0] = {.used = true,
			.limit_bytes = c->buffer_bytes ? c->buffer_bytes : 1u << 30,
			.kmin = {.bytes = c->kmin_bytes},
			.kmax = {.bytes = c->kmax_bytes},
			.pmax = 1},
		.balances[0] = c->balance,
	};
	uint32_t capacity = headers_capacity(env->ip6);

	if (env->payload_full)
		capacity += data_frame_bytes(env->mtu, env->ip6);
	if (c->balance.policy != BALANCE_ECMP)
		switching.config = (struct sw_config){.features = SW_BALANCE,
			.balances = 1u << c->balance.policy,
			.flow_sets = 4};
	s->link_up = malloc(s->net.link_count);
	assert_non_null(s->link_up);
	memset(s->link_up, 1, s->net.link_count);
	assert_int_equal(routing_new(&s->routing, &s->net, NULL), 0);
	ports_config(&sizes.config, &switching);
	routing_table_sizes(s->routing, &sizes.routes, &sizes.groups);
	assert_int_equal(dataplane_inline_open(&s->dp, &sizes, capacity), 0);
	s->dp = meddle_with(s->dp, c);
	if (c->max_batch)
		s->dp->max_batch = c->max_batch;
	assert_int_equal(ports_configure(&s->dp->tables, &s->net, &switching, c->seed), 0);
	routing_compute(s->routing, s->link_up, &s->dp->tables);
}

/* Of the slowest host link, and a round trip that none is longer than. */
static void measure(const struct small_net *s, struct transport_env *env)
{
	uint64_t slowest = UINT64_MAX, longest_ps = 0;

	env->host_rate_bps = UINT64_MAX;
	for (uint32_t id = PORT_FIRST; id < PORT_FIRST + s->net.port_count; id++) {
		const struct net_port *p = &s->net.ports[id];

		slowest = p->rate_bps < slowest ? p->rate_bps : slowest;
		longest_ps = p->delay_ps > longest_ps ? p->delay_ps : longest_ps;
		if (p->node < s->net.host_count && p->rate_bps < env->host_rate_bps)
			env->host_rate_bps = p->rate_bps;
	}
	if (!env->base_rtt_ps)
		env->base_rtt_ps =
			s->hops *
			(serialise_ps(data_frame_bytes(env->mtu, env->ip6), slowest) +
				serialise_ps(sack_frame_bytes(env->ip6), slowest) + 2 * longest_ps);
}

void small_net_open(struct small_net *s, const struct small_config *c)
{
	struct engine_params params = {
		.net = &s->net,
		.transports[0].ops = c->transport ? c->transport : &strack_transport,
		.transports[0].env = {.mtu = c->mtu ? c->mtu : 4096,
			.base_rtt_ps = c->base_rtt_ps,
			.ip6 = c->ip6,
			.payload_full = c->payload_full,
			.qps = c->qps ? c->qps : 1,
			.paths = c->transport == NULL ? (uint16_t)default_options.paths : 1,
			.options = c->options ? c->options : &default_options},
		.seed = c->seed,
		.observer = c->observer,
	};

	measure(s, &params.transports[0].env);
	open_dataplane(s, c, &params.transports[0].env);
	params.dataplane = s->dp;
	assert_int_equal(engine_new(&s->engine, &params), 0);
}

void small_net_close(struct small_net *s)
{
	engine_free(s->engine);
	if (s->dp)
		s->dp->ops->close(s->dp);
	routing_free(s->routing);
	free(s->link_up);
	free(s->net.nodes);
	free(s->net.ports);
	*s = (struct small_net){0};
}

uint32_t small_net_flow(
	struct small_net *s, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t start_ps)
{
	struct operation f = {
		.src_host = src, .dst_host = dst, .bytes = bytes, .start_ps = start_ps};
	uint32_t number = (uint32_t)small_net_stats(s).flows;

	assert_int_equal(engine_add_flows(s->engine, &f, 1, NULL, 0), 0);
	return number;
}

void small_net_run(struct small_net *s, uint64_t until_ps)
{
	assert_int_equal(engine_run(s->engine, until_ps, NULL), 0);
}

uint32_t small_net_port(const struct small_net *s, uint32_t from, uint32_t to)
{
	for (uint32_t id = PORT_FIRST; id < PORT_FIRST + s->net.port_count; id++)
		if (s->net.ports[id].node == from && s->net.ports[s->net.ports[id].peer].node == to)
			return id;
	fail_msg("no link from node %u to %u", from, to);
	return 0;
}

struct engine_stats small_net_stats(const struct small_net *s)
{
	struct engine_stats stats;

	engine_stats(s->engine, &stats);
	return stats;
}

uint64_t small_net_dropped(const struct small_net *s)
{
	struct engine_stats stats = small_net_stats(s);
	uint64_t sum = 0;

	for (int i = 0; i < DROP_REASON_COUNT; i++)
		sum += stats.dropped[i];
	return sum;
}

uint64_t small_net_fct(const struct small_net *s, uint32_t flow)
{
	struct engine_flow_result r;

	engine_flow_result(s->engine, flow, &r);
	return r.finish_ps ? r.finish_ps - r.start_ps : 0;
}

/* Store and forward of one frame over a chain's links. */
static uint64_t chain_ps(const struct small_net *s, uint32_t frame, uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (uint32_t link = from; link < to; link++) {
		uint32_t port = PORT_FIRST;

		while (s->net.ports[port].link != link)
			port++;
		sum += serialise_ps(frame, s->net.ports[port].rate_bps) +
		       s->net.ports[port].delay_ps;
	}
	return sum;
}

uint64_t small_net_closed_form(const struct small_net *s, uint64_t bytes, uint32_t mtu, bool ip6)
{
	uint32_t links = s->net.link_count;
	uint64_t n = (bytes + mtu - 1) / mtu;
	uint32_t full = data_frame_bytes(mtu, ip6);
	uint32_t last = data_frame_bytes((uint32_t)(bytes - (n - 1) * mtu), ip6);
	uint64_t in_bps = s->net.ports[s->net.nodes[1].first_port].rate_bps;
	uint64_t out_bps = s->net.ports[s->net.nodes[0].first_port].rate_bps;
	uint64_t back = chain_ps(s, sack_frame_bytes(ip6), 0, links);
	uint64_t rx = chain_ps(s, n > 1 ? full : last, 0, links - 1) +
		      (n - 1) * serialise_ps(full, in_bps) + chain_ps(s, last, links - 1, links);
	uint64_t tx = (n - 1) * serialise_ps(full, out_bps) + chain_ps(s, last, 0, links);

	return (rx > tx ? rx : tx) + back;
}
