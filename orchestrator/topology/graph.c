/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/units.h"
#include "topology/fabric.h"

/* Measures in pixels. A node's name is about 7 pixels a letter at this font size. */
#define MARGIN     20
#define BOX_HEIGHT 24
#define ROW_MIN    110
#define ROW_MAX    600
#define LETTER     7
#define BOX_GAP    14

/* What one row of the picture holds. */
struct row {
	uint32_t count;
	uint32_t letters; /* of the longest text */
	uint32_t next;    /* next position to be given away */
};

struct picture {
	const struct fabric *f;
	bool collapsed;
	struct row *rows;     /* by tier */
	uint32_t *position;   /* of a node in its row */
	uint32_t *host_count; /* hosts on a node */
	uint32_t *first_host;
	uint32_t width, row_step;
	uint64_t common_bps;
};

static int compare_rates(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

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
	qsort(rates, n, sizeof(*rates), compare_rates);
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

int graph_write_dot(const struct fabric *f, FILE *out)
{
	char rate[UNITS_TEXT];
	uint64_t common;
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

/*
 * A host's box stands for all hosts of its switch where they are collapsed: its text, and how long
 * it is.
 */
static int box_text(const struct picture *p, uint32_t node, char *buf, size_t size)
{
	const struct fabric *f = p->f;
	uint32_t hosts;

	if (node >= f->net.host_count || !p->collapsed)
		return snprintf(buf, size, "%s", f->nodes[node].name);
	hosts = p->host_count[node_of(f, f->net.ports[f->net.nodes[node].first_port].peer)];
	if (hosts == 1)
		return snprintf(buf, size, "%s", f->nodes[node].name);
	return snprintf(buf, size, "%s + %u hosts", f->nodes[node].name, hosts - 1);
}

/* Whether the node has a box of its own. */
static bool is_drawn(const struct picture *p, uint32_t node)
{
	const struct fabric *f = p->f;

	if (node >= f->net.host_count || !p->collapsed)
		return true;
	return p->first_host[node_of(f, f->net.ports[f->net.nodes[node].first_port].peer)] == node;
}

static void count_hosts(struct picture *p)
{
	const struct net *net = &p->f->net;

	for (uint32_t h = 0; h < net->host_count; h++) {
		uint32_t on = node_of(p->f, net->ports[net->nodes[h].first_port].peer);

		if (!p->host_count[on]++)
			p->first_host[on] = h;
	}
}

/*
 * Switches keep their order; hosts come in the order of their switches, so that their links do not
 * cross.
 */
static void place_nodes(struct picture *p)
{
	const struct net *net = &p->f->net;

	for (uint32_t i = net->host_count; i < net->node_count; i++) {
		const struct net_node *sw = &net->nodes[i];

		p->position[i] = p->rows[p->f->nodes[i].tier].next++;
		for (uint32_t n = 0; n < sw->port_count; n++) {
			uint32_t peer = node_of(p->f, net->ports[sw->first_port + n].peer);

			if (peer < net->host_count && is_drawn(p, peer))
				p->position[peer] = p->rows[0].next++;
		}
	}
}

static uint32_t box_width(const struct row *r)
{
	return r->letters * LETTER + 10;
}

static void measure_rows(struct picture *p)
{
	char text[NODE_NAME + 32];

	for (uint32_t i = 0; i < p->f->net.node_count; i++) {
		struct row *row = &p->rows[p->f->nodes[i].tier];
		uint32_t letters = (uint32_t)box_text(p, i, text, sizeof(text));

		if (!is_drawn(p, i))
			continue;
		row->count++;
		if (letters > row->letters)
			row->letters = letters;
	}
	/* Wide enough for the two lines of text above the picture, too. */
	p->width = 520;
	for (uint32_t t = 0; t < p->f->tier_count; t++) {
		uint32_t width = p->rows[t].count * (box_width(&p->rows[t]) + BOX_GAP);

		if (width > p->width)
			p->width = width;
	}
	/* Links of a wide fabric would lie almost flat between rows of a narrow one's distance. */
	p->row_step = p->width / 10;
	if (p->row_step < ROW_MIN)
		p->row_step = ROW_MIN;
	if (p->row_step > ROW_MAX)
		p->row_step = ROW_MAX;
}

static double centre_x(const struct picture *p, uint32_t node)
{
	const struct row *row = &p->rows[p->f->nodes[node].tier];

	return MARGIN + p->width * (p->position[node] + 0.5) / row->count;
}

static double centre_y(const struct picture *p, uint32_t node)
{
	uint32_t from_top = p->f->tier_count - 1 - p->f->nodes[node].tier;

	return MARGIN + 60 + BOX_HEIGHT / 2 + (double)from_top * p->row_step;
}

/* Parallel links lie side by side; links within a tier bend below it. */
static void draw_link(const struct picture *p, uint32_t l, FILE *out)
{
	const struct fabric *f = p->f;
	const struct fabric_link *link = &f->links[l];
	uint32_t a = node_of(f, link->a), b = node_of(f, link->b);
	bool bundle = p->collapsed && a < f->net.host_count && p->host_count[b] > 1;
	double shift = link->is_parallel ? 4.0 * link->parallel - 2 : 0;
	double ax = centre_x(p, a) + shift, bx = centre_x(p, b) + shift;
	double ay = centre_y(p, a), by = centre_y(p, b);
	double sag = f->nodes[a].tier == f->nodes[b].tier ? ROW_MIN / 2 + shift : 0;
	char name[LINK_NAME], rate[UNITS_TEXT];

	fprintf(out,
		"<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" class=\"%s\"%s>"
		"<title>%s%s %s</title></path>\n",
		ax, ay, (ax + bx) / 2, (ay + by) / 2 + sag, bx, by,
		link_rate(f, l) == p->common_bps ? "link" : "other",
		bundle ? " stroke-width=\"3\"" : "", fabric_link_name(f, l, name),
		bundle ? " and the other hosts'," : "", format_rate(rate, link_rate(f, l)));
	if (link_rate(f, l) != p->common_bps)
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"rate\">%s</text>\n",
			ax + (bx - ax) * 0.3, ay + (by - ay) * 0.3 + sag / 2,
			format_rate(rate, link_rate(f, l)));
}

static void draw_node(const struct picture *p, uint32_t node, FILE *out)
{
	const struct row *row = &p->rows[p->f->nodes[node].tier];
	double x = centre_x(p, node), y = centre_y(p, node);
	char text[NODE_NAME + 32];

	box_text(p, node, text, sizeof(text));
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%u\" height=\"%d\" rx=\"%d\"/>\n",
		x - box_width(row) / 2.0, y - BOX_HEIGHT / 2, box_width(row), BOX_HEIGHT,
		node < p->f->net.host_count ? 10 : 2);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y + 4, text);
}

