/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_header.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/clean.h"
#include "cli/top_model.h"
#include "report/fidelity_text.h"
#include "report/number.h"

__attribute__((format(printf, 2, 3))) static void add(
	struct top_line *line, const char *format, ...)
{
	size_t n = strlen(line->text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(line->text + n, sizeof(line->text) - n, format, ap);
	va_end(ap);
}

static const char *word(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static double number(const json_t *o, const char *key)
{
	return top_number(json_object_get(o, key));
}

static const char *scaled(char buf[NUMBER_TEXT], double n)
{
	return number_short(buf, NUMBER_SCALED, n);
}

/* "12.345678 s": of model time all digits count. */
static void add_model_time(struct top_line *line, double us)
{
	if (us < 1e6)
		add(line, "model time %.3f us", us);
	else
		add(line, "model time %.6f s", us / 1e6);
}

static void make_state(struct top_line *line, const json_t *s)
{
	const char *state = word(s, "state"), *clock = word(s, "clock"),
		   *reason = word(s, "reason");
	double slowdown = number(s, "slowdown"), up = number(s, "up_s");

	add(line, "%s  %s", word(s, "name"), state);
	if (*reason)
		add(line, ": %s", reason);
	add(line, "  %s clock", clock);
	if (slowdown > 1)
		add(line, ", slowed %gx", slowdown);
	add(line, "  ");
	add_model_time(line, number(s, "model_time_us"));
	if (!isnan(up))
		add(line, "  up %.0f s", up);
	line->tone = strcmp(state, "failed") ? TOP_PLAIN : TOP_BAD;
}

static void make_fidelity(struct top_line *line, const json_t *s)
{
	const json_t *f = json_object_get(s, "fidelity");
	struct fidelity_text text;

	add(line, "fidelity  ");
	if (!f) {
		add(line, "%s",
			strcmp(word(s, "clock"), "stepped")
				? "-"
				: "exact: model time waits for every event");
		return;
	}
	fidelity_text(&text, f);
	/* what is to be done first: a narrow screen cuts the rest */
	add(line, "%s%s%s  %s  %s", text.now, *text.in_short ? ": " : "", text.in_short, text.late,
		text.load);
	if (!strncmp(text.now, "faithful", strlen("faithful")))
		line->tone = text.good ? TOP_GOOD : TOP_PLAIN;
	else
		line->tone = TOP_BAD;
}

static void add_rate(struct top_line *line, const struct top_pair *p, const char *key)
{
	char buf[NUMBER_TEXT];
	double rate = top_growth(p, json_object_get(json_object_get(p->before, "packets"), key),
		json_object_get(json_object_get(p->now, "packets"), key));

	if (rate > 0)
		add(line, " (%s/s)", scaled(buf, rate));
}

static void add_count(
	struct top_line *line, const struct top_pair *p, const char *name, const char *key)
{
	char buf[NUMBER_TEXT];

	add(line, "  %s %s", name,
		number_short(buf, NUMBER_WHOLE, number(json_object_get(p->now, "packets"), key)));
}

static void make_packets(struct top_line *line, const struct top_pair *p)
{
	add(line, "packets ");
	add_count(line, p, "sent", "sent");
	add_rate(line, p, "sent");
	add_count(line, p, "delivered", "delivered");
	add_rate(line, p, "delivered");
	add_count(line, p, "in flight", "in_flight");
}

static void make_drops(struct top_line *line, const struct top_pair *p)
{
	json_t *dropped = json_object_get(json_object_get(p->now, "packets"), "dropped"), *count;
	char buf[NUMBER_TEXT];
	const char *reason, *mark = ": ";

	add(line, "dropped   %s", number_short(buf, NUMBER_WHOLE, top_number(dropped)));
	add_rate(line, p, "dropped");
	json_object_foreach(dropped, reason, count)
	{
		double n = top_number(count);

		if (!(n > 0))
			continue;
		add(line, "%s%s %s", mark, reason, number_short(buf, NUMBER_WHOLE, n));
		mark = ", ";
	}
}

static void make_flows(struct top_line *line, const struct top_pair *p)
{
	const json_t *flows = json_object_get(p->now, "flows"),
		     *nodes = json_object_get(p->now, "nodes");
	double done = number(flows, "done");

	add(line, "flows     %.0f active, %.0f done", number(flows, "count") - done, done);
	add(line, "  faults %.0f in force", number(p->now, "faults"));
	add_count(line, p, "marked", "marked");
	add_rate(line, p, "marked");
	add_count(line, p, "trimmed", "trimmed");
	add_rate(line, p, "trimmed");
	add(line, "  %.0f hosts, %.0f switches, %.0f links", number(nodes, "hosts"),
		number(nodes, "switches"), number(p->now, "links"));
}

void top_header_make(struct top_line lines[TOP_HEADER_LINES], const struct top_pair *status)
{
	for (size_t i = 0; i < TOP_HEADER_LINES; i++)
		lines[i] = (struct top_line){0};
	if (!status->now)
		return;
	make_state(&lines[0], status->now);
	make_fidelity(&lines[1], status->now);
	make_packets(&lines[2], status);
	make_drops(&lines[3], status);
	make_flows(&lines[4], status);
	for (size_t i = 0; i < TOP_HEADER_LINES; i++)
		clean_text(lines[i].text);
}
