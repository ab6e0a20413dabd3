/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DCQCN's reaction point: cut, fast recovery, additive and hyper increase, pacing. */
#include "base/wiretime.h"
#include "transport/control/dcqcn.h"

void dcqcn_open(struct dcqcn *d, const struct dcqcn_params *p)
{
	*d = (struct dcqcn){
		.rate_bps = p->line_bps, .target_bps = p->line_bps, .alpha = p->alpha_start};
}

/* A packet that waits has less or more time left as the rate changes. */
static void set_rate(struct dcqcn *d, const struct dcqcn_params *p, uint64_t rate_bps, uint64_t now)
{
	if (rate_bps < p->min_bps)
		rate_bps = p->min_bps;
	if (rate_bps > p->line_bps)
		rate_bps = p->line_bps;
	if (d->ready_ps > now)
		d->ready_ps = now + (uint64_t)((unsigned __int128)(d->ready_ps - now) *
					       d->rate_bps / rate_bps);
	d->rate_bps = rate_bps;
}

/*
 * By how much R_T rises: figure 7. "F successive iterations" of fast recovery (3.1): the round that
 * has just ended counts, so that there are five and not four. The text leaves hyper increase to
 * QCN, where it grows with the rounds beyond F. Without a byte counter both can't have passed F:
 * the timer's first round beyond F is additive, and each further one adds R_HAI.
 */
static uint64_t target_step(const struct dcqcn *d, const struct dcqcn_params *p)
{
	uint32_t t = d->timer_rounds, b = d->byte_rounds;
	uint32_t least = t < b ? t : b, most = t < b ? b : t;

	if (!p->increase_bytes && t > p->rounds + 1)
		return p->hyper_bps;
	if (least > p->rounds)
		return (least - p->rounds) * p->hyper_bps;
	return most > p->rounds ? p->additive_bps : 0;
}

/* One round of the timer or the byte counter is over. */
static void increase(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now)
{
	d->target_bps += target_step(d, p);
	if (d->target_bps > p->line_bps)
		d->target_bps = p->line_bps;
	/* Rounded up, so that it arrives: equation 3. */
	set_rate(d, p, (d->rate_bps + d->target_bps + 1) / 2, now);
	/* At line rate nothing that the timers did could be seen; alpha goes on. */
	if (d->rate_bps == p->line_bps)
		d->limited = false;
}

static void advance(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now)
{
	while (d->limited && d->increase_ps <= now) {
		d->timer_rounds++;
		increase(d, p, d->increase_ps);
		d->increase_ps += p->increase_ps;
	}
}

static uint32_t weighed(const struct dcqcn_params *p, uint32_t value)
{
	return (uint32_t)((uint64_t)value * p->gain >> DCQCN_ALPHA_SHIFT);
}

/* Equation 2, for each K without a notification; it stops when the fixed point has no bits left. */
static void decay_alpha(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now)
{
	while (d->alpha_ps && d->alpha_ps <= now && weighed(p, d->alpha)) {
		d->alpha -= weighed(p, d->alpha);
		d->alpha_ps += p->alpha_ps;
	}
}

static void restart_rounds(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now)
{
	d->timer_rounds = d->byte_rounds = 0;
	d->bytes = 0;
	d->increase_ps = now + p->increase_ps;
	d->limited = true;
}

/* Equation 1 */
void dcqcn_on_cnp(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now)
{
	uint64_t cut;

	advance(d, p, now);
	decay_alpha(d, p, now);
	cut = (uint64_t)((unsigned __int128)d->rate_bps * d->alpha >> (DCQCN_ALPHA_SHIFT + 1));
	if (!p->keep_target || d->timer_rounds)
		d->target_bps = d->rate_bps;
	set_rate(d, p, d->rate_bps - cut, now);
	d->alpha += weighed(p, DCQCN_ALPHA_ONE - d->alpha);
	d->alpha_ps = now + p->alpha_ps;
	restart_rounds(d, p, now);
}

void dcqcn_on_loss(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now)
{
	advance(d, p, now);
	set_rate(d, p, p->min_bps, now);
	restart_rounds(d, p, now);
}

uint64_t dcqcn_ready(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now)
{
	advance(d, p, now);
	if (d->ready_ps <= now || !d->limited || d->ready_ps < d->increase_ps)
		return d->ready_ps;
	return d->increase_ps;
}

void dcqcn_on_send(struct dcqcn *d, const struct dcqcn_params *p, uint32_t frame_len, uint64_t now)
{
	if (!d->limited)
		return;
	d->ready_ps = now + serialise_ps(frame_len, d->rate_bps);
	if (!p->increase_bytes)
		return;
	d->bytes += frame_len;
	while (d->limited && d->bytes >= p->increase_bytes) {
		d->bytes -= p->increase_bytes;
		d->byte_rounds++;
		increase(d, p, now);
	}
}
