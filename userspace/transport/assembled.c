/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two ends of an assembled transport: frames as they are written and read, and what the parts
 * are asked and told. The parts' states lie behind the struct: the recovery's comes last, since it
 * may be long, and most packets need no more than its beginning.
 */
#include "transport/assembled.h"
#include <endian.h>
#include <string.h>
#include "base/numbers.h"
#include "lib/rng.h"
#include "transport/headers.h"

struct assembled {
	struct endpoint ep; /* first: an endpoint is one */
	const struct transport_env *env;
	const struct paths_kind *paths;
	const struct control_kind *control;
	const struct recovery_kind *recovery;
	struct header_template headers;
	uint64_t base_rtt_ps; /* of this flow */
	uint64_t opened_ps;
	uint64_t rtt_ps; /* the latest that was measured; 0: none yet */
	uint32_t path_count;
	uint16_t paths_at, recovery_at; /* their states in `words`, behind the control's */
	uint8_t recovery_number;
	bool sender;
	uint64_t words[];
};

static struct recovery *recovery_of(const struct assembled *s)
{
	return (struct recovery *)&s->words[s->recovery_at];
}

static void *control_of(const struct assembled *s)
{
	return (void *)s->words;
}

static void *paths_of(const struct assembled *s)
{
	return (void *)&s->words[s->paths_at];
}

static size_t paths_bytes(const struct assembled_options *o)
{
	const struct paths_kind *kind = assembled_paths(o);

	return kind->state_bytes + (kind->more_bytes ? kind->more_bytes(o->paths_options) : 0);
}

static size_t assembled_size(
	const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	const struct assembled_options *o = env->options;

	return sizeof(struct assembled) +
	       (sender ? assembled_control(o)->state_bytes + paths_bytes(o) : 0) +
	       assembled_recovery(o)->size(env, o->recovery_options, flow, sender);
}

/* ---- opening ---- */

/* Random streams of a flow's parts, which have nothing to do with each other. */
enum { RNG_RECOVERY = 1, RNG_CONTROL, RNG_PATHS };

static uint64_t part_rng(const struct flow_spec *flow, uint64_t part)
{
	return rng_mix(flow->seed ^ rng_mix(part));
}

static void open_sender_parts(struct assembled *s, const struct flow_spec *flow, uint64_t now)
{
	const struct assembled_options *o = s->env->options;

	s->paths_at = (uint16_t)(s->control->state_bytes / sizeof(s->words[0]));
	s->recovery_at = (uint16_t)(s->paths_at + paths_bytes(o) / sizeof(s->words[0]));
	s->control->open(
		control_of(s), s->env, o->control_options, flow, part_rng(flow, RNG_CONTROL), now);
	if (s->paths->open)
		s->paths->open(
			paths_of(s), s->env, o->paths_options, part_rng(flow, RNG_PATHS), now);
	s->path_count = s->paths->count ? s->paths->count(o->paths_options) : PATHS_ALL;
}

static void open_recovery(struct assembled *s, const struct flow_spec *flow, uint64_t now)
{
	const struct assembled_options *o = s->env->options;
	const struct recovery_options *common = o->recovery_options;
	struct recovery *r = recovery_of(s);

	*r = (struct recovery){
		.ep = &s->ep,
		.env = s->env,
		.options = o->recovery_options,
		.packets = packets_of_flow(s->env, flow),
		.base_rtt_ps = s->base_rtt_ps,
		.rto_ps = transport_rto(common->rto_ps, s->recovery->rto_least_ps, s->base_rtt_ps),
		.fair_bps = flow->fair_bps,
		.rng = part_rng(flow, RNG_RECOVERY),
		.messages = 1 + flow->more,
		.released = 1,
	};
	s->recovery->open(r, s->sender, now);
}

