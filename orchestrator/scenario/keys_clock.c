/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

static const struct key wall_keys[] = {
	KEY("slowdown", NUMBER, struct clock_spec, slowdown, .fallback = "1", .word = "auto",
		.least = 1e-3, .most = 1e6, .expected = "a number from 0.001 to 1000000, or auto",
		.help = "model time runs so many times slower than the wall's clock; auto: the machine is measured"),
};

static const struct map wall_map = {KEYS(wall_keys)};

static const struct key keys[] = {
	BARE("stepped",
		"model time moves on when all that is due has been done: results depend on the scenario alone"),
	SECTION("wall", &wall_map, .choice = true,
		.help = "the clock on the wall, for real programs in the fabric"),
};

const struct map clock_map = {KEYS(keys), .chosen = FIELD(struct clock_spec, wall),
	.expected = "stepped, wall or {wall: {slowdown: 10}}"};
