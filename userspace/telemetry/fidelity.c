/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/fidelity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/numbers.h"
#include "base/units.h"

/*
 * Lateness is counted in buckets: below 2^STEP_BITS one a picosecond, from there on so many to each
 * doubling. A bucket's width is thus at most 1/32 of its smallest value.
 */
#define STEP_BITS 5
#define STEPS     (1u << STEP_BITS)
#define BUCKETS   (STEPS * (64 - STEP_BITS + 1))

/* The shortest interval of which the load is known; and the load up to which a machine keeps up. */
#define BUSY_SLICE_PS (100 * PS_PER_MS)
#define BUSY_SHARE    0.8

/*
 * A recommended slowdown has to suffice for the next run too, whose events differ: it is taken from
 * a higher rank than the verdict, with a margin.
 */
#define ADVICE_PER_MILLE 995
#define ADVICE_MARGIN    1.25

/*
 * One event in a hundred may be late: others who took less than 1% of an interval did not degrade
 * it. From 10% on no slowdown is derived from it, whatever the process's own load was.
 */
#define TAKEN_MIN 0.01
#define TAKEN_MAX 0.1

/* Where nearly all of a while was held back, how much is unknown. */
#define SLIP_FACTOR_MAX 100

struct histogram {
	uint64_t buckets[BUCKETS];
	uint64_t events, latest_ps;
};

/* What the verdict hangs on. */
struct account {
	uint64_t events, beyond; /* all, and those that were later than the delay */
	uint64_t slipped_ps, lost;
	uint64_t stalled_ps;         /* of slipped_ps */
	uint64_t busy_ps, passed_ps; /* of the wall's clock */
	uint64_t taken_ps;           /* the same, by others */
};

/* What would have made degraded windows faithful, of those that a slowdown could have cured. */
struct cure {
	struct histogram fresh; /* of events that found the box up to date */
	double busiest;         /* 100 ms */
	double slip_factor;     /* so much slower did model time go */
	uint64_t passed_ps;     /* of the degraded ones, of the wall's clock */
	bool possible;          /* one of them was more than a stall */
};

struct fidelity {
	uint64_t delay_ps;
	double slowdown;
	struct histogram late;
	struct account all, window, slice;
	struct histogram fresh; /* of the window */
	double busiest;         /* slice of the window */
	struct cure cure;
	uint64_t others_ps; /* degraded windows that others are to blame for, of the wall's clock */
	uint64_t taken_ps;  /* of those, what the others took */
	bool closed, faithful; /* there was a window, and the latest was */
	bool blamed;           /* it was not, and others were to blame */
};

int fidelity_new(struct fidelity **ret, uint64_t delay_ps, double slowdown)
{
	struct fidelity *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->delay_ps = delay_ps;
	f->slowdown = slowdown;
	f->cure.slip_factor = 1;
	*ret = f;
	return 0;
}

void fidelity_free(struct fidelity *f)
{
	free(f);
}

static uint32_t bucket_of(uint64_t ps)
{
	uint32_t shift;

	if (ps < STEPS)
		return (uint32_t)ps;
	shift = 63u - (uint32_t)__builtin_clzll(ps) - STEP_BITS;
	return STEPS * (shift + 1) + (uint32_t)(ps >> shift & (STEPS - 1));
}

/* The most that falls into it. */
static uint64_t bucket_most(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < STEPS)
		return bucket;
	shift = bucket / STEPS - 1;
	return ((uint64_t)(STEPS + bucket % STEPS) << shift) + ((1ull << shift) - 1);
}

static void account_late(struct account *a, uint64_t events, bool beyond)
{
	a->events += events;
	a->beyond += beyond ? events : 0;
}

static void histogram_add(struct histogram *h, uint64_t late_ps, uint64_t events)
{
	h->buckets[bucket_of(late_ps)] += events;
	h->events += events;
	if (late_ps > h->latest_ps)
		h->latest_ps = late_ps;
}

void fidelity_late(struct fidelity *f, uint64_t late_ps, uint64_t events, bool behind)
{
	bool beyond = late_ps > f->delay_ps;

	if (!events)
		return;
	histogram_add(&f->late, late_ps, events);
	if (!behind)
		histogram_add(&f->fresh, late_ps, events);
	account_late(&f->all, events, beyond);
	account_late(&f->window, events, beyond);
}

void fidelity_busy(struct fidelity *f, uint64_t busy_ps, uint64_t passed_ps)
{
	struct account *accounts[] = {&f->all, &f->window, &f->slice};
	double share;

	for (size_t i = 0; i < sizeof(accounts) / sizeof(accounts[0]); i++) {
		accounts[i]->busy_ps += busy_ps;
		accounts[i]->passed_ps += passed_ps;
	}
	if (f->slice.passed_ps < BUSY_SLICE_PS)
		return;
	share = (double)f->slice.busy_ps / (double)f->slice.passed_ps;
	f->busiest = fmax(f->busiest, share);
	f->slice = (struct account){0};
}

