/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/fidelity_text.h"

#include <stdio.h>
#include <string.h>
#include "base/strbuf.h"
#include "base/json.h"

static bool is_faithful(const json_t *f, const char *key)
{
	const char *text = look_text(f, key);

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
	add_seconds(b, look_number(f, "degraded_s"));
	strbuf_add(b, " s of ");
	add_seconds(b, look_number(f, "passed_s"));
}

static void write_verdicts(struct fidelity_text *t, const json_t *f)
{
	bool whole = is_faithful(f, "verdict"), now = is_faithful(f, "now");
	struct strbuf b = STRBUF(t->now), of_whole = STRBUF(t->whole);

	t->good = whole && now && !(look_number(f, "degraded_s") > 0);
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
	double slowdown = look_number(f, "sufficient_clock_slowdown"),
	       others = look_number(f, "others_degraded_s");
	struct strbuf remedy = STRBUF(t->remedy), in_short = STRBUF(t->in_short);

	if (is_faithful(f, "verdict"))
		return;
	if (others > 0 && slowdown > 0) {
		strbuf_add(&remedy, "a slowdown of %.3g would do for ", slowdown);
		add_seconds(&remedy, look_number(f, "degraded_s") - others);
		strbuf_add(&remedy, " s; else others had the CPU");
		strbuf_add(&in_short, "slowdown %.3g, in part", slowdown);
	} else if (others > 0) {
		strbuf_add(&remedy, "other processes had the CPU for ");
		add_seconds(&remedy, look_number(f, "others_took_s"));
		strbuf_add(&remedy, " s: no slowdown cures that");
		strbuf_add(&in_short, "others took ");
		add_seconds(&in_short, look_number(f, "others_took_s"));
		strbuf_add(&in_short, " s of CPU");
	} else if (slowdown > 0) {
		strbuf_add(&remedy, "a slowdown of %.3g would do", slowdown);
		strbuf_add(&in_short, "slowdown %.3g would do", slowdown);
	}
}

static void write_figures(struct fidelity_text *t, const json_t *f)
{
	struct strbuf late = STRBUF(t->late), load = STRBUF(t->load);
	double slipped = look_number(f, "slipped_us"), lost = look_number(f, "lost");

	strbuf_add(&late, "late p50 ");
	add_time(&late, look_number(f, "late_us.p50"));
	strbuf_add(&late, ", p99 ");
	add_time(&late, look_number(f, "late_us.p99"));
	strbuf_add(&late, ", max ");
	add_time(&late, look_number(f, "late_us.max"));
	strbuf_add(&late, "; shortest link ");
	add_time(&late, look_number(f, "smallest_delay_us"));
	strbuf_add(&load, "busy %.0f%%", 100 * look_number(f, "busy"));
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

void fidelity_print(const json_t *fidelity, bool ended, enum fidelity_detail detail, FILE *out)
{
	struct fidelity_text text;

	if (!fidelity)
		return;
	fidelity_text(&text, fidelity);
	fprintf(out, "  fidelity    %s\n", ended ? text.whole : text.now);
	if (*text.remedy)
		fprintf(out, "              %s\n", text.remedy);
	if (detail >= FIDELITY_LATE)
		fprintf(out, "              %s\n", text.late);
	if (detail >= FIDELITY_LOAD)
		fprintf(out, "              %s\n", text.load);
}
