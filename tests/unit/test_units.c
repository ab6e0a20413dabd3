/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/numbers.h"
#include "base/units.h"

#define UNTOUCHED 0x5a5a5a5a5a5a5a5aull

struct parsed {
	const char *text;
	int result;
	uint64_t value;
};

static void check(int (*parse)(const char *, uint64_t *), const struct parsed *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = UNTOUCHED;
		int r = parse(cases[i].text, &value);

		if (r != cases[i].result || value != (r ? UNTOUCHED : cases[i].value))
			fail_msg("'%s': result %d, value %llu", cases[i].text, r,
				(unsigned long long)value);
	}
}

static void rates(void **state)
{
	static const struct parsed cases[] = {
		{"100Gbps", 0, 100000000000},
		{"100 Gbps", 0, 100000000000},
		{"100gbps", 0, 100000000000},
		{"2.5Gbps", 0, 2500000000},
		{"1.6Tbps", 0, 1600000000000},
		{"10Mbps", 0, 10000000},
		{"64kbps", 0, 64000},
		{"7bps", 0, 7},
		{"0.000000001Gbps", 0, 1},
		{"0Gbps", 0, 0},
		{"0", 0, 0},
		{"18446744073709551615bps", 0, UINT64_MAX},
		{"18446744073709551616bps", -ERANGE, 0},
		{"18446745Tbps", -ERANGE, 0},
		{"99999999999999999999999Gbps", -ERANGE, 0},
		{"-1Gbps", -ERANGE, 0},
		{"100", -EINVAL, 0},
		{"100Gbit", -EINVAL, 0},
		{"100GBPS", 0, 100000000000},
		{"1.6 TBPS", 0, 1600000000000},
		{"7BPS", 0, 7},
		{"100gbPS", 0, 100000000000},
		{"100GBps", -EINVAL, 0}, /* bytes a second, elsewhere */
		{"100gBps", -EINVAL, 0},
		{"100GBpS", -EINVAL, 0},
		{"100GB", -EINVAL, 0},
		{"Gbps", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"-", -EINVAL, 0},
		{".5Gbps", -EINVAL, 0},
		{"5.Gbps", -EINVAL, 0},
		{"1.2.3Gbps", -EINVAL, 0},
		{"0.5bps", -EINVAL, 0},
		{"1e3Gbps", -EINVAL, 0},
		{"+1Gbps", -EINVAL, 0},
		{" 1Gbps", -EINVAL, 0},
		{"1Gbps ", -EINVAL, 0},
		{"1Gbps2", -EINVAL, 0},
	};

	(void)state;
	check(parse_rate, cases, COUNT(cases));
}

static void times(void **state)
{
	static const struct parsed cases[] = {
		{"1.5us", 0, 1500000},
		{"0.1ns", 0, 100}, /* 0.1 is no binary fraction */
		{"0.3us", 0, 300000},
		{"1.1s", 0, 1100000000000},
		{"4.35ms", 0, 4350000000},
		{"80ps", 0, 80},
		{"3 us", 0, 3000000},
		{"3\xc2\xb5s", 0, 3000000},
		{"3\xce\xbcs", 0, 3000000},
		{"0.000000000001s", 0, 1},
		{"1.50000000000000000000000000us", 0, 1500000},
		{"0", 0, 0},
		{"18446744.073709551615s", 0, UINT64_MAX},
		{"18446744.073709551616s", -ERANGE, 0},
		{"-1us", -ERANGE, 0},
		{"-0.5ps", -ERANGE, 0},
		{"0.5ps", -EINVAL, 0},
		{"0.0000000000001s", -EINVAL, 0},
		{"0.0000000000000000001s", -EINVAL, 0},
		{"5", -EINVAL, 0},
		{"5sec", -EINVAL, 0},
		{"5US", -EINVAL, 0}, /* "MS" could be mega */
		{"us", -EINVAL, 0},
		{"1us 2ns", -EINVAL, 0},
	};

	(void)state;
	check(parse_time, cases, COUNT(cases));
}

