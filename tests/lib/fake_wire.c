/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng_stream.h"
#include "fake_wire.h"
#include "lib/headers_parse.h"
#include "transport/headers.h"
#include "lib/rng_unit.h"

enum { RECEIVER = 0, SENDER = 1 };
enum fake_kind { START, PORT_FREE, AT_QUEUE, SERVED, AT_END, TIMER };

struct fake_event {
	uint64_t at, sequence;
	enum fake_kind kind;
	uint32_t flow;
	int end;
	struct fake_packet *packet;
};

static bool before(const struct fake_event *a, const struct fake_event *b)
{
	return a->at != b->at ? a->at < b->at : a->sequence < b->sequence;
}

static void push(struct fake_wire *w, struct fake_event e)
{
	size_t i = w->event_count++;

	if (w->event_count > w->event_capacity) {
		w->event_capacity = w->event_capacity ? 2 * w->event_capacity : 1024;
		w->events = realloc(w->events, w->event_capacity * sizeof(*w->events));
		assert(w->events);
	}
	e.sequence = w->sequence++;
	while (i && before(&e, &w->events[(i - 1) / 2])) {
		w->events[i] = w->events[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->events[i] = e;
}

static struct fake_event pop(struct fake_wire *w)
{
	struct fake_event first = w->events[0], last = w->events[--w->event_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->event_count) {
		if (child + 1 < w->event_count && before(&w->events[child + 1], &w->events[child]))
			child++;
		if (!before(&w->events[child], &last))
			break;
		w->events[i] = w->events[child];
		i = child;
	}
	w->events[i] = last;
	return first;
}

uint64_t fake_wire_time(uint32_t length, uint64_t rate_bps)
{
	uint64_t bytes = length + ETH_FCS_BYTES;

	if (bytes < ETH_MIN_BYTES)
		bytes = ETH_MIN_BYTES;
	return (bytes + ETH_LEAD_BYTES) * 8 * 1000000000000ull / rate_bps;
}

/* Keeps one event for the earliest deadline; an event that has been overtaken does nothing. */
static void arm(struct fake_wire *w, uint32_t flow, int end)
{
	uint64_t deadline = w->flows[flow].ends[end]->deadline_ps;

	if (deadline && deadline != w->flows[flow].timers[end])
		push(w, (struct fake_event){.at = deadline < w->now ? w->now : deadline,
				.kind = TIMER,
				.flow = flow,
				.end = end});
	w->flows[flow].timers[end] = deadline;
}

static uint8_t dscp_of(const struct fake_wire *w, const struct fake_packet *p)
{
	const uint8_t *ip = p->bytes + sizeof(struct eth_hdr);

	return w->config.env->ip6 ? (uint8_t)((ip[0] << 8 | ip[1]) >> 6 & 0x3f) : ip[1] >> 2;
}

/* Of the data of each flow: the hosts' own does not count. */
#define FLOW_DSCP 33

static uint8_t expected_dscp(const struct fake_wire *w, const struct fake_packet *p, uint8_t opcode)
{
	const struct transport_env *env = w->config.env;

	if (p->forward)
		return FLOW_DSCP;
	return opcode == ROCE_CNP ? env->notify_dscp : env->control_dscp;
}

/* Fills in what the hooks want to know, from the bytes themselves. */
static void inspect(struct fake_wire *w, struct fake_packet *p)
{
	struct fake_flow *f = &w->flows[p->flow];
	struct rx_frame rx;
	struct bth bth;
	uint16_t port;

	if (headers_parse(p->bytes, p->captured, &rx) || !headers_read_bth(&rx, &bth) ||
		p->captured > headers_capacity(w->config.env->ip6) ||
		rx.transport_offset + rx.transport_length != p->length || rx.ecn != ECN_ECT0 ||
		qp_flow(w->config.env, bth.qp) != p->flow || (bth.qp & 1) != p->forward ||
		dscp_of(w, p) != expected_dscp(w, p, bth.opcode)) {
		w->malformed++;
		return;
	}
	memcpy(&port, p->bytes + rx.transport_offset - sizeof(struct udp_hdr), sizeof(port));
	port = be16toh(port);
	if (!f->first_port[p->forward])
		f->first_port[p->forward] = port;
	p->path = (uint16_t)((port - f->first_port[p->forward]) & ENTROPY_MASK);
	p->opcode = bth.opcode;
	p->psn = bth.psn;
	p->ack_request = bth.ack_request;
}

static struct fake_packet *packet_new(struct fake_wire *w, uint32_t flow, int end)
{
	struct fake_packet *p = calloc(1, sizeof(*p));

	assert(p);
	p->flow = flow;
	p->forward = end == SENDER;
	(void)w;
	return p;
}

/*
 * Headers are gone from the queue at once: they have a queue of their own, which is never long.
 * `at`: there the switch cut it.
 */
static void cut_short(struct fake_wire *w, struct fake_packet *p, uint64_t at)
{
	w->cuts++;
	push(w, (struct fake_event){.at = at + w->config.delay_ps, .kind = AT_END, .packet = p});
}

static void travel(struct fake_wire *w, struct fake_packet *p, uint64_t left)
{
	push(w, (struct fake_event){.at = left + w->config.delay_ps * (p->forward ? 1 : 2),
			.kind = p->forward ? AT_QUEUE : AT_END,
			.flow = p->flow,
			.packet = p});
}

/* The frame's last bit leaves its endpoint at `left`. */
static void launch(struct fake_wire *w, struct fake_packet *p, uint64_t left)
{
	const struct fake_hooks *h = &w->config.hooks;
	uint64_t extra = h->delay ? h->delay(h->arg, p) : 0;

	p->sent_ps = w->now;
	if (h->see)
		h->see(h->arg, p);
	if (h->drop && h->drop(h->arg, p)) {
		free(p);
		return;
	}
	if (p->forward && h->cut && (p->cut = h->cut(h->arg, p)) != FAKE_WHOLE) {
		cut_short(w, p, left + extra + w->config.delay_ps);
		return;
	}
	travel(w, p, left + extra);
	if (h->twice && h->twice(h->arg, p)) {
		struct fake_packet *copy = packet_new(w, p->flow, SENDER);

		*copy = *p;
		travel(w, copy, left + extra);
	}
}

static void fill(struct fake_packet *p, const struct tx_frame *tx)
{
	p->captured = tx->captured;
	p->length = tx->length;
}

/* The sender's port takes the next frame, if it is free. */
static void send_next(struct fake_wire *w, uint32_t flow)
{
	struct fake_flow *f = &w->flows[flow];
	struct fake_packet *p = f->control;
	struct endpoint *ep = f->ends[SENDER];
	uint64_t left;

	if (f->sending)
		return;
	if (p) {
		f->control = p->next;
	} else {
		struct tx_frame tx = {0};

		p = packet_new(w, flow, SENDER);
		tx.bytes = p->bytes;
		if (!ep->ops->next_packet(ep, &tx, w->now)) {
			free(p);
			arm(w, flow, SENDER);
			return;
		}
		fill(p, &tx);
		arm(w, flow, SENDER);
	}
	p->number = w->frames++;
	inspect(w, p);
	left = w->now + fake_wire_time(p->length, w->config.rate_bps);
	f->sending = true;
	push(w, (struct fake_event){.at = left, .kind = PORT_FREE, .flow = flow});
	launch(w, p, left);
}

/* What an endpoint asked for in on_packet or on_timer. */
static void obey(struct fake_wire *w, uint32_t flow, int end, unsigned asks, struct fake_packet *p)
{
	struct fake_flow *f = &w->flows[flow];

	arm(w, flow, end);
	if (!(asks & TRANSPORT_REPLY)) {
		free(p);
	} else if (end == SENDER) {
		p->next = f->control;
		f->control = p;
	} else {
		uint64_t start = f->busy_ps[end] > w->now ? f->busy_ps[end] : w->now;

		p->number = w->frames++;
		inspect(w, p);
		f->busy_ps[end] = start + fake_wire_time(p->length, w->config.rate_bps);
		launch(w, p, f->busy_ps[end]);
	}
	if (end == SENDER && asks)
		send_next(w, flow);
}

/* What a receiver counts as data, by the transport's own word for it. */
static void count_data(struct fake_wire *w, struct fake_flow *f, const struct rx_frame *rx)
{
	uint32_t start, length;
	uint64_t offset;

	if (!f->ends[RECEIVER]->ops->payload(f->ends[RECEIVER], rx, &offset, &start, &length))
		return;
	f->data_arrived++;
	if (offset < w->config.message_bytes * (1 + w->config.more)) /* no surplus symbol */
		f->arrivals[offset / w->config.env->mtu]++;
}

/* As a switch that trims leaves it. */
static void strip(const struct fake_packet *p, struct rx_frame *rx)
{
	rx->trimmed = p->cut == FAKE_TRIMMED;
	rx->returned = p->cut == FAKE_RETURNED;
	rx->transport_length = sizeof(struct bth_hdr) + TRIMMED_EXTENSION;
	rx->captured = rx->transport_offset + rx->transport_length;
}

static void at_end(struct fake_wire *w, struct fake_packet *p)
{
	struct fake_flow *f = &w->flows[p->flow];
	int end = p->forward && p->cut != FAKE_RETURNED ? RECEIVER : SENDER;
	struct fake_packet *answer = packet_new(w, p->flow, end);
	struct tx_frame reply = {.bytes = answer->bytes};
	struct rx_frame rx;
	unsigned asks = 0;

	if (!headers_parse(p->bytes, p->captured, &rx)) {
		if (p->marked)
			rx.ecn = ECN_CE;
		if (p->cut != FAKE_WHOLE)
			strip(p, &rx);
		else if (p->forward)
			count_data(w, f, &rx);
		asks = f->ends[end]->ops->on_packet(f->ends[end], &rx, &reply, w->now);
	}
	fill(answer, &reply);
	obey(w, p->flow, end, asks, answer);
	free(p);
}

static void serve(struct fake_wire *w)
{
	struct fake_packet *p = w->head;
	uint64_t behind = w->depth_bytes - p->length;
	uint32_t kmin = w->config.kmin_bytes, kmax = w->config.kmax_bytes;

	if (kmax && behind > kmin &&
		(behind >= kmax || rng_unit(&w->rng) * (kmax - kmin) < (double)(behind - kmin)))
		p->marked = true;
	push(w, (struct fake_event){
			.at = w->now + fake_wire_time(p->length, w->config.queue_rate_bps),
			.kind = SERVED});
}

static void at_queue(struct fake_wire *w, struct fake_packet *p)
{
	bool measured = w->now >= w->config.measure_from_ps;

	if (measured) {
		w->samples++;
		w->depth_sum += w->depth_bytes;
		if (w->depth_bytes > w->max_depth)
			w->max_depth = w->depth_bytes;
	}
	if (w->depth_bytes + p->length > w->config.buffer_bytes) {
		if (p->length > p->captured + ICRC_BYTES && w->config.overflow != FAKE_WHOLE) {
			p->cut = w->config.overflow;
			cut_short(w, p, w->now);
			return;
		}
		w->drops++;
		w->drops_after += measured;
		w->last_drop_ps = w->now;
		free(p);
		return;
	}
	p->next = NULL;
	*w->tail = p;
	w->tail = &p->next;
	w->depth_bytes += p->length;
	if (w->head == p)
		serve(w);
}

static void served(struct fake_wire *w)
{
	struct fake_packet *p = w->head;

	w->head = p->next;
	if (!w->head)
		w->tail = &w->head;
	w->depth_bytes -= p->length;
	push(w, (struct fake_event){
			.at = w->now + w->config.delay_ps, .kind = AT_END, .packet = p});
	if (w->head)
		serve(w);
}

static void fire(struct fake_wire *w, uint32_t flow, int end)
{
	struct endpoint *ep = w->flows[flow].ends[end];
	struct fake_packet *answer;
	struct tx_frame reply = {0};
	unsigned asks;

	if (!ep->deadline_ps || ep->deadline_ps > w->now)
		return;
	w->flows[flow].timers[end] = 0;
	answer = packet_new(w, flow, end);
	reply.bytes = answer->bytes;
	asks = ep->ops->on_timer(ep, &reply, w->now);
	fill(answer, &reply);
	obey(w, flow, end, asks, answer);
}

static void start(struct fake_wire *w, uint32_t flow)
{
	const struct fake_config *c = &w->config;
	struct flow_spec spec = {
		.id = flow,
		.src_host = flow,
		.dst_host = c->senders,
		.bytes = c->message_bytes,
		.more = c->more,
		.seed = rng_stream(c->seed, "flow", flow),
		.dscp = FLOW_DSCP,
	};

	for (int end = 0; end < 2; end++) {
		struct endpoint *ep = calloc(1, c->ops->size(c->env, &spec, end == SENDER));

		assert(ep);
		c->ops->open(ep, c->env, &spec, end == SENDER, w->now);
		w->flows[flow].ends[end] = ep;
		if (end == SENDER && c->more)
			c->ops->release(ep, 1 + c->more, w->now);
	}
	send_next(w, flow);
}

void fake_wire_open(struct fake_wire *w, const struct fake_config *config)
{
	*w = (struct fake_wire){.config = *config, .rng = rng_stream(config->seed, "wire", 0)};
	w->tail = &w->head;
	w->flows = calloc(config->senders, sizeof(*w->flows));
	assert(w->flows);
	for (uint32_t i = 0; i < config->senders; i++) {
		w->flows[i].arrivals = calloc(
			config->message_bytes / config->env->mtu * (1 + config->more) + 1, 1);
		assert(w->flows[i].arrivals);
		push(w, (struct fake_event){
				.at = config->start_gap_ps * i, .kind = START, .flow = i});
	}
}

void fake_wire_run(struct fake_wire *w, uint64_t until_ps)
{
	while (w->event_count && w->events[0].at <= until_ps) {
		struct fake_event e = pop(w);

		w->now = e.at;
		switch (e.kind) {
		case START:
			start(w, e.flow);
			break;
		case PORT_FREE:
			w->flows[e.flow].sending = false;
			send_next(w, e.flow);
			break;
		case AT_QUEUE:
			at_queue(w, e.packet);
			break;
		case SERVED:
			served(w);
			break;
		case AT_END:
			at_end(w, e.packet);
			break;
		case TIMER:
			fire(w, e.flow, e.end);
			break;
		}
	}
}

bool fake_wire_finished(const struct fake_wire *w)
{
	for (uint32_t i = 0; i < w->config.senders; i++)
		if (!w->flows[i].ends[SENDER] || !w->flows[i].ends[SENDER]->finished_ps)
			return false;
	return true;
}

static void free_list(struct fake_packet *p)
{
	while (p) {
		struct fake_packet *next = p->next;

		free(p);
		p = next;
	}
}

void fake_wire_close(struct fake_wire *w)
{
	while (w->event_count)
		free(pop(w).packet);
	free_list(w->head);
	for (uint32_t i = 0; i < w->config.senders; i++) {
		free_list(w->flows[i].control);
		free(w->flows[i].ends[RECEIVER]);
		free(w->flows[i].ends[SENDER]);
		free(w->flows[i].arrivals);
	}
	free(w->flows);
	free(w->events);
}
