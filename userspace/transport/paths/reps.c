/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recycled paths: Bonato et al., REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing
 * and Failure Mitigation (EuroSys 2026, arXiv 2407.21625). What the text leaves open is as in the
 * authors' simulator (docs/parts.md).
 */
#include "transport/paths/reps.h"
#include "base/rng_stream.h"
#include "transport/control/control.h"
#include "transport/paths/paths.h"

struct reps {
	uint64_t rng;
	uint64_t freeze_ps;
	uint64_t frozen_until_ps; /* 0: it is not frozen */
	uint32_t bdp_packets;
	uint32_t explore; /* packets to come that take random paths whatever is remembered */
	uint32_t draws;
	uint16_t size;   /* of the ring */
	uint16_t filled; /* entries that were ever written since it was emptied */
	uint16_t head;   /* the next to be written */
	uint16_t fresh;  /* entries before the head that were not taken yet */
	uint16_t turn;   /* frozen: the next to be taken */
	uint16_t ring[];
};

static const struct key keys[] = {
	KEY("ring", COUNT, struct reps_options, ring, .fallback = "8", .min = 1,
		.max = REPS_RING_MAX, .help = "paths that came back unmarked that are remembered"),
	KEY("freeze", TIME, struct reps_options, freeze_ps, .fallback = "100us", .max = TIME_MAX,
		.help = "after a timeout only remembered paths are taken, for so long; 0: never"),
};

static size_t more_bytes(const void *options)
{
	return (((const struct reps_options *)options)->ring * sizeof(uint16_t) + 7) / 8 * 8;
}

static void open(void *state, const struct transport_env *env, const void *options, uint64_t rng,
	uint64_t now)
{
	const struct reps_options *o = options;
	struct reps *s = state;

	(void)now;
	s->rng = rng;
	s->freeze_ps = o->freeze_ps;
	s->size = (uint16_t)o->ring;
	s->bdp_packets = (uint32_t)(control_bdp(env) / env->mtu);
}

/* What was learnt before the failure is forgotten: a BDP's worth of packets looks for paths. */
static void thaw(struct reps *s, uint64_t now)
{
	if (!s->frozen_until_ps || now <= s->frozen_until_ps)
		return;
	s->frozen_until_ps = 0;
	s->filled = s->head = s->fresh = s->turn = 0;
	s->explore = s->bdp_packets;
}

static uint16_t draw(struct reps *s)
{
	s->draws += s->draws < PATHS_ALL;
	return (uint16_t)rng_below(&s->rng, PATHS_ALL);
}

/* The oldest that was not taken yet. */
static uint16_t recycle(struct reps *s)
{
	uint32_t at = (uint32_t)s->head + s->size - s->fresh;

	s->fresh--;
	return s->ring[at % s->size];
}

/* Those that were taken already too: they worked before the failure. */
static uint16_t take_frozen(struct reps *s)
{
	uint16_t at = s->turn % s->filled;

	s->turn = (uint16_t)(at + 1);
	return s->ring[at];
}

static uint16_t choose(void *state, const struct path_request *request)
{
	struct reps *s = state;

	thaw(s, request->now_ps);
	if (s->explore) {
		s->explore--;
		return draw(s);
	}
	if (s->frozen_until_ps && s->filled)
		return take_frozen(s);
	return s->fresh ? recycle(s) : draw(s);
}

static uint32_t used(const void *state)
{
	return ((const struct reps *)state)->draws;
}

static void on_answer(void *state, const struct path_answer *answer)
{
	struct reps *s = state;

	thaw(s, answer->now_ps);
	if (answer->bad)
		return;
	s->ring[s->head] = answer->path;
	s->head = (uint16_t)((s->head + 1) % s->size);
	s->filled += s->filled < s->size;
	s->fresh += s->fresh < s->size;
}

static void on_timeout(void *state, uint64_t now)
{
	struct reps *s = state;

	thaw(s, now);
	if (!s->frozen_until_ps && !s->explore && s->freeze_ps)
		s->frozen_until_ps = now + s->freeze_ps;
}

const struct paths_kind paths_kind_reps = {
	.name = "reps",
	.map = {KEYS(keys), .size = sizeof(struct reps_options),
		.help = "random paths, and again those that came back unmarked"},
	.state_bytes = sizeof(struct reps),
	.more_bytes = more_bytes,
	.open = open,
	.choose = choose,
	.used = used,
	.on_answer = on_answer,
	.on_timeout = on_timeout,
	.unmarked = "it takes paths again, however long their queues are",
	.reorders = true,
};
