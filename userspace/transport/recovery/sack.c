/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selective repeat by what arrives (RFC 2018, RFC 6675): a packet is lost when so many that were
 * sent after it have arrived. They are counted in the order in which they were sent, not of their
 * numbers, so that a repeat is judged by what was sent after it.
 */
#include "transport/recovery/selective.h"

static const struct key keys[] = {
	SELECTIVE("threshold", COUNT, threshold, .fallback = "3", .min = 1,
		.max = SELECTIVE_THRESHOLD_MAX,
		.help = "arrivals of packets sent later after which a packet counts as lost"),
	SELECTIVE_RTO,
};

const struct recovery_kind recovery_kind_sack = {
	.name = "sack",
	.map = {KEYS(keys), .size = sizeof(struct selective_options),
		.help = "selective repeat: a packet is lost when some that were sent after it have arrived"},
	SELECTIVE_OPERATIONS,
	.order_harm =
		"a packet that as many as the threshold overtake counts as lost, and is sent again",
};
