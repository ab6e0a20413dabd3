/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/array.h"
#include "base/strbuf.h"

static void array_grows(void **state)
{
	int *items = NULL;
	size_t count = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ARRAY_ADD(items, count, i), 0);
	assert_int_equal(count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	free(items);
}

/* Room that was made and not used is there, and what was removed gives its room back. */
static void array_is_used_in_any_order(void **state)
{
	struct pair {
		int a, b;
	} *items = NULL;
	size_t count = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(ARRAY_ROOM(items, count), 0);
		assert_int_equal(ARRAY_ADD(items, count, (struct pair){i, -i}), 0);
		if (i % 3 == 2)
			count -= 2;
	}
	assert_int_equal(count, 34);
	assert_int_equal(items[0].a, 0);
	assert_int_equal(items[33].b, -99);
	free(items);
}

static void text_is_put_together(void **state)
{
	static const char *const words[] = {"one", "two", "three"};
	char text[32];
	struct strbuf b = STRBUF(text);

	(void)state;
	assert_string_equal(text, "");
	strbuf_add(&b, "%d words: ", 3);
	strbuf_add_list(&b, words, 3);
	assert_string_equal(text, "3 words: one, two, three");
	assert_int_equal(b.length, strlen(text));
}

static void text_is_cut_off(void **state)
{
	char text[8];
	struct strbuf b = STRBUF(text);

	(void)state;
	strbuf_add(&b, "%s", "12345");
	strbuf_add(&b, "%s", "67890");
	assert_string_equal(text, "1234567");
	assert_int_equal(b.length, 7);
	strbuf_add(&b, "%s", "x");
	assert_string_equal(text, "1234567");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(array_grows),
		cmocka_unit_test(array_is_used_in_any_order),
		cmocka_unit_test(text_is_put_together),
		cmocka_unit_test(text_is_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