static void sizes(void **state)
{
	static const struct parsed cases[] = {
		{"2MB", 0, 2 << 20},
		{"2MiB", 0, 2 << 20},
		{"2mb", 0, 2 << 20},
		{"400KB", 0, 409600},
		{"400 KB", 0, 409600},
		{"1.5KB", 0, 1536},
		{"0.5KiB", 0, 512},
		{"3GB", 0, 3ull << 30},
		{"3TiB", 0, 3ull << 40},
		{"17B", 0, 17},
		{"17", 0, 17},
		{"0", 0, 0},
		{"18446744073709551615", 0, UINT64_MAX},
		{"16777215.9999990463256835937TB", -EINVAL, 0},
		{"16777216TB", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"-5MB", -ERANGE, 0},
		{"-5", -ERANGE, 0},
		{"0.3KB", -EINVAL, 0},
		{"0.5", -EINVAL, 0},
		{"5Mb/s", -EINVAL, 0},
		{"5M", -EINVAL, 0},
		{"big", -EINVAL, 0},
		{"-", -EINVAL, 0},
	};

	(void)state;
	check(parse_bytes, cases, COUNT(cases));
}

static void percentages(void **state)
{
	static const struct {
		const char *text;
		int result;
		double share;
	} cases[] = {
		{"25%", 0, 0.25},
		{"7%", 0, 0.07},
		{"12.5%", 0, 0.125},
		{"0%", 0, 0},
		{"100%", 0, 1},
		{"500 %", 0, 5},
		{"0.1%", 0, 0.001},
		{"-1%", -ERANGE, 0},
		{"99999999999999999999999%", -ERANGE, 0},
		{"0.00000000000000000000000000000000000000000000000000000000000000000%", -ERANGE,
			0},
		{"25", -EINVAL, 0},
		{"25%%", -EINVAL, 0},
		{"%", -EINVAL, 0},
		{"1e1%", -EINVAL, 0},
		{"nan%", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		double share = -7;

		assert_int_equal(parse_percent(cases[i].text, &share), cases[i].result);
		assert_true(share == (cases[i].result ? -7 : cases[i].share));
	}
}

static void printed_forms(void **state)
{
	char buf[UNITS_TEXT];

	(void)state;
	assert_string_equal(format_rate(buf, 100000000000), "100Gbps");
	assert_string_equal(format_rate(buf, 2500000000), "2.5Gbps");
	assert_string_equal(format_rate(buf, 1600000000000), "1.6Tbps");
	assert_string_equal(format_rate(buf, 123456789), "123456789bps");
	assert_string_equal(format_rate(buf, 0), "0bps");
	assert_string_equal(format_rate(buf, UINT64_MAX), "18446744073709551615bps");
	assert_string_equal(format_time(buf, 1500000), "1.5us");
	assert_string_equal(format_time(buf, 100), "100ps");
	assert_string_equal(format_time(buf, 1000), "1ns");
	assert_string_equal(format_time(buf, PS_PER_S), "1s");
	assert_string_equal(format_time(buf, 1234567), "1234567ps");
	assert_string_equal(format_bytes(buf, 409600), "400KB");
	assert_string_equal(format_bytes(buf, 2 << 20), "2MB");
	assert_string_equal(format_bytes(buf, 1537), "1537B");
	assert_string_equal(format_bytes(buf, UINT64_MAX), "18446744073709551615B");
}

/* What is printed reads as the same number, whatever the number. */
static void printing_is_exact(void **state)
{
	uint64_t x = 88172645463325252ull;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		char buf[UNITS_TEXT];
		uint64_t value, again;

		x ^= x << 13; /* xorshift64 */
		x ^= x >> 7;
		x ^= x << 17;
		value = x >> (x % 64);
		if (i % 2)
			value = value / 1000 * 1000;
		assert_int_equal(parse_rate(format_rate(buf, value), &again), 0);
		assert_true(again == value);
		assert_int_equal(parse_time(format_time(buf, value), &again), 0);
		assert_true(again == value);
		assert_int_equal(parse_bytes(format_bytes(buf, value), &again), 0);
		assert_true(again == value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(times),
		cmocka_unit_test(sizes),
		cmocka_unit_test(percentages),
		cmocka_unit_test(printed_forms),
		cmocka_unit_test(printing_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
