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

static struct engine_senders *host_senders(
	const struct engine *e, const struct engine_node *n, uint32_t class)
{
	return &e->senders[node_index(e, n) * CLASSES + class];
}

static void host_activate(struct engine *e, struct engine_node *n, struct engine_live *l)
{
	struct engine_senders *s = host_senders(e, n, l->class);

	if (l->side[0].active)
		return;
	l->side[0].active = true;
	l->next = FLOW_NONE;
	if (n->sending >> l->class & 1)
		flow_block(e, s->tail)->next = l->place;
	else
		s->head = l->place;
	s->tail = l->place;
	n->sending |= (uint8_t)(1u << l->class);
}

/* The first sender of a class, of which there is one. */
static struct engine_live *host_take_sender(struct engine *e, struct engine_node *n, uint32_t class)
{
	struct engine_senders *s = host_senders(e, n, class);
	struct engine_live *l = flow_block(e, s->head);

	l->side[0].active = false;
	s->head = l->next;
	if (l->next == FLOW_NONE)
		n->sending &= (uint8_t) ~(1u << class);
	return l;
}

/* Arms the endpoint's deadline. One later than the armed one waits for that: see host_timer(). */
static void host_arm_timer(
	struct engine *e, struct engine_node *n, struct engine_live *l, bool sender, uint64_t now)
{
	struct engine_side *s = &l->side[!sender];
	uint64_t due = flow_endpoint(e, l, sender)->deadline_ps;

	if (!due || (s->timer_ps && s->timer_ps <= due))
		return;
	s->timer_ps = due > now ? due : now;
	engine_arm_drawn(e, n, s->timer_ps, EVENT_TIMER, flow_side(l->number, sender),
		flow_side(l->drawn, sender));
}

