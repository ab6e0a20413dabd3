/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/fidelity_text.h"

#include <stdio.h>
#include <string.h>
#include "base/strbuf.h"

static double figure(const json_t *f, const char *key, const char *inner)
{
	const json_t *value = json_object_get(f, key);

	return json_number_value(inner ? json_object_get(value, inner) : value);
}

static bool is_faithful(const json_t *f, const char *key)
{
	const char *text = json_string_value(json_object_get(f, key));

	return text && !strcmp(text, "faithful");
}

static void add_seconds(struct strbuf *b, double s)
{
	strbuf_add(b, s < 9.95 ? "%.1f" : "%.0f", s);
}

/* Up to three digits, whatever the size: "7.75 ms". */
static void add_time(struct strbuf *b, double us)
{
	if (us < 999.5)
		strbuf_add(b, "%.3g us", us);
	else if (us < 999.5e3)
		strbuf_add(b, "%.3g ms", us / 1e3);
	else
		strbuf_add(b, us < 999.5e6 ? "%.3g s" : "%.0f s", us / 1e6);
}

/* "DEGRADED for 12 s of 95", with `good` or `bad` between the verdict and the times. */
static void write_verdict(
	struct strbuf *b, const json_t *f, bool faithful, const char *good, const char *bad)
{
	strbuf_add(b, faithful ? "faithful%s" : "DEGRADED%s", faithful ? good : bad);
	add_seconds(b, figure(f, "degraded_s", NULL));
	strbuf_add(b, " s of ");
	add_seconds(b, figure(f, "passed_s", NULL));
}

static void write_verdicts(struct fidelity_text *t, const json_t *f)
{
	bool whole = is_faithful(f, "verdict"), now = is_faithful(f, "now");
	struct strbuf b = STRBUF(t->now), of_whole = STRBUF(t->whole);

	t->good = whole && now && !(figure(f, "degraded_s", NULL) > 0);
	if (t->good) {
		strbuf_add(&b, "faithful");
		strbuf_add(&of_whole, "faithful");
		return;
	}
	write_verdict(&b, f, now, " now; degraded ", " now, for ");
	/* p99 of all events may be well, though that of a second was not */
	write_verdict(&of_whole, f, whole, "; degraded ", " for ");
}

static void write_remedy(struct fidelity_text *t, const json_t *f)
{
	double slowdown = figure(f, "sufficient_slowdown", NULL),
	       others = figure(f, "others_degraded_s", NULL);
	struct strbuf remedy = STRBUF(t->remedy), in_short = STRBUF(t->in_short);

	if (is_faithful(f, "verdict"))
		return;
	if (others > 0 && slowdown > 0) {
		strbuf_add(&remedy, "a slowdown of %.3g would do for ", slowdown);
		add_seconds(&remedy, figure(f, "degraded_s", NULL) - others);
		strbuf_add(&remedy, " s; else others had the CPU");
		strbuf_add(&in_short, "slowdown %.3g, in part", slowdown);
	} else if (others > 0) {
		strbuf_add(&remedy, "other processes had the CPU for ");
		add_seconds(&remedy, figure(f, "others_took_s", NULL));
		strbuf_add(&remedy, " s: no slowdown cures that");
		strbuf_add(&in_short, "others took ");
		add_seconds(&in_short, figure(f, "others_took_s", NULL));
		strbuf_add(&in_short, " s of CPU");
	} else if (slowdown > 0) {
		strbuf_add(&remedy, "a slowdown of %.3g would do", slowdown);
		strbuf_add(&in_short, "slowdown %.3g would do", slowdown);
	}
}

static void write_figures(struct fidelity_text *t, const json_t *f)
{
	struct strbuf late = STRBUF(t->late), load = STRBUF(t->load);
	double slipped = figure(f, "slipped_us", NULL), lost = figure(f, "lost", NULL);

	strbuf_add(&late, "late p50 ");
	add_time(&late, figure(f, "late_us", "p50"));
	strbuf_add(&late, ", p99 ");
	add_time(&late, figure(f, "late_us", "p99"));
	strbuf_add(&late, ", max ");
	add_time(&late, figure(f, "late_us", "max"));
	strbuf_add(&late, "; shortest link ");
	add_time(&late, figure(f, "smallest_delay_us", NULL));
	strbuf_add(&load, "busy %.0f%%", 100 * figure(f, "busy", NULL));
	if (slipped > 0) {
		strbuf_add(&load, "; model time held back by ");
		add_time(&load, slipped);
	}
	if (lost > 0)
		strbuf_add(&load, "; %.0f frames lost", lost);
}

void fidelity_text(struct fidelity_text *ret, const json_t *fidelity)
{
	*ret = (struct fidelity_text){0};
	write_verdicts(ret, fidelity);
	write_remedy(ret, fidelity);
	write_figures(ret, fidelity);
}
