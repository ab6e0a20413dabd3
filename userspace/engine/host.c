/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A host: its endpoints, and a network card that sends their answers first and then serves the
 * senders in turn, a packet each.
 */
#include <errno.h>
#include "abi/wire.h"
#include "engine/internal.h"

static uint32_t host_port(const struct engine_node *n)
{
	return n->first_port;
}

/* Of IPv4's TOS, or IPv6's traffic class, which starts half a byte later. */
static uint8_t frame_dscp(const uint8_t *bytes)
{
	const uint8_t *ip = bytes + sizeof(struct eth_hdr);

	if (((const struct eth_hdr *)bytes)->type == be16(ETHERTYPE_IP6))
		return (uint8_t)((ip[0] & 0xf) << 2 | ip[1] >> 6);
	if (((const struct eth_hdr *)bytes)->type == be16(ETHERTYPE_IP4))
		return ip[1] >> 2;
	return 0;
}

/* Numbers a new packet of this host and counts it. */
static void host_register(
	struct engine *e, struct engine_node *n, struct packet *k, const struct tx_frame *tx)
{
	k->id = (uint64_t)node_index(e, n) << 32 | n->packets_made++;
	k->captured = (uint16_t)tx->captured;
	k->length = tx->length;
	k->queue = engine_has(e, SW_CLASSES) ? engine_class(e, frame_dscp(tx->bytes)) : 0;
	k->in_queue = 0;
	k->in_port = host_port(n);
	if (k->length > e->longest_frame)
		e->longest_frame = k->length;
	e->stats.sent++;
}

static struct tx_frame host_buffer(struct engine *e, uint32_t packet)
{
	return (struct tx_frame){.bytes = packet_frame(&e->pool, packet)->bytes};
}

/* The slot that an answer is written to before it is known whether there will be one. */
static uint32_t host_spare(struct engine *e)
{
	if (e->spare == PACKET_NONE)
		e->spare = packet_alloc(&e->pool);
	if (e->spare == PACKET_NONE)
		e->failed = -ENOBUFS;
	return e->spare;
}

static void host_activate(struct engine *e, struct engine_node *n, uint32_t slot)
{
	struct engine_slot *s = &e->slots[slot];

	if (s->active)
		return;
	s->active = true;
	s->active_next = SLOT_NONE;
	if (n->active_head == SLOT_NONE)
		n->active_head = slot;
	else
		e->slots[n->active_tail].active_next = slot;
	n->active_tail = slot;
}

/* Arms the endpoint's deadline. A later one than what is armed waits until that comes: see host_timer(). */
static void host_arm_timer(struct engine *e, struct engine_node *n, uint32_t slot, uint64_t now)
{
	struct engine_slot *s = &e->slots[slot];
	uint64_t due = s->ep->deadline_ps;

	if (!due || (s->timer_ps && s->timer_ps <= due))
		return;
	s->timer_ps = due > now ? due : now;
	engine_arm(e, n, s->timer_ps, EVENT_TIMER, slot);
}

/* The sender is through: those that waited for it get their start. */
static void host_flow_done(struct engine *e, struct engine_node *n, uint32_t flow)
{
	struct engine_flow_state *f = &e->flows[flow];
	uint64_t end = e->slots[flow_slot(flow, true)].ep->finished_ps;

	f->done = true;
	e->stats.flows_done++;
	if (end + e->lookahead_ps > e->end_ps)
		e->end_ps = end + e->lookahead_ps;
	e->stats.bytes_delivered += f->flow.bytes;
	for (uint32_t i = f->first_after; i != ENGINE_NO_FLOW; i = e->flows[i].next_after)
		engine_arm(e, n, end + e->flows[i].flow.start_ps, EVENT_START, i);
}

/* After any call into an endpoint. */
static void host_follow_up(struct engine *e, struct engine_node *n, uint32_t slot, unsigned asked,
	const struct tx_frame *reply, uint64_t now)
{
	struct engine_slot *s = &e->slots[slot];

	if (asked & TRANSPORT_REPLY) {
		uint32_t packet = e->spare;

		e->spare = PACKET_NONE;
		host_register(e, n, packet_get(&e->pool, packet), reply);
		packet_get(&e->pool, packet)->time_ps = now;
		egress_push(e, host_port(n), packet);
	}
	if (asked & TRANSPORT_WAKE)
		host_activate(e, n, slot);
	if (s->ep->finished_ps && !(slot & 1) && !e->flows[slot / 2].done)
		host_flow_done(e, n, slot / 2);
	host_arm_timer(e, n, slot, now);
	if (!e->ports[host_port(n)].serving_bytes)
		host_line_free(e, n, now);
}

