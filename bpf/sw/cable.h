/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_CABLE_H
#define FABRICBED_SW_CABLE_H

/*
 * What befalls a frame on its cable. It needs the link from its first bit to its last: a cut takes
 * what is on the wire, and what starts into a dead link is lost even if it would arrive after the
 * repair. Reads the ingress port, and writes its faults' state.
 *
 * Faults: bursts, the Gilbert-Elliott model, random loss, bit errors; the first in this order that
 * takes the frame names the reason. None moves another's draws: bursts are a function of the
 * time alone, and a frame's draws are one of its number at this port. A fault that is off costs no
 * draw.
 */
#include "sw/context.h"
#include "lib/random.h"

/* No burst lasts longer than so many means (random_exponential). */
#define WIRE_LONGEST 45
/*
 * Nor are bursts looked for further back than so many mean gaps. That is nearer than WIRE_LONGEST
 * only if bursts last 2.8 times the gaps or more, and so cover the link for all but 6% of time; of
 * what is then older, one that still lasts and is not covered by a younger one has a chance below
 * 2e-9.
 */
#define WIRE_FURTHEST 128
/*
 * Most steps a frame takes: the 128 mean gaps and up to 8 more to the start of a cell are 136
 * bursts in the mean, and 34 starts of cells. The square root of 136 being 12, more than 256 are
 * over seven deviations away; the next frame would do the rest.
 */
#define WIRE_STEPS 256

enum wire_draw {
	WIRE_DRAW_LOSS = 1,
	WIRE_DRAW_GILBERT,
	WIRE_DRAW_ERRORS,
};

/*
 * The next burst begins: draws its length, and when the one after it does.
 *
 * Time is cut into cells, each with a random stream from the link's seed. What an exponential gap
 * still lasts has the same law whatever has passed of it, so that drawing it anew at the start of a
 * cell leaves the arrivals Poisson; and both ends of the link, whichever frames they see, and
 * whether they had to skip a silence, see the same bursts.
 */
SW_GLOBAL int wire_step(struct fault *f)
{
	__u64 at, shift, end, last;

	if (!f) /* the verifier takes a global function for any caller's; nor may it return void */
		return 0;
	at = f->next_ps;
	shift = f->cell_shift & 63;
	end = ((at >> shift) + 1) << shift;
	if (f->fresh) {
		f->rng = rng_mix(f->burst_seed ^ rng_mix(at >> shift));
	} else {
		last = random_exponential(rng_next(&f->rng), f->last_ps);
		f->bursts++;
		f->burst_ps += last;
		if (at + last > f->until_ps)
			f->until_ps = at + last;
	}
	/* at least 1 ps on, and so never in place */
	at += random_exponential(rng_next(&f->rng), f->every_ps) + 1;
	f->fresh = at >= end;
	f->next_ps = f->fresh ? end : at;
	return 1;
}

/*
 * After a silence: on to the last cell before which no burst can have begun that lasts beyond
 * started_ps.
 */
static __always_inline void wire_skip(struct fault *f, __u64 started_ps)
{
	__u64 back = WIRE_LONGEST * f->last_ps, furthest = WIRE_FURTHEST * f->every_ps;
	__u64 shift = f->cell_shift & 63, cell;

	if (back > furthest)
		back = furthest;
	cell = started_ps > back ? (started_ps - back) >> shift << shift : 0;
	if (cell > f->next_ps) {
		f->next_ps = cell;
		f->fresh = 1;
	}
}

/*
 * Whether any part of the frame was on the wire in a burst: one that began before its last bit was
 * through, and ended after its first had left. Frames come in order, so those that have begun are
 * judged by the last end of all.
 */
SW_GLOBAL int wire_burst(struct fault *f, __u64 started_ps, __u64 now_ps)
{
	__u32 i;

	if (!f)
		return 0;
	if (f->until_ps <= started_ps && f->next_ps < now_ps)
		wire_skip(f, started_ps);
	for (i = 0; i < WIRE_STEPS && f->until_ps <= started_ps && f->next_ps < now_ps; i++)
		wire_step(f);
	return f->until_ps > started_ps;
}

/*
 * Gilbert-Elliott (Elliott: Estimates of Error Rates for Codes on Burst-Noise Channels, BSTJ 1963):
 * the frame is lost by the state that it meets, and then the state changes for the next one.
 */
static __always_inline int wire_gilbert(struct fault *f, __u64 draw)
{
	int bad = f->is_bad;

	if (random_hit((__u32)draw, bad ? f->leave : f->enter))
		f->is_bad = !bad;
	return random_hit((__u32)(draw >> 32), bad ? f->lost_bad : f->lost_good);
}

/*
 * Whether a bit of the frame, FCS and padding included, is wrong. The errors of a wire being a
 * Poisson process along its bytes, the way to the first one is exponential: lost if -ln(u) < n
 * hazard, where hazard = -8 ln(1 - bit error rate). That keeps its precision for rates at which (1
 * - rate)^(8 n) has no digits left in 2^-32.
 */
static __always_inline int wire_error(const struct fault *f, __u32 length, __u64 draw)
{
	__u64 n = (__u64)length + ETH_FCS_BYTES;

	if (n < ETH_MIN_BYTES)
		n = ETH_MIN_BYTES;
	/* -ln(u) >= 1 - u: nearly all frames pass by this alone */
	if (sw_likely((~(draw | 1) >> 8) / n >= f->hazard))
		return 0;
	return random_minus_ln(draw) / n < f->hazard;
}

/* DROP_NONE, or what took it. Whatever that is, the models with a memory have seen the frame. */
static __always_inline enum drop_reason wire_fault(struct sw_ctx *c, struct fault *f)
{
	__u64 draws = rng_mix(f->frame_seed + c->in->rx_frames);
	int gilbert =
		(f->lost_good | f->lost_bad) && wire_gilbert(f, rng_mix(draws + WIRE_DRAW_GILBERT));

	if (f->every_ps && wire_burst(f, c->hop.started_ps, c->hop.now_ps))
		return DROP_BURST;
	if (gilbert)
		return DROP_GILBERT;
	if (f->loss && random_hit((__u32)(rng_mix(draws + WIRE_DRAW_LOSS) >> 32), f->loss))
		return DROP_LOSS;
	if (f->hazard && wire_error(f, c->hop.length, rng_mix(draws + WIRE_DRAW_ERRORS)))
		return DROP_FCS;
	return DROP_NONE;
}

static __always_inline enum sw_step sw_wire(struct sw_ctx *c)
{
	const struct port *in = c->in;
	enum drop_reason reason;
	struct fault *f;

	if (sw_unlikely(!in->up || in->up_since_ps > c->hop.started_ps))
		return sw_drop(c, c->in_id, DROP_LINK_DOWN);
	if (!sw_has(c, SW_FAULTS) || sw_likely(!in->faulty))
		return SW_NEXT;
	f = table_faults(c->t, c->in_id);
	reason = f ? wire_fault(c, f) : DROP_NONE;
	return reason == DROP_NONE ? SW_NEXT : sw_drop(c, c->in_id, reason);
}

#endif
