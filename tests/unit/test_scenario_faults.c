/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scenario_fixture.h"

#define US 1000000ull

#define HEAD                                                                                       \
	SMALL "switch: {pfc: on, classes: [{class: 0}, {class: 3, lossless: yes}]}\n"              \
	      "faults:\n"

static const char all[] = HEAD
	"  - {at: 1us, link: a-b, do: down}\n"
	"  - {at: 1us, link: a-b, do: {rate: 12.5%}}\n"
	"  - {at: 1us, link: a-b, do: {delay: 5us}}\n"
	"  - {at: 1us, link: a-b, do: {loss: 0.1%}}\n"
	"  - {at: 1us, until: 3us, link: a-c, do: {loss: 100%}}\n"
	"  - {at: 1us, link: a-b, do: {gilbert: {enter: 1%, leave: 0.25, lost: 50%, lost_good: 1e-6}}}\n"
	"  - {at: 1us, link: a-c, do: {gilbert: {enter: 1%, leave: 100%}}}\n"
	"  - {at: 1us, link: a-b, do: {flaky: {every: 100us, last: 10us}}}\n"
	"  - {at: 1us, link: a-b, do: {errors: 1e-9}}\n"
	"  - {at: 1us, switch: a-b, do: down}\n"
	"  - {at: 1us, host: a-b, do: {pause: 3}}\n";

static void check_all(const struct scenario *s)
{
	static const enum fault_kind kinds[] = {FAULT_DOWN, FAULT_RATE, FAULT_DELAY, FAULT_LOSS,
		FAULT_LOSS, FAULT_GILBERT, FAULT_GILBERT, FAULT_FLAKY, FAULT_ERRORS, FAULT_DOWN,
		FAULT_PAUSE};
	const struct fault_spec *f = s->faults;

	assert_int_equal(s->fault_count, COUNT(kinds));
	for (size_t i = 0; i < COUNT(kinds); i++) {
		assert_true(f[i].valid);
		assert_int_equal(f[i].effect.kind, kinds[i]);
		assert_int_equal(f[i].on, i == 9    ? TARGET_SWITCH
					  : i == 10 ? TARGET_HOST
						    : TARGET_LINK);
		assert_string_equal(f[i].target, i == 4 || i == 6 ? "a-c" : "a-b");
		assert_int_equal(f[i].at_ps, US);
		assert_true(f[i].until_ps == (i == 4 ? 3 * US : UINT64_MAX));
	}
	assert_true(f[1].effect.share == 0.125);
	assert_int_equal(f[2].effect.delay_ps, 5 * US);
	assert_true(f[3].effect.loss == 0.001);
	assert_true(f[4].effect.loss == 1);
	assert_true(f[5].effect.gilbert.enter == 0.01 && f[5].effect.gilbert.leave == 0.25);
	assert_true(f[5].effect.gilbert.lost_bad == 0.5 && f[5].effect.gilbert.lost_good == 1e-6);
	assert_true(f[6].effect.gilbert.lost_bad == 1 && f[6].effect.gilbert.lost_good == 0);
	assert_int_equal(f[7].effect.flaky.every_ps, 100 * US);
	assert_int_equal(f[7].effect.flaky.last_ps, 10 * US);
	assert_true(f[8].effect.bit_errors == 1e-9);
	assert_int_equal(f[10].effect.class, 3);
}

static void every_kind_is_read_and_written(void **state)
{
	struct scenario *s = load(all), *again;
	char *written = write_text(s);

	(void)state;
	check_all(s);
	again = load(written);
	check_all(again);
	scenario_free(s);
	scenario_free(again);
	free(written);
}

static void targets_are_checked(void **state)
{
	(void)state;
	expect(HEAD "  - {at: 1us, link: a, switch: b, do: down}\n"
		    "  - {at: 1us, do: down}\n"
		    "  - {at: 1us, lnk: a, do: down}\n"
		    "  - {at: 1us, switch: a, do: {rate: 25%}}\n"
		    "  - {at: 1us, host: a, do: down}\n"
		    "  - {at: 1us, link: a, do: {pause: 3}}\n"
		    "  - {at: 1us, link: [a], do: down}\n",
		"5:32: faults.0.switch: link and switch exclude each other; keep one\n"
		"6:5: faults.1: expected one of these keys: link, switch, host, links, switches, hosts\n"
		"7:15: faults.2.lnk: no such key; did you mean 'link'?\n"
		"8:37: faults.3.do.rate: not for a switch; expected down\n"
		"9:28: faults.4.do: not for a host; expected {pause: 3}, with a class\n"
		"10:36: faults.5.do.pause: not for a link; expected down, or one of {rate: 25%}, "
		"{delay: 5us}, {loss: 0.1%}, {gilbert: ...}, {flaky: ...}, {errors: 1e-9}\n"
		"11:21: faults.6.link: expected the name of a link, or a pattern, such as agg0.1-core2, not "
		"a list\n");
}