/* Control frames and answers go before data; a stack's frames wait among the answers. */
static bool host_send_queued(struct engine *e, struct engine_node *n, uint64_t now)
{
	uint32_t packet = egress_next(e, host_port(n));
	struct packet *k;

	if (packet == PACKET_NONE)
		return false;
	k = packet_get(&e->pool, packet);
	if (sw_unlikely(k->in_queue & PACKET_STACK)) {
		k->in_queue = 0;
		n->stack_bytes -= k->length;
		n->stack_sent = true;
	}
	line_start(e, host_port(n), packet, now);
	return true;
}

/* Puts the message's bytes behind the headers, and the ICRC's place after them. */
static void host_add_payload(struct engine *e, uint32_t slot, struct tx_frame *tx)
{
	if (!e->env.payload_full || !tx->payload_length)
		return;
	payload_fill(tx->bytes + tx->captured, slot / 2, tx->payload_offset, tx->payload_length);
	__builtin_memset(tx->bytes + tx->captured + tx->payload_length, 0, ICRC_BYTES);
	tx->captured += tx->payload_length + ICRC_BYTES;
}

/* One packet of one sender; false: that one has nothing to send now. */
static bool host_send_data(struct engine *e, struct engine_node *n, uint32_t slot, uint64_t now)
{
	struct engine_slot *s = &e->slots[slot];
	uint32_t packet = host_spare(e);
	struct tx_frame tx;
	bool sent;

	if (packet == PACKET_NONE)
		return false;
	tx = host_buffer(e, packet);
	sent = s->ep->ops->next_packet(s->ep, &tx, now);
	host_arm_timer(e, n, slot, now);
	if (!sent)
		return false;
	e->spare = PACKET_NONE;
	host_add_payload(e, slot, &tx);
	host_register(e, n, packet_get(&e->pool, packet), &tx);
	line_start(e, host_port(n), packet, now);
	return true;
}

/* A packet of the first sender that has one. */
static bool host_send_turn(struct engine *e, struct engine_node *n, uint64_t now)
{
	if (e->ports[host_port(n)].paused >> e->data_queue & 1)
		return false;
	while (n->active_head != SLOT_NONE) {
		uint32_t slot = n->active_head;

		n->active_head = e->slots[slot].active_next;
		e->slots[slot].active = false;
		if (host_send_data(e, n, slot, now)) {
			host_activate(e, n, slot);
			n->stack_sent = false;
			return true;
		}
	}
	return false;
}

void host_line_free(struct engine *e, struct engine_node *n, uint64_t now)
{
	/* where the stack has frames, it and the senders take turns, and control frames wait for neither */
	if (sw_unlikely(n->stack_bytes && n->stack_sent) &&
		packet_fifo_empty(&e->control[host_port(n)]) && host_send_turn(e, n, now))
		return;
	if (!host_send_queued(e, n, now))
		host_send_turn(e, n, now);
}

uint32_t engine_stack_capacity(const struct engine *e)
{
	return e->frame_capacity;
}

uint8_t *engine_stack_buffer(struct engine *e)
{
	uint32_t packet = host_spare(e);

	return packet == PACKET_NONE ? NULL : packet_frame(&e->pool, packet)->bytes;
}

int engine_stack_send(struct engine *e, uint32_t host, uint32_t length)
{
	struct engine_node *n = &e->nodes[host];
	uint32_t packet = e->spare;
	struct tx_frame frame = host_buffer(e, packet);
	struct packet *k = packet_get(&e->pool, packet);

	e->spare = PACKET_NONE;
	frame.captured = frame.length = length;
	host_register(e, n, k, &frame);
	k->time_ps = e->now_ps;
	if (n->stack_bytes + length > e->stack_queue) {
		engine_discard(e, host_port(n), packet, DROP_HOST_QUEUE, e->now_ps);
		return -ENOBUFS;
	}
	k->in_queue = PACKET_STACK;
	n->stack_bytes += length;
	egress_push(e, host_port(n), packet);
	if (!e->ports[host_port(n)].serving_bytes)
		host_line_free(e, n, e->now_ps);
	return 0;
}

/* Where the transport header starts; the program has parsed the frame before. False: it is not there. */
static bool host_parse(const struct engine *e, const struct packet *k, const struct frame *frame,
	struct rx_frame *ret)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)frame->bytes;
	const uint8_t *ip = frame->bytes + sizeof(*eth);
	bool six = eth->type == be16(ETHERTYPE_IP6);
	uint32_t offset = sizeof(*eth) + sizeof(struct udp_hdr) +
			  (six ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr));

	if (k->captured < offset + sizeof(struct bth_hdr))
		return false;
	*ret = (struct rx_frame){
		.bytes = frame->bytes,
		.captured = k->captured,
		.transport_offset = offset,
		.transport_length = k->length - offset,
		.ecn = (six ? ip[1] >> 4 : ip[1]) & 3,
	};
	if (engine_has(e, SW_TRIM)) {
		uint8_t dscp = frame_dscp(frame->bytes);

		ret->trimmed = dscp == e->dp->tables.config.trimmed_dscp;
		ret->returned = dscp == e->dp->tables.config.returned_dscp;
	}
	return true;
}

