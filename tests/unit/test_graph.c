/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fabric_fixture.h"
#include "report/graph.h"

/* The text; free() it. */
static char *written(const struct fabric *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(graph_write(f, out), 0);
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
	dot = written(f);
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
	assert_int_equal(graph_write(f, pipe), 0);
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
	assert_int_not_equal(graph_write(f, full), 0);
	fclose(full);
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dot_has_every_node_and_link),
		cmocka_unit_test(dot_is_what_graphviz_reads),
		cmocka_unit_test(a_full_disk_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
