/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scenario_fixture.h"
#include "words_fixture.h"

#define US 1000000ull

#define DEEDS                                                                                      \
	"down, or one of {rate: 25%}, {delay: 5us}, {loss: 0.1%}, {gilbert: ...}, {flaky: ...}, {errors: 1e-9}"

/* The same faults in a file and in words, the first as fault_words() has them. */
static const struct {
	const char *file, *words, *also;
} faults[] = {
	{"link: agg0.1-core2, do: down", "link agg0.1-core2 down", NULL},
	{"link: 'agg*-core?', do: {rate: 12.5%}", "link agg*-core? rate 12.5%", NULL},
	{"link: a-b, do: {delay: 5us}", "link a-b delay 5us", "link a-b delay 5000ns"},
	{"link: a-b, do: {loss: 1%}", "link a-b loss 1%", "link a-b loss 0.01"},
	{"link: a-b, do: {loss: 1e-6}", "link a-b loss 1e-06", "link a-b loss 0.0001%"},
	{"link: a-b, do: {loss: 0.12345678901234568}", "link a-b loss 0.12345678901234568", NULL},
	{"link: a-b, do: {loss: 100%}", "link a-b loss 100%", NULL},
	{"link: a-b, do: {errors: 1e-9}", "link a-b errors 1e-09", "link a-b errors 1e-9"},
	{"link: a-b, do: {gilbert: {enter: 1%, leave: 0.25, lost: 50%, lost_good: 1e-6}}",
		"link a-b gilbert enter 1% leave 25% lost 50% lost_good 1e-06",
		"link a-b gilbert lost 0.5 leave 0.25 lost_good 1e-6 enter 0.01"},
	{"link: a-b, do: {gilbert: {enter: 1%, leave: 100%}}",
		"link a-b gilbert enter 1% leave 100% lost 100% lost_good 0",
		"link a-b gilbert enter 0.01 leave 100%"},
	{"link: a-b, do: {flaky: {every: 100us, last: 20us}}",
		"link a-b flaky every 100us last 20us", "link a-b flaky last 20us every 0.1ms"},
	{"switch: core2, do: down", "switch core2 down", NULL},
	{"host: h7, do: {pause: 3}", "host h7 pause 3", NULL},
};

static void assert_same(const struct fault_spec *a, const struct fault_spec *b)
{
	assert_true(a->valid && b->valid);
	assert_true(fault_alike(a, b));
	assert_string_equal(a->target, b->target);
	assert_memory_equal(&a->effect, &b->effect, sizeof(a->effect));
}

static void check_words(const char *words, const struct fault_spec *of_file)
{
	struct fault_spec f = words_fault(words);

	assert_same(&f, of_file);
	assert_int_equal(f.at_ps, 0);
	assert_true(f.until_ps == UINT64_MAX);
	assert_int_equal(f.pos.line, 0);
	fault_spec_release(&f);
}

static void words_are_a_file_s_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		char text[512], buf[FAULT_WORDS];
		struct scenario *s;

		snprintf(text, sizeof(text),
			SMALL "switch: {pfc: on, classes: [{class: 3, lossless: yes}]}\n"
			      "faults: [{at: 1us, %s}]\n",
			faults[i].file);
		s = load(text);
		check_words(faults[i].words, &s->faults[0]);
		if (faults[i].also)
			check_words(faults[i].also, &s->faults[0]);
		assert_int_equal(fault_words(&s->faults[0], buf, sizeof(buf)), 0);
		assert_string_equal(buf, faults[i].words);
		scenario_free(s);
	}
}

