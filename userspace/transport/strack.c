/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* STrack as a transport: the table of operations, and what both ends are set up with. */
#include "transport/strack_receiver.h"
#include "transport/strack_sender.h"

#define RING_BITS_MIN 256
#define RING_WINDOWS  4

/* The largest window, in packets. */
static uint32_t window_of(const struct transport_env *env)
{
	const struct strack_options *o = env->options;

	return strack_window_packets(
		env->host_rate_bps, env->base_rtt_ps, env->mtu, &o->window, o->sack_packets);
}

/* By the window and not by the message: STrack, 3.3.2, keeps the bitmaps small on purpose. */
static uint32_t ring_bits_for(uint32_t window_packets)
{
	uint32_t bits = RING_BITS_MIN;

	while (bits < RING_WINDOWS * window_packets)
		bits *= 2;
	return bits;
}

static size_t strack_size(
	const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	const struct strack_options *o = env->options;
	uint32_t bits = ring_bits_for(window_of(env));

	(void)flow;
	return sender ? strack_sender_size(bits, o->paths) : strack_receiver_size(bits);
}

static void strack_open(struct endpoint *ep, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint64_t now)
{
	struct strack_flow *f = (struct strack_flow *)ep;
	const struct strack_options *o = env->options;
	uint32_t most = window_of(env);

	ep->ops = &strack_transport;
	f->env = env;
	f->bytes = flow->bytes * (1 + flow->more);
	f->message_packets = (uint32_t)((flow->bytes + env->mtu - 1) / env->mtu);
	f->packets = f->message_packets * (1 + flow->more);
	f->last_bytes = (uint32_t)(f->bytes - (uint64_t)(f->packets - 1) * env->mtu);
	f->mtu = env->mtu;
	f->ring_bits = ring_bits_for(most);
	f->sender = sender;
	headers_prepare(&f->headers, env, flow, sender, 0, sender ? flow->dscp : env->control_dscp,
		(sender ? sizeof(struct strack_data) + env->mtu : sizeof(struct strack_sack)) +
			ICRC_BYTES);
	if (sender)
		strack_sender_open((struct strack_sender *)ep, o, flow, most, now);
	else
		strack_receiver_open((struct strack_receiver *)ep, o->sack_packets);
}

static unsigned strack_release(struct endpoint *ep, uint32_t messages, uint64_t now)
{
	struct strack_sender *s = (struct strack_sender *)ep;

	(void)now;
	s->released = messages * s->flow.message_packets;
	return TRANSPORT_WAKE;
}

static unsigned strack_on_packet(
	struct endpoint *ep, const struct rx_frame *rx, struct tx_frame *reply, uint64_t now)
{
	struct bth bth;

	if (!headers_read_bth(rx, &bth))
		return 0;
	if (((struct strack_flow *)ep)->sender)
		return strack_sender_on_packet((struct strack_sender *)ep, rx, &bth, now);
	return strack_receiver_on_packet((struct strack_receiver *)ep, rx, &bth, reply, now);
}

static unsigned strack_on_timer(struct endpoint *ep, struct tx_frame *reply, uint64_t now)
{
	if (((struct strack_flow *)ep)->sender)
		return strack_sender_on_timer((struct strack_sender *)ep, reply, now);
	return 0;
}

static bool strack_next_packet(struct endpoint *ep, struct tx_frame *tx, uint64_t now)
{
	return ((struct strack_flow *)ep)->sender &&
	       strack_sender_next_packet((struct strack_sender *)ep, tx, now);
}

static void strack_sender_state(const struct endpoint *ep, uint64_t now, struct sender_state *ret)
{
	const struct strack_sender *s = (const struct strack_sender *)ep;

	(void)now;
	ret->window_bytes = s->window.bytes;
	if (s->rtt_ps)
		ret->rtt_ps = s->rtt_ps;
	ret->in_flight_bytes = strack_sender_inflight(s);
}

/* A packet's place in the message follows from its number. */
static bool strack_payload_place(const struct endpoint *ep, const struct rx_frame *rx,
	uint64_t *ret_offset, uint32_t *ret_start, uint32_t *ret_length)
{
	const struct strack_flow *f = (const struct strack_flow *)ep;
	struct bth bth;

	if (f->sender || !headers_read_bth(rx, &bth) || bth.opcode != STRACK_DATA ||
		bth.psn >= f->packets)
		return false;
	*ret_offset = (uint64_t)bth.psn * f->mtu;
	*ret_start = rx->transport_offset +
		     (uint32_t)(sizeof(struct bth_hdr) + sizeof(struct strack_data));
	*ret_length = strack_payload(f, bth.psn);
	return true;
}

const struct transport_ops strack_transport = {
	.size = strack_size,
	.open = strack_open,
	.release = strack_release,
	.on_packet = strack_on_packet,
	.on_timer = strack_on_timer,
	.payload = strack_payload_place,
	.next_packet = strack_next_packet,
	.sender_state = strack_sender_state,
};
