/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/class_net.h"

#include <endian.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "abi/wire.h"
#include "base/rng_stream.h"
#include "base/wiretime.h"
#include "lib/compiler.h"
#include "lib/rng_unit.h"
#include "transport/headers.h"

/* From a stream's last packet to the end of its flow: the engine stops when all have ended. */
#define LINGER PS_PER_S

/* ---- streams -------------------------------------------------------------------------------- */

struct stream_end {
	struct endpoint ep;
	const struct class_net *net;
	const struct class_stream *stream;
	struct header_template headers;
	uint32_t sent;
	uint64_t due_ps, rng;
};

static size_t stream_size(
	const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	(void)env, (void)flow, (void)sender;
	return sizeof(struct stream_end);
}

static uint64_t stream_gap(struct stream_end *s)
{
	return (uint64_t)(-log(1 - rng_unit(&s->rng)) * (double)s->stream->mean_gap_ps);
}

static void stream_open(struct endpoint *ep, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint64_t now)
{
	struct stream_end *s = (struct stream_end *)ep;

	s->net = env->options;
	s->stream = &s->net->streams[flow->id];
	s->rng = flow->seed;
	headers_prepare(&s->headers, env, flow, sender, 0, flow->dscp,
		sizeof(struct strack_data) + s->stream->payload + ICRC_BYTES);
	if (!sender)
		return;
	s->due_ps = now + stream_gap(s);
	if (s->stream->mean_gap_ps)
		ep->deadline_ps = s->due_ps;
}

static unsigned stream_on_packet(
	struct endpoint *ep, const struct rx_frame *rx, struct tx_frame *reply, uint64_t now)
{
	const struct stream_end *s = (const struct stream_end *)ep;
	struct class_arrival a = {.now_ps = now};
	struct strack_data data;
	struct bth bth;

	(void)reply;
	if (!s->net->arrived || !headers_read_bth(rx, &bth))
		return 0;
	memcpy(&data, headers_extension(rx, sizeof(data)), sizeof(data));
	a.stream = (uint32_t)(s->stream - s->net->streams);
	a.number = bth.psn;
	a.due_ps = be64toh(data.sent_ps);
	s->net->arrived(s->net->arg, &a);
	return 0;
}

static unsigned stream_on_timer(struct endpoint *ep, struct tx_frame *reply, uint64_t now)
{
	const struct stream_end *s = (const struct stream_end *)ep;

	(void)reply;
	ep->deadline_ps = 0;
	if (s->sent < s->stream->packets)
		return TRANSPORT_WAKE;
	ep->finished_ps = now;
	return 0;
}

static bool stream_payload(const struct endpoint *ep, const struct rx_frame *rx,
	uint64_t *ret_offset, uint32_t *ret_start, uint32_t *ret_length)
{
	(void)ep, (void)rx, (void)ret_offset, (void)ret_start, (void)ret_length;
	return false;
}

static bool stream_next_packet(struct endpoint *ep, struct tx_frame *tx, uint64_t now)
{
	struct stream_end *s = (struct stream_end *)ep;
	struct strack_data data = {.sent_ps = htobe64(s->due_ps)};
	struct header_fields fields = {
		.opcode = STRACK_DATA,
		.psn = s->sent,
		.extension = sizeof(data),
		.payload = s->stream->payload,
	};

	if (s->sent == s->stream->packets || s->due_ps > now)
		return false;
	memcpy(headers_write(&s->headers, &fields, tx), &data, sizeof(data));
	tx->payload_offset = (uint64_t)s->sent * s->stream->payload;
	s->due_ps += stream_gap(s);
	if (++s->sent == s->stream->packets)
		ep->deadline_ps = now + LINGER;
	else if (s->stream->mean_gap_ps)
		ep->deadline_ps = s->due_ps;
	return true;
}

static const struct transport_ops stream_transport = {
	.size = stream_size,
	.open = stream_open,
	.on_packet = stream_on_packet,
	.on_timer = stream_on_timer,
	.payload = stream_payload,
	.next_packet = stream_next_packet,
};

/* ---- the net -------------------------------------------------------------------------------- */

static void add_link(struct net *net, uint32_t *used, uint32_t link, const struct class_link *l)
{
	uint32_t a = net->nodes[l->a].first_port + used[l->a]++;
	uint32_t b = net->nodes[l->b].first_port + used[l->b]++;

	net->ports[a] = (struct net_port){l->a, b, link, l->rate_bps, l->delay_ps, 0};
	net->ports[b] = (struct net_port){l->b, a, link, l->rate_bps, l->delay_ps, 0};
}

