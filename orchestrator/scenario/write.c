/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/units.h"

/* YAML 1.1, escapes of double-quoted scalars (5.7). What is not printable cannot come from a file.
 */
static void write_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\t')
			fputs("\\t", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

/* A name, bare as people write it, unless YAML would then take it for nothing or for syntax. */
static void write_name(FILE *out, const char *name)
{
	static const char bare[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
	size_t length = strspn(name, bare);

	if (length == strlen(name) && strcasecmp(name, "null"))
		fputs(name, out);
	else
		write_quoted(out, name);
}

static void write_rate(FILE *out, const char *key, uint64_t bps)
{
	char text[UNITS_TEXT];

	fprintf(out, "%s: %s", key, format_rate(text, bps));
}

/* A time, or the word that stands for `special`. */
static void write_time(FILE *out, const char *key, uint64_t ps, uint64_t special, const char *word)
{
	char text[UNITS_TEXT];

	fprintf(out, "%s: %s", key, word && ps == special ? word : format_time(text, ps));
}

/* The shortest decimal that reads as the same number. */
static void write_number(FILE *out, double value)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, out);
}

/*
 * The shortest percentage that reads as the same share. The product is taken to more digits than a
 * double has, and a percentage has at most 18 digits behind its point.
 */
static void write_percent(FILE *out, double share)
{
	char text[64];
	double again;

	for (int digits = 0; digits <= 18; digits++) {
		snprintf(text, sizeof(text), "%.*Lf%%", digits, (long double)share * 100);
		if (!parse_percent(text, &again) && again == share)
			break;
	}
	fputs(text, out);
}

static void write_quantity(FILE *out, const char *key, const struct quantity *q)
{
	char text[UNITS_TEXT];

	fprintf(out, "%s: ", key);
	if (q->of_bdp) {
		write_percent(out, q->value);
		fputs(" BDP", out);
	} else {
		fputs(format_bytes(text, (uint64_t)q->value), out);
	}
}

/* Short where it can be: what a file of 1 MB can hold must still fit one when written. */
static void write_link(FILE *out, const struct custom_link *link)
{
	if (!link->rate_bps && link->delay_ps == UINT64_MAX) {
		fprintf(out, "%s-%s", link->a, link->b);
		return;
	}
	fputs("{a: ", out);
	write_name(out, link->a);
	fputs(", b: ", out);
	write_name(out, link->b);
	if (link->rate_bps)
		write_rate(out, ", rate", link->rate_bps);
	if (link->delay_ps != UINT64_MAX)
		write_time(out, ", delay", link->delay_ps, 0, NULL);
	fputs("}", out);
}

static void write_nodes(FILE *out, const char *key, const struct custom_node *nodes, size_t count)
{
	fprintf(out, "    %s: [", key);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", out);
		write_name(out, nodes[i].name);
	}
	fputs("]\n", out);
}

static void write_custom(FILE *out, const struct topology_spec *t)
{
	fputs("  custom:\n", out);
	write_nodes(out, "hosts", t->hosts, t->host_count);
	write_nodes(out, "switches", t->switches, t->switch_count);
	fprintf(out, "    links:%s\n", t->link_count ? "" : " []");
	for (size_t i = 0; i < t->link_count; i++) {
		fputs("      - ", out);
		write_link(out, &t->links[i]);
		fputc('\n', out);
	}
}

static void write_overrides(FILE *out, const struct topology_spec *t)
{
	fprintf(out, "  links:%s\n", t->override_count ? "" : " []");
	for (size_t i = 0; i < t->override_count; i++) {
		const struct link_override *o = &t->overrides[i];

		fputs("    - {match: ", out);
		write_quoted(out, o->match);
		if (o->rate_bps)
			write_rate(out, ", rate", o->rate_bps);
		if (o->delay_ps != UINT64_MAX)
			write_time(out, ", delay", o->delay_ps, 0, NULL);
		fputs("}\n", out);
	}
}

static void write_topology(FILE *out, const struct topology_spec *t)
{
	fputs("\ntopology:\n", out);
	switch (t->kind) {
	case TOPOLOGY_FAT_TREE:
		fprintf(out, "  fat_tree: {k: %u}\n", t->k);
		break;
	case TOPOLOGY_LEAF_SPINE:
		fprintf(out,
			"  leaf_spine: {leaves: %u, spines: %u, hosts_per_leaf: %u, links_per_pair: %u}\n",
			t->leaves, t->spines, t->hosts_per_leaf, t->links_per_pair);
		break;
	case TOPOLOGY_CUSTOM:
		write_custom(out, t);
		break;
	}
	write_rate(out, "  rate", t->rate_bps);
	write_rate(out, "\n  host_rate", t->host_rate_bps ? t->host_rate_bps : t->rate_bps);
	write_time(out, "\n  delay", t->delay_ps, 0, NULL);
	fprintf(out, "\n  mtu: %u\n", t->mtu);
	write_overrides(out, t);
}

