/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/datagram.h"
#include "lib/rng_unit.h"

#include <endian.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "base/rng_stream.h"
#include "transport/headers.h"

#define NOBODYS_QP 0xabcdefu

struct datagram_end {
	struct endpoint ep;
	const struct transport_env *env;
	const struct datagram_options *options;
	struct header_template headers;
	uint32_t flow, packets, sent;
	uint64_t next_due_ps, rng;
	uint64_t bytes;
	bool sender;
};

static size_t datagram_size(
	const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	(void)env, (void)flow, (void)sender;
	return sizeof(struct datagram_end);
}

static uint64_t draw_gap(struct datagram_end *d)
{
	return (uint64_t)(-log(1 - rng_unit(&d->rng)) * (double)d->options->mean_gap_ps);
}

static void datagram_open(struct endpoint *ep, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint64_t now)
{
	struct datagram_end *d = (struct datagram_end *)ep;

	d->env = env;
	d->options = env->options;
	d->flow = flow->id;
	d->bytes = flow->bytes;
	d->packets = (uint32_t)((flow->bytes + env->mtu - 1) / env->mtu);
	d->rng = flow->seed;
	d->sender = sender;
	headers_prepare(&d->headers, env, flow, sender, 0, flow->dscp,
		sizeof(struct strack_data) + env->mtu + ICRC_BYTES);
	if (!sender)
		return;
	d->next_due_ps = now + draw_gap(d);
	if (d->options->mean_gap_ps)
		ep->deadline_ps = d->next_due_ps;
}

static unsigned datagram_on_packet(
	struct endpoint *ep, const struct rx_frame *rx, struct tx_frame *reply, uint64_t now)
{
	const struct datagram_end *d = (const struct datagram_end *)ep;
	struct datagram seen = {.flow = d->flow, .now_ps = now, .ecn = rx->ecn};
	struct strack_data data;
	struct bth bth;

	(void)reply;
	if (!d->options->arrived || !headers_read_bth(rx, &bth))
		return 0;
	memcpy(&data, headers_extension(rx, sizeof(data)), sizeof(data));
	seen.number = bth.psn;
	seen.due_ps = be64toh(data.sent_ps);
	d->options->arrived(d->options->arg, &seen);
	return 0;
}

static unsigned datagram_on_timer(struct endpoint *ep, struct tx_frame *reply, uint64_t now)
{
	struct datagram_end *d = (struct datagram_end *)ep;

	(void)reply;
	ep->deadline_ps = 0;
	if (d->sent == d->packets) {
		ep->finished_ps = now;
		return 0;
	}
	return TRANSPORT_WAKE;
}

static bool datagram_payload(const struct endpoint *ep, const struct rx_frame *rx,
	uint64_t *ret_offset, uint32_t *ret_start, uint32_t *ret_length)
{
	const struct datagram_end *d = (const struct datagram_end *)ep;
	struct bth bth;
	uint64_t left;

	if (!headers_read_bth(rx, &bth) || bth.psn >= d->packets)
		return false;
	*ret_offset = (uint64_t)bth.psn * d->env->mtu;
	*ret_start = rx->transport_offset +
		     (uint32_t)(sizeof(struct bth_hdr) + sizeof(struct strack_data));
	left = d->bytes - *ret_offset;
	*ret_length = left < d->env->mtu ? (uint32_t)left : d->env->mtu;
	return true;
}

/* The next one's time; the last one's is that of the flow's end. */
static void schedule_next(struct datagram_end *d, uint64_t now)
{
	if (d->sent == d->packets) {
		d->ep.deadline_ps = now + d->options->linger_ps + 1;
	} else if (d->options->mean_gap_ps) {
		d->next_due_ps += draw_gap(d);
		d->ep.deadline_ps = d->next_due_ps;
	}
}

static bool datagram_next_packet(struct endpoint *ep, struct tx_frame *tx, uint64_t now)
{
	struct datagram_end *d = (struct datagram_end *)ep;
	uint64_t left = d->bytes - (uint64_t)d->sent * d->env->mtu;
	struct strack_data data = {.sent_ps = htobe64(d->next_due_ps)};
	struct header_fields fields = {
		.opcode = STRACK_DATA,
		.psn = d->sent,
		.extension = sizeof(data),
		.payload = left < d->env->mtu ? (uint32_t)left : d->env->mtu,
	};
	uint8_t *extension;

	if (d->sent == d->packets || d->next_due_ps > now)
		return false;
	extension = headers_write(&d->headers, &fields, tx);
	memcpy(extension, &data, sizeof(data));
	if (d->sent < d->options->wrong_qps)
		((struct bth_hdr *)(extension - sizeof(struct bth_hdr)))->qp = htobe32(NOBODYS_QP);
	tx->payload_offset = (uint64_t)d->sent * d->env->mtu;
	d->sent++;
	schedule_next(d, now);
	return true;
}

const struct transport_ops datagram_transport = {
	.size = datagram_size,
	.open = datagram_open,
	.on_packet = datagram_on_packet,
	.on_timer = datagram_on_timer,
	.payload = datagram_payload,
	.next_packet = datagram_next_packet,
};