static void draw(const struct picture *p, FILE *out)
{
	const struct net *net = &p->f->net;
	uint32_t width = p->width + 2 * MARGIN;
	uint32_t height = 2 * MARGIN + 60 + BOX_HEIGHT + (p->f->tier_count - 1) * p->row_step;
	char rate[UNITS_TEXT];

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
		"<style>text{font:12px sans-serif;text-anchor:middle}"
		".note{text-anchor:start}.rate{font-size:10px;fill:#b03010}"
		"rect{fill:#f4f6fa;stroke:#345}.link{fill:none;stroke:#89a}.other{fill:none;stroke:#b03010}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" style=\"fill:#fff;stroke:none\"/>\n",
		width, height, width, height);
	fprintf(out,
		"<text x=\"%d\" y=\"%d\" class=\"note\">%u hosts, %u switches, %u links; "
		"%s where a link says no other</text>\n",
		MARGIN, MARGIN + 12, net->host_count, net->switch_count, net->link_count,
		format_rate(rate, p->common_bps));
	if (p->collapsed)
		fprintf(out,
			"<text x=\"%d\" y=\"%d\" class=\"note\">More than %d hosts: those of one "
			"switch are drawn as one box, under the first one's name.</text>\n",
			MARGIN, MARGIN + 30, GRAPH_HOSTS_MAX);
	for (uint32_t l = 0; l < net->link_count; l++)
		if (is_drawn(p, node_of(p->f, p->f->links[l].a)))
			draw_link(p, l, out);
	for (uint32_t i = 0; i < net->node_count; i++)
		if (is_drawn(p, i))
			draw_node(p, i, out);
	fprintf(out, "</svg>\n");
}

int graph_write_svg(const struct fabric *f, FILE *out)
{
	struct picture p = {.f = f, .collapsed = f->net.host_count > GRAPH_HOSTS_MAX};
	int err = common_rate(f, &p.common_bps);

	p.rows = calloc(f->tier_count, sizeof(*p.rows));
	p.position = calloc(f->net.node_count, sizeof(*p.position));
	p.host_count = calloc(f->net.node_count, sizeof(*p.host_count));
	p.first_host = calloc(f->net.node_count, sizeof(*p.first_host));
	if (!p.rows || !p.position || !p.host_count || !p.first_host)
		err = -ENOMEM;
	if (!err) {
		count_hosts(&p);
		place_nodes(&p);
		measure_rows(&p);
		draw(&p, out);
		err = ferror(out) ? -EIO : 0;
	}
	free(p.rows);
	free(p.position);
	free(p.host_count);
	free(p.first_host);
	return err;
}