#define CHANCE "expected a probability above 0 and up to 100%, such as 0.1% or 1e-3"

static void probabilities_are_checked(void **state)
{
	(void)state;
	expect(HEAD "  - {at: 1us, link: a, do: {loss: 0}}\n"
		    "  - {at: 1us, link: a, do: {loss: 101%}}\n"
		    "  - {at: 1us, link: a, do: {loss: -1e-3}}\n"
		    "  - {at: 1us, link: a, do: {loss: nan}}\n"
		    "  - {at: 1us, link: a, do: {errors: 1}}\n"
		    "  - {at: 1us, link: a, do: {errors: 0}}\n"
		    "  - {at: 1us, link: a, do: {gilbert: {enter: 0, lost: 0, lost_good: 2}}}\n"
		    "  - {at: 1us, link: a, do: {loss: 1}}\n"
		    "  - {at: 1us, link: a, do: {gilbert: {enter: 1.0, leave: 100%}}}\n",
		"5:35: faults.0.do.loss: 0 is too small; " CHANCE "\n"
		"6:35: faults.1.do.loss: 101% is too large; " CHANCE "\n"
		"7:35: faults.2.do.loss: -1e-3 is too small; " CHANCE "\n"
		"8:35: faults.3.do.loss: " CHANCE ", not 'nan'\n"
		"9:37: faults.4.do.errors: 1 is too large; expected the share of bits that are wrong, above "
		"0 and below 1, such as 1e-9\n"
		"10:37: faults.5.do.errors: 0 is too small; expected the share of bits that are wrong, above "
		"0 and below 1, such as 1e-9\n"
		"11:38: faults.6.do.gilbert.leave: missing; " CHANCE "\n"
		"11:46: faults.6.do.gilbert.enter: 0 is too small; " CHANCE "\n"
		"11:55: faults.6.do.gilbert.lost: 0 is too small; " CHANCE "\n"
		"11:69: faults.6.do.gilbert.lost_good: 2 is too large; expected a probability from 0 to 100%, "
		"such as 0.1% or 1e-3\n"
		"12:35: faults.7.do.loss: 1 would be all of them; write 1% or 100%\n"
		"13:46: faults.8.do.gilbert.enter: 1.0 would be all of them; write 1% or 100%\n");
}

static void deeds_are_checked(void **state)
{
	(void)state;
	expect(HEAD "  - {at: 1us, link: a, do: {}}\n"
		    "  - {at: 1us, link: a, do: {los: 1}}\n"
		    "  - {at: 1us, link: a, do: {loss: 2%, delay: 1us}}\n"
		    "  - {at: 1us, link: a, do: {delay: 0}}\n"
		    "  - {at: 1us, link: a, do: {flaky: {every: 1us, lst: 1us}}}\n"
		    "  - {at: 1us, link: a, do: {flaky: 3}}\n",
		"5:28: faults.0.do: expected one of these keys: rate, delay, loss, gilbert, flaky, errors, "
		"pause\n"
		"6:29: faults.1.do.los: no such key; did you mean 'loss'?\n"
		"7:46: faults.2.do.delay: delay and loss exclude each other; keep one\n"
		"8:36: faults.3.do.delay: 0 is too small; expected a time from 1ps to 1s, such as 1us\n"
		"9:49: faults.4.do.flaky.lst: no such key; did you mean 'last'?\n"
		"10:36: faults.5.do.flaky: expected a mapping of these keys: every, last, not '3'\n");
}

static void storms_need_a_lossless_class(void **state)
{
	(void)state;
	expect(HEAD "  - {at: 1us, host: h0, do: {pause: 0}}\n"
		    "  - {at: 1us, host: h0, do: {pause: 8}}\n",
		"5:37: faults.0.do.pause: class 0 is not lossless, so that nobody heeds its pauses; expected "
		"one that is\n"
		"6:37: faults.1.do.pause: 8 is too large; expected a whole number from 0 to 7\n");
	expect(SMALL "faults: [{at: 1us, host: h0, do: {pause: 0}}]\n",
		"3:42: faults.0.do.pause: class 0 is not lossless, so that nobody heeds its pauses; add "
		"switch.pfc: on\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_read_and_written),
		cmocka_unit_test(targets_are_checked),
		cmocka_unit_test(probabilities_are_checked),
		cmocka_unit_test(deeds_are_checked),
		cmocka_unit_test(storms_need_a_lossless_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