static void write_switch(FILE *out, const struct switch_spec *s)
{
	fputs("\nswitch:\n", out);
	write_quantity(out, "  buffer: {per_port", &s->buffer);
	if (s->kmin.value == 0 && s->kmax.value == 0) {
		fputs("}\n  ecn: off", out);
	} else {
		write_quantity(out, "}\n  ecn: {kmin", &s->kmin);
		write_quantity(out, ", kmax", &s->kmax);
		fputs(", pmax: ", out);
		write_number(out, s->pmax);
		fputs("}", out);
	}
	fputs("\n  balance: ecmp\n  trim: off\n  pfc: off\n", out);
	write_time(out, "  reroute", s->reroute_ps, 0, NULL);
	fputc('\n', out);
}

static void write_host(FILE *out, const struct host_spec *h)
{
	static const char *const sprays[] = {
		[SPRAY_ADAPTIVE] = "adaptive",
		[SPRAY_OBLIVIOUS] = "oblivious",
		[SPRAY_SINGLE] = "single",
	};
	static const char *const payloads[] = {
		[PAYLOAD_AUTO] = "auto",
		[PAYLOAD_HEADERS] = "headers",
		[PAYLOAD_FULL] = "full",
	};

	fputs("\nhost:\n  transport:\n    strack:\n", out);
	fprintf(out, "      paths: %u\n      spray: %s\n      sack_packets: %u\n", h->strack.paths,
		sprays[h->strack.spray], h->strack.sack_packets);
	write_quantity(out, "      window", &h->strack.window);
	write_time(out, "\n      rto", h->strack.rto_ps, 0, "auto");
	fprintf(out, "\n      bitmap_rtts: %u\n", h->strack.bitmap_rtts);
	write_time(out, "      target_delay", h->strack.target_delay_ps, 0, "auto");
	fprintf(out, "\n  payload: %s\n  ip: %d\n", payloads[h->payload], h->ip6 ? 6 : 4);
}

static void write_names(FILE *out, const char *key, char *const *names, size_t count)
{
	fprintf(out, "%s: [", key);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", out);
		write_name(out, names[i]);
	}
	fputs("], ", out);
}

static void write_workload(FILE *out, const struct workload_spec *w)
{
	char text[UNITS_TEXT];

	switch (w->kind) {
	case WORKLOAD_PERMUTATION:
		fprintf(out, "  - permutation: {count: %u, ", w->count);
		break;
	case WORKLOAD_INCAST:
		fprintf(out, "  - incast: {senders: %u, to: ", w->senders);
		write_name(out, w->to);
		fputs(", ", out);
		break;
	case WORKLOAD_PAIRS:
		write_names(out, "  - pairs: {from", w->from, w->pair_count);
		write_names(out, "to", w->pair_to, w->pair_count);
		break;
	}
	fprintf(out, "message: %s, repeat: %u", format_bytes(text, w->message_bytes), w->repeat);
	write_time(out, ", start", w->start_ps, 0, NULL);
	write_time(out, ", gap", w->gap_ps, 0, NULL);
	fputs("}\n", out);
}

static void write_fault(FILE *out, const struct fault_spec *f)
{
	write_time(out, "  - {at", f->at_ps, 0, NULL);
	write_time(out, ", until", f->until_ps, UINT64_MAX, "never");
	fputs(", link: ", out);
	write_quoted(out, f->link);
	if (f->kind == FAULT_LINK_DOWN) {
		fputs(", do: down}\n", out);
		return;
	}
	fputs(", do: {rate: ", out);
	write_percent(out, f->share);
	fputs("}}\n", out);
}

static void write_expect(FILE *out, const struct expect_spec *e)
{
	static const char *const bounds[] = {
		[EXPECT_AT_MOST] = "at_most",
		[EXPECT_AT_LEAST] = "at_least",
		[EXPECT_EQUALS] = "equals",
	};

	fprintf(out, "  - {metric: %s, %s: ", e->metric, bounds[e->bound]);
	write_number(out, e->value);
	fputs("}\n", out);
}

int scenario_write(const struct scenario *s, FILE *out)
{
	fputs("name: ", out);
	write_quoted(out, s->name);
	fputs("\nabout: ", out);
	write_quoted(out, s->about);
	fprintf(out, "\nseed: %llu\nclock: stepped\n", (unsigned long long)s->seed);
	write_topology(out, &s->topology);
	write_switch(out, &s->sw);
	write_host(out, &s->host);
	fprintf(out, "\nworkload:%s\n", s->workload_count ? "" : " []");
	for (size_t i = 0; i < s->workload_count; i++)
		write_workload(out, &s->workloads[i]);
	fprintf(out, "\nfaults:%s\n", s->fault_count ? "" : " []");
	for (size_t i = 0; i < s->fault_count; i++)
		write_fault(out, &s->faults[i]);
	write_time(out, "\ntelemetry: {queues", s->sample_ps, 0, "off");
	write_time(out, "}\nuntil", s->until_ps, 0, "auto");
	fprintf(out, "\n\nexpect:%s\n", s->expect_count ? "" : " []");
	for (size_t i = 0; i < s->expect_count; i++)
		write_expect(out, &s->expects[i]);
	return ferror(out) ? -EIO : 0;
}
