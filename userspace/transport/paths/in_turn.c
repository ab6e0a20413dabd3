/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fixed set of paths, one after the other: few of them as subflows (Load Balancing for AI
 * Training Workloads, section 4, "Per-Flow LB"), many as STrack sprays, with its memory of marks
 * (algorithm 3) or without.
 */
#include "base/numbers.h"
#include "transport/paths/in_turn.h"
#include "transport/paths/paths.h"
#include "transport/paths/strack_spray.h"

struct in_turn {
	struct strack_paths spray;
	uint32_t mtu;
	uint64_t words[];
};

#define PATHS_KEY(word, fallback_, help_)                                                          \
	KEY(word, COUNT, struct in_turn_options, paths, .fallback = fallback_, .min = 1,           \
		.max = STRACK_PATHS_MAX, .help = help_)
#define SPRAYED "paths that a flow sprays its packets over"

static const struct key subflows_keys[] = {
	PATHS_KEY("count", "2", "paths of a flow"),
};
static const struct key oblivious_keys[] = {
	PATHS_KEY("paths", "256", SPRAYED),
};
static const struct key adaptive_keys[] = {
	PATHS_KEY("paths", "256", SPRAYED),
	KEY("bitmap_rtts", COUNT, struct in_turn_options, bitmap_rtts, .fallback = "8",
		.max = TIMES_MAX,
		.help = "round trips after which the bitmap of congested paths is cleared; 0: never"),
};

static uint32_t count(const void *options)
{
	return ((const struct in_turn_options *)options)->paths;
}

static size_t more_bytes(const void *options)
{
	return strack_spray_words(count(options)) * sizeof(uint64_t);
}

static void open_as(enum strack_spray kind, struct in_turn *s, const struct transport_env *env,
	const struct in_turn_options *o, uint64_t now)
{
	s->mtu = env->mtu;
	/* Every packet is answered. */
	strack_spray_open(
		&s->spray, kind, o->paths, true, o->bitmap_rtts * env->base_rtt_ps, s->words, now);
}

static void open_oblivious(void *state, const struct transport_env *env, const void *options,
	uint64_t rng, uint64_t now)
{
	(void)rng;
	open_as(STRACK_OBLIVIOUS, state, env, options, now);
}

static void open_adaptive(void *state, const struct transport_env *env, const void *options,
	uint64_t rng, uint64_t now)
{
	(void)rng;
	open_as(STRACK_ADAPTIVE, state, env, options, now);
}

static uint16_t choose(void *state, const struct path_request *request)
{
	struct in_turn *s = state;
	uint64_t window = min_u64(request->window_bytes / s->mtu, UINT32_MAX);

	return (uint16_t)strack_spray_choose(&s->spray, (uint32_t)window, request->now_ps);
}

static uint32_t used(const void *state)
{
	return ((const struct in_turn *)state)->spray.used_count;
}

static void on_answer(void *state, const struct path_answer *answer)
{
	strack_spray_on_ack(&((struct in_turn *)state)->spray, answer->path, answer->bad);
}

const struct paths_kind paths_kind_subflows = {
	.name = "subflows",
	.map = {KEYS(subflows_keys), .size = sizeof(struct in_turn_options),
		.lone = &subflows_keys[0],
		.help = "a few fixed paths, packets dealt to them in turn"},
	.count = count,
	.state_bytes = sizeof(struct in_turn),
	.more_bytes = more_bytes,
	.open = open_oblivious,
	.choose = choose,
	.used = used,
	.reorders = true,
};

const struct paths_kind paths_kind_adaptive = {
	.name = "adaptive",
	.map = {KEYS(adaptive_keys), .size = sizeof(struct in_turn_options),
		.help = "as STrack sprays: paths in turn, without those that came back marked"},
	.count = count,
	.state_bytes = sizeof(struct in_turn),
	.more_bytes = more_bytes,
	.open = open_adaptive,
	.choose = choose,
	.used = used,
	.on_answer = on_answer,
	.unmarked = "it takes its paths in turn, as oblivious does",
	.reorders = true,
};

const struct paths_kind paths_kind_oblivious = {
	.name = "oblivious",
	.map = {KEYS(oblivious_keys), .size = sizeof(struct in_turn_options),
		.help = "as STrack sprays without its memory: all paths in turn"},
	.count = count,
	.state_bytes = sizeof(struct in_turn),
	.more_bytes = more_bytes,
	.open = open_oblivious,
	.choose = choose,
	.used = used,
	.reorders = true,
};
