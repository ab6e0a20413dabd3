/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_header.h"

#include <math.h>
#include <string.h>
#include "base/clean.h"
#include "base/strbuf.h"
#include "cli/top_model.h"
#include "report/fidelity_text.h"
#include "report/number.h"

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
static void add_model_time(struct strbuf *b, double us)
{
	if (us < 1e6)
		strbuf_add(b, "model time %.3f us", us);
	else
		strbuf_add(b, "model time %.6f s", us / 1e6);
}

static enum top_tone make_state(struct strbuf *b, const json_t *s)
{
	const char *state = word(s, "state"), *clock = word(s, "clock"),
		   *reason = word(s, "reason");
	double slowdown = number(s, "clock_slowdown"), up = number(s, "up_s");

	strbuf_add(b, "%s  %s", word(s, "name"), state);
	if (*reason)
		strbuf_add(b, ": %s", reason);
	strbuf_add(b, "  %s clock", clock);
	if (slowdown > 1)
		strbuf_add(b, ", slowed %gx", slowdown);
	strbuf_add(b, "  ");
	add_model_time(b, number(s, "model_time_us"));
	if (!isnan(up))
		strbuf_add(b, "  up %.0f s", up);
	return strcmp(state, "failed") ? TOP_PLAIN : TOP_BAD;
}

static enum top_tone make_fidelity(struct strbuf *b, const json_t *s)
{
	const json_t *f = json_object_get(s, "fidelity");
	struct fidelity_text text;

	strbuf_add(b, "fidelity  ");
	if (!f) {
		strbuf_add(b, "%s",
			strcmp(word(s, "clock"), "stepped")
				? "-"
				: "exact: model time waits for every event");
		return TOP_PLAIN;
	}
	fidelity_text(&text, f);
	/* what is to be done first: a narrow screen cuts the rest */
	strbuf_add(b, "%s%s%s  %s  %s", text.now, *text.in_short ? ": " : "", text.in_short,
		text.late, text.load);
	if (strncmp(text.now, "faithful", strlen("faithful")))
		return TOP_BAD;
	return text.good ? TOP_GOOD : TOP_PLAIN;
}

static void add_rate(struct strbuf *b, const struct top_pair *p, const char *key)
{
	char buf[NUMBER_TEXT];
	double rate = top_growth(p, json_object_get(json_object_get(p->before, "packets"), key),
		json_object_get(json_object_get(p->now, "packets"), key));

	if (rate > 0)
		strbuf_add(b, " (%s/s)", scaled(buf, rate));
}

static void add_count(struct strbuf *b, const struct top_pair *p, const char *name, const char *key)
{
	char buf[NUMBER_TEXT];

	strbuf_add(b, "  %s %s", name,
		number_short(buf, NUMBER_WHOLE, number(json_object_get(p->now, "packets"), key)));
}

static void make_packets(struct strbuf *b, const struct top_pair *p)
{
	strbuf_add(b, "packets ");
	add_count(b, p, "sent", "sent");
	add_rate(b, p, "sent");
	add_count(b, p, "delivered", "delivered");
	add_rate(b, p, "delivered");
	add_count(b, p, "in flight", "in_flight");
}

static void make_drops(struct strbuf *b, const struct top_pair *p)
{
	json_t *dropped = json_object_get(json_object_get(p->now, "packets"), "dropped"), *count;
	char buf[NUMBER_TEXT];
	const char *reason, *mark = ": ";

	strbuf_add(b, "dropped   %s", number_short(buf, NUMBER_WHOLE, top_number(dropped)));
	add_rate(b, p, "dropped");
	json_object_foreach(dropped, reason, count)
	{
		double n = top_number(count);

		if (!(n > 0))
			continue;
		strbuf_add(b, "%s%s %s", mark, reason, number_short(buf, NUMBER_WHOLE, n));
		mark = ", ";
	}
}

static void make_flows(struct strbuf *b, const struct top_pair *p)
{
	const json_t *flows = json_object_get(p->now, "flows"),
		     *nodes = json_object_get(p->now, "nodes");
	double done = number(flows, "done");

	strbuf_add(b, "flows     %.0f active, %.0f done", number(flows, "count") - done, done);
	strbuf_add(b, "  faults %.0f in force", number(p->now, "faults"));
	add_count(b, p, "marked", "marked");
	add_rate(b, p, "marked");
	add_count(b, p, "trimmed", "trimmed");
	add_rate(b, p, "trimmed");
	strbuf_add(b, "  %.0f hosts, %.0f switches, %.0f links", number(nodes, "hosts"),
		number(nodes, "switches"), number(p->now, "links"));
}

void top_header_make(struct top_line lines[TOP_HEADER_LINES], const struct top_pair *status)
{
	struct strbuf b[TOP_HEADER_LINES];

	for (size_t i = 0; i < TOP_HEADER_LINES; i++) {
		lines[i].tone = TOP_PLAIN;
		b[i] = STRBUF(lines[i].text);
	}
	if (!status->now)
		return;
	lines[0].tone = make_state(&b[0], status->now);
	lines[1].tone = make_fidelity(&b[1], status->now);
	make_packets(&b[2], status);
	make_drops(&b[3], status);
	make_flows(&b[4], status);
	for (size_t i = 0; i < TOP_HEADER_LINES; i++)
		clean_text(lines[i].text);
}
