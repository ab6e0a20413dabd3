/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/graph.h"

#include <errno.h>
#include <stdlib.h>
#include "base/numbers.h"
#include "base/units.h"

static uint64_t link_rate(const struct fabric *f, uint32_t link)
{
	return f->net.ports[f->links[link].a].rate_bps;
}

/* The most frequent link rate, so that only the others need a label. */
static int common_rate(const struct fabric *f, uint64_t *ret_bps)
{
	uint32_t n = f->net.link_count, run = 0, best = 0;
	uint64_t *rates = calloc(n, sizeof(*rates));

	if (!rates)
		return -ENOMEM;
	for (uint32_t l = 0; l < n; l++)
		rates[l] = link_rate(f, l);
	qsort(rates, n, sizeof(*rates), compare_u64);
	for (uint32_t l = 0; l < n; l++) {
		run = l && rates[l] == rates[l - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			*ret_bps = rates[l];
		}
	}
	free(rates);
	return 0;
}

static uint32_t node_of(const struct fabric *f, uint32_t port)
{
	return f->net.ports[port].node;
}

int graph_write(const struct fabric *f, FILE *out)
{
	char rate[UNITS_TEXT];
	uint64_t common = 0;
	int err = common_rate(f, &common);

	if (err)
		return err;
	fprintf(out, "graph fabric {\n\trankdir=BT;\n\tranksep=1.2;\n");
	fprintf(out,
		"\tlabel=\"%u hosts, %u switches, %u links; %s where a link says no other\";\n",
		f->net.host_count, f->net.switch_count, f->net.link_count,
		format_rate(rate, common));
	fprintf(out, "\tnode [shape=box, fontname=\"sans-serif\"];\n");
	for (uint32_t tier = 0; tier < f->tier_count; tier++) {
		fprintf(out, "\t{\n\t\trank=same;\n");
		for (uint32_t i = 0; i < f->net.node_count; i++)
			if (f->nodes[i].tier == tier)
				fprintf(out, "\t\t\"%s\"%s;\n", f->nodes[i].name,
					tier ? "" : " [style=rounded]");
		fprintf(out, "\t}\n");
	}
	for (uint32_t l = 0; l < f->net.link_count; l++) {
		const struct fabric_link *link = &f->links[l];

		fprintf(out, "\t\"%s\" -- \"%s\"", f->nodes[node_of(f, link->a)].name,
			f->nodes[node_of(f, link->b)].name);
		if (link_rate(f, l) != common)
			fprintf(out, " [label=\"%s\"]", format_rate(rate, link_rate(f, l)));
		fprintf(out, ";\n");
	}
	fprintf(out, "}\n");
	return ferror(out) ? -EIO : 0;
}
