/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fabric_fixture.h"
#include "topology/graph.h"

/* What a writer writes; free() it. */
static char *written(int (*write)(const struct fabric *, FILE *), const struct fabric *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(write(f, out), 0);
	fclose(out);
	return text;
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (text = strstr(text, part); text; text = strstr(text + 1, part))
		n++;
	return n;
}

/*
 * Tags nest and close, attributes are quoted, and nothing that needs an escape stands in the text.
 */
static void assert_xml(const char *p)
{
	const char *open[16];
	size_t lengths[16];
	int depth = 0, roots = 0;

	assert_memory_equal(p, "<?xml ", 6);
	p = strstr(p, "?>") + 2;
	for (; *p; p++) {
		bool closing = p[0] == '<' && p[1] == '/';
		size_t length;
		unsigned quotes = 0;
		char last = 0;

		if (*p != '<') {
			assert_true(*p != '&' && *p != '>');
			assert_true(depth || *p == '\n');
			continue;
		}
		p += 1 + closing;
		length = strcspn(p, " />");
		assert_true(length > 0);
		if (closing) {
			assert_true(depth-- > 0);
			assert_int_equal(length, lengths[depth]);
			assert_memory_equal(p, open[depth], length);
		} else {
			assert_true(depth < 16);
			roots += !depth;
			open[depth] = p;
			lengths[depth++] = length;
		}
		for (p += length; *p && (*p != '>' || quotes % 2); last = *p++) {
			assert_true(*p != '<');
			quotes += *p == '"';
			if (*p == '=' && quotes % 2 == 0)
				assert_int_equal(p[1], '"');
		}
		assert_int_equal(*p, '>');
		assert_int_equal(quotes % 2, 0);
		depth -= last == '/';
	}
	assert_int_equal(depth, 0);
	assert_int_equal(roots, 1);
}

/* Every box is inside the picture and none covers another. */
static void assert_boxes_apart(const char *svg)
{
	double boxes[512][4], width = strtod(strstr(svg, " width=\"") + 8, NULL);
	double height = strtod(strstr(svg, " height=\"") + 9, NULL);
	int n = 0;

	for (const char *p = strstr(svg, "<rect x="); p; p = strstr(p + 1, "<rect x=")) {
		double *b = boxes[n++];

		assert_true(n < 512);
		assert_int_equal(sscanf(p, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
					 &b[0], &b[1], &b[2], &b[3]),
			4);
		assert_true(b[0] >= 0 && b[0] + b[2] <= width);
		assert_true(b[1] >= 0 && b[1] + b[3] <= height);
		for (int i = 0; i < n - 1; i++)
			assert_true(boxes[i][0] + boxes[i][2] < b[0] || b[0] + b[2] < boxes[i][0] ||
				    boxes[i][1] + boxes[i][3] < b[1] || b[1] + b[3] < boxes[i][1]);
	}
}

static void svg_of_a_small_fabric_shows_all(void **state)
{
	struct link_override o = {.match = (char *)"agg0.1-core2",
		.rate_bps = 50000000000ull,
		.delay_ps = UINT64_MAX};
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f;
	char *svg, name[NODE_NAME + 16];

	(void)state;
	s.topology.overrides = &o;
	s.topology.override_count = 1;
	f = fixture_fabric(&s);
	svg = written(graph_write_svg, f);
	assert_xml(svg);
	assert_boxes_apart(svg);
	assert_int_equal(count(svg, "<path "), 48);
	/* The background is one, too. */
	assert_int_equal(count(svg, "<rect "), 36 + 1);
	for (uint32_t i = 0; i < f->net.node_count; i++) {
		snprintf(name, sizeof(name), ">%s</text>", f->nodes[i].name);
		assert_int_equal(count(svg, name), 1);
	}
	assert_int_equal(count(svg, "class=\"rate\""), 1);
	assert_int_equal(count(svg, "drawn as one box"), 0);
	free(svg);
	fabric_free(f);
}

