/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "faults/fault_kind.h"

#include <math.h>
#include "base/net.h"
#include "base/rng_stream.h"
#include "engine/engine.h"

/* ---- what acts on the frames of a cable: struct fault ---- */

/* In 2^-32, certainty being the largest. */
static uint32_t share(double p)
{
	double scaled = rint(p * 0x1p32);

	if (!(scaled > 0))
		return 0;
	return scaled < 0x1p32 ? (uint32_t)scaled : UINT32_MAX;
}

/* Random loss: each frame for itself, with this probability, to the nearest 2^-32. */
static void loss_frames(struct fault *f, const struct fault_effect *e, uint64_t now_ps)
{
	(void)now_ps;
	f->loss = share(e->loss);
}

/* Gilbert-Elliott: starts in the good state. */
static void gilbert_frames(struct fault *f, const struct fault_effect *e, uint64_t now_ps)
{
	(void)now_ps;
	f->enter = share(e->gilbert.enter);
	f->leave = share(e->gilbert.leave);
	f->lost_good = share(e->gilbert.lost_good);
	f->lost_bad = share(e->gilbert.lost_bad);
	f->is_bad = 0;
}

/* A mean of 2^56 ps (20 hours) or more counts as that. */
static uint64_t mean(uint64_t ps)
{
	return min_u64(ps, (1ull << 56) - 1);
}

/*
 * Bursts in which every frame is lost: Poisson arrivals, every_ps being the mean from one start to
 * the next, and exponential lengths of mean last_ps; they may overlap. Either 0: off. Both ends of
 * a link have the same ones.
 */
static void flaky_frames(struct fault *f, const struct fault_effect *e, uint64_t now_ps)
{
	f->every_ps = e->flaky.last_ps ? mean(e->flaky.every_ps) : 0;
	f->last_ps = mean(e->flaky.last_ps);
	/*
	 * cells of 4 to 8 mean gaps: few are empty, and few bursts are drawn in vain after a
	 * silence
	 */
	for (f->cell_shift = 0; 1ull << f->cell_shift < 4 * f->every_ps; f->cell_shift++)
		;
	f->next_ps = now_ps;
	f->until_ps = 0;
	f->fresh = 1;
}

/*
 * A hazard that no byte survives: 64 is above any -ln(u) of 64 random bits, and 2^62 in units of
 * 2^-56.
 */
#define HAZARD_MAX 64.0

/* Bit errors: each bit for itself, with this probability; 1e-15 and above within 0.2%. */
static void errors_frames(struct fault *f, const struct fault_effect *e, uint64_t now_ps)
{
	double hazard = e->bit_errors < 1 ? -8 * log1p(-e->bit_errors) : HAZARD_MAX;

	(void)now_ps;
	f->hazard = (uint64_t)rint(fmin(hazard, HAZARD_MAX) * 0x1p56);
}

void fault_set_port(struct sw_tables *t, uint32_t port, const struct fault_effect *e, bool begins,
	uint64_t seed, uint64_t now_ps)
{
	static const struct fault_effect none;
	struct fault *f = &t->faults[port];

	f->frame_seed = rng_stream(seed, "fault", port);
	f->burst_seed = rng_stream(seed, "flaky", min_u64(port, t->ports[port].peer));
	fault_kinds[e->kind].frames(f, begins ? e : &none, now_ps);
	/* whether the program has to look at all */
	t->ports[port].faulty = f->loss || f->lost_good || f->lost_bad || f->every_ps || f->hazard;
}

void fault_set(const struct fault_change *c)
{
	const struct fault_kind_info *kind = &fault_kinds[c->effect->kind];
	uint64_t now = engine_now(c->engine);

	if (kind->set)
		kind->set(c);
	if (!kind->frames)
		return;
	fault_set_port(c->tables, c->at, c->effect, c->begins, c->seed, now);
	fault_set_port(c->tables, c->net->ports[c->at].peer, c->effect, c->begins, c->seed, now);
}

/* ---- what acts on links and hosts as a whole ---- */

static void rate_set(const struct fault_change *c)
{
	uint64_t full = c->net->ports[c->at].rate_bps;
	uint64_t left = (uint64_t)((double)full * c->effect->share);

	engine_set_link_rate(c->engine, c->at, !c->begins ? full : left ? left : 1);
}

static void delay_set(const struct fault_change *c)
{
	engine_set_link_delay(c->engine, c->at, c->begins ? c->effect->delay_ps : 0);
}

static void pause_set(const struct fault_change *c)
{
	engine_set_storm(c->engine, c->at, c->begins ? (uint8_t)(1u << c->effect->class) : 0);
}

/* ---- the figures of events ---- */

