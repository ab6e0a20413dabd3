/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program at a stack's egress is told of a scenario's host.stack. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "base/units.h"
#include "session/stack_egress.h"
#include "scenario/scenario.h"

static void nothing_to_do(void **state)
{
	struct stack_spec s = {.ecn = true, .queue_bytes = 1};

	(void)state;
	assert_false(stack_has_egress(&s));
	s.ect = true;
	assert_true(stack_has_egress(&s));
	s = (struct stack_spec){.class_count = 1};
	assert_true(stack_has_egress(&s));
	s = (struct stack_spec){.entropy = ENTROPY_PACKET};
	assert_true(stack_has_egress(&s));
}

static void ports_and_flags(void **state)
{
	const struct stack_spec s = {
		.classes = {{.port = 5201, .dscp = 26}, {.port = 65535, .dscp = 63}},
		.class_count = 2,
		.ect = true,
		.entropy = ENTROPY_PACKET,
	};
	const struct egress_config want = {
		.rules = {{.port = 5201, .dscp = 26}, {.port = 65535, .dscp = 63}},
		.rule_count = 2,
		.ect = 1,
		.entropy = EGRESS_PACKET,
	};
	struct egress_config config;
	struct error why = ERROR_INIT;

	(void)state;
	memset(&config, 0xff, sizeof(config));
	assert_int_equal(stack_egress(&config, &s, 0, &why), 0);
	assert_memory_equal(&config, &want, sizeof(want)); /* padding too */
}

/* The program counts real time. */
static void flowlets_by_slowdown(void **state)
{
	const struct stack_spec s = {.entropy = ENTROPY_FLOWLET, .flowlet_ps = 500 * PS_PER_US};
	struct egress_config config = {.rule_count = 99};
	struct error why = ERROR_INIT;

	(void)state;
	assert_int_equal(stack_egress(&config, &s, 1, &why), 0);
	assert_int_equal(config.entropy, EGRESS_FLOWLET);
	assert_int_equal(config.flowlet_ns, 500000);
	assert_int_equal(stack_egress(&config, &s, 2.5, &why), 0);
	assert_int_equal(config.flowlet_ns, 1250000);
}

static void no_such_cgroup(void **state)
{
	const struct stack_spec s = {
		.classes = {{.cgroup = (char *)"/no-such-group-anywhere", .dscp = 1}},
		.class_count = 1,
	};
	struct egress_config config = {.rule_count = 99};
	struct error why = ERROR_INIT;

	(void)state;
	assert_true(stack_egress(&config, &s, 1, &why) < 0);
	assert_true(why.text[0]);
	assert_int_equal(config.rule_count, 99);
}

/* Where the hierarchy's root is mounted; false: nowhere. */
static bool find_cgroup2(char *ret, size_t size)
{
	FILE *mounts = fopen("/proc/self/mounts", "r");
	char line[1024], path[512], type[64];
	bool found = false;

	while (mounts && !found && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*s %511s %63s", path, type) == 2 && !strcmp(type, "cgroup2")) {
			snprintf(ret, size, "%s", path);
			found = true;
		}
	if (mounts)
		fclose(mounts);
	return found;
}

static void a_cgroup(void **state)
{
	const struct stack_spec s = {
		.classes = {{.cgroup = (char *)"/", .dscp = 10}},
		.class_count = 1,
	};
	struct egress_config config;
	struct error why = ERROR_INIT;
	char mount[512];
	struct stat st;

	(void)state;
	if (!find_cgroup2(mount, sizeof(mount)))
		skip();
	assert_int_equal(stat(mount, &st), 0);
	assert_int_equal(stack_egress(&config, &s, 1, &why), 0);
	assert_int_equal(config.rules[0].cgroup, st.st_ino);
	assert_int_equal(config.rules[0].port, 0);
	assert_int_equal(config.rules[0].dscp, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_do),
		cmocka_unit_test(ports_and_flags),
		cmocka_unit_test(flowlets_by_slowdown),
		cmocka_unit_test(no_such_cgroup),
		cmocka_unit_test(a_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
