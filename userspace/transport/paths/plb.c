/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One path at a time, which is left when too many of its packets come back marked: Load Balancing
 * for AI Training Workloads, section 4, "Per-Flowlet LB", after Qureshi et al., PLB: Congestion
 * Signals are Simple and Effective for Network Load Balancing (SIGCOMM 2022).
 */
#include "transport/paths/plb.h"
#include "base/numbers.h"
#include "base/rng_stream.h"
#include "transport/paths/paths.h"

struct plb {
	uint64_t rng;
	uint32_t packets; /* answers between two looks */
	uint32_t limit;   /* so many bad ones of them are too many */
	uint32_t answers; /* to packets of this path, since the last look */
	uint32_t bad;     /* of these */
	uint32_t draws;
	uint16_t path;
};

static const struct key keys[] = {
	KEY("packets", COUNT, struct plb_options, packets, .fallback = "16", .min = 1,
		.max = TIMES_MAX, .help = "answered packets of a path after which it is looked at"),
	KEY("marked", CHANCE, struct plb_options, marked, .fallback = "40%", .min = 1,
		.expected = "a share above 0% and up to 100%",
		.help = "share of marked ones among them from which the path is left"),
};

static void draw(struct plb *s)
{
	s->path = (uint16_t)rng_below(&s->rng, PATHS_ALL);
	s->draws++;
	s->answers = 0;
	s->bad = 0;
}

static void open(void *state, const struct transport_env *env, const void *options, uint64_t rng,
	uint64_t now)
{
	const struct plb_options *o = options;
	struct plb *s = state;

	(void)env;
	(void)now;
	s->rng = rng;
	s->packets = o->packets;
	s->limit = (uint32_t)whole_up(o->marked * o->packets);
	draw(s);
}

static uint16_t choose(void *state, const struct path_request *request)
{
	(void)request;
	return ((struct plb *)state)->path;
}

static uint32_t used(const void *state)
{
	return ((const struct plb *)state)->draws;
}

/*
 * What is still under way on a path that was left says nothing of the one taken instead. So it
 * takes `packets` packets on a path, and their answers, to leave it.
 */
static void on_answer(void *state, const struct path_answer *answer)
{
	struct plb *s = state;

	if (answer->path != s->path)
		return;
	s->answers++;
	s->bad += answer->bad;
	if (s->answers < s->packets)
		return;
	if (s->bad >= s->limit) {
		draw(s);
		return;
	}
	s->answers = 0;
	s->bad = 0;
}

/* PLB, as in Linux' tcp_plb.c: a timeout may mean that the path is dead. */
static void on_timeout(void *state, uint64_t now)
{
	(void)now;
	draw(state);
}

const struct paths_kind paths_kind_plb = {
	.name = "plb",
	.map = {KEYS(keys), .size = sizeof(struct plb_options),
		.help = "one path, and another when too many packets come back marked"},
	.state_bytes = sizeof(struct plb),
	.open = open,
	.choose = choose,
	.used = used,
	.on_answer = on_answer,
	.on_timeout = on_timeout,
	.unmarked = "a flow changes its path after timeouts alone",
};
