/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* switch.balance: read, refused, written, and given to the switches of its tiers. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include "abi/policies.h"
#include "base/json.h"
#include "fabric_fixture.h"
#include "report/fabric_report.h"
#include "scenario/identity.h"
#include "scenario_fixture.h"
#include "topology/resolve.h"

#define US 1000000ull

#define BALANCE(text) SMALL "switch: {balance: " text "}\n"

/* A policy of the user's, where the test runs. */
#define MINE  "test_balance_mine.c"
#define OTHER "test_balance_other.c"

static void put_file(const char *name, const char *text)
{
	FILE *out = fopen(name, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static int remove_files(void **state)
{
	(void)state;
	unlink(MINE);
	unlink(OTHER);
	return 0;
}

static uint32_t policy_set(const char *text, const char *set)
{
	struct scenario *s = load_sets(text, &set, set != NULL);
	uint32_t policy = balance_policy(&s->sw.balance.all);

	scenario_free(s);
	return policy;
}

static void a_word_is_a_policy(void **state)
{
	static const char *const words[] = {
#define X(symbol, name, word, ahead, flows, reorders) "switch.balance=" word,
		BALANCES(X)
#undef X
	};

	(void)state;
	assert_int_equal(policy_set(SMALL, NULL), BALANCE_ECMP);
	for (uint32_t i = 0; i < COUNT(words); i++)
		assert_int_equal(policy_set(SMALL, words[i]), i);
	assert_int_equal(policy_set(BALANCE("ECMP-Adaptive"), NULL), BALANCE_ECMP_ADAPTIVE);
	assert_int_equal(policy_set(BALANCE("{policy: drill}"), NULL), BALANCE_DRILL);
	assert_int_equal(
		policy_set(BALANCE("{policy: drill}"), "switch.balance=spray"), BALANCE_SPRAY);
}

static void a_tier_has_what_it_does_not_say_of_all(void **state)
{
	struct scenario *s = load(
		BALANCE("{policy: flowlet, gap: 7us, agg: {gap: 9us}, core: random, flows: 100}"));
	const struct balances_spec *b = &s->sw.balance;

	(void)state;
	assert_true(b->all.gap_ps == 7 * US && b->all.lifetime_ps == 1000 * US);
	assert_int_equal(b->flows, 100);
	assert_null(b->tiers[0]);
	assert_int_equal(balance_policy(b->tiers[2]), BALANCE_FLOWLET);
	assert_true(b->tiers[2]->gap_ps == 9 * US && b->tiers[2]->lifetime_ps == 1000 * US);
	assert_int_equal(balance_policy(b->tiers[4]), BALANCE_RANDOM);
	assert_null(balance_file(b));
	scenario_free(s);
}

/* A --set below a word leaves the word. */
static void a_set_adds_to_a_word(void **state)
{
	static const char *const sets[] = {"switch.balance.gap=50us", "switch.balance.core=ecmp",
		"switch.balance.core.policy=drill"};
	struct scenario *s = load_sets(BALANCE("flowlet"), sets, COUNT(sets));
	const char *trim = "switch.trim.class=5";

	(void)state;
	assert_int_equal(balance_policy(&s->sw.balance.all), BALANCE_FLOWLET);
	assert_true(s->sw.balance.all.gap_ps == 50 * US);
	assert_int_equal(balance_policy(s->sw.balance.tiers[4]), BALANCE_DRILL);
	scenario_free(s);
	s = load_sets(SMALL "switch: {trim: sender}\n", &trim, 1);
	assert_int_equal(s->sw.trim.to, TRIM_SENDER);
	scenario_free(s);
	s = load_sets(SMALL "switch: {trim: off}\n", &trim, 1);
	assert_int_equal(s->sw.trim.to, TRIM_RECEIVER);
	scenario_free(s);
	trim = "switch.balance.choices=3";
	expect_sets(BALANCE("dril"), &trim, 1,
		"3:19: switch.balance: 'dril' is not known; did you mean 'drill'?\n");
}

#define ALL "ecmp, spray, random, adaptive, ecmp-adaptive, flowlet, letflow, drill"

static void wrong_policies_are_explained(void **state)
{
	(void)state;
	expect(BALANCE("sprey"),
		"3:19: switch.balance: 'sprey' is not known; did you mean 'spray'?\n");
	expect(BALANCE("{leaf: mine}"),
		"3:26: switch.balance.leaf: 'mine' is not known; valid here: " ALL
		", or the name of a file, such as my.c\n");
	expect(BALANCE("{policy: ./no.c}"),
		"3:28: switch.balance.policy: cannot read './no.c': No such file or directory; expected a policy: " ALL
		", or the name of a file with one, such as my.c\n");
	expect(BALANCE("{laef: ecmp}"),
		"3:20: switch.balance.laef: no such key; did you mean 'leaf'?\n");
	expect(BALANCE("[]"),
		"3:19: switch.balance: expected a policy: " ALL
		", or the name of a file with one; or a mapping of these keys: policy, gap, lifetime, threshold, "
		"choices, remembered, flows, tor, leaf, agg, spine, core, not a list\n");
}

static void wrong_parameters_are_explained(void **state)
{
	(void)state;
	expect(BALANCE("{policy: spray, gap: 3us}"),
		"3:40: switch.balance.gap: only these policies use it: flowlet, letflow, a policy of your own; "
		"leave it out, or take one of them\n");
	expect(BALANCE("{policy: flowlet, threshold: 3KB, core: {choices: 3}, agg: ecmp-adaptive}"),
		"3:69: switch.balance.core.choices: only these policies use it: drill, a policy of your own; "
		"leave it out, or take one of them\n");
	expect(BALANCE("{agg: drill, flows: 64}"),
		"3:39: switch.balance.flows: only these policies use it: ecmp-adaptive, flowlet, letflow, a "
		"policy of your own; leave it out, or take one of them\n");
	expect(BALANCE("{policy: drill, choices: 9, remembered: 5}"),
		"3:44: switch.balance.choices: 9 is too large; expected a whole number from 1 to 8\n"
		"3:59: switch.balance.remembered: 5 is too large; expected a whole number from 0 to 4\n");
	expect(BALANCE("{policy: flowlet, flows: 7, gap: 0}"),
		"3:44: switch.balance.flows: 7 is too small; expected a whole number from 8 to 1048576\n"
		"3:52: switch.balance.gap: 0 is too small; expected a time from 1ns to 864000s, such as 1us\n");
	expect(BALANCE("{policy: letflow, gap: 2ms}"),
		"3:42: switch.balance.gap: lifetime is shorter than gap, and a flow would be forgotten before the "
		"gap has passed; give a longer lifetime, or off\n");
	expect(BALANCE("{policy: flowlet, core: {lifetime: 3us}}"),
		"3:54: switch.balance.core.lifetime: lifetime is shorter than gap, and a flow would be forgotten "
		"before the gap has passed; give a longer lifetime, or off\n");
	/* what tiers have of all, told once; ecmp has no gap */
	expect(BALANCE("{gap: 5ms, tor: flowlet, agg: letflow, core: {policy: flowlet, lifetime: off}}"),
		"3:25: switch.balance.gap: lifetime is shorter than gap, and a flow would be forgotten before the "
		"gap has passed; give a longer lifetime, or off\n");
	scenario_free(load(BALANCE("{gap: 5ms, core: {policy: flowlet, lifetime: 5ms}}")));
}

static void assert_survives(const char *text, const char *part)
{
	struct scenario *s = load(text), *again;
	char *written = write_text(s), *second;

	if (!strstr(written, part))
		fail_msg("no '%s' in:\n%s", part, written);
	again = load(written);
	second = write_text(again);
	assert_string_equal(written, second);
	free(written);
	free(second);
	scenario_free(s);
	scenario_free(again);
}

static void it_survives_being_written(void **state)
{
	(void)state;
	assert_survives(SMALL, "  balance: ecmp\n");
	assert_survives(BALANCE("{policy: drill, choices: 3}"),
		"  balance: {policy: drill, choices: 3, remembered: 1}\n");
	assert_survives(
		BALANCE("{leaf: adaptive, agg: {policy: flowlet, lifetime: off}, gap: 3us}"),
		"  balance:\n"
		"    policy: ecmp\n"
		"    flows: 4096\n"
		"    leaf: {policy: adaptive, threshold: auto}\n"
		"    agg: {policy: flowlet, gap: 3us, lifetime: off}\n");
	put_file(MINE, "policy");
	assert_survives(BALANCE(MINE), "    choices: 2\n    remembered: 1\n");
}

static uint64_t identity(const char *text)
{
	struct error why = ERROR_INIT;
	struct scenario *s = load(text);
	uint64_t found = 0;

	assert_int_equal(scenario_identity(s, &found, &why), 0);
	scenario_free(s);
	return found;
}

/* Its content is the run's, wherever it is. */
static void a_file_is_read(void **state)
{
	char path[PATH_MAX], *large;
	struct scenario *s;
	uint64_t one;

	(void)state;
	put_file(MINE, "one");
	put_file(OTHER, "two");
	s = load(BALANCE("{agg: " MINE ", core: {policy: ./" MINE ", choices: 5}}"));
	assert_int_equal(balance_policy(&s->sw.balance.all), BALANCE_ECMP);
	assert_int_equal(balance_policy(s->sw.balance.tiers[2]), BALANCE_FILE);
	assert_string_equal(balance_file(&s->sw.balance)->text, "one");
	assert_non_null(realpath(MINE, path));
	assert_string_equal(balance_file(&s->sw.balance)->path, path);
	assert_int_equal(s->sw.balance.tiers[4]->choices, 5);
	scenario_free(s);

	one = identity(BALANCE(MINE));
	put_file(MINE, "two");
	assert_true(identity(BALANCE(MINE)) != one);
	assert_true(identity(BALANCE(MINE)) == identity(BALANCE(OTHER)));
	assert_true(identity(BALANCE("spray")) != identity(SMALL));
	assert_true(identity(BALANCE("FLOWLET")) == identity(BALANCE("flowlet")));

	expect(BALANCE("{policy: " MINE ", core: " OTHER "}"),
		"3:55: switch.balance.core: '" OTHER "' is a second file, beside '" MINE
		"'; the switches of a fabric share one: make it tell them apart, or use a policy of fabricbed's beside it\n");
	large = calloc(1, (1u << 20) + 2);
	assert_non_null(large);
	memset(large, ' ', (1u << 20) + 1);
	put_file(OTHER, large);
	free(large);
	expect(BALANCE(OTHER), "3:19: switch.balance: '" OTHER "' is larger than 1MB\n");
}

static struct fabric *fabric_of(const char *text, struct scenario **ret)
{
	*ret = load(text);
	return fixture_fabric(*ret);
}

/* Of a fat-tree whose BDP is that of test_topology_switch.c. */
static void switches_have_their_tiers(void **state)
{
	struct scenario *s;
	struct fabric *f = fabric_of(
		BALANCE("{policy: adaptive, tor: {policy: ecmp-adaptive, threshold: 3KB}, "
			"core: {policy: flowlet, gap: 2us, lifetime: off}, flows: 9}"),
		&s);
	const struct switching *g = &f->switching;

	(void)state;
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		const struct switching_balance *b = &g->balances[f->net.nodes[i].balance];
		const char *name = f->nodes[i].name;

		assert_int_equal(b->policy, *name == 't'   ? BALANCE_ECMP_ADAPTIVE
					    : *name == 'c' ? BALANCE_FLOWLET
							   : BALANCE_ADAPTIVE);
		assert_int_equal(b->threshold_bytes, *name == 't'   ? 3072
						     : *name == 'c' ? f->bdp_bytes / 4
								    : f->packet_bytes);
		assert_int_equal(b->gap_ps, (*name == 'c' ? 2 : 100) * US);
		assert_int_equal(b->lifetime_ps, *name == 'c' ? 0 : 1000 * US);
		assert_int_equal(b->choices, 2);
	}
	assert_true(g->config.features & SW_BALANCE);
	assert_int_equal(g->config.balances,
		1u << BALANCE_ADAPTIVE | 1u << BALANCE_ECMP_ADAPTIVE | 1u << BALANCE_FLOWLET);
	assert_int_equal(g->config.flow_sets, 2);
	fabric_free(f);
	scenario_free(s);

	f = fabric_of(BALANCE("{core: ecmp}"), &s);
	assert_false(f->switching.config.features & SW_BALANCE);
	fabric_free(f);
	scenario_free(s);
	f = fabric_of(BALANCE("{policy: drill, choices: 3, remembered: 0}"), &s);
	assert_int_equal(f->switching.config.flow_sets, 0);
	assert_int_equal(f->switching.balances[0].choices, 3);
	assert_int_equal(f->switching.balances[0].remembered, 0);
	fabric_free(f);
	scenario_free(s);
	f = fabric_of(BALANCE("{policy: ecmp-adaptive, threshold: 50% BDP}"), &s);
	assert_int_equal(f->switching.balances[0].threshold_bytes, f->bdp_bytes / 2);
	fabric_free(f);
	scenario_free(s);
}

/* Of all switches together. */
static void flow_tables_have_a_limit(void **state)
{
	struct scenario *s;
	struct fabric *f = fabric_of(BALANCE("{core: flowlet, flows: 1048576}"), &s);
	struct diags diags = DIAGS_INIT;

	(void)state;
	f->net.switch_count = 32767;
	resolve_balance(f, s, &diags);
	assert_int_equal(diags.count, 0);
	f->net.switch_count = 32768;
	resolve_balance(f, s, &diags);
	assert_int_equal(diags.count, 1);
	assert_int_equal(diags.items[0].pos.line, 3);
	assert_string_equal(diags.items[0].text,
		"switch.balance.flows: 1048576 flows at each of 32768 switches are too many; 1048568 fit at most");
	diags_release(&diags);
	fabric_free(f);
	scenario_free(s);
}

static void a_tier_must_be_there(void **state)
{
	struct scenario *s = load(BALANCE("{leaf: ecmp, core: spray}"));
	struct diags diags = DIAGS_INIT;
	struct fabric *f = NULL;

	(void)state;
	assert_int_equal(fabric_new(&f, s, &diags), -EINVAL);
	assert_int_equal(diags.count, 1);
	assert_int_equal(diags.items[0].pos.column, 26);
	assert_string_equal(diags.items[0].text,
		"switch.balance.leaf: the name of no switch of this topology begins with leaf; there are: tor, agg, core");
	diags_release(&diags);
	scenario_free(s);
}

/* What `validate` says of it. */
static void assert_report(const char *text, const char *const *parts, size_t count, bool says)
{
	struct report_load none = {.flows = 0};
	struct scenario *s;
	struct fabric *f = fabric_of(text, &s);
	json_t *r = fabric_report(f, s, &none);
	char *told;
	size_t length;
	FILE *out = open_memstream(&told, &length);

	assert_non_null(r);
	assert_int_equal(look(r, "switch.balance") != NULL, says);
	fabric_report_print(r, out);
	fclose(out);
	for (size_t i = 0; i < count; i++)
		if (!strstr(told, parts[i]))
			fail_msg("no '%s' in:\n%s", parts[i], told);
	if (!count && (strstr(told, "balance")))
		fail_msg("balance in:\n%s", told);
	free(told);
	json_decref(r);
	fabric_free(f);
	scenario_free(s);
}

static void reports_tell_it(void **state)
{
	static const char *const tiers[] = {
		"balance           the other switches: ecmp-adaptive, threshold 3072 bytes; room for 64 flows a switch\n",
		"balance           tor: drill, 3 drawn and 1 remembered\n",
		"balance           core: flowlet, gap 5us; room for 64 flows a switch, each forgotten after 6us\n"};
	static const char *const harm[] = {
		"switch.balance: random sends packets of a flow by several paths: for RoCEv2 a packet that overtakes",
		"switch.balance: flowlet sends packets of a flow by several paths, of which one may be shorter",
		"switch.balance: " MINE
		" may send packets of a flow by several paths: for RoCEv2 a packet that overtakes"};

	(void)state;
	put_file(MINE, "policy");
	assert_report(SMALL, NULL, 0, false);
	assert_report(BALANCE("{policy: ecmp-adaptive, threshold: 3KB, lifetime: off, flows: 60, "
			      "tor: {policy: drill, choices: 3}, "
			      "core: {policy: flowlet, gap: 5us, lifetime: 6us}}"),
		tiers, COUNT(tiers), true);
	assert_report(SMALL
		"host: {transport: roce}\nswitch: {balance: {tor: random, agg: flowlet, core: " MINE
		"}}\n",
		harm, COUNT(harm), true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_is_a_policy),
		cmocka_unit_test(a_tier_has_what_it_does_not_say_of_all),
		cmocka_unit_test(a_set_adds_to_a_word),
		cmocka_unit_test(wrong_policies_are_explained),
		cmocka_unit_test(wrong_parameters_are_explained),
		cmocka_unit_test_teardown(it_survives_being_written, remove_files),
		cmocka_unit_test_teardown(a_file_is_read, remove_files),
		cmocka_unit_test(switches_have_their_tiers),
		cmocka_unit_test(flow_tables_have_a_limit),
		cmocka_unit_test(a_tier_must_be_there),
		cmocka_unit_test_teardown(reports_tell_it, remove_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
