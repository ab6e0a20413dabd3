/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/diag.h"
#include "base/numbers.h"

static void messages_are_formatted(void **state)
{
	struct diags d = DIAGS_INIT;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		diags_add(&d, (struct diag_pos){i, i + 1}, "number %u of %s", i, "many");
	assert_int_equal(d.count, 100);
	assert_false(d.out_of_memory);
	assert_string_equal(d.items[99].text, "number 99 of many");
	assert_int_equal(d.items[99].pos.line, 99);
	assert_int_equal(d.items[99].pos.column, 100);
	diags_release(&d);
	assert_int_equal(d.count, 0);
	assert_null(d.items);
}

static void sorting_is_by_place_and_stable(void **state)
{
	static const struct {
		unsigned line, column;
		const char *text;
	} in[] = {
		{7, 1, "g"},
		{2, 9, "e"},
		{2, 3, "c"},
		{0, 0, "a"},
		{2, 3, "d"},
		{0, 0, "b"},
		{3, 1, "f"},
	};
	struct diags d = DIAGS_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(in); i++)
		diags_add(&d, (struct diag_pos){in[i].line, in[i].column}, "%s", in[i].text);
	diags_sort(&d);
	for (size_t i = 0; i < COUNT(in); i++)
		assert_int_equal(d.items[i].text[0], 'a' + (int)i);
	diags_release(&d);
}

static void sorting_nothing_is_fine(void **state)
{
	struct diags d = DIAGS_INIT;

	(void)state;
	diags_sort(&d);
	diags_release(&d);
	diags_release(&d);
}

static const char *const words[] = {"message", "count", "start", "repeat", "gap", "at"};

static void the_nearest_word_is_found(void **state)
{
	static const struct {
		const char *typed, *meant;
	} cases[] = {
		{"mesage", "message"},   /* a letter missing */
		{"messsage", "message"}, /* one too many */
		{"massage", "message"},  /* a wrong one */
		{"emssage", "message"},  /* two swapped */
		{"MESSAGE", "message"},  /* case is free */
		{"message", "message"},
		{"cuont", "count"},
		{"gpa", "gap"}, /* one edit by Damerau, two by Levenshtein: and a third of 3 is 1 */
		{"starts", "start"},
		{"size", NULL},
		{"mxsyagxe", NULL}, /* 3 edits in 8 letters */
		{"g", NULL},
		{"at", "at"},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *found = nearest_word(cases[i].typed, words, COUNT(words));

		if (cases[i].meant)
			assert_string_equal(found, cases[i].meant);
		else
			assert_null(found);
	}
}

/* "ca" -> "abc" takes 2 edits where a swapped pair may be parted by an insertion, else 3. */
static void swapped_letters_may_be_parted(void **state)
{
	static const char *const abc[] = {"zzzzabczz"};
	static const char *const far[] = {"zzzzabcyyy"};

	(void)state;
	assert_string_equal(nearest_word("zzzzcazz", abc, 1), "zzzzabczz");
	assert_null(nearest_word("zzzzcazz", far, 1));
}

static void among_equals_the_first_wins(void **state)
{
	static const char *const pair[] = {"kmax", "kmin"};

	(void)state;
	assert_string_equal(nearest_word("kmix", pair, 2), "kmax");
	assert_string_equal(nearest_word("kmi", pair, 2), "kmin");
}

static void long_words_are_no_near_misses(void **state)
{
	char text[4096];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_null(nearest_word(text, words, COUNT(words)));
	assert_null(nearest_word(text, (const char *const[]){text}, 1));
	assert_null(nearest_word("message", (const char *const[]){text}, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_formatted),
		cmocka_unit_test(sorting_is_by_place_and_stable),
		cmocka_unit_test(sorting_nothing_is_fine),
		cmocka_unit_test(the_nearest_word_is_found),
		cmocka_unit_test(swapped_letters_may_be_parted),
		cmocka_unit_test(among_equals_the_first_wins),
		cmocka_unit_test(long_words_are_no_near_misses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