static void assembled_open(struct endpoint *ep, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint64_t now)
{
	struct assembled *s = (struct assembled *)ep;
	const struct assembled_options *o = env->options;

	ep->ops = &assembled_transport;
	s->env = env;
	s->paths = assembled_paths(o);
	s->control = assembled_control(o);
	s->recovery = assembled_recovery(o);
	s->recovery_number = (uint8_t)o->recovery;
	s->base_rtt_ps = flow_base_rtt(env, flow);
	s->opened_ps = now;
	s->sender = sender;
	headers_prepare(&s->headers, env, flow, sender, 0, sender ? flow->dscp : env->control_dscp,
		(sender ? sizeof(struct assembled_data) + env->mtu
			: sizeof(struct assembled_answer)) +
			ICRC_BYTES);
	if (sender)
		open_sender_parts(s, flow, now);
	open_recovery(s, flow, now);
}

static unsigned assembled_release(struct endpoint *ep, uint32_t messages, uint64_t now)
{
	(void)now;
	recovery_of((struct assembled *)ep)->released = messages;
	return TRANSPORT_WAKE;
}

/* ---- the sender ---- */

/*
 * The caller's timer is moved only if it would come too late: most packets move what is due later,
 * and it is cheaper to look again then than to sort the caller's heap each time.
 */
static void arm(struct assembled *s, uint64_t at)
{
	if (at && (!s->ep.deadline_ps || at < s->ep.deadline_ps))
		s->ep.deadline_ps = at;
}

static uint64_t window_of(const struct assembled *s)
{
	return s->control->window ? s->control->window(control_of(s)) : SENDER_NONE;
}

/* Whether a packet may leave now; if its time is all that it waits for, the timer is armed. */
static bool may_send(struct assembled *s, uint64_t now)
{
	struct recovery *r = recovery_of(s);
	uint64_t window = window_of(s), ready = 0;

	if (s->ep.finished_ps || !s->recovery->has(r, now))
		return false;
	if (window != SENDER_NONE) {
		uint64_t unacked = s->recovery->unacked(r);

		if (unacked && unacked + s->env->mtu > window)
			return false;
	}
	if (s->control->ready)
		ready = s->control->ready(control_of(s), now);
	if (ready <= now)
		return true;
	arm(s, ready);
	return false;
}

static uint16_t choose_path(struct assembled *s, uint64_t now)
{
	const struct path_request request = {.now_ps = now, .window_bytes = window_of(s)};

	return s->paths->choose(paths_of(s), &request);
}

/* Where a packet's payload lies. */
static bool place(const struct assembled *s, const struct recovery *r,
	const struct recovery_data *d, uint64_t *ret_offset, uint32_t *ret_bytes)
{
	if (s->recovery->place)
		return s->recovery->place(r, d, ret_offset, ret_bytes);
	if (d->number >= r->packets.count)
		return false;
	*ret_offset = (uint64_t)d->number * r->packets.mtu;
	*ret_bytes = packets_payload(&r->packets, d->number);
	return true;
}

static bool assembled_next_packet(struct endpoint *ep, struct tx_frame *tx, uint64_t now)
{
	struct assembled *s = (struct assembled *)ep;
	struct recovery *r = recovery_of(s);
	struct header_fields fields = {
		.opcode = ASSEMBLED_DATA, .extension = sizeof(struct assembled_data)};
	struct assembled_data wire = {.sent_ps = htobe64(now), .recovery = s->recovery_number};
	struct recovery_data d = {0};

	if (!s->sender || !may_send(s, now))
		return false;
	s->recovery->next(r, &d, now);
	place(s, r, &d, &tx->payload_offset, &fields.payload);
	fields.psn = d.psn;
	fields.path = choose_path(s, now);
	wire.number = htobe32(d.number);
	wire.message = htobe32(d.message);
	wire.path = htobe16(fields.path);
	wire.subflow = htobe16(d.subflow);
	wire.flags = d.again ? ASSEMBLED_FLAG_AGAIN : 0;
	memcpy(headers_write(&s->headers, &fields, tx), &wire, sizeof(wire));
	ep->stats.packets_sent++;
	ep->stats.retransmitted += d.again;
	ep->stats.paths_used = s->paths->used ? s->paths->used(paths_of(s))
					      : min_u64(ep->stats.packets_sent, s->path_count);
	if (s->control->on_send)
		s->control->on_send(control_of(s), tx->length, now);
	arm(s, s->recovery->due(r));
	return true;
}