static void words_fit_or_are_left_alone(void **state)
{
	struct fault_spec f = words_fault("link a-b loss 1%");
	char buf[] = "0123456789abcdef";

	(void)state;
	assert_int_equal(fault_words(&f, buf, strlen("link a-b loss 1%")), -ENOSPC);
	assert_string_equal(buf, "0123456789abcdef");
	assert_int_equal(fault_words(&f, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "link a-b loss 1%");
	fault_spec_release(&f);
}

/* 128 bytes of a glob and the four longest numbers. */
static void the_longest_words_fit(void **state)
{
	static const char numbers[] =
		"gilbert enter 0.10000000000000001e-100 leave 0.12345678901234567 "
		"lost 1.2345678901234567e-123 lost_good 1.2345678901234567e-123";
	char glob[129], text[512], buf[FAULT_WORDS];
	struct fault_spec f, again;

	(void)state;
	memset(glob, '*', 128);
	glob[128] = '\0';
	snprintf(text, sizeof(text), "link %s %s", glob, numbers);
	f = words_fault(text);
	assert_int_equal(fault_words(&f, buf, sizeof(buf)), 0);
	again = words_fault(buf);
	assert_same(&f, &again);
	fault_spec_release(&f);
	fault_spec_release(&again);
}

static void faults_end_by_themselves(void **state)
{
	static const struct {
		const char *words;
		uint64_t duration_ps;
	} cases[] = {
		{"link a down for 5s", 5000000 * US},
		{"link for loss 1% for 1ps", 1},
		{"link a flaky every 1us last 2us for 864000s", 864000000000 * US},
		{"host h0 pause 7 for 1.5us", 1500000},
		{"switch s down", UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fault_spec f = words_fault(cases[i].words);

		assert_true(f.until_ps == cases[i].duration_ps);
		assert_int_equal(f.at_ps, 0);
		fault_spec_release(&f);
	}
}

static void targets_are_explained(void **state)
{
	static const char forms[] =
		": expected link GLOB FAULT, switch GLOB down or host GLOB pause CLASS\n";
	char text[256];

	(void)state;
	snprintf(text, sizeof(text), "1%s", forms);
	words_expect("", text);
	snprintf(text, sizeof(text), "2%s", forms);
	words_expect("link", text);
	words_expect("lnk a down", "1: 'lnk' is not known; did you mean 'link'?\n");
	words_expect("nonsense", "1: 'nonsense' is not known; valid here: link, switch, host\n");
}

static void a_glob_is_a_word(void **state)
{
	static const char *const blank[] = {"link", "a b", "down"}, *const none[] = {
									    "link", "", "down"};
	static const char expected[] =
		"link: expected the name of a link, or a pattern, such as agg0.1-core2, not '%s'";
	struct diags d = DIAGS_INIT;
	struct fault_spec f;
	char text[128];

	(void)state;
	assert_int_equal(scenario_fault_words(&f, blank, 3, &d), -EINVAL);
	assert_int_equal(scenario_fault_words(&f, none, 3, &d), -EINVAL);
	assert_int_equal(d.count, 2);
	snprintf(text, sizeof(text), expected, "a b");
	assert_string_equal(d.items[0].text, text);
	snprintf(text, sizeof(text), expected, "");
	assert_string_equal(d.items[1].text, text);
	diags_release(&d);
}

static void deeds_are_explained(void **state)
{
	(void)state;
	words_expect("link a", "3: expected what happens to the link: one of rate, delay, loss, "
			       "gilbert, flaky, errors, down\n");
	words_expect("switch a for 1s", "3: expected what happens to the switch: down\n");
	words_expect("host a", "3: expected what happens to the host: pause\n");
	words_expect("link a donw", "3: 'donw' is not known; did you mean 'down'?\n");
	words_expect("link a lost 1%", "3: 'lost' is not known; did you mean 'loss'?\n");
	words_expect("link a x",
		"3: 'x' is not known; valid here: rate, delay, loss, gilbert, flaky, "
		"errors, down\n");
	words_expect("switch a loss 1%", "4: do.loss: not for a switch; expected down\n");
	words_expect("host a down", "3: do: not for a host; expected {pause: 3}, with a class\n");
	words_expect("link a pause 3", "4: do.pause: not for a link; expected " DEEDS "\n");
}

static void up_is_healing(void **state)
{
	(void)state;
	words_expect("link a up",
		"3: 'up' is no fault: heal ends faults ('fabricbed heal NAME link GLOB')\n");
	words_expect("switch a up for 3us",
		"3: 'up' is no fault: heal ends faults ('fabricbed heal NAME switch GLOB')\n");
}

static void values_are_explained_as_in_a_file(void **state)
{
	static const char chance[] = "a probability above 0 and up to 100%, such as 0.1% or 1e-3";
	char text[256];

	(void)state;
	snprintf(text, sizeof(text), "4: do.loss: 101%% is too large; expected %s\n", chance);
	words_expect("link a loss 101%", text);
	words_expect("link a loss 1", "4: do.loss: 1 would be all of them; write 1% or 100%\n");
	snprintf(text, sizeof(text), "4: do.loss: has no value; expected %s\n", chance);
	words_expect("link a loss", text);
	words_expect("link a loss for 1us", text);
	snprintf(text, sizeof(text), "4: do.loss: expected %s, not 'null'\n", chance);
	words_expect("link a loss null", text);
	words_expect("host a pause 8",
		"4: do.pause: 8 is too large; expected a whole number from 0 to 7\n");
	words_expect("link a flaky evry 100us last 20us",
		"4: do.flaky.evry: no such key; did you mean 'every'?\n");
	words_expect("link a flaky every 100us",
		"3: do.flaky.last: missing; expected a time from 1ns to 864000s, such as 1us\n");
	words_expect("link a flaky every 1us last",
		"7: do.flaky.last: has no value; expected a time from 1ns to 864000s, such as 1us\n");
	words_expect("link a flaky every 1us every 2us last 3us",
		"7: do.flaky.every: again; once is enough\n");
}

static void times_are_explained(void **state)
{
	static const char time[] = "a time from 1ps to 864000s, such as 1us";
	char text[256];

	(void)state;
	snprintf(text, sizeof(text), "5: for: has no value; expected %s\n", time);
	words_expect("link a down for", text);
	snprintf(text, sizeof(text), "5: for: 0 is too small; expected %s\n", time);
	words_expect("link a down for 0", text);
	snprintf(text, sizeof(text), "6: for: expected %s, not '5'\n", time);
	words_expect("link a loss 1% for 5", text);
	words_expect("link a down 5s", "4: '5s' is not known; valid here: for\n");
	words_expect("link a down for 5s 6s", "6: nothing may follow the time of 'for'\n");
	words_expect("link a flaky every 1us last 1us for 1us x",
		"10: nothing may follow the time of 'for'\n");
}

static void all_that_is_wrong_is_told(void **state)
{
	(void)state;
	words_expect("link a flaky every 0 last x for y",
		"5: do.flaky.every: 0 is too small; expected a time from 1ns to 864000s, such as 1us\n"
		"7: do.flaky.last: expected a time from 1ns to 864000s, such as 1us, not 'x'\n"
		"9: for: expected a time from 1ps to 864000s, such as 1us, not 'y'\n");
	words_expect("a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
		"33: 33 words; no fault has so many\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_a_file_s_faults),
		cmocka_unit_test(words_fit_or_are_left_alone),
		cmocka_unit_test(the_longest_words_fit),
		cmocka_unit_test(faults_end_by_themselves),
		cmocka_unit_test(targets_are_explained),
		cmocka_unit_test(a_glob_is_a_word),
		cmocka_unit_test(deeds_are_explained),
		cmocka_unit_test(up_is_healing),
		cmocka_unit_test(values_are_explained_as_in_a_file),
		cmocka_unit_test(times_are_explained),
		cmocka_unit_test(all_that_is_wrong_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