static void rate_note(json_t *event, const struct fault_change *c)
{
	double full = (double)c->net->ports[c->at].rate_bps;

	json_object_set_new(event, "rate_bps",
		json_integer((json_int_t)(c->begins ? full * c->effect->share : full)));
}

static void delay_note(json_t *event, const struct fault_change *c)
{
	json_object_set_new(event, "extra_us",
		json_real(c->begins ? (double)c->effect->delay_ps / PS_PER_US : 0));
}

static void loss_note(json_t *event, const struct fault_change *c)
{
	if (c->begins)
		json_object_set_new(event, "share", json_real(c->effect->loss));
}

static void pause_note(json_t *event, const struct fault_change *c)
{
	json_object_set_new(event, "class", json_integer(c->effect->class));
}

/* ---- what they cost ---- */

static void rate_cost(struct fault_cost *cost, const struct fault_effect *e)
{
	cost->left = e->share;
}

static void delay_cost(struct fault_cost *cost, const struct fault_effect *e)
{
	cost->delay_ps = e->delay_ps;
}

static void loss_cost(struct fault_cost *cost, const struct fault_effect *e)
{
	cost->left = 1 - e->loss;
}

static void gilbert_cost(struct fault_cost *cost, const struct fault_effect *e)
{
	double bad = e->gilbert.enter / (e->gilbert.enter + e->gilbert.leave);

	cost->left = 1 - bad * e->gilbert.lost_bad - (1 - bad) * e->gilbert.lost_good;
}

/* Bursts come by Poisson, whatever goes on. */
static void flaky_cost(struct fault_cost *cost, const struct fault_effect *e)
{
	cost->left = exp(-(double)e->flaky.last_ps / (double)e->flaky.every_ps);
	cost->hold_up_ps = e->flaky.last_ps;
}

static void errors_cost(struct fault_cost *cost, const struct fault_effect *e)
{
	cost->left = exp(8.0 * cost->frame_bytes * log1p(-e->bit_errors));
}

struct fault_cost fault_cost(const struct fault_effect *e, uint32_t frame_bytes)
{
	const struct fault_kind_info *kind = &fault_kinds[e->kind];
	struct fault_cost cost = {.frame_bytes = frame_bytes, .left = !kind->cuts};

	if (kind->cost)
		kind->cost(&cost, e);
	return cost;
}

/* ---- sentences ---- */

static void rate_describe(FILE *out, const struct fault_effect *e)
{
	fprintf(out, "at %g%% of its rate", 100 * e->share);
}

static void delay_describe(FILE *out, const struct fault_effect *e)
{
	char text[UNITS_TEXT];

	fprintf(out, "longer by %s", format_time(text, e->delay_ps));
}

static void loss_describe(FILE *out, const struct fault_effect *e)
{
	fprintf(out, "loses %g%% of frames", 100 * e->loss);
}

static void gilbert_describe(FILE *out, const struct fault_effect *e)
{
	(void)e;
	fputs("loses frames by Gilbert-Elliott", out);
}

static void flaky_describe(FILE *out, const struct fault_effect *e)
{
	char last[UNITS_TEXT], every[UNITS_TEXT];

	fprintf(out, "loses all frames for %s every %s on average",
		format_time(last, e->flaky.last_ps), format_time(every, e->flaky.every_ps));
}

static void errors_describe(FILE *out, const struct fault_effect *e)
{
	fprintf(out, "has a bit error rate of %g", e->bit_errors);
}

static void pause_describe(FILE *out, const struct fault_effect *e)
{
	fprintf(out, "pauses class %u all the time", e->class);
}

static void down_describe(FILE *out, const struct fault_effect *e)
{
	(void)e;
	fputs("down", out);
}

/* ---- the tables ---- */

#define OF_FRAMES                      .is_share = true
#define VALUE(word, kind, member, ...) KEY(word, kind, struct fault_effect, member, __VA_ARGS__)

static const struct key gilbert_keys[] = {
	VALUE("enter", CHANCE, gilbert.enter, OF_FRAMES, .required = true, .min = 1,
		.help = "probability, a frame, of a change from the good state to the bad one"),
	VALUE("leave", CHANCE, gilbert.leave, OF_FRAMES, .required = true, .min = 1,
		.help = "of the change back"),
	VALUE("lost", CHANCE, gilbert.lost_bad, OF_FRAMES, .fallback = "100%", .min = 1,
		.help = "share of frames that are lost in the bad state"),
	VALUE("lost_good", CHANCE, gilbert.lost_good, OF_FRAMES, .fallback = "0",
		.help = "and in the good one"),
};

static const struct key flaky_keys[] = {
	VALUE("every", TIME, flaky.every_ps, .required = true, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "mean time from the start of one interruption to that of the next"),
	VALUE("last", TIME, flaky.last_ps, .required = true, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "mean length of an interruption"),
};

