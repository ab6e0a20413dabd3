/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sender: what may leave, what a SACK means, the probe and the timeout. */
#include <endian.h>
#include <string.h>
#include "transport/strack_sender.h"
#include "transport/strack_loss.h"

#define PROBE_RTTS 3 /* algorithm 1, line 9 */

/* A SACK in host byte order. */
struct sack {
	uint32_t epsn, base, ooo, path;
	uint64_t bitmap, bytes_recvd, sent_ps;
	bool marked, probe, trimmed;
};

size_t strack_sender_size(uint32_t ring_bits, uint32_t paths)
{
	return sizeof(struct strack_sender) +
	       (2 * ring_words(ring_bits) + strack_spray_words(paths)) * sizeof(uint64_t);
}

void strack_sender_open(struct strack_sender *s, const struct strack_options *options,
	const struct flow_spec *flow, uint32_t max_packets, uint64_t now)
{
	const struct transport_env *env = s->flow.env;
	uint64_t rtt = env->base_rtt_ps;
	uint64_t *words = s->words;

	strack_window_open(&s->window, env->host_rate_bps, rtt, flow_base_rtt(env, flow),
		options->target_delay_ps ? options->target_delay_ps : rtt, env->mtu, max_packets,
		now);
	s->acked = (struct ring){words, s->flow.ring_bits};
	words += ring_words(s->flow.ring_bits);
	s->lost = (struct ring){words, s->flow.ring_bits};
	words += ring_words(s->flow.ring_bits);
	strack_spray_open(&s->paths, options->spray, options->paths, options->sack_packets == 1,
		options->bitmap_rtts * rtt, words, now);
	s->released = s->flow.message_packets;
	s->sack_packets = options->sack_packets;
	s->fixed = options->fixed;
	s->opened_ps = now;
	s->asked_ps = now;
	s->probe_after_ps = PROBE_RTTS * rtt;
	s->rto_ps = transport_rto(options->rto_ps, STRACK_RTO_MIN_PS, rtt);
}

uint64_t strack_sender_inflight(const struct strack_sender *s)
{
	uint64_t sent = strack_payload_before(&s->flow, s->next_psn);
	uint64_t gone = s->recvd_bytes;

	if (s->lost_count) {
		gone += (uint64_t)s->lost_count * s->flow.mtu;
		if (s->next_psn == s->flow.packets && ring_test(&s->lost, s->next_psn - 1))
			gone -= s->flow.mtu - s->flow.last_bytes;
	}
	/* bytes_recvd may count what the sender, not knowing which it was, has claimed as well. */
	return sent > gone ? sent - gone : 0;
}

/* Whether there is a packet that was not sent yet and may be, the window apart. */
static bool has_new(const struct strack_sender *s)
{
	return s->next_psn < s->released && s->next_psn - s->epsn < s->flow.ring_bits;
}

static bool may_send(struct strack_sender *s, uint64_t inflight, uint32_t *ret_psn)
{
	uint32_t psn;

	if (s->lost_count)
		psn = strack_loss_first(s);
	else if (has_new(s))
		psn = s->next_psn;
	else
		return false;
	*ret_psn = psn;
	return inflight + strack_payload(&s->flow, psn) <= s->window.bytes;
}

static uint64_t probe_due(const struct strack_sender *s)
{
	uint64_t silent = s->quiet_ps + s->probe_after_ps, tail = strack_loss_tail_due(s);

	return tail && tail < silent ? tail : silent;
}

/* When the probe or the timeout is due, or 0 with nothing to wait for. */
static uint64_t due(const struct strack_sender *s, uint64_t inflight)
{
	uint64_t probe = probe_due(s);
	uint64_t rto = s->rto_from_ps + (s->rto_ps << s->backoff);

	if (!inflight)
		return 0;
	return probe < rto ? probe : rto;
}

/*
 * The caller's timer is moved only if it would come too late: most packets move `due` later, and it
 * is cheaper to look again when the old deadline comes than to sort the caller's heap each time.
 */
