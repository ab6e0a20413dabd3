/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/hosts.h"
#include "topology/fabric.h"

/* Numbers that need more than one byte of the addresses, and a switch, which has none. */
static void test_hosts(void **unused)
{
	struct net_node nodes[] = {{.kind = NODE_HOST, .number = 0},
		{.kind = NODE_HOST, .number = 299}, {.kind = NODE_SWITCH, .number = 0}};
	struct fabric_node names[] = {{.name = "h0"}, {.name = "h299"}, {.name = "s0"}};
	struct fabric f = {
		.net = {.nodes = nodes, .node_count = 3, .host_count = 2, .switch_count = 1},
		.nodes = names,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)unused;
	assert_non_null(out);
	hosts_write(&f, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "127.0.0.1\tlocalhost\n"
				  "::1\tlocalhost ip6-localhost ip6-loopback\n"
				  "10.0.0.1\th0\n"
				  "fd00:fab::1\th0\n"
				  "10.0.1.44\th299\n"
				  "fd00:fab::12c\th299\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
