/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "bringup/external.h"
#include "scenario/scenario.h"

/*
 * Plans a way out where ovs-vsctl is a script of the test's own, in the folder *state, which is its
 * OVS_RUNDIR too. The result or why there is none.
 */
static int plan(void **state, const char *fabric, const char *script, struct external **ret,
	struct error *why)
{
	static const struct external_spec spec = {.node = "h3", .bridge = "br7"};
	char path[PATH_MAX], netns[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/ovs-vsctl", (char *)*state);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(netns, sizeof(netns), "%s-h3", fabric);
	return external_plan(ret, &spec, fabric, netns, why);
}

static void expect_failure(
	void **state, const char *script, int code, const char *part, const char *other)
{
	struct external *x = NULL;
	struct error why = ERROR_INIT;
	int r = plan(state, "f", script, &x, &why);

	assert_null(x);
	if (r != code || !strstr(why.text, part) || !strstr(why.text, other))
		fail_msg("%d: %s", r, why.text);
}

static struct external *planned(void **state, const char *fabric)
{
	struct external *x = NULL;
	struct error why = ERROR_INIT;

	if (plan(state, fabric, "exit 0", &x, &why) < 0)
		fail_msg("%s", why.text);
	return x;
}

static void ports_tell_fabrics_apart(void **state)
{
	struct external *a = planned(state, "a-long-name"), *b = planned(state, "a-long-name-2"),
			*c = planned(state, "c");

	assert_int_equal(strncmp(a->port, "fb-a-lon-", 9), 0);
	assert_int_equal(strncmp(b->port, "fb-a-lon-", 9), 0);
	assert_int_equal(strncmp(c->port, "fb-c-", 5), 0);
	assert_int_equal(strlen(a->port), IF_NAMESIZE - 1);
	assert_string_not_equal(a->port, b->port);
	free(a);
	free(b);
	free(c);
}

static void it_is_read_as_it_was_written(void **state)
{
	struct external *x = planned(state, "f"), y;
	char *line = NULL;

	assert_string_equal(x->netns, "f-h3");
	assert_string_equal(x->rundir, *state);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(external_write(x, &line), 0);
		memset(&y, 0x5a, sizeof(y));
		assert_true(external_read(&y, line, "f"));
		assert_string_equal(y.netns, x->netns);
		assert_string_equal(y.port, x->port);
		assert_string_equal(y.rundir, x->rundir);
		free(line);
		snprintf(x->rundir, sizeof(x->rundir), "%s", i ? "" : "/with a blank");
	}
	assert_int_equal(external_write(x, &line), 0);
	assert_true(external_read(&y, line, "f"));
	assert_string_equal(y.rundir, "");
	free(line);
	free(x);
}

static void other_lines_are_none(void **state)
{
	static const char *const lines[] = {
		"",
		"external",
		"external ",
		"external f-h3",
		"external f-h3 fb-x",
		"external  fb-x /run",
		"external f-h3  /run",
		"external f-h3 more-than-15-bytes /run",
		"external g-h3 fb-x /run",
		"external fh3 fb-x /run",
		"external f-/../x fb-x /run",
		"external-h0",
		"f-h3 fb-x /run",
	};
	struct external x = {.port = "untouched"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (external_read(&x, lines[i], "f"))
			fail_msg("taken: %s", lines[i]);
	assert_string_equal(x.port, "untouched");
	assert_true(external_read(&x, "external f-h3 fb-x ", "f"));
}

static void what_lacks_is_told_with_the_remedy(void **state)
{
	expect_failure(state,
		"case $* in *list-br) echo br0; echo br1;; *br-exists*) exit 2;; esac", -ENOPKG,
		"no bridge br7, but br0 br1;", "ovs-vsctl add-br br7");
	expect_failure(state, "case $* in *list-br) ;; *) exit 2;; esac", -ENOPKG,
		"no bridge at all", "ovs-vsctl add-br br7");
	expect_failure(state,
		"echo ovs-vsctl: unix:x: database connection failed >&2; echo more >&2; exit 1",
		-ENOPKG, "Open vSwitch: unix:x: database connection failed; ", "OVS_RUNDIR");
	expect_failure(state, "kill -ALRM $$", -ENOPKG, "does not answer", "systemctl start");
	expect_failure(state, "kill -TERM $$", -EIO, "ovs-vsctl died", "Terminated");
	expect_failure(state, "echo ovs-vsctl: oh >&2; exit 1", -EIO, "ovs-vsctl failed: oh", "");
}

static void the_bridge_is_asked_for_in_its_database(void **state)
{
	expect_failure(state, "echo \"$OVS_RUNDIR/$*\" >&2; exit 1", -EIO, *state,
		"/--timeout=20 -- br-exists br7");
}

static void the_directory_must_be_there(void **state)
{
	setenv("OVS_RUNDIR", "/nowhere/at all", 1);
	expect_failure(state, "exit 0", -ENOPKG, "OVS_RUNDIR=/nowhere/at all", "no such directory");
}

static void a_missing_program_is_told_with_its_package(void **state)
{
	setenv("PATH", "/nowhere", 1);
	expect_failure(state, "exit 0", -ENOPKG, "no ovs-vsctl", "openvswitch-switch");
}

static int begin(void **state)
{
	char folder[] = "/tmp/test_external.XXXXXX", path[PATH_MAX];

	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
	setenv("PATH", path, 1);
	setenv("OVS_RUNDIR", folder, 1);
	*state = strdup(folder);
	return 0;
}

static int end(void **state)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/ovs-vsctl", (char *)*state);
	unlink(path);
	rmdir(*state);
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ports_tell_fabrics_apart, begin, end),
		cmocka_unit_test_setup_teardown(it_is_read_as_it_was_written, begin, end),
		cmocka_unit_test(other_lines_are_none),
		cmocka_unit_test_setup_teardown(what_lacks_is_told_with_the_remedy, begin, end),
		cmocka_unit_test_setup_teardown(
			the_bridge_is_asked_for_in_its_database, begin, end),
		cmocka_unit_test_setup_teardown(the_directory_must_be_there, begin, end),
		cmocka_unit_test_setup_teardown(
			a_missing_program_is_told_with_its_package, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
