/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fixed window: so much may be under way, whatever happens. */
#include "transport/control/control.h"

struct window_options {
	struct quantity bytes;
};

struct window {
	uint64_t bytes;
};

static const struct key keys[] = {
	KEY("bytes", QUANTITY, struct window_options, bytes, .fallback = "100% BDP", .min = 1,
		.max = CONTROL_WINDOW_MAX,
		.help = "payload that a flow may have under way; one packet at least"),
};

static void open(void *state, const struct transport_env *env, const void *options,
	const struct flow_spec *flow, uint64_t rng, uint64_t now)
{
	const struct window_options *o = options;

	(void)flow;
	(void)rng;
	(void)now;
	((struct window *)state)->bytes = (uint64_t)control_window(env, &o->bytes);
}

static uint64_t window(const void *state)
{
	return ((const struct window *)state)->bytes;
}

const struct control_kind control_kind_window = {
	.name = "window",
	.map = {KEYS(keys), .size = sizeof(struct window_options), .lone = &keys[0],
		.help = "a fixed window, whatever happens"},
	.state_bytes = sizeof(struct window),
	.open = open,
	.window = window,
	.window_most = FIELD(struct window_options, bytes),
};
