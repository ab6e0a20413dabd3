/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/write.h"

#include <errno.h>
#include "base/units.h"

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
		write_rate(out, ", rate", link->rate_bps, NULL);
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
			write_rate(out, ", rate", o->rate_bps, NULL);
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
	write_rate(out, "  rate", t->rate_bps, NULL);
	write_rate(out, "\n  host_rate", t->host_rate_bps ? t->host_rate_bps : t->rate_bps, NULL);
	write_time(out, "\n  delay", t->delay_ps, 0, NULL);
	fprintf(out, "\n  mtu: %u\n", t->mtu);
	write_overrides(out, t);
}

static void write_strack(FILE *out, const struct host_spec *h)
{
	static const char *const sprays[] = {
		[SPRAY_ADAPTIVE] = "adaptive",
		[SPRAY_OBLIVIOUS] = "oblivious",
		[SPRAY_SINGLE] = "single",
	};

	fprintf(out, "    strack:\n      paths: %u\n      spray: %s\n      sack_packets: %u\n",
		h->strack.paths, sprays[h->strack.spray], h->strack.sack_packets);
	write_quantity(out, "      window", &h->strack.window);
	write_time(out, "\n      rto", h->strack.rto_ps, 0, "auto");
	fprintf(out, "\n      bitmap_rtts: %u\n", h->strack.bitmap_rtts);
	write_time(out, "      target_delay", h->strack.target_delay_ps, 0, "auto");
	fprintf(out, "\n      congestion: %s\n", h->strack.fixed ? "off" : "on");
}

static void write_roce(FILE *out, const struct host_spec *h)
{
	static const char *const kinds[] = {
		[DCQCN_PAPER] = "paper",
		[DCQCN_TUNED] = "tuned",
		[DCQCN_STRACK_PAPER] = "strack-paper",
	};
	char text[UNITS_TEXT];

	fprintf(out, "    roce:\n      qps_per_connection: %u\n      congestion: %s\n", h->roce.qps,
		h->roce.dcqcn ? "dcqcn" : "off");
	write_time(out, "      rto", h->roce.rto_ps, 0, "auto");
	fprintf(out, "\n      dcqcn: %s", kinds[h->roce.kind]);
	write_time(out, "\n      cnp_interval", h->roce.cnp_ps, 0, NULL);
	write_time(out, "\n      timer", h->roce.increase_ps, 0, NULL);
	write_time(out, "\n      alpha_timer", h->roce.alpha_ps, 0, NULL);
	fputs("\n      initial_alpha: ", out);
	write_number(out, h->roce.alpha_start);
	fputs("\n      gain: ", out);
	write_number(out, h->roce.gain);
	fprintf(out, "\n      fast_recovery: %u\n      clamp_target: %s", h->roce.rounds,
		h->roce.keep_target ? "after_increase" : "always");
	fprintf(out, "\n      byte_counter: %s\n",
		h->roce.increase_bytes ? format_bytes(text, h->roce.increase_bytes) : "auto");
	write_rate(out, "      additive", h->roce.additive_bps, "auto");
	write_rate(out, "\n      hyper", h->roce.hyper_bps, "auto");
	write_rate(out, "\n      min_rate", h->roce.min_bps, "auto");
	fputc('\n', out);
}

static void write_host(FILE *out, const struct host_spec *h)
{
	static const char *const payloads[] = {
		[PAYLOAD_AUTO] = "auto",
		[PAYLOAD_HEADERS] = "headers",
		[PAYLOAD_FULL] = "full",
	};

	fputs("\nhost:\n  transport:\n", out);
	if (h->transport == TRANSPORT_ROCE)
		write_roce(out, h);
	else
		write_strack(out, h);
	fprintf(out, "  dscp: {data: %u, control: %u, notify: %u}\n", h->data_dscp, h->control_dscp,
		h->notify_dscp);
	fprintf(out, "  payload: %s\n  ip: %d\n", payloads[h->payload], h->ip6 ? 6 : 4);
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

static void write_expect(FILE *out, const struct expect_spec *e)
{
	static const char *const bounds[] = {
		[EXPECT_AT_MOST] = "at_most",
		[EXPECT_AT_LEAST] = "at_least",
		[EXPECT_EQUALS] = "equals",
	};

	fprintf(out, "  - {metric: %s, %s: ", e->metric, bounds[e->bound]);
	write_number(out, e->value);
	if (expect_has_of(e->metric))
		fprintf(out, ", of: %s", e->of == EXPECT_OF_FINISHED ? "finished" : "all");
	fputs("}\n", out);
}

int scenario_write(const struct scenario *s, FILE *out)
{
	fputs("name: ", out);
	write_quoted(out, s->name);
	fputs("\nabout: ", out);
	write_quoted(out, s->about);
	fprintf(out, "\nseed: %llu\n", (unsigned long long)s->seed);
	write_clock(out, &s->clock);
	write_topology(out, &s->topology);
	write_switch(out, &s->sw);
	write_host(out, &s->host);
	write_stack(out, &s->host.stack);
	fputc('\n', out);
	write_external(out, &s->external);
	fprintf(out, "\nworkload:%s\n", s->workload_count ? "" : " []");
	for (size_t i = 0; i < s->workload_count; i++)
		write_workload(out, &s->workloads[i]);
	write_faults(out, s->faults, s->fault_count);
	write_time(out, "\ntelemetry: {queues", s->sample_ps, 0, "off");
	write_time(out, "}\nuntil", s->until_ps, 0, "auto");
	fprintf(out, "\n\nexpect:%s\n", s->expect_count ? "" : " []");
	for (size_t i = 0; i < s->expect_count; i++)
		write_expect(out, &s->expects[i]);
	return ferror(out) ? -EIO : 0;
}
