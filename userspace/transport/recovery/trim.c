/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packet trimming: the receiver answers at once to headers that came without their payload, and the
 * sender sends that very packet again, a little later (Load Balancing for AI Training Workloads,
 * sections 4 and 6.2; NDP, 3.2).
 */
#include "transport/recovery/selective.h"

static const struct key keys[] = {SELECTIVE_DESYNC, SELECTIVE_RTO};

const struct recovery_kind recovery_kind_trim = {
	.name = "trim",
	.map = {KEYS(keys), .size = sizeof(struct selective_options),
		.help = "receivers tell of headers that came without their payload, and those packets are sent again"},
	SELECTIVE_OPERATIONS,
	.on_trimmed = selective_on_trimmed,
	.needs = TRANSPORT_TRIMMED,
};