static void arm(struct strack_sender *s, uint64_t inflight)
{
	uint64_t at = due(s, inflight);

	if (at && (!s->flow.ep.deadline_ps || at < s->flow.ep.deadline_ps))
		s->flow.ep.deadline_ps = at;
}

/*
 * Whether the receiver must answer this packet, whatever it has counted so far. Either nothing
 * more can leave before a SACK comes, and the count at which it sends one by itself may not be
 * reached (with a window of twice that count one is always on its way). Or the flow is slow,
 * since it shares its port with many: counting alone would leave it without news for longer than
 * the timeout.
 */
static bool wants_ack(const struct strack_sender *s, uint64_t inflight, uint64_t now)
{
	if (!s->lost_count && !has_new(s))
		return true;
	if (now - s->asked_ps > s->flow.env->base_rtt_ps)
		return true;
	return s->window.cwnd < 2 * s->sack_packets * WINDOW_ONE &&
	       inflight + s->flow.mtu > s->window.bytes;
}

/* Enters the packet in the books; returns the flags it carries. */
static uint8_t take(struct strack_sender *s, uint32_t psn)
{
	s->flow.ep.stats.packets_sent++;
	if (!s->lost_count) {
		s->next_psn++;
		return 0;
	}
	ring_clear(&s->lost, psn);
	s->lost_count--;
	s->lost_from = psn + 1;
	s->flow.ep.stats.retransmitted++;
	return STRACK_FLAG_AGAIN;
}

static uint32_t choose_path(struct strack_sender *s, uint64_t now)
{
	uint32_t path =
		strack_spray_choose(&s->paths, (uint32_t)(s->window.cwnd >> WINDOW_SHIFT), now);

	s->flow.ep.stats.paths_used = s->paths.used_count;
	return path;
}

bool strack_sender_next_packet(struct strack_sender *s, struct tx_frame *tx, uint64_t now)
{
	uint64_t inflight = strack_sender_inflight(s);
	struct header_fields fields = {.opcode = STRACK_DATA};
	struct strack_data data = {.sent_ps = htobe64(now)};
	uint32_t psn;

	if (!may_send(s, inflight, &psn))
		return false;
	if (!inflight)
		s->rto_from_ps = now; /* nothing was outstanding that it could have timed */
	s->quiet_ps = now;
	s->left_ps = now;
	data.flags = take(s, psn);
	fields.psn = psn;
	fields.payload = strack_payload(&s->flow, psn);
	inflight += fields.payload;
	fields.path = (uint16_t)choose_path(s, now);
	fields.ack_request = wants_ack(s, inflight, now);
	if (fields.ack_request)
		s->asked_ps = now;
	fields.extension = sizeof(data);
	data.path = htobe16(fields.path);
	memcpy(headers_write(&s->flow.headers, &fields, tx), &data, sizeof(data));
	tx->payload_offset = (uint64_t)psn * s->flow.mtu;
	arm(s, inflight);
	return true;
}

static void read_sack(const uint8_t *bytes, struct sack *ret)
{
	struct strack_sack wire;

	memcpy(&wire, bytes, sizeof(wire));
	*ret = (struct sack){
		.epsn = be32toh(wire.epsn),
		.base = be32toh(wire.base_psn),
		.ooo = be32toh(wire.ooo_packets),
		.path = be16toh(wire.path),
		.bitmap = be64toh(wire.bitmap),
		.bytes_recvd = be64toh(wire.bytes_recvd),
		.sent_ps = be64toh(wire.sent_ps),
		.marked = wire.flags & STRACK_FLAG_CE,
		.probe = wire.flags & STRACK_FLAG_PROBE,
		.trimmed = wire.flags & STRACK_FLAG_TRIMMED,
	};
}

/*
 * Whether it can be an answer to what was sent. The fields must agree with each other too: the
 * books are kept from all of them, and one that lies alone could stop the flow for good.
 */