/* After any call into an endpoint. */
static void host_follow_up(struct engine *e, struct engine_node *n, struct engine_live *l,
	bool sender, unsigned asked, const struct tx_frame *reply, uint64_t now)
{
	if (asked & TRANSPORT_REPLY) {
		uint32_t packet = e->spare;

		e->spare = PACKET_NONE;
		host_register(e, n, packet_get(&e->pool, packet), reply);
		packet_get(&e->pool, packet)->time_ps = now;
		l->in_flight++;
		egress_push(e, host_port(n), packet);
	}
	if (asked & TRANSPORT_WAKE)
		host_activate(e, n, l);
	flow_follow_up(e, l, sender, now);
	host_arm_timer(e, n, l, sender, now);
	if (!e->ports[host_port(n)].serving_bytes)
		host_line_free(e, n, now);
	/* that may have been the end of it */
	if (l->open)
		flow_settle(e, l);
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
static void host_add_payload(struct engine *e, uint32_t flow, struct tx_frame *tx)
{
	if (!engine_env(e)->payload_full || !tx->payload_length)
		return;
	payload_fill(tx->bytes + tx->captured, flow, tx->payload_offset, tx->payload_length);
	__builtin_memset(tx->bytes + tx->captured + tx->payload_length, 0, ICRC_BYTES);
	tx->captured += tx->payload_length + ICRC_BYTES;
}

/* One packet of one sender; false: that one has nothing to send now. */
static bool host_send_data(
	struct engine *e, struct engine_node *n, struct engine_live *l, uint64_t now)
{
	struct endpoint *ep = flow_endpoint(e, l, true);
	uint32_t packet = host_spare(e);
	struct tx_frame tx;
	bool sent;

	if (packet == PACKET_NONE)
		return false;
	tx = host_buffer(e, packet);
	sent = ep->ops->next_packet(ep, &tx, now);
	host_arm_timer(e, n, l, true, now);
	if (!sent)
		return false;
	e->spare = PACKET_NONE;
	l->in_flight++;
	host_add_payload(e, l->drawn, &tx);
	host_register(e, n, packet_get(&e->pool, packet), &tx);
	line_start(e, host_port(n), packet, now);
	return true;
}

/*
 * Of classes whose senders may send, the one to serve: as at any port, see egress.c. But how long
 * the next packet will be is not known before it is made. So a class with a share sends while it
 * has any credit, and owes what it has sent beyond.
 */
static uint32_t host_class(struct engine *e, struct engine_node *n, uint32_t ready)
{
	uint32_t strict = ready & e->strict;

	if (sw_likely(strict))
		return 31u - (uint32_t)__builtin_clz(strict);
	while (!(ready >> n->turn & 1) || host_senders(e, n, n->turn)->credit <= 0) {
		n->turn = (n->turn + 1) % CLASSES;
		if (ready >> n->turn & 1)
			host_senders(e, n, n->turn)->credit += e->quantum[n->turn];
	}
	return n->turn;
}

/* A packet of the first sender that has one. */
static bool host_send_turn(struct engine *e, struct engine_node *n, uint64_t now)
{
	const struct engine_port *p = &e->ports[host_port(n)];

	while (n->sending & ~p->paused) {
		uint32_t class = host_class(e, n, n->sending & ~p->paused);
		struct engine_senders *s = host_senders(e, n, class);
		struct engine_live *l = host_take_sender(e, n, class);

		if (host_send_data(e, n, l, now)) {
			host_activate(e, n, l);
			s->credit -= (int64_t)wire_bytes(p->serving_bytes);
			n->stack_sent = false;
			flow_prefetch(e, flow_block(e, s->head), true);
			return true;
		}
		if (!(n->sending >> class & 1) && s->credit > 0)
			s->credit = 0; /* what it did not use is not saved up */
		flow_settle(e, l);
	}
	return false;
}

void host_line_free(struct engine *e, struct engine_node *n, uint64_t now)
{
	/* frames of the stack and of the senders take turns; control frames wait for neither */
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

static void host_check_payload(
	struct engine *e, const struct endpoint *ep, uint32_t flow, const struct rx_frame *rx)
{
	uint32_t start, length;
	uint64_t offset;

	if (!engine_env(e)->payload_full || rx->trimmed || rx->returned ||
		!ep->ops->payload(ep, rx, &offset, &start, &length))
		return;
	if (start + length > rx->captured ||
		!payload_matches(rx->bytes + start, flow, offset, length))
		e->stats.corrupt++;
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
	struct engine_live *l = NULL;
	struct tx_frame reply;
	struct endpoint *ep;
	struct rx_frame rx;
	unsigned asked;
	bool sender;

	if (frame_parse(e, k, packet_frame(&e->pool, packet)->bytes, &rx))
		l = flow_find(e, &rx, &sender);
	if (!l || l->side[!sender].node != node_index(e, n)) {
		/* a program may speak the same protocol */
		host_to_stack(e, n, packet, now);
		return;
	}
	ep = flow_endpoint(e, l, sender);
	host_check_payload(e, ep, l->drawn, &rx);
	if (!sender)
		flow_packet_arrived(e, l, k, &rx);
	if (host_spare(e) == PACKET_NONE)
		return;
	reply = host_buffer(e, e->spare);
	asked = ep->ops->on_packet(ep, &rx, &reply, now);
	e->stats.delivered++;
	e->stats.headers_delivered += rx.trimmed || rx.returned;
	l->in_flight -= host_made(e, k) && l->in_flight;
	packet_free(&e->pool, packet);
	host_follow_up(e, n, l, sender, asked, &reply, now);
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

void host_timer(struct engine *e, struct engine_node *n, uint32_t side, uint64_t now)
{
	struct engine_live *l = flow_numbered(e, side / 2);
	bool sender = !(side & 1);
	struct tx_frame reply;
	struct endpoint *ep;
	unsigned asked = 0;

	/* an earlier deadline was armed after this one and served, or another has the number */
	if (!l || l->side[!sender].timer_ps != now || l->side[!sender].node != node_index(e, n))
		return;
	l->side[!sender].timer_ps = 0;
	if (host_spare(e) == PACKET_NONE)
		return;
	reply = host_buffer(e, e->spare);
	ep = flow_endpoint(e, l, sender);
	if (ep->deadline_ps && ep->deadline_ps <= now)
		asked = ep->ops->on_timer(ep, &reply, now);
	host_follow_up(e, n, l, sender, asked, &reply, now);
}

void host_start(struct engine *e, struct engine_node *n, uint32_t flow, uint64_t now)
{
	struct engine_live *l = flow_due(e, n, flow, now);

	if (l)
		host_follow_up(e, n, l, true, TRANSPORT_WAKE, NULL, now);
}