void fidelity_taken(struct fidelity *f, uint64_t taken_ps)
{
	f->all.taken_ps += taken_ps;
	f->window.taken_ps += taken_ps;
}

void fidelity_slip(struct fidelity *f, uint64_t slip_ps, bool stalled)
{
	struct account *accounts[] = {&f->all, &f->window};

	for (size_t i = 0; i < sizeof(accounts) / sizeof(accounts[0]); i++) {
		accounts[i]->slipped_ps += slip_ps;
		accounts[i]->stalled_ps += stalled ? slip_ps : 0;
	}
}

void fidelity_lost(struct fidelity *f, uint64_t frames)
{
	f->all.lost += frames;
	f->window.lost += frames;
}

/* Whether more than one event in a hundred was later than the delay: exact, unlike the buckets. */
static bool too_late(const struct account *a)
{
	return a->beyond > a->events / 100;
}

static bool account_is_faithful(const struct account *a)
{
	return !too_late(a) && !a->slipped_ps && !a->lost;
}

bool fidelity_is_faithful(const struct fidelity *f)
{
	return account_is_faithful(&f->all);
}

uint64_t fidelity_window_ps(const struct fidelity *f)
{
	return f->window.passed_ps;
}

/* How much slower model time went than real time, without the time for which it was held back. */
static double slip_factor(const struct fidelity *f, const struct account *a)
{
	double wanted = (double)a->passed_ps / f->slowdown;

	double slipped = (double)(a->slipped_ps - a->stalled_ps);

	return wanted / fmax(wanted - slipped, wanted / SLIP_FACTOR_MAX);
}

/*
 * Whether others took so much CPU in the window that it may have been faithful without them. A slip
 * is as long as what held the process up; a lack of CPU of its own shows in its load. A window that
 * has just begun is judged like the one before.
 */
static bool others_are_to_blame(const struct fidelity *f)
{
	const struct account *w = &f->window;
	double passed = (double)w->passed_ps, taken = (double)w->taken_ps,
	       slipped = (double)w->slipped_ps * f->slowdown;

	if (w->passed_ps < BUSY_SLICE_PS && f->closed)
		return f->blamed;
	if (taken > TAKEN_MAX * passed)
		return true;
	return taken > 0 && taken >= TAKEN_MIN * passed && taken >= slipped / 2 &&
	       (double)w->busy_ps - taken <= BUSY_SHARE * (passed - taken);
}

static void histogram_merge(struct histogram *into, const struct histogram *h)
{
	for (size_t i = 0; i < BUCKETS; i++)
		into->buckets[i] += h->buckets[i];
	into->events += h->events;
	if (h->latest_ps > into->latest_ps)
		into->latest_ps = h->latest_ps;
}

/* A faithful window counts too: how late its events were is what the next ones are likely to be. */
static void add_to_cure(struct fidelity *f, bool faithful)
{
	struct cure *c = &f->cure;

	histogram_merge(&c->fresh, &f->fresh);
	c->busiest = fmax(c->busiest, f->busiest);
	if (f->window.passed_ps >= BUSY_SLICE_PS)
		c->slip_factor = fmax(c->slip_factor, slip_factor(f, &f->window));
	if (!faithful)
		c->passed_ps += f->window.passed_ps;
	if (too_late(&f->window) || f->window.lost || f->window.slipped_ps > f->window.stalled_ps)
		c->possible = true;
}

bool fidelity_window(struct fidelity *f)
{
	bool faithful = account_is_faithful(&f->window),
	     blamed = !faithful && others_are_to_blame(f);

	if (blamed) {
		f->others_ps += f->window.passed_ps;
		f->taken_ps += f->window.taken_ps;
	} else {
		add_to_cure(f, faithful);
	}
	f->window = f->slice = (struct account){0};
	f->fresh = (struct histogram){0};
	f->busiest = 0;
	f->closed = true;
	f->faithful = faithful;
	f->blamed = blamed;
	return faithful;
}

bool fidelity_is_faithful_now(const struct fidelity *f)
{
	return f->closed ? f->faithful : account_is_faithful(&f->window);
}

/* Nearest rank; at most 1/32 too much, never too little. */
static uint64_t quantile(const struct histogram *h, unsigned per_mille)
{
	uint64_t n = h->events, above = 1000 - per_mille, seen = 0;
	uint64_t rank = n - (n / 1000 * above + n % 1000 * above / 1000);

	for (uint32_t i = 0; n && i < BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen >= rank) {
			uint64_t most = bucket_most(i);

			return most < h->latest_ps ? most : h->latest_ps;
		}
	}
	return 0;
}

/* As the verdict has it, where the delay lies inside of the bucket. */
static uint64_t late_p99(const struct fidelity *f)
{
	uint64_t late = quantile(&f->late, 990);

	return late > f->delay_ps && !too_late(&f->all) ? f->delay_ps : late;
}