static bool plausible(const struct strack_sender *s, const struct sack *k, uint64_t now)
{
	uint64_t most;

	if (k->epsn > s->next_psn || k->base < k->epsn || k->base > s->next_psn ||
		k->path >= s->paths.paths || k->sent_ps < s->opened_ps || k->sent_ps >= now)
		return false;
	/* The packet at EPSN is missing, or EPSN would be higher. */
	if (k->ooo && k->ooo >= s->next_psn - k->epsn)
		return false;
	if (s->next_psn - k->base < STRACK_SACK_BITS && k->bitmap >> (s->next_psn - k->base))
		return false;
	if (k->base == k->epsn && k->bitmap & 1)
		return false;
	most = strack_payload_before(&s->flow, k->epsn) + (uint64_t)k->ooo * s->flow.mtu;
	return k->bytes_recvd == most ||
	       (k->ooo && k->bytes_recvd == most - (s->flow.mtu - s->flow.last_bytes));
}

/* Enters what a SACK reports; one that was overtaken may still report something new. */
static void enter(struct strack_sender *s, const struct sack *k, uint64_t now)
{
	uint64_t bitmap = k->bitmap;
	uint32_t base = k->base;

	if (k->epsn > s->epsn) {
		strack_loss_forget_before(s, k->epsn);
		s->rto_from_ps = now;
		s->backoff = 0;
	}
	if (base < s->epsn) {
		uint32_t old = s->epsn - base;

		bitmap = old < STRACK_SACK_BITS ? bitmap >> old : 0;
		base = s->epsn;
	}
	if (s->acked_end < s->epsn)
		s->acked_end = s->epsn;
	if (bitmap) {
		uint32_t end = base + STRACK_SACK_BITS - (uint32_t)__builtin_clzll(bitmap);

		ring_write64(&s->acked, base, bitmap, true);
		if (s->lost_count)
			s->lost_count -= ring_write64(&s->lost, base, bitmap, false);
		if (end > s->acked_end)
			s->acked_end = end;
	}
	if (k->bytes_recvd > s->recvd_bytes)
		s->recvd_bytes = k->bytes_recvd;
}

/*
 * STrack, algorithm 1, line 10: the probe found the network empty, and nothing has arrived.
 * "Nothing" is taken from the text of 3.3.2: no SACK has come since the probe left, and its
 * answer reports no more than the receiver's counting may have held back.
 */
static bool probe_shows_loss(
	const struct strack_sender *s, const struct sack *k, const struct strack_signal *signal)
{
	return k->probe && k->sent_ps == s->quiet_ps &&
	       signal->acked_bytes < (uint64_t)s->sack_packets * s->flow.mtu &&
	       k->epsn == s->epsn && signal->delay_ps < 2 * s->flow.env->base_rtt_ps;
}

static void finish(struct strack_sender *s, uint64_t now)
{
	s->flow.ep.finished_ps = now;
	s->flow.ep.deadline_ps = 0;
}

/* What the answer says of the network; true: also that all that was in flight is lost. */
static bool steer(struct strack_sender *s, const struct sack *k, uint64_t acked_bytes, uint64_t now)
{
	struct strack_signal signal = {
		.marked = k->marked,
		.probe = k->probe,
		/*
		 * A probe is shorter than a packet of data: its round trip is no base for
		 * theirs.
		 */
		.delay_ps = strack_window_delay(&s->window, now - k->sent_ps, !k->probe),
		.acked_bytes = acked_bytes,
	};

	s->rtt_ps = now - k->sent_ps;
	if (!s->fixed)
		strack_window_on_ack(&s->window, &signal, now);
	if (!k->probe)
		strack_loss_note_delay(s, signal.delay_ps, now);
	else if (strack_loss_shown_by_tail(s, k->sent_ps, now))
		return true;
	return probe_shows_loss(s, k, &signal);
}

static void on_trimmed(struct strack_sender *s, const struct sack *k, uint32_t psn,
	uint64_t acked_bytes, uint64_t now)
{
	if (!s->fixed)
		strack_window_on_trimmed(&s->window, acked_bytes, now);
	strack_loss_on_trimmed(s, psn, k->sent_ps, now);
}

