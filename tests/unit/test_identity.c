/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether two scenarios are the same run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include "lib/small_session.h"
#include "scenario/identity.h"
#include "scenario_fixture.h"

static uint64_t identity_of(struct scenario *s)
{
	struct error why = ERROR_INIT;
	uint64_t found = 0;

	assert_int_equal(scenario_identity(s, &found, &why), 0);
	scenario_free(s);
	return found;
}

#define BASE                                                                                       \
	"name: a\n"                                                                                \
	"topology: {fat_tree: {k: 4}}\n"                                                           \
	"workload: [{permutation: {message: 2MB}}]\n"

static uint64_t identity(const char *text)
{
	return identity_of(load(text));
}

/* The base with another value of a key. */
static uint64_t identity_set(const char *set)
{
	return identity_of(load_sets(BASE, &set, 1));
}

static void what_changes_the_run_changes_it(void **state)
{
	static const char *const sets[] = {"seed=2", "until=1s", "switch.reroute=3us",
		"workload.0.permutation.message=1MB", "host.transport.strack.rto=199us",
		"telemetry.queues=1us", "topology.links=[{match: h0-*, delay: 2us}]",
		"faults=[{at: 1us, link: h0-*, do: down}]"};
	uint64_t base = identity(BASE);

	(void)state;
	for (size_t i = 0; i < COUNT(sets); i++)
		if (identity_set(sets[i]) == base)
			fail_msg("%s does not count", sets[i]);
}

/* Of what scenario.yaml has. */
static uint64_t identity_written(void)
{
	struct scenario *s = load(BASE);
	char *text = write_text(s);
	uint64_t found = identity(text);

	scenario_free(s);
	free(text);
	return found;
}

static void what_is_said_of_the_run_does_not(void **state)
{
	static const char *const sets[] = {"name=b", "about=Other words",
		"expect=[{metric: flows.unfinished, equals: 0}]",
		"compare=[{name: x, set: {seed: 3}}]", "seed=1",
		"workload.0.permutation.message=2048KB", "topology.rate=100000Mbps"};
	uint64_t base = identity(BASE);

	(void)state;
	for (size_t i = 0; i < COUNT(sets); i++)
		if (identity_set(sets[i]) != base)
			fail_msg("%s counts", sets[i]);
	/* in another order */
	assert_true(identity("workload: [{permutation: {message: 2MB}}]\n"
			     "topology: {fat_tree: {k: 4}}\n"
			     "name: a\n") == base);
	/* with all defaults */
	assert_true(identity_written() == base);
}

#define WITH_LIST "name: a\ntopology: {fat_tree: {k: 4}}\nworkload: [{flows: {file: flows.csv}}]\n"

/* Of a scenario whose file has that text, in a directory of its own. */
static uint64_t identity_listed(const char *list)
{
	char directory[SMALL_PATH], path[SMALL_PATH + 16];
	struct diags d = DIAGS_INIT;
	struct scenario *s = NULL;
	FILE *out;

	small_directory(directory);
	snprintf(path, sizeof(path), "%s/flows.csv", directory);
	out = fopen(path, "we");
	assert_non_null(out);
	fputs(list, out);
	assert_int_equal(fclose(out), 0);
	snprintf(path, sizeof(path), "%s/a.yaml", directory);
	assert_int_equal(
		scenario_load_text(&s, path, WITH_LIST, strlen(WITH_LIST), NULL, 0, &d), 0);
	diags_release(&d);
	small_directory_remove(directory);
	return identity_of(s);
}

static void files_count_by_their_content(void **state)
{
	static const char list[] = "source,destination,bytes\nh0,h1,1000\n";

	(void)state;
	assert_true(identity_listed(list) == identity_listed(list));
	assert_true(
		identity_listed(list) != identity_listed("source,destination,bytes\nh0,h1,1001\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_the_run_changes_it),
		cmocka_unit_test(what_is_said_of_the_run_does_not),
		cmocka_unit_test(files_count_by_their_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