static void host_check_payload(struct engine *e, uint32_t slot, const struct rx_frame *rx)
{
	const struct endpoint *ep = e->slots[slot].ep;
	uint32_t start, length;
	uint64_t offset;

	if (!e->env.payload_full || rx->trimmed || rx->returned ||
		!ep->ops->payload(ep, rx, &offset, &start, &length))
		return;
	if (start + length > rx->captured ||
		!payload_matches(rx->bytes + start, slot / 2, offset, length))
		e->stats.corrupt++;
}

/* The endpoint that a frame is for; SLOT_NONE: nobody here. */
static uint32_t host_find(
	const struct engine *e, const struct engine_node *n, const struct rx_frame *rx)
{
	const struct bth_hdr *bth = (const struct bth_hdr *)(rx->bytes + rx->transport_offset);
	uint32_t qp = be32(bth->qp) & BTH_MASK_24;
	uint32_t slot = flow_slot(qp_flow(&e->env, qp), !(qp & 1));

	if (qp < QP_FIRST)
		return SLOT_NONE;
	/* what comes back is addressed as it went out: its sender's is the other queue pair */
	if (rx->returned)
		slot ^= 1;
	/* a sender that has not started has no operations yet */
	if (slot >= 2 * e->flow_count || e->slots[slot].node != node_index(e, n) ||
		!e->slots[slot].ep->ops)
		return SLOT_NONE;
	return slot;
}

/* What no endpoint here takes. */
static void host_to_stack(struct engine *e, struct engine_node *n, uint32_t packet, uint64_t now)
{
	const struct packet *k = packet_get(&e->pool, packet);

	if (!e->observer.stack) {
		engine_discard(e, host_port(n), packet, DROP_NOT_MINE, now);
		return;
	}
	e->stats.delivered++;
	e->observer.stack(e->observer.arg, now, node_index(e, n),
		packet_frame(&e->pool, packet)->bytes,
		k->captured < k->length ? k->captured : k->length);
	packet_free(&e->pool, packet);
}

static void host_deliver(struct engine *e, struct engine_node *n, uint32_t packet, uint64_t now)
{
	struct packet *k = packet_get(&e->pool, packet);
	uint32_t slot = SLOT_NONE;
	struct tx_frame reply;
	struct rx_frame rx;
	unsigned asked;

	if (host_parse(e, k, packet_frame(&e->pool, packet), &rx))
		slot = host_find(e, n, &rx);
	if (slot == SLOT_NONE) {
		/* a program may speak the same protocol */
		host_to_stack(e, n, packet, now);
		return;
	}
	host_check_payload(e, slot, &rx);
	if (host_spare(e) == PACKET_NONE)
		return;
	reply = host_buffer(e, e->spare);
	asked = e->slots[slot].ep->ops->on_packet(e->slots[slot].ep, &rx, &reply, now);
	e->stats.delivered++;
	e->stats.headers_delivered += rx.trimmed || rx.returned;
	packet_free(&e->pool, packet);
	host_follow_up(e, n, slot, asked, &reply, now);
}

void host_arrive(
	struct engine *e, struct engine_node *n, uint32_t port, uint32_t packet, uint64_t now)
{
	const struct verdict *v = &packet_frame(&e->pool, packet)->verdict;

	if (v->action == VERDICT_DELIVER)
		host_deliver(e, n, packet, now);
	else if (v->action == VERDICT_STACK)
		host_to_stack(e, n, packet, now);
	else
		engine_drop(e, port, packet, (enum drop_reason)v->reason, now);
}

void host_timer(struct engine *e, struct engine_node *n, uint32_t slot, uint64_t now)
{
	struct engine_slot *s = &e->slots[slot];
	struct tx_frame reply;
	unsigned asked = 0;

	if (s->timer_ps != now)
		return; /* an earlier deadline was armed after this one and has been served */
	s->timer_ps = 0;
	if (host_spare(e) == PACKET_NONE)
		return;
	reply = host_buffer(e, e->spare);
	if (s->ep->deadline_ps && s->ep->deadline_ps <= now)
		asked = s->ep->ops->on_timer(s->ep, &reply, now);
	host_follow_up(e, n, slot, asked, &reply, now);
}

void host_start(struct engine *e, struct engine_node *n, uint32_t flow, uint64_t now)
{
	e->flows[flow].start_ps = now;
	engine_open_endpoint(e, flow, true, now);
	host_follow_up(e, n, flow_slot(flow, true), TRANSPORT_WAKE, 0, now);
}
