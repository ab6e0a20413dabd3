/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/fidelity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/units.h"

/*
 * Lateness is counted in buckets: below 2^STEP_BITS one a picosecond, from there on so many to each doubling. A bucket's
 * width is thus at most 1/32 of the least that falls into it.
 */
#define STEP_BITS 5
#define STEPS     (1u << STEP_BITS)
#define BUCKETS   (STEPS * (64 - STEP_BITS + 1))

/* The shortest while of which it is told how busy it was; and how busy a box may be that is to keep up. */
#define BUSY_WINDOW_PS (100 * PS_PER_MS)
#define BUSY_SHARE     0.8

struct histogram {
	uint64_t buckets[BUCKETS];
	uint64_t events, latest_ps;
};

/* What the verdict hangs on. */
struct account {
	uint64_t events, beyond; /* all, and those that were later than the delay */
	uint64_t slipped_ps, lost;
};

struct fidelity {
	uint64_t delay_ps;
	double slowdown;
	struct histogram late;
	struct histogram fresh; /* of events that found the box up to date */
	struct account all, window;
	uint64_t busy_ps, passed_ps;               /* of the wall's clock, in all */
	uint64_t window_busy_ps, window_passed_ps; /* of the while that has just begun */
	double busiest;
};

int fidelity_new(struct fidelity **ret, uint64_t delay_ps, double slowdown)
{
	struct fidelity *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->delay_ps = delay_ps;
	f->slowdown = slowdown;
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
	double share;

	f->busy_ps += busy_ps;
	f->passed_ps += passed_ps;
	f->window_busy_ps += busy_ps;
	f->window_passed_ps += passed_ps;
	if (f->window_passed_ps < BUSY_WINDOW_PS)
		return;
	share = (double)f->window_busy_ps / (double)f->window_passed_ps;
	if (share > f->busiest)
		f->busiest = share;
	f->window_busy_ps = f->window_passed_ps = 0;
}

void fidelity_slip(struct fidelity *f, uint64_t slip_ps)
{
	f->all.slipped_ps += slip_ps;
	f->window.slipped_ps += slip_ps;
}

void fidelity_lost(struct fidelity *f, uint64_t frames)
{
	f->all.lost += frames;
	f->window.lost += frames;
}

/* Whether more than one event in a hundred was later than the delay: exact, as no bucket could tell. */
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

bool fidelity_window(struct fidelity *f)
{
	bool faithful = account_is_faithful(&f->window);

	f->window = (struct account){0};
	return faithful;
}

/* Nearest rank; at most 1/32 too much, never too little. */
static uint64_t percentile(const struct histogram *h, unsigned percent)
{
	uint64_t n = h->events, above = 100 - percent, seen = 0;
	uint64_t rank = n - (n / 100 * above + n % 100 * above / 100);

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
	uint64_t late = percentile(&f->late, 99);

	return late > f->delay_ps && !too_late(&f->all) ? f->delay_ps : late;
}

/* Up to two digits: 1.21 is 1.3, 121 is 130. */
static double round_up(double value)
{
	double step = pow(10, floor(log10(value)) - 1), digits;

	/* what is a whole number of steps but for the last bits stays */
	digits = ceil(value / step * (1 - 1e-12));
	return step < 1 ? digits / round(1 / step) : digits * step;
}

/* What model time's own pace leaves over once what it was held back is taken off: so much slower it went. */
static double slip_factor(const struct fidelity *f)
{
	double wanted = (double)f->passed_ps / f->slowdown;
	double slipped = (double)f->all.slipped_ps;

	return slipped < wanted ? wanted / (wanted - slipped) : 1;
}

/*
 * Lateness and load are of the wall's clock, and shrink beside model time as that slows down. How late an event was that
 * waited behind others tells nothing of the box once it is not overloaded: there the load counts, and what it held back.
 * Where nothing measured tells how much would do (frames were lost in a moment too short to see), twice as slow is the
 * next thing to try.
 */
static double sufficient_slowdown(const struct fidelity *f)
{
	double factor = 1;

	if (fidelity_is_faithful(f))
		return f->slowdown;
	if (f->delay_ps)
		factor = fmax(factor, (double)percentile(&f->fresh, 99) / (double)f->delay_ps);
	factor = fmax(factor, slip_factor(f) * fmax(1, f->busiest / BUSY_SHARE));
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

	if (too_late(a)) {
		fprintf(out,
			"events ran up to %s late at p99, and the shortest link has a delay of %s",
			time_text(late, late_p99(f)), time_text(delay, f->delay_ps));
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

json_t *fidelity_json(const struct fidelity *f)
{
	bool faithful = fidelity_is_faithful(f);
	json_t *o = json_pack("{s:s}", "verdict", faithful ? "faithful" : "degraded");

	if (!faithful)
		json_object_set_new(o, "reason", reason_json(f));
	json_object_set_new(o, "late_us",
		json_pack("{s:f, s:f, s:f}", "p50", in_us(percentile(&f->late, 50)), "p99",
			in_us(late_p99(f)), "max", in_us(f->late.latest_ps)));
	json_object_set_new(o, "smallest_delay_us", json_real(in_us(f->delay_ps)));
	json_object_set_new(o, "slowdown", json_real(f->slowdown));
	json_object_set_new(o, "sufficient_slowdown", json_real(sufficient_slowdown(f)));
	json_object_set_new(
		o, "busy", json_real(f->passed_ps ? (double)f->busy_ps / (double)f->passed_ps : 0));
	json_object_set_new(o, "slipped_us", json_real(in_us(f->all.slipped_ps)));
	json_object_set_new(o, "lost", json_integer((json_int_t)f->all.lost));
	return o;
}