/* Up to two digits: 1.21 is 1.3, 121 is 130. */
static double round_up(double value)
{
	double step = pow(10, floor(log10(value)) - 1), digits = whole_up(value / step);

	return step < 1 ? digits / round(1 / step) : digits * step;
}

/*
 * Lateness and load are wall time, and shrink beside model time as that slows down. The lateness of
 * an event that waited behind others says nothing once the machine is not overloaded: then the load
 * and the slip count. Where no measurement says how much would suffice (frames were lost in a
 * moment too short to see), the advice is twice as slow. 0: others took the CPU, or the machine
 * stalled, which no slowdown cures.
 */
static double sufficient_slowdown(const struct fidelity *f)
{
	const struct cure *c = &f->cure;
	double factor = 1, late;

	if (fidelity_is_faithful(f))
		return f->slowdown;
	if (!c->possible)
		return 0;
	late = (double)quantile(&c->fresh, ADVICE_PER_MILLE);
	if (f->delay_ps && late > (double)f->delay_ps)
		factor = ADVICE_MARGIN * late / (double)f->delay_ps;
	factor = fmax(factor, c->slip_factor * fmax(1, c->busiest / BUSY_SHARE));
	return round_up(f->slowdown * (factor > 1 ? factor : 2));
}

/* A time with up to three digits: "41 us". Returns buf. */
#define TIME_TEXT 32
static const char *time_text(char buf[TIME_TEXT], uint64_t ps)
{
	static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
	double value = (double)ps;
	size_t unit = 0;

	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, TIME_TEXT, value < 999.5 ? "%.3g %s" : "%.0f %s", value, units[unit]);
	return buf;
}

static void write_reason(const struct fidelity *f, FILE *out)
{
	const struct account *a = &f->all;
	char late[TIME_TEXT], delay[TIME_TEXT];
	const char *between = "";

	if (f->others_ps) {
		fprintf(out, "other processes had the CPU for %s", time_text(late, f->taken_ps));
		between = "; ";
	}
	if (too_late(a)) {
		fprintf(out,
			"%sevents ran up to %s late at p99, and the shortest link has a delay of %s",
			between, time_text(late, late_p99(f)), time_text(delay, f->delay_ps));
		between = "; ";
	}
	if (a->slipped_ps) {
		fprintf(out, "%smodel time was held back by %s, since events could not keep up",
			between, time_text(late, a->slipped_ps));
		between = "; ";
	}
	if (a->lost)
		fprintf(out, "%s%llu frame%s of the hosts' stacks %s not taken in time and lost",
			between, (unsigned long long)a->lost, a->lost == 1 ? "" : "s",
			a->lost == 1 ? "was" : "were");
}

static json_t *reason_json(const struct fidelity *f)
{
	json_t *reason = NULL;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	write_reason(f, out);
	if (fclose(out) == 0)
		reason = json_string(text);
	free(text);
	return reason;
}

static double in_us(uint64_t ps)
{
	return (double)ps / PS_PER_US;
}

static double in_s(uint64_t ps)
{
	return (double)ps / PS_PER_S;
}

static json_t *sufficient_json(const struct fidelity *f)
{
	double slowdown = sufficient_slowdown(f);

	return slowdown > 0 ? json_real(slowdown) : json_null();
}

static json_t *settled_json(const struct fidelity *f)
{
	const struct account *a = &f->all;
	bool faithful = fidelity_is_faithful(f);

	return json_pack("{s:s, s:s, s:f, s:f, s:o*, s:{s:f, s:f, s:f}, s:f, s:f, s:o, s:f, s:f,"
			 " s:f, s:f, s:I}",
		"verdict", faithful ? "faithful" : "degraded", "now",
		fidelity_is_faithful_now(f) ? "faithful" : "degraded", "degraded_s",
		in_s(f->others_ps + f->cure.passed_ps), "passed_s", in_s(a->passed_ps), "reason",
		faithful ? NULL : reason_json(f), "late_us", "p50", in_us(quantile(&f->late, 500)),
		"p99", in_us(late_p99(f)), "max", in_us(f->late.latest_ps), "smallest_delay_us",
		in_us(f->delay_ps), "clock_slowdown", f->slowdown, "sufficient_clock_slowdown",
		sufficient_json(f), "busy",
		a->passed_ps ? (double)a->busy_ps / (double)a->passed_ps : 0.0, "others_degraded_s",
		in_s(f->others_ps), "others_took_s", in_s(f->taken_ps), "slipped_us",
		in_us(a->slipped_ps), "lost", (json_int_t)a->lost);
}

/* As if the window ended here, but it goes on. */
json_t *fidelity_json(const struct fidelity *f)
{
	struct fidelity *settled = malloc(sizeof(*settled));
	bool now = fidelity_is_faithful_now(f);
	json_t *o;

	if (!settled)
		return NULL;
	*settled = *f;
	fidelity_window(settled);
	settled->faithful = now;
	o = settled_json(settled);
	free(settled);
	return o;
}