static const struct map gilbert_map = {KEYS(gilbert_keys)}, flaky_map = {KEYS(flaky_keys)};

const struct key fault_keys[FAULT_KINDS] = {
	[FAULT_RATE] = VALUE("rate", SHARE, share, .choice = true,
		.help = "the link's rate falls to this share",
		.expected = "the share of the rate that is left, such as 25%"),
	[FAULT_DELAY] = VALUE("delay", TIME, delay_ps, .choice = true, .min = 1, .max = DELAY_MAX,
		.help = "this much is added to the link's delay"),
	[FAULT_LOSS] = VALUE("loss", CHANCE, loss, OF_FRAMES, .choice = true, .min = 1,
		.help = "frames are lost at random with this probability"),
	[FAULT_GILBERT] = {.name = "gilbert",
		.kind = VALUE_MAP,
		.choice = true,
		.map = &gilbert_map,
		.help = "frames are lost in bursts, by the model of Gilbert and Elliott"},
	[FAULT_FLAKY] = {.name = "flaky",
		.kind = VALUE_MAP,
		.choice = true,
		.map = &flaky_map,
		.help = "the link is interrupted time and again"},
	[FAULT_ERRORS] = VALUE("errors", CHANCE, bit_errors, .choice = true, .min = 1, .most = 1,
		.expected = "the share of bits that are wrong, above 0 and below 1, such as 1e-9",
		.help = "bit error rate"),
	[FAULT_PAUSE] = VALUE("pause", COUNT, class, .choice = true, .max = CLASSES - 1,
		.help = "the host sends PFC pauses for this class indefinitely"),
	[FAULT_DOWN] = {.name = "down",
		.kind = VALUE_NONE,
		.choice = true,
		.help = "the link or the switch is down"},
};

const struct fault_kind_info fault_kinds[FAULT_KINDS] = {
	[FAULT_RATE] = {.events = {[TARGET_LINK] = {"link_rate", "link_rate"}},
		.one = "runs at",
		.several = "run at",
		.steady = true,
		.set = rate_set,
		.note = rate_note,
		.cost = rate_cost,
		.describe = rate_describe},
	[FAULT_DELAY] = {.events = {[TARGET_LINK] = {"link_delay", "link_delay"}},
		.one = "takes longer by",
		.several = "take longer by",
		.set = delay_set,
		.note = delay_note,
		.cost = delay_cost,
		.describe = delay_describe},
	[FAULT_LOSS] = {.events = {[TARGET_LINK] = {"loss_end", "loss"}},
		.one = "loses",
		.several = "lose",
		.features = SW_FAULTS,
		.drops = 1u << DROP_LOSS,
		.frames = loss_frames,
		.note = loss_note,
		.cost = loss_cost,
		.describe = loss_describe},
	[FAULT_GILBERT] = {.events = {[TARGET_LINK] = {"gilbert_end", "gilbert"}},
		.one = "loses in bursts,",
		.several = "lose in bursts,",
		.features = SW_FAULTS,
		.drops = 1u << DROP_GILBERT,
		.frames = gilbert_frames,
		.cost = gilbert_cost,
		.describe = gilbert_describe},
	[FAULT_FLAKY] = {.events = {[TARGET_LINK] = {"flaky_end", "flaky"}},
		.one = "is flaky,",
		.several = "are flaky,",
		.features = SW_FAULTS,
		.drops = 1u << DROP_BURST,
		.frames = flaky_frames,
		.cost = flaky_cost,
		.describe = flaky_describe},
	[FAULT_ERRORS] = {.events = {[TARGET_LINK] = {"bit_errors_end", "bit_errors"}},
		.one = "has bit errors,",
		.several = "have bit errors,",
		.features = SW_FAULTS,
		.drops = 1u << DROP_FCS,
		.frames = errors_frames,
		.cost = errors_cost,
		.describe = errors_describe},
	[FAULT_PAUSE] = {.events = {[TARGET_HOST] = {"pause_storm_end", "pause_storm"}},
		.one = "pauses class",
		.several = "pause class",
		.features = SW_CONTROL,
		.drops = 1u << DROP_WATCHDOG,
		.pauses_class = true,
		.set = pause_set,
		.note = pause_note,
		.describe = pause_describe},
	[FAULT_DOWN] = {.events = {[TARGET_LINK] = {"link_up", "link_down"},
				[TARGET_SWITCH] = {"switch_up", "switch_down"}},
		.one = "is down",
		.several = "are down",
		.drops = 1u << DROP_LINK_DOWN | 1u << DROP_SWITCH_DOWN,
		.cuts = true,
		.steady = true,
		.describe = down_describe},
};
