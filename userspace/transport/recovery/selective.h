/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SELECTIVE_H
#define FABRICBED_SELECTIVE_H

/*
 * Selective repeat: both ends know of each packet whether it has arrived, and only what is lost is
 * sent again. What shows that a packet is lost differs: its headers that came without it, packets
 * that were sent after it and have arrived, or nothing but time.
 */
#include "transport/recovery/arrivals.h"
#include "transport/recovery/rto.h"

#define SELECTIVE_THRESHOLD_MAX 64
#define SELECTIVE_DESYNC_AUTO   UINT64_MAX

struct selective_options {
	struct recovery_options common;
	uint32_t threshold; /* packets sent later that show a loss as they arrive; 0: they don't */
	uint64_t desync_ps; /* longest wait before what was cut is sent again */
};

#define SELECTIVE(word, kind, member, ...)                                                         \
	KEY(word, kind, struct selective_options, member, __VA_ARGS__)

#define SELECTIVE_RTO RECOVERY_RTO("retransmission timeout of a packet", "100us")

#define SELECTIVE_DESYNC                                                                           \
	SELECTIVE("desync", TIME, desync_ps, .fallback = "auto", .word = "auto",                   \
		.word_value = SELECTIVE_DESYNC_AUTO, .max = DELAY_MAX,                             \
		.help = "a packet whose headers came back waits up to so long before it is sent again, at random; auto: a base round trip")

/* struct recovery_kind says what these do. */
size_t selective_size(const struct transport_env *env, const void *options,
	const struct flow_spec *flow, bool sender);
void selective_open(struct recovery *r, bool sender, uint64_t now);
bool selective_has(const struct recovery *r, uint64_t now);
void selective_next(struct recovery *r, struct recovery_data *ret, uint64_t now);
uint64_t selective_unacked(const struct recovery *r);
bool selective_on_answer(struct recovery *r, const struct recovery_answer *answer,
	struct recovery_news *news, uint64_t now);
bool selective_on_returned(struct recovery *r, const struct recovery_data *data,
	struct recovery_news *news, uint64_t now);
uint64_t selective_due(const struct recovery *r);
void selective_on_timer(struct recovery *r, struct recovery_news *news, uint64_t now);
bool selective_on_data(struct recovery *r, const struct recovery_data *data,
	struct recovery_answer *ret, uint64_t now);
bool selective_on_trimmed(struct recovery *r, const struct recovery_data *data,
	struct recovery_answer *ret, uint64_t now);

/* What all schemes of selective repeat have in common. */
#define SELECTIVE_OPERATIONS                                                                       \
	.size = selective_size, .open = selective_open, .has = selective_has,                      \
	.next = selective_next, .unacked = selective_unacked, .on_answer = selective_on_answer,    \
	.due = selective_due, .on_timer = selective_on_timer, .on_data = selective_on_data,        \
	.rto_least_ps = RECOVERY_RTO_LEAST_PS

#endif
