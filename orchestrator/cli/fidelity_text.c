/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/fidelity_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

__attribute__((format(printf, 2, 3))) static void add(
	char text[FIDELITY_TEXT], const char *format, ...)
{
	size_t used = strlen(text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(text + used, FIDELITY_TEXT - used, format, ap);
	va_end(ap);
}

static void add_seconds(char text[FIDELITY_TEXT], double s)
{
	add(text, s < 9.95 ? "%.1f" : "%.0f", s);
}

/* Up to three digits, whatever the size: "7.75 ms". */
static void add_time(char text[FIDELITY_TEXT], double us)
{
	if (us < 999.5)
		add(text, "%.3g us", us);
	else if (us < 999.5e3)
		add(text, "%.3g ms", us / 1e3);
	else
		add(text, us < 999.5e6 ? "%.3g s" : "%.0f s", us / 1e6);
}

static void write_verdicts(struct fidelity_text *t, const json_t *f)
{
	bool whole = is_faithful(f, "verdict"), now = is_faithful(f, "now");
	double degraded = figure(f, "degraded_s", NULL);
	char spans[FIDELITY_TEXT] = "";

	add_seconds(spans, degraded);
	add(spans, " s of ");
	add_seconds(spans, figure(f, "passed_s", NULL));
	t->good = whole && now && !(degraded > 0);
	if (t->good) {
		add(t->now, "faithful");
		add(t->whole, "faithful");
		return;
	}
	add(t->now, now ? "%s now; degraded %s" : "%s now, for %s", now ? "faithful" : "DEGRADED",
		spans);
	/* p99 of all events may be well, though that of a second was not */
	add(t->whole, whole ? "faithful; degraded %s" : "DEGRADED for %s", spans);
}

static void write_remedy(struct fidelity_text *t, const json_t *f)
{
	double slowdown = figure(f, "sufficient_slowdown", NULL),
	       others = figure(f, "others_degraded_s", NULL);
	char own[FIDELITY_TEXT] = "", took[FIDELITY_TEXT] = "";

	if (is_faithful(f, "verdict"))
		return;
	add_seconds(own, figure(f, "degraded_s", NULL) - others);
	add_seconds(took, figure(f, "others_took_s", NULL));
	if (others > 0 && slowdown > 0) {
		add(t->remedy, "a slowdown of %.3g would do for %s s; else others had the CPU",
			slowdown, own);
		add(t->in_short, "slowdown %.3g, in part", slowdown);
	} else if (others > 0) {
		add(t->remedy, "other processes had the CPU for %s s: no slowdown cures that",
			took);
		add(t->in_short, "others took %s s of CPU", took);
	} else if (slowdown > 0) {
		add(t->remedy, "a slowdown of %.3g would do", slowdown);
		add(t->in_short, "slowdown %.3g would do", slowdown);
	}
}

static void write_figures(struct fidelity_text *t, const json_t *f)
{
	double slipped = figure(f, "slipped_us", NULL), lost = figure(f, "lost", NULL);

	add(t->late, "late p50 ");
	add_time(t->late, figure(f, "late_us", "p50"));
	add(t->late, ", p99 ");
	add_time(t->late, figure(f, "late_us", "p99"));
	add(t->late, ", max ");
	add_time(t->late, figure(f, "late_us", "max"));
	add(t->late, "; shortest link ");
	add_time(t->late, figure(f, "smallest_delay_us", NULL));
	add(t->load, "busy %.0f%%", 100 * figure(f, "busy", NULL));
	if (slipped > 0) {
		add(t->load, "; model time held back by ");
		add_time(t->load, slipped);
	}
	if (lost > 0)
		add(t->load, "; %.0f frames lost", lost);
}

void fidelity_text(struct fidelity_text *ret, const json_t *fidelity)
{
	*ret = (struct fidelity_text){0};
	write_verdicts(ret, fidelity);
	write_remedy(ret, fidelity);
	write_figures(ret, fidelity);
}
