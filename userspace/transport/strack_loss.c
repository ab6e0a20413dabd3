/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loss detection and what is claimed for retransmission: STrack, 3.3.2. */
#include "transport/strack_sender.h"

#define OOO_MIN 5 /* min_threshold */

void loss_forget_before(struct strack_sender *s, uint32_t epsn)
{
	ring_clear_range(&s->acked, s->epsn, epsn);
	if (s->lost_count)
		s->lost_count -= ring_clear_range(&s->lost, s->epsn, epsn);
	s->epsn = epsn;
}

/* Considers every packet below `end` that is not acknowledged lost, and enters recovery. */
static void claim(struct strack_sender *s, uint32_t end)
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
}

void loss_claim_all(struct strack_sender *s)
{
	claim(s, s->next_psn);
}

void loss_on_sack(struct strack_sender *s, uint32_t ooo_packets)
{
	uint64_t ooo = ooo_packets * WINDOW_ONE;

	/*
	 * In recovery the count still stands for the same loss, until the recorded PSN is
	 * reached.
	 */
	if (s->epsn < s->recover_end)
		return;
	if (ooo > s->window.cwnd && ooo > OOO_MIN * WINDOW_ONE)
		claim(s, s->acked_end);
}

uint32_t loss_first(struct strack_sender *s)
{
	uint32_t from = s->lost_from > s->epsn ? s->lost_from : s->epsn;

	s->lost_from = ring_first_set(&s->lost, from, s->next_psn);
	return s->lost_from;
}
