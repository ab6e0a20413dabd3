/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_LOSS_H
#define FABRICBED_STRACK_LOSS_H

/* What a sender claims for retransmission, and when: STrack, 3.3.2. */
#include "transport/strack_sender.h"

/* Removes what lies before the new expected PSN from the books. */
void strack_loss_forget_before(struct strack_sender *s, uint32_t epsn);
/* The SACK, entered already, may show that packets are lost. */
void strack_loss_on_sack(struct strack_sender *s, uint32_t ooo_packets, uint64_t now);
/* Claims all that was sent and not acknowledged. */
void strack_loss_claim_all(struct strack_sender *s, uint64_t now);
/* A switch cut the payload off the copy of psn that was sent at sent_ps. */
void strack_loss_on_trimmed(struct strack_sender *s, uint32_t psn, uint64_t sent_ps, uint64_t now);
/*
 * A message's last packets have none after them that could be SACKed, so that they are probed for
 * earlier, once: when that is due; 0: there is more to send, or the probe has left.
 */
uint64_t strack_loss_tail_due(const struct strack_sender *s);
/* The queueing delay that an answer to data tells. */
void strack_loss_note_delay(struct strack_sender *s, uint64_t delay_ps, uint64_t now);
/*
 * Whether the reply to the probe sent at sent_ps shows that what is missing is lost: all of it left
 * before the probe, and longer ago than any data has lately taken.
 */
bool strack_loss_shown_by_tail(const struct strack_sender *s, uint64_t sent_ps, uint64_t now);
/* The lowest claimed packet; there is one. */
uint32_t strack_loss_first(struct strack_sender *s);

#endif