/* Its own headers, sent back by a switch that had no room for the payload. */
static unsigned on_returned(
	struct strack_sender *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now)
{
	const uint8_t *extension = headers_extension(rx, sizeof(struct strack_data));
	struct strack_data data;
	uint64_t inflight;
	uint32_t psn;

	if (bth->opcode != STRACK_DATA || !extension || s->flow.ep.finished_ps)
		return 0;
	memcpy(&data, extension, sizeof(data));
	if (bth->psn >= s->next_psn || be16toh(data.path) >= s->paths.paths ||
		be64toh(data.sent_ps) < s->opened_ps || be64toh(data.sent_ps) >= now)
		return 0;
	s->flow.ep.stats.returned++;
	s->quiet_ps = now;
	strack_spray_on_ack(&s->paths, be16toh(data.path), true);
	strack_loss_on_trimmed(s, bth->psn, be64toh(data.sent_ps), now);
	inflight = strack_sender_inflight(s);
	arm(s, inflight);
	return may_send(s, inflight, &psn) ? TRANSPORT_WAKE : 0;
}

/* STrack, algorithm 1 */
unsigned strack_sender_on_packet(
	struct strack_sender *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now)
{
	const uint8_t *extension = headers_extension(rx, sizeof(struct strack_sack));
	uint64_t before = s->recvd_bytes, inflight;
	struct sack k;
	uint32_t psn;
	bool empty = false;

	if (rx->returned)
		return on_returned(s, rx, bth, now);
	if (bth->opcode != STRACK_SACK || !extension || s->flow.ep.finished_ps)
		return 0;
	read_sack(extension, &k);
	if (!plausible(s, &k, now))
		return 0;
	strack_spray_on_ack(&s->paths, k.path, k.marked || k.trimmed);
	s->flow.ep.stats.marks += k.marked;
	enter(s, &k, now);
	if (k.trimmed)
		on_trimmed(s, &k, bth->psn, s->recvd_bytes - before, now);
	else
		empty = steer(s, &k, s->recvd_bytes - before, now);
	s->quiet_ps = now;
	s->asked_ps = now;
	strack_count_done(&s->flow, s->epsn);
	if (s->epsn == s->flow.packets) {
		finish(s, now);
		return 0;
	}
	if (empty)
		strack_loss_claim_all(s, now);
	else if (k.epsn == s->epsn)
		strack_loss_on_sack(s, k.ooo, now);
	inflight = strack_sender_inflight(s);
	arm(s, inflight);
	return may_send(s, inflight, &psn) ? TRANSPORT_WAKE : 0;
}

static unsigned write_probe(struct strack_sender *s, struct tx_frame *reply, uint64_t now)
{
	struct header_fields fields = {
		.opcode = STRACK_PROBE,
		.path = (uint16_t)choose_path(s, now),
		.psn = s->epsn,
		.extension = sizeof(struct strack_probe),
	};
	struct strack_probe probe = {
		.sent_ps = htobe64(now),
		.path = htobe16(fields.path),
		.base_psn = htobe32(s->epsn),
	};

	memcpy(headers_write(&s->flow.headers, &fields, reply), &probe, sizeof(probe));
	reply->payload_offset = 0;
	s->flow.ep.stats.probes++;
	s->probed_ps = now;
	s->quiet_ps = now;
	return TRANSPORT_REPLY;
}

unsigned strack_sender_on_timer(struct strack_sender *s, struct tx_frame *reply, uint64_t now)
{
	uint64_t inflight = strack_sender_inflight(s);
	unsigned asks = 0;

	if (inflight && now >= s->rto_from_ps + (s->rto_ps << s->backoff)) {
		strack_loss_claim_all(s, now);
		s->flow.ep.stats.timeouts++;
		s->rto_from_ps = now;
		if (s->backoff < RTO_BACKOFF_MAX)
			s->backoff++;
		inflight = strack_sender_inflight(s);
		asks = TRANSPORT_WAKE;
	} else if (inflight && now >= probe_due(s)) {
		asks = write_probe(s, reply, now);
	}
	s->flow.ep.deadline_ps = due(s, inflight);
	return asks;
}
