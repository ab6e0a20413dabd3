/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The congestion window: one for all paths, clock_asked by delay, checked against ECN. */
#include "transport/control/strack_window.h"

#include "base/units.h"

#define REF_RTT_PS   12000000ull /* table 1 is written for 12 us ... */
#define REF_BDP      150000ull   /* ... at 100 Gbps */
#define EWMA_SHIFT   3           /* ewma = 0.125 */
#define PACKETS_MOST (1u << 20)
#define SHARE_MIN    0.1
#define SHARE_MAX    16.0

/* a * b / c, the product in full; c is not 0 and the result fits. */
static uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	/* The 128-bit division is a library call, several times as slow, and hardly ever needed. */
	return product >> 64 ? (uint64_t)(product / c) : (uint64_t)product / c;
}

uint64_t strack_window_bdp(uint64_t rate_bps, uint64_t base_rtt_ps)
{
	return mul_div(rate_bps, base_rtt_ps, 8 * PS_PER_S);
}

uint32_t strack_window_packets(uint64_t rate_bps, uint64_t base_rtt_ps, uint32_t mtu,
	const struct quantity *window, uint32_t sack_packets)
{
	double bdp = (double)strack_window_bdp(rate_bps, base_rtt_ps), share = window->value;
	uint64_t packets;

	if (window->unit == QUANTITY_BYTES)
		share /= bdp;
	if (!(share >= SHARE_MIN))
		share = SHARE_MIN;
	if (share > SHARE_MAX)
		share = SHARE_MAX;
	packets = (uint64_t)(bdp * share) / mtu + 1;
	packets += sack_packets - 1;
	return packets < PACKETS_MOST ? (uint32_t)packets : PACKETS_MOST;
}

static void set_cwnd(struct strack_window *w, uint64_t cwnd)
{
	if (cwnd > w->max)
		cwnd = w->max;
	if (cwnd < WINDOW_ONE)
		cwnd = WINDOW_ONE;
	w->cwnd = cwnd;
	w->bytes = cwnd * w->mtu >> WINDOW_SHIFT;
}

void strack_window_open(struct strack_window *w, uint64_t rate_bps, uint64_t base_rtt_ps,
	uint64_t own_rtt_ps, uint64_t target_ps, uint32_t mtu, uint32_t max_packets, uint64_t now)
{
	/* bdp_sf */
	uint64_t scale = mul_div(strack_window_bdp(rate_bps, base_rtt_ps), WINDOW_ONE, REF_BDP);

	*w = (struct strack_window){
		.max = max_packets * WINDOW_ONE,
		.base_rtt_ps = own_rtt_ps,
		.decreased_ps = now,
		.shuffled_ps = now,
		.target_ps = target_ps,
		.high_ps = 3 * target_ps,
		.alpha = 4 * scale,
		.alpha_ps = base_rtt_ps > REF_RTT_PS ? base_rtt_ps : REF_RTT_PS,
		.beta = 5 * scale,
		.eta = scale * 3 / 20,
		.mtu = mtu,
	};
	set_cwnd(w, w->max);
}

uint64_t strack_window_delay(struct strack_window *w, uint64_t rtt_ps, bool lower)
{
	if (rtt_ps >= w->base_rtt_ps)
		return rtt_ps - w->base_rtt_ps;
	if (lower)
		w->base_rtt_ps = rtt_ps;
	return 0;
}

/*
 * STrack, algorithm 2. The first period begins with the first ACK: one that began with the first
 * packet would end before a second ACK comes, in an incast, and the window would be one packet.
 */
static void update_achieved(struct strack_window *w, const struct strack_signal *s, uint64_t now)
{
	if (!w->rx_cleared_ps) {
		w->rx_cleared_ps = now;
		return;
	}
	if (!s->probe)
		w->rx_bytes += s->acked_bytes;
	if (now - w->rx_cleared_ps > w->base_rtt_ps + w->target_ps) {
		w->achieved_bytes = w->rx_bytes;
		w->rx_bytes = 0;
		w->rx_cleared_ps = now;
	}
}

/*
 * Algorithm 4, line 5, once per SACK, however many packets it acknowledges: the average is over
 * paths, and a path whose delay counted for all of them would outweigh the others.
 */
static void update_average(struct strack_window *w, const struct strack_signal *s)
{
	int64_t average = (int64_t)w->avg_delay_ps;

	w->avg_delay_ps =
		(uint64_t)(average + ((int64_t)s->delay_ps - average) / (1 << EWMA_SHIFT));
}

/*
 * Adds `round` / cwnd for each packet newly acknowledged: `round` packets in a whole window of
 * them, however many SACKs they come in.
 */
static void increase(struct strack_window *w, uint64_t round, uint64_t acked_bytes)
{
	set_cwnd(w, w->cwnd + mul_div(round, acked_bytes, w->bytes));
}

/* STrack, algorithm 4, lines 11 to 17 */
static void decrease(struct strack_window *w, const struct strack_signal *s, uint64_t now)
{
	uint64_t max_bytes = w->max * w->mtu >> WINDOW_SHIFT;
	uint64_t over, cut;

	if (s->delay_ps > w->high_ps && w->achieved_bytes && w->achieved_bytes < max_bytes / 8) {
		uint64_t cwnd = (w->achieved_bytes << WINDOW_SHIFT) / w->mtu;

		set_cwnd(w, cwnd < w->cwnd ? cwnd : w->cwnd);
		w->decreased_ps = now;
	} else if (s->delay_ps > w->target_ps) {
		over = w->avg_delay_ps - w->target_ps;
		cut = mul_div(w->cwnd, over * 4, w->avg_delay_ps * 5); /* gamma = 0.8 */
		set_cwnd(w, w->cwnd - (cut < w->cwnd / 2 ? cut : w->cwnd / 2));
		w->decreased_ps = now;
	}
}

void strack_window_on_trimmed(struct strack_window *w, uint64_t acked_bytes, uint64_t now)
{
	update_achieved(w, &(struct strack_signal){.acked_bytes = acked_bytes}, now);
}

void strack_window_on_ack(struct strack_window *w, const struct strack_signal *s, uint64_t now)
{
	bool can_decrease = now - w->decreased_ps > w->base_rtt_ps;

	/*
	 * Algorithm 4 asks for this in its line 2 and algorithm 1 in its line 13: it is done
	 * once.
	 */
	update_achieved(w, s, now);
	update_average(w, s);
	/* A probe stands for all that was in flight before it: for a round. */
	if (!s->marked && s->delay_ps > w->high_ps)
		increase(w, w->beta, s->probe ? w->bytes : s->acked_bytes);
	else if (!s->marked && s->delay_ps < w->target_ps)
		increase(w, mul_div(w->alpha, w->target_ps - s->delay_ps, w->alpha_ps),
			s->acked_bytes);
	else if (can_decrease && w->avg_delay_ps > w->target_ps)
		decrease(w, s, now);
	if (now - w->shuffled_ps > w->base_rtt_ps) {
		set_cwnd(w, w->cwnd + w->eta);
		w->shuffled_ps = now;
	}
}
