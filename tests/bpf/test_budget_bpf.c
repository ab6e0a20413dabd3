/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is off costs nothing: with every behaviour off, the loaded programs have as many
 * instructions as they had. A change that makes the plain switch larger, or smaller, on purpose
 * changes the figures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "abi/egress.h"
#include "abi/shared_state.h"
#include "base/numbers.h"
#include "fabricbed.skel.h"
#include "lib/program_size.h"

/* By the compiler's major version; the kernel adds the same to both by inlining look-ups. */
static const struct budget {
	int clang;
	unsigned at_switch, at_host;
} budgets[] = {
	{14, 1224, 704},
	{19, 1301, 702},
};

static const struct budget *find_budget(int clang)
{
	for (size_t i = 0; i < COUNT(budgets); i++)
		if (budgets[i].clang == clang)
			return &budgets[i];
	return NULL;
}

static void assert_within_1_percent(const char *what, unsigned got, unsigned want)
{
	if (100 * got < 99 * want || 100 * got > 101 * want)
		fail_msg("the plain %s program has %u instructions, not %u", what, got, want);
}

static void what_is_off_costs_nothing(void **state)
{
	const struct budget *budget = find_budget(CLANG_MAJOR);
	struct fabricbed_bpf *skel;

	(void)state;
	if (geteuid() || !budget) {
		print_message("not run: %s\n", budget ? "programs are loaded by root alone"
						      : "there are no figures for this clang");
		skip();
	}
	skel = fabricbed_bpf__open();
	assert_non_null(skel);
	assert_int_equal(bpf_program__set_autoload(skel->progs.fabricbed_egress, false), 0);
	assert_int_equal(fabricbed_bpf__load(skel), 0);
	assert_within_1_percent(
		"switch", program_size(skel->progs.fabricbed_switch).loaded, budget->at_switch);
	assert_within_1_percent(
		"host", program_size(skel->progs.fabricbed_host).loaded, budget->at_host);
	fabricbed_bpf__destroy(skel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_off_costs_nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
