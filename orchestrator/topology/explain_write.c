/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include "base/units.h"
#include "topology/explain_parts.h"

static const char *const kind_names[] = {
	[TOPOLOGY_FAT_TREE] = "fat-tree",
	[TOPOLOGY_LEAF_SPINE] = "leaf-spine",
	[TOPOLOGY_CUSTOM] = "custom",
};

/* Where the two hosts of such a pair are. */
static const char *whereabouts(const struct explain *e, uint32_t links)
{
	if (links == 2)
		return "under one switch";
	if (e->kind == TOPOLOGY_FAT_TREE)
		return links == 4 ? "in one pod" : "across pods";
	return e->kind == TOPOLOGY_LEAF_SPINE ? "across leaves" : "further apart";
}

static void write_fabric(const struct explain *e, FILE *out)
{
	fprintf(out, "%s: %s of %u hosts, %u switch%s, %u links\n", e->name, kind_names[e->kind],
		e->hosts, e->switches, e->switches == 1 ? "" : "es", e->links);
	for (uint32_t i = 0; i < e->tier_count; i++) {
		fprintf(out, "  tier %u            %u switch%s", i + 1, e->tiers[i].switches,
			e->tiers[i].switches == 1 ? "" : "es");
		if (e->tiers[i].oversubscription > 0)
			fprintf(out, ", oversubscribed %.4g:1", e->tiers[i].oversubscription);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < e->path_count; i++) {
		const struct explain_paths *p = &e->paths[i];

		fprintf(out, "  paths of a pair   %s: ", whereabouts(e, p->links));
		if (p->least == p->most)
			fprintf(out, "%llu", (unsigned long long)p->least);
		else
			fprintf(out, "%llu to %llu", (unsigned long long)p->least,
				(unsigned long long)p->most);
		fprintf(out, ", each of %u links\n", p->links);
	}
}

static void write_sizes(const struct explain *e, FILE *out)
{
	char a[UNITS_TEXT];

	fprintf(out, "  host links        %s\n", format_rate(a, e->host_rate_bps));
	fprintf(out, "  base round trip   %.3f us\n", (double)e->base_rtt_ps / PS_PER_US);
	fprintf(out, "  BDP               %llu bytes, %.1f full packets of %u\n",
		(unsigned long long)e->bdp_bytes, (double)e->bdp_bytes / e->packet_bytes,
		e->packet_bytes);
}

static void write_load(const struct explain *e, FILE *out)
{
	fprintf(out, "  workload          %llu message%s, %llu bytes, %llu packets\n",
		(unsigned long long)e->load.flows, e->load.flows == 1 ? "" : "s",
		(unsigned long long)e->load.bytes, (unsigned long long)e->load.packets);
	fprintf(out, "  ideal             %.3f us for the slowest message, by host link rates\n",
		(double)e->load.ideal_ps / PS_PER_US);
	fprintf(out, "  kernel dataplane  about %.0f MB, %.1f s\n", e->load.kernel.memory_mb,
		e->load.kernel.wall_s);
	fprintf(out, "  inline dataplane  about %.0f MB, %.1f s\n", e->load.in_process.memory_mb,
		e->load.in_process.wall_s);
}

int explain_write(const struct explain *e, FILE *out)
{
	write_fabric(e, out);
	write_sizes(e, out);
	explain_write_switch(e, out);
	explain_write_live(e, out);
	explain_write_failures(e, out);
	write_load(e, out);
	explain_write_notes(e, out);
	return ferror(out) ? -EIO : 0;
}

static json_t *tiers_json(const struct explain *e)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < e->tier_count; i++)
		json_array_append_new(
			array, json_pack("{s:I, s:o}", "switches", (json_int_t)e->tiers[i].switches,
				       "oversubscription",
				       e->tiers[i].oversubscription > 0
					       ? json_real(e->tiers[i].oversubscription)
					       : json_null()));
	return array;
}

static json_t *paths_json(const struct explain *e)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < e->path_count; i++)
		json_array_append_new(array, json_pack("{s:s, s:I, s:I, s:I}", "pairs",
						     whereabouts(e, e->paths[i].links), "links",
						     (json_int_t)e->paths[i].links, "least",
						     (json_int_t)e->paths[i].least, "most",
						     (json_int_t)e->paths[i].most));
	return array;
}

static json_t *cost_json(const struct explain_cost *c)
{
	return json_pack("{s:f, s:f}", "memory_mb", c->memory_mb, "wall_s", c->wall_s);
}

json_t *explain_json(const struct explain *e)
{
	return json_pack(
		"{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:f, s:I, s:I,"
		" s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:f}, s:{s:o, s:o}, s:o}",
		"scenario", e->name, "topology", kind_names[e->kind], "hosts", (json_int_t)e->hosts,
		"switches", (json_int_t)e->switches, "links", (json_int_t)e->links, "ports",
		(json_int_t)e->ports, "tiers", tiers_json(e), "paths", paths_json(e),
		"host_rate_bps", (json_int_t)e->host_rate_bps, "base_rtt_us",
		(double)e->base_rtt_ps / PS_PER_US, "bdp_bytes", (json_int_t)e->bdp_bytes,
		"packet_bytes", (json_int_t)e->packet_bytes, "switch", explain_switch_json(e),
		"transport_dscps", explain_dscps_json(e), "failures", explain_failures_json(e),
		"failures_more", (json_int_t)e->failures_more, "clock", explain_clock_json(e),
		"stack", explain_stack_json(e), "external", explain_external_json(e), "workload",
		"flows", (json_int_t)e->load.flows, "bytes", (json_int_t)e->load.bytes, "packets",
		(json_int_t)e->load.packets, "ideal_us", (double)e->load.ideal_ps / PS_PER_US,
		"estimate", "kernel", cost_json(&e->load.kernel), "inline",
		cost_json(&e->load.in_process), "notes", explain_notes_json(e));
}