static void build(struct net *net, uint32_t hosts, uint32_t switches,
	const struct class_link *links, uint32_t count)
{
	uint32_t nodes = hosts + switches, next = PORT_FIRST;
	uint32_t *used = calloc(nodes, sizeof(*used));

	*net = (struct net){.node_count = nodes,
		.host_count = hosts,
		.switch_count = switches,
		.port_count = 2 * count,
		.link_count = count,
		.nodes = calloc(nodes, sizeof(*net->nodes)),
		.ports = calloc(PORT_FIRST + 2 * count, sizeof(*net->ports))};
	assert_true(used && net->nodes && net->ports);
	for (uint32_t i = 0; i < count; i++) {
		net->nodes[links[i].a].port_count++;
		net->nodes[links[i].b].port_count++;
	}
	for (uint32_t i = 0; i < nodes; i++) {
		net->nodes[i].kind = i < hosts ? NODE_HOST : NODE_SWITCH;
		net->nodes[i].number = i < hosts ? i : i - hosts;
		net->nodes[i].first_port = next;
		next += net->nodes[i].port_count;
	}
	for (uint32_t i = 0; i < count; i++)
		add_link(net, used, i, &links[i]);
	free(used);
}

void class_net_init(struct class_net *n, uint32_t hosts, uint32_t switches,
	const struct class_link *links, uint32_t count)
{
	*n = (struct class_net){0};
	build(&n->net, hosts, switches, links, count);
	n->switching = (struct switching){
		.config = {.features = SW_CLASSES, .quanta = 0xffff},
		.alpha = 1,
		.frame_bytes = CLASS_NET_FRAME,
	};
	for (uint32_t c = 0; c < CLASSES; c++) {
		n->switching.classes[c] =
			(struct switching_class){.used = true, .limit_bytes = 1u << 30};
		n->switching.remap[c] = (uint8_t)c;
	}
	for (uint32_t d = 0; d < DSCP_COUNT; d++)
		n->switching.config.class_of[d] = (uint8_t)(d / 8);
	n->params = (struct engine_params){
		.transports[0].ops = &stream_transport,
		.transports[0].env = {.mtu = CLASS_NET_MTU,
			.base_rtt_ps = PS_PER_US,
			.qps = 1,
			.options = n},
		.schedule = {.frame_bytes = CLASS_NET_FRAME},
	};
}

void class_net_lossless(struct class_net *n, uint32_t class, uint64_t xoff_bytes)
{
	/* the buffer is what XOFF and any headroom need: ports.c puts XOFF where it is told to */
	n->switching.classes[class] = (struct switching_class){
		.used = true,
		.lossless = true,
		.limit_bytes = 1u << 30,
		.xoff_bytes = xoff_bytes,
		.xon_bytes = 2 * CLASS_NET_FRAME,
		.headroom_bytes = SWITCHING_AUTO,
	};
	n->switching.config.features |= SW_PFC | SW_CONTROL;
}

static void open_dataplane(struct class_net *n)
{
	struct sw_sizes sizes = {
		.ports = PORT_FIRST + n->net.port_count,
		.switches = n->net.switch_count,
	};

	ports_config(&sizes.config, &n->switching);
	n->link_up = malloc(n->net.link_count);
	assert_non_null(n->link_up);
	memset(n->link_up, 1, n->net.link_count);
	assert_int_equal(routing_new(&n->routing, &n->net, NULL), 0);
	routing_table_sizes(n->routing, &sizes.routes, &sizes.groups);
	assert_int_equal(dataplane_inline_open(&n->dp, &sizes, headers_capacity(true)), 0);
	assert_int_equal(ports_configure(&n->dp->tables, &n->net, &n->switching, 0), 0);
	routing_compute(n->routing, n->link_up, &n->dp->tables);
}

void class_net_open(struct class_net *n)
{
	n->params.net = &n->net;
	n->params.transports[0].env.host_rate_bps = n->net.ports[PORT_FIRST].rate_bps;
	open_dataplane(n);
	n->params.dataplane = n->dp;
	assert_int_equal(engine_new(&n->engine, &n->params), 0);
}

void class_net_close(struct class_net *n)
{
	engine_free(n->engine);
	if (n->dp)
		n->dp->ops->close(n->dp);
	routing_free(n->routing);
	free(n->link_up);
	free(n->net.nodes);
	free(n->net.ports);
	*n = (struct class_net){0};
}

