/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "cli/cli.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"
#include "topology/graph.h"

static const struct cli_option options[] = {
	{"format", 'f', "dot|svg",
		"Graphviz text or a picture (default: by FILE's ending, else dot)"},
	{"output", 'o', "FILE", "write there instead of to standard output"},
	{"set", 's', "KEY=VALUE", "override a key of the scenario; may be given several times"},
	{0},
};

/* 1: SVG, 0: DOT, -1: neither. */
static int wants_svg(const char *format, const char *output)
{
	const char *dot = output ? strrchr(output, '.') : NULL;

	if (!format)
		return dot && !strcmp(dot, ".svg");
	if (!strcmp(format, "svg"))
		return 1;
	return strcmp(format, "dot") ? -1 : 0;
}

/* What others make of the Graphviz text; it must not stand in a file that says it is a picture. */
static bool is_picture(const char *output)
{
	static const char *const endings[] = {
		"png", "pdf", "ps", "eps", "jpg", "jpeg", "gif", "webp", "tiff", "bmp"};
	const char *dot = output ? strrchr(output, '.') : NULL;

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!strcasecmp(dot + 1, endings[i]))
			return true;
	return false;
}

static int write_graph(const struct fabric *f, bool svg, const char *output)
{
	FILE *out = output ? fopen(output, "we") : stdout;
	int r;

	if (!out) {
		cli_error("can't write %s: %s", output, strerror(errno));
		return EXIT_INPUT;
	}
	r = svg ? graph_write_svg(f, out) : graph_write_dot(f, out);
	if (output && fclose(out) && r == 0)
		r = -errno;
	if (r < 0) {
		if (output || !ferror(out)) /* main() looks after standard output */
			cli_error(
				"can't write %s: %s", output ? output : "the graph", strerror(-r));
		return EXIT_RUN;
	}
	return EXIT_WELL;
}

static int run_graph(const struct command *c, const struct cli_args *args)
{
	const char *format = cli_value(c, args, "format"), *output = cli_value(c, args, "output");
	int svg = wants_svg(format, output), status;
	struct scenario *s;
	struct fabric *f;

	if (svg < 0) {
		cli_error("graph: --format is 'dot' or 'svg', not '%s'", format);
		return EXIT_INPUT;
	}
	if (!format && is_picture(output)) {
		cli_error(
			"graph: it draws dot and svg; for %s: 'fabricbed graph %s | dot -T%s -o %s'",
			output, args->positional[0], strrchr(output, '.') + 1, output);
		return EXIT_INPUT;
	}
	status = cli_load(args->positional[0], args, &s, &f);
	if (status != EXIT_WELL)
		return status;
	status = write_graph(f, svg, output);
	fabric_free(f);
	scenario_free(s);
	return status;
}

const struct command cmd_graph = {
	.name = "graph",
	.operands = "FILE",
	.summary = "draw the topology, as Graphviz or SVG",
	.details = "Draws nodes by tier and the links between them. Nothing is built.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_graph,
};
