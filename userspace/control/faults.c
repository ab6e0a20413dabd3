/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/faults.h"

#include <math.h>
#include "base/rng_stream.h"

#define MEAN_MAX ((1ull << 56) - 1)
/*
 * A hazard that no byte survives: 64 is above any -ln(u) of 64 random bits, and 2^62 in units of
 * 2^-56.
 */
#define HAZARD_MAX 64.0

/* In 2^-32, certainty being the largest. */
static uint32_t share(double p)
{
	double scaled = rint(p * 0x1p32);

	if (!(scaled > 0))
		return 0;
	return scaled < 0x1p32 ? (uint32_t)scaled : UINT32_MAX;
}

/* After any change: whether the program has to look at all. */
static void update(struct sw_tables *t, uint32_t port)
{
	const struct fault *f = &t->faults[port];

	t->ports[port].faulty = f->loss || f->lost_good || f->lost_bad || f->every_ps || f->hazard;
}

static struct fault *with_frame_seed(struct sw_tables *t, uint32_t port, uint64_t seed)
{
	struct fault *f = &t->faults[port];

	f->frame_seed = rng_stream(seed, "fault", port);
	return f;
}

void faults_set_loss(struct sw_tables *t, uint32_t port, double loss, uint64_t seed)
{
	with_frame_seed(t, port, seed)->loss = share(loss);
	update(t, port);
}

void faults_clear_loss(struct sw_tables *t, uint32_t port)
{
	t->faults[port].loss = 0;
	update(t, port);
}

void faults_set_gilbert(
	struct sw_tables *t, uint32_t port, const struct faults_gilbert *g, uint64_t seed)
{
	struct fault *f = with_frame_seed(t, port, seed);

	f->enter = share(g->enter);
	f->leave = share(g->leave);
	f->lost_good = share(g->lost_good);
	f->lost_bad = share(g->lost_bad);
	f->is_bad = 0;
	update(t, port);
}

void faults_clear_gilbert(struct sw_tables *t, uint32_t port)
{
	struct fault *f = &t->faults[port];

	f->enter = f->leave = f->lost_good = f->lost_bad = 0;
	update(t, port);
}

static uint64_t mean(uint64_t ps)
{
	return ps < MEAN_MAX ? ps : MEAN_MAX;
}

void faults_set_flaky(struct sw_tables *t, uint32_t port, uint64_t every_ps, uint64_t last_ps,
	uint64_t seed, uint64_t now_ps)
{
	struct fault *f = &t->faults[port];
	uint32_t peer = t->ports[port].peer;

	f->every_ps = last_ps ? mean(every_ps) : 0;
	f->last_ps = mean(last_ps);
	f->burst_seed = rng_stream(seed, "flaky", port < peer ? port : peer);
	/*
	 * cells of 4 to 8 mean gaps: few are empty, and few bursts are drawn in vain after a
	 * silence
	 */
	for (f->cell_shift = 0; 1ull << f->cell_shift < 4 * f->every_ps; f->cell_shift++)
		;
	f->next_ps = now_ps;
	f->until_ps = 0;
	f->fresh = 1;
	update(t, port);
}

void faults_clear_flaky(struct sw_tables *t, uint32_t port)
{
	t->faults[port].every_ps = 0;
	update(t, port);
}

void faults_set_errors(struct sw_tables *t, uint32_t port, double bit_error_rate, uint64_t seed)
{
	double hazard = bit_error_rate < 1 ? -8 * log1p(-bit_error_rate) : HAZARD_MAX;

	if (hazard > HAZARD_MAX)
		hazard = HAZARD_MAX;
	with_frame_seed(t, port, seed)->hazard = (uint64_t)rint(hazard * 0x1p56);
	update(t, port);
}

void faults_clear_errors(struct sw_tables *t, uint32_t port)
{
	t->faults[port].hazard = 0;
	update(t, port);
}