/* The parts hear what recovery found out; unacked: so much was under way before. */
static void tell_loss(
	struct assembled *s, const struct recovery_news *news, uint64_t unacked, uint64_t now)
{
	const struct control_loss loss = {.now_ps = now,
		.bytes = (uint32_t)(news->timeout ? unacked : news->lost_bytes),
		.unacked_bytes = (uint32_t)max_u64(unacked, news->lost_bytes),
		.timeout = news->timeout};

	if ((news->lost_bytes || news->timeout) && s->control->on_loss)
		s->control->on_loss(control_of(s), &loss);
	if (!news->timeout)
		return;
	s->ep.stats.timeouts++;
	if (s->paths->on_timeout)
		s->paths->on_timeout(paths_of(s), now);
}

/* After an answer or a timer. */
static unsigned go_on(struct assembled *s, uint64_t now)
{
	if (s->ep.finished_ps) {
		s->ep.deadline_ps = 0;
		return 0;
	}
	arm(s, s->recovery->due(recovery_of(s)));
	return may_send(s, now) ? TRANSPORT_WAKE : 0;
}

static void read_answer(
	const struct assembled_answer *wire, const struct bth *bth, struct recovery_answer *ret)
{
	uint32_t expected = be32toh(wire->expected);

	*ret = (struct recovery_answer){
		.psn = (uint32_t)psn_number(expected, bth->psn),
		.expected = expected,
		.count = be32toh(wire->count),
		.base = be32toh(wire->base),
		.bitmap = be64toh(wire->bitmap),
		.subflow = be16toh(wire->subflow),
		.trimmed = wire->flags & ASSEMBLED_FLAG_TRIMMED,
		.nak = wire->flags & ASSEMBLED_FLAG_NAK,
		.sent_ps = be64toh(wire->sent_ps),
	};
}

/* Whether a packet could have left then, on that path. */
static bool plausible(const struct assembled *s, uint64_t sent_ps, uint16_t path, uint64_t now)
{
	return sent_ps >= s->opened_ps && sent_ps < now && path < s->path_count;
}

/* A packet came to something: where it went, what was seen of it on the way. */
static void tell_answer(struct assembled *s, const struct control_answer *answer, uint16_t path)
{
	if (s->paths->on_answer)
		s->paths->on_answer(paths_of(s), &(struct path_answer){.now_ps = answer->now_ps,
							 .path = path,
							 .bad = answer->marked || answer->trimmed});
	if (s->control->on_answer)
		s->control->on_answer(control_of(s), answer);
}

static unsigned on_answer(
	struct assembled *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now)
{
	const uint8_t *extension = headers_extension(rx, sizeof(struct assembled_answer));
	struct recovery *r = recovery_of(s);
	struct recovery_news news = {0};
	struct assembled_answer wire;
	struct recovery_answer answer;
	uint64_t unacked = s->recovery->unacked(r);

	if (!extension)
		return 0;
	memcpy(&wire, extension, sizeof(wire));
	read_answer(&wire, bth, &answer);
	if (wire.recovery != s->recovery_number ||
		!plausible(s, answer.sent_ps, be16toh(wire.path), now) ||
		!s->recovery->on_answer(r, &answer, &news, now))
		return 0;
	s->rtt_ps = now - answer.sent_ps;
	s->ep.stats.marks += wire.flags & ASSEMBLED_FLAG_CE;
	tell_loss(s, &news, unacked, now);
	tell_answer(s,
		&(struct control_answer){.now_ps = now,
			.rtt_ps = s->rtt_ps,
			.base_rtt_ps = s->base_rtt_ps,
			.acked_bytes = (uint32_t)news.acked_bytes,
			.unacked_bytes = (uint32_t)s->recovery->unacked(r),
			.hops = wire.hops,
			.marked = wire.flags & ASSEMBLED_FLAG_CE,
			.trimmed = answer.trimmed},
		be16toh(wire.path));
	return go_on(s, now);
}

