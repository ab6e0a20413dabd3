/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Return to sender: a switch sends the headers of what it has no room for back to their sender,
 * always or where the queue of headers is full (NDP, 3.2.4); those that do reach the receiver are
 * answered as with `trim`.
 */
#include "transport/recovery/selective.h"

static const struct key keys[] = {SELECTIVE_DESYNC, SELECTIVE_RTO};

const struct recovery_kind recovery_kind_returned = {
	.name = "return",
	.map = {KEYS(keys), .size = sizeof(struct selective_options),
		.help = "what switches return to its sender without payload is sent again, and what they trim"},
	SELECTIVE_OPERATIONS,
	.on_returned = selective_on_returned,
	.on_trimmed = selective_on_trimmed,
	.needs = TRANSPORT_RETURNED,
};
