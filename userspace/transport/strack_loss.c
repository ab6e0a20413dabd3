/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loss detection and what is claimed for retransmission: STrack, 3.3.2. */
#include "transport/strack_loss.h"

#define OOO_MIN    5 /* min_threshold */
#define DELAY_RTTS 2 /* half of the time over which the longest delay is kept */

void strack_loss_forget_before(struct strack_sender *s, uint32_t epsn)
{
	ring_clear_range(&s->acked, s->epsn, epsn);
	if (s->lost_count)
		s->lost_count -= ring_clear_range(&s->lost, s->epsn, epsn);
	s->epsn = epsn;
}

/* Considers every packet below `end` that is not acknowledged lost, and enters recovery. */
static void claim(struct strack_sender *s, uint32_t end, uint64_t now)
{
	for (uint32_t n = s->epsn, next; n < end; n = next) {
		uint64_t mask = ring_span(n, end, &next);
		uint64_t *lost = ring_word(&s->lost, n);
		uint64_t fresh = mask & ~*ring_word(&s->acked, n) & ~*lost;

		*lost |= fresh;
		s->lost_count += (uint32_t)__builtin_popcountll(fresh);
	}
	s->lost_from = s->epsn;
	s->recover_end = end;
	s->claimed_end = end;
	s->claimed_ps = now;
}

void strack_loss_claim_all(struct strack_sender *s, uint64_t now)
{
	claim(s, s->next_psn, now);
}

void strack_loss_on_sack(struct strack_sender *s, uint32_t ooo_packets, uint64_t now)
{
	uint64_t ooo = ooo_packets * WINDOW_ONE;

	/*
	 * In recovery the count still stands for the same loss, until the recorded PSN is
	 * reached.
	 */
	if (s->epsn < s->recover_end)
		return;
	if (ooo > s->window.cwnd && ooo > OOO_MIN * WINDOW_ONE)
		claim(s, s->acked_end, now);
}

/*
 * Of each copy the switch tells once. So a copy that is older than the last packet sent of that
 * number can only be one that was claimed together with all others, by count, probe or timeout,
 * after it had left; and such a claim never reaches less far than the one before.
 */
void strack_loss_on_trimmed(struct strack_sender *s, uint32_t psn, uint64_t sent_ps, uint64_t now)
{
	if (psn < s->epsn || psn >= s->next_psn || ring_test(&s->acked, psn) ||
		ring_test(&s->lost, psn) || (psn < s->claimed_end && sent_ps < s->claimed_ps))
		return;
	ring_set(&s->lost, psn);
	s->lost_count++;
	if (psn < s->lost_from)
		s->lost_from = psn;
	/* Known one by one: what is missing before it need not be guessed from what came after. */
	if (s->recover_end <= psn)
		s->recover_end = psn + 1;
	s->rto_from_ps = now; /* the timeout is for losses that nobody tells of */
}

uint32_t strack_loss_first(struct strack_sender *s)
{
	uint32_t from = s->lost_from > s->epsn ? s->lost_from : s->epsn;

	s->lost_from = ring_first_set(&s->lost, from, s->next_psn);
	return s->lost_from;
}

uint64_t strack_loss_tail_due(const struct strack_sender *s)
{
	uint64_t rtt = s->flow.env->base_rtt_ps;

	if (s->lost_count || s->next_psn < s->released || s->probed_ps > s->left_ps)
		return 0;
	/* a quarter more, so that an idle network, which answers after one, is not asked */
	return s->left_ps + rtt + rtt / 4;
}

void strack_loss_note_delay(struct strack_sender *s, uint64_t delay_ps, uint64_t now)
{
	uint64_t age = now - s->delays_ps, period = DELAY_RTTS * s->flow.env->base_rtt_ps;

	if (age > period) {
		s->delay_before_ps = age > 2 * period ? 0 : s->delay_ps;
		s->delay_ps = 0;
		s->delays_ps = now;
	}
	if (delay_ps > s->delay_ps)
		s->delay_ps = delay_ps;
}

bool strack_loss_shown_by_tail(const struct strack_sender *s, uint64_t sent_ps, uint64_t now)
{
	uint64_t rtt = s->window.base_rtt_ps, longest = s->delay_ps;

	if (s->delay_before_ps > longest)
		longest = s->delay_before_ps;
	/* less a quarter, since a probe is shorter than the data that it is compared with */
	return sent_ps == s->probed_ps && sent_ps > s->left_ps && s->next_psn == s->released &&
	       now - s->left_ps >= rtt - rtt / 4 + longest;
}