_Static_assert(offsetof(struct assembled_data, message) == TRIMMED_EXTENSION,
	"what it takes to tell of a packet that was trimmed");

/* What trimming does not leave is 0, but for the number of the recovery, which is its own. */
static bool read_data(const struct assembled *s, const struct rx_frame *rx, const struct bth *bth,
	struct assembled_data *ret, struct recovery_data *ret_data)
{
	uint32_t bytes = rx->trimmed || rx->returned ? TRIMMED_EXTENSION : sizeof(*ret);
	const uint8_t *extension = headers_extension(rx, bytes);

	if (bth->opcode != ASSEMBLED_DATA || !extension)
		return false;
	*ret = (struct assembled_data){.recovery = s->recovery_number};
	memcpy(ret, extension, bytes);
	if (ret->recovery != s->recovery_number)
		return false;
	*ret_data = (struct recovery_data){
		.psn = bth->psn,
		.number = be32toh(ret->number),
		.message = be32toh(ret->message),
		.subflow = be16toh(ret->subflow),
		.again = ret->flags & ASSEMBLED_FLAG_AGAIN,
		.sent_ps = be64toh(ret->sent_ps),
	};
	return true;
}

/* Its own headers, sent back by a switch that had no room for the payload. */
static unsigned on_returned(
	struct assembled *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now)
{
	struct recovery_news news = {0};
	struct assembled_data wire;
	struct recovery_data d;

	if (!s->recovery->on_returned || !read_data(s, rx, bth, &wire, &d) ||
		!plausible(s, d.sent_ps, be16toh(wire.path), now) ||
		!s->recovery->on_returned(recovery_of(s), &d, &news, now))
		return 0;
	tell_answer(s,
		&(struct control_answer){.now_ps = now,
			.rtt_ps = now - d.sent_ps,
			.base_rtt_ps = s->base_rtt_ps,
			.unacked_bytes = (uint32_t)s->recovery->unacked(recovery_of(s)),
			.trimmed = true},
		be16toh(wire.path));
	return go_on(s, now);
}

static unsigned sender_on_packet(
	struct assembled *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now)
{
	s->ep.stats.returned += rx->returned;
	if (s->ep.finished_ps)
		return 0;
	if (rx->returned)
		return on_returned(s, rx, bth, now);
	return bth->opcode == ASSEMBLED_ANSWER ? on_answer(s, rx, bth, now) : 0;
}

static unsigned assembled_on_timer(struct endpoint *ep, struct tx_frame *reply, uint64_t now)
{
	struct assembled *s = (struct assembled *)ep;
	struct recovery *r = recovery_of(s);
	uint64_t due;

	(void)reply;
	ep->deadline_ps = 0;
	if (!s->sender)
		return 0;
	due = s->recovery->due(r);
	if (due && due <= now) {
		struct recovery_news news = {0};
		uint64_t unacked = s->recovery->unacked(r);

		s->recovery->on_timer(r, &news, now);
		tell_loss(s, &news, unacked, now);
	}
	return go_on(s, now);
}

static void assembled_sender_state(
	const struct endpoint *ep, uint64_t now, struct sender_state *ret)
{
	const struct assembled *s = (const struct assembled *)ep;

	ret->window_bytes = window_of(s);
	if (s->control->rate)
		ret->rate_bps = s->control->rate(control_of(s), now);
	if (s->rtt_ps)
		ret->rtt_ps = s->rtt_ps;
	ret->in_flight_bytes = s->recovery->unacked(recovery_of(s));
}

/* ---- the receiver ---- */