static void svg_of_a_large_fabric_says_what_it_collapsed(void **state)
{
	struct scenario s = fixture_leaf_spine(16, 4, 16, 2);
	struct fabric *f = fixture_fabric(&s);
	char *svg = written(graph_write_svg, f);

	(void)state;
	assert_xml(svg);
	assert_boxes_apart(svg);
	assert_int_equal(count(svg, "<rect "), 16 + 16 + 4 + 1);
	assert_int_equal(count(svg, "<path "), 16 + 16 * 4 * 2);
	assert_int_equal(count(svg, ">h16 + 15 hosts</text>"), 1);
	assert_int_equal(count(svg, "drawn as one box"), 1);
	free(svg);
	fabric_free(f);
}

static void svg_of_odd_fabrics_is_sound(void **state)
{
	static struct fixture_custom c;
	struct scenario odd[] = {fixture_custom(&c, "a b", "x y top", "a-x b-y x-y x-y x-top"),
		fixture_leaf_spine(1, 1, 2, 1), fixture_fat_tree(2),
		fixture_leaf_spine(200, 2, 1, 1)};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct fabric *f = fixture_fabric(&odd[i]);
		char *svg = written(graph_write_svg, f);

		assert_xml(svg);
		assert_boxes_apart(svg);
		assert_int_equal(count(svg, "<path "), f->net.link_count);
		assert_int_equal(count(svg, "nan") + count(svg, "inf"), 0);
		free(svg);
		fabric_free(f);
	}
}

static void dot_has_every_node_and_link(void **state)
{
	struct link_override o = {
		.match = (char *)"h0-*", .rate_bps = 25000000000ull, .delay_ps = UINT64_MAX};
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f;
	char *dot;

	(void)state;
	s.topology.overrides = &o;
	s.topology.override_count = 1;
	f = fixture_fabric(&s);
	dot = written(graph_write_dot, f);
	assert_memory_equal(dot, "graph fabric {\n", 15);
	assert_int_equal(count(dot, " -- "), 48);
	assert_int_equal(count(dot, "\"agg0.1\" -- \"core2\";"), 1);
	assert_int_equal(count(dot, "\"h0\" -- \"tor0.0\" [label=\"25Gbps\"];"), 1);
	assert_int_equal(count(dot, "[label="), 1);
	assert_int_equal(count(dot, "rank=same"), 4);
	assert_int_equal(count(dot, "{"), count(dot, "}"));
	assert_int_equal(count(dot, "\"") % 2, 0);
	for (uint32_t i = 0; i < f->net.node_count; i++) {
		char line[NODE_NAME + 8];

		snprintf(line, sizeof(line), "\t\t\"%s\"", f->nodes[i].name);
		assert_int_equal(count(dot, line), 1);
	}
	free(dot);
	fabric_free(f);
}

static void dot_is_what_graphviz_reads(void **state)
{
	struct scenario s = fixture_leaf_spine(3, 2, 2, 2);
	struct fabric *f;
	FILE *pipe;

	(void)state;
	if (system("command -v dot >/dev/null"))
		skip();
	f = fixture_fabric(&s);
	pipe = popen("dot -Tcanon >/dev/null", "w");
	assert_non_null(pipe);
	assert_int_equal(graph_write_dot(f, pipe), 0);
	assert_int_equal(pclose(pipe), 0);
	fabric_free(f);
}

static void a_full_disk_is_noticed(void **state)
{
	struct scenario s = fixture_fat_tree(8);
	struct fabric *f = fixture_fabric(&s);
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_not_equal(graph_write_svg(f, full), 0);
	assert_int_not_equal(graph_write_dot(f, full), 0);
	fclose(full);
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(svg_of_a_small_fabric_shows_all),
		cmocka_unit_test(svg_of_a_large_fabric_says_what_it_collapsed),
		cmocka_unit_test(svg_of_odd_fabrics_is_sound),
		cmocka_unit_test(dot_has_every_node_and_link),
		cmocka_unit_test(dot_is_what_graphviz_reads),
		cmocka_unit_test(a_full_disk_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