uint32_t class_net_stream(struct class_net *n, const struct class_stream *s)
{
	struct operation f = {.src_host = s->src,
		.dst_host = s->dst,
		.bytes = (uint64_t)s->packets * s->payload,
		.start_ps = s->start_ps,
		.dscp = (uint8_t)(8 * s->class + 1)};

	assert_in_range(n->stream_count, 0, CLASS_NET_STREAMS - 1);
	n->streams[n->stream_count] = *s;
	assert_int_equal(engine_add_flows(n->engine, &f, 1, NULL, 0), 0);
	return n->stream_count++;
}

void class_net_run(struct class_net *n, uint64_t until_ps)
{
	assert_int_equal(engine_run(n->engine, until_ps, NULL), 0);
}

uint32_t class_net_port(const struct class_net *n, uint32_t from, uint32_t to)
{
	for (uint32_t id = PORT_FIRST; id < PORT_FIRST + n->net.port_count; id++)
		if (n->net.ports[id].node == from && n->net.ports[n->net.ports[id].peer].node == to)
			return id;
	fail_msg("no link from node %u to %u", from, to);
	return 0;
}

struct queue *class_net_queue(const struct class_net *n, uint32_t port, uint32_t class)
{
	return &n->dp->tables.queues[port * CLASSES + class];
}

struct ingress *class_net_ingress(const struct class_net *n, uint32_t port, uint32_t class)
{
	return &n->dp->tables.ingresses[port * CLASSES + class];
}

struct engine_stats class_net_stats(const struct class_net *n)
{
	struct engine_stats stats;

	engine_stats(n->engine, &stats);
	return stats;
}

uint64_t class_net_dropped(const struct class_net *n)
{
	struct engine_stats stats = class_net_stats(n);
	uint64_t sum = 0;

	for (int i = 0; i < DROP_REASON_COUNT; i++)
		sum += stats.dropped[i];
	return sum;
}

uint8_t class_net_frame_class(const uint8_t *bytes)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)bytes;
	const struct ip4_hdr *ip = (const struct ip4_hdr *)(eth + 1);

	return eth->type == be16(ETHERTYPE_IP4) ? ip->tos >> 5 : QUEUE_CONTROL;
}

bool class_net_pfc(const uint8_t *bytes, uint32_t class, uint16_t *ret_quanta)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)bytes;
	const struct pfc_hdr *h = (const struct pfc_hdr *)(eth + 1);

	if (eth->type != be16(ETHERTYPE_MAC) || !(be16(h->classes) >> class & 1))
		return false;
	*ret_quanta = be16(h->quanta[class]);
	return true;
}

void class_net_send_pfc(struct class_net *n, uint32_t port, uint8_t classes, uint16_t quanta)
{
	uint8_t bytes[PFC_FRAME] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)bytes;
	struct pfc_hdr *h = (struct pfc_hdr *)(eth + 1);
	static const uint8_t control[6] = MAC_CONTROL_BYTES;

	memcpy(eth->dst, control, 6);
	port_mac(port, eth->src);
	eth->type = be16(ETHERTYPE_MAC);
	h->opcode = be16(PFC_OPCODE);
	h->classes = be16(classes);
	for (uint32_t c = 0; c < CLASSES; c++)
		if (classes >> c & 1)
			h->quanta[c] = be16(quanta);
	assert_int_equal(
		engine_send_control(n->engine, port, bytes, sizeof(bytes), engine_now(n->engine)),
		0);
}

void class_net_at_rest(const struct engine *e)
{
	const struct sw_tables *t = engine_tables(e);
	struct engine_stats stats;

	engine_stats(e, &stats);
	assert_int_equal(stats.in_flight, 0);
	assert_int_equal(engine_check_balance(e), 0);
	for (uint32_t i = 0; i < t->count.queues; i++) {
		assert_int_equal(t->queues[i].depth_bytes, 0);
		assert_int_equal(t->queues[i].depth_frames, 0);
		assert_int_equal(t->ingresses[i].bytes, 0);
		assert_int_equal(t->ingresses[i].headroom_bytes, 0);
		assert_int_equal(t->ingresses[i].paused, 0);
	}
	for (uint32_t i = 0; i < t->count.switches; i++) {
		assert_int_equal(t->switches[i].pool_used, 0);
		for (uint32_t c = 0; c < CLASSES; c++)
			assert_int_equal(t->switches[i].headroom_used[c], 0);
	}
}