/* Switches that a frame from a host has crossed: each takes one of its TTL. */
static uint8_t hops_of(const struct rx_frame *rx, bool ip6)
{
	const uint8_t *ip = rx->bytes + sizeof(struct eth_hdr);
	uint8_t ttl =
		ip6 ? ((const struct ip6_hdr *)ip)->hop_limit : ((const struct ip4_hdr *)ip)->ttl;

	return ttl < HEADERS_TTL ? (uint8_t)(HEADERS_TTL - ttl) : 0;
}

static unsigned receiver_on_packet(struct assembled *s, const struct rx_frame *rx,
	const struct bth *bth, struct tx_frame *reply, uint64_t now)
{
	struct header_fields fields = {.opcode = ASSEMBLED_ANSWER,
		.psn = bth->psn,
		.extension = sizeof(struct assembled_answer)};
	struct recovery *r = recovery_of(s);
	struct assembled_answer wire;
	struct recovery_answer answer;
	struct assembled_data data;
	struct recovery_data d;

	s->ep.stats.trimmed += rx->trimmed;
	if (!read_data(s, rx, bth, &data, &d))
		return 0;
	answer = (struct recovery_answer){
		.psn = d.psn, .subflow = d.subflow, .trimmed = rx->trimmed};
	if (rx->trimmed ? !s->recovery->on_trimmed || !s->recovery->on_trimmed(r, &d, &answer, now)
			: !s->recovery->on_data(r, &d, &answer, now))
		return 0;
	s->ep.stats.naks += answer.nak;
	fields.path = be16toh(data.path); /* no link is to carry all answers of a flow */
	wire = (struct assembled_answer){
		.sent_ps = data.sent_ps,
		.expected = htobe32(answer.expected),
		.count = htobe32(answer.count),
		.base = htobe32(answer.base),
		.bitmap = htobe64(answer.bitmap),
		.path = data.path,
		.subflow = data.subflow,
		.flags = (uint8_t)((rx->ecn == ECN_CE ? ASSEMBLED_FLAG_CE : 0) |
				   (answer.trimmed ? ASSEMBLED_FLAG_TRIMMED : 0) |
				   (answer.nak ? ASSEMBLED_FLAG_NAK : 0) |
				   (d.again ? ASSEMBLED_FLAG_AGAIN : 0)),
		.recovery = s->recovery_number,
		.hops = hops_of(rx, s->env->ip6),
	};
	memcpy(headers_write(&s->headers, &fields, reply), &wire, sizeof(wire));
	reply->payload_offset = 0;
	return TRANSPORT_REPLY;
}

static unsigned assembled_on_packet(
	struct endpoint *ep, const struct rx_frame *rx, struct tx_frame *reply, uint64_t now)
{
	struct assembled *s = (struct assembled *)ep;
	struct bth bth;

	if (!headers_read_bth(rx, &bth))
		return 0;
	return s->sender ? sender_on_packet(s, rx, &bth, now)
			 : receiver_on_packet(s, rx, &bth, reply, now);
}

static bool assembled_payload(const struct endpoint *ep, const struct rx_frame *rx,
	uint64_t *ret_offset, uint32_t *ret_start, uint32_t *ret_length)
{
	const struct assembled *s = (const struct assembled *)ep;
	struct assembled_data wire;
	struct recovery_data d;
	struct bth bth;

	if (s->sender || !headers_read_bth(rx, &bth) || !read_data(s, rx, &bth, &wire, &d) ||
		!place(s, recovery_of(s), &d, ret_offset, ret_length))
		return false;
	*ret_start = rx->transport_offset + (uint32_t)(sizeof(struct bth_hdr) + sizeof(wire));
	return true;
}

const struct transport_ops assembled_transport = {
	.size = assembled_size,
	.open = assembled_open,
	.release = assembled_release,
	.on_packet = assembled_on_packet,
	.on_timer = assembled_on_timer,
	.payload = assembled_payload,
	.next_packet = assembled_next_packet,
	.sender_state = assembled_sender_state,
};
