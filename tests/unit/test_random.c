/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The integer laws of lib/random.h against libm's and against wider integers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lib/random.h"

#define DRAWS 200000u

static void assert_ln(uint64_t bits)
{
	long double want = -logl((long double)(bits | 1) * 0x1p-64L);
	long double got = (long double)random_minus_ln(bits) * 0x1p-56L;

	if (fabsl(got - want) <= 1e-9L * want + 0x1p-56L)
		return;
	print_error("-ln(%#llx / 2^64) is %.20Lg, not %.20Lg\n", (unsigned long long)(bits | 1),
		want, got);
	fail();
}

static void ln_is_that_of_libm(void **state)
{
	__u64 rng = 1;

	(void)state;
	for (unsigned shift = 0; shift < 64; shift++) {
		const uint64_t powers[] = {1ull << shift, UINT64_MAX << shift, UINT64_MAX >> shift,
			RANDOM_SQRT_12 >> shift};

		for (unsigned i = 0; i < sizeof(powers) / sizeof(powers[0]); i++)
			for (int off = -3; off <= 3; off++)
				assert_ln(powers[i] + (uint64_t)off);
	}
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t bits = rng_next(&rng);

		assert_ln(bits);
		assert_ln(bits >> (bits & 63));
		assert_ln(~(bits >> (bits & 63)));
	}
	assert_int_equal(random_minus_ln(0), random_minus_ln(1));
	assert_true(random_minus_ln(0) < 45ull << 56);
}

/* Whatever the halves are that it is put together from. */
static void exponential_is_the_product(void **state)
{
	__u64 rng = 2;

	(void)state;
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t bits = rng_next(&rng) >> (i & 63), any = rng_next(&rng);
		uint64_t mean = (i & 7 ? any : UINT64_MAX) >> (7 + i % 57);
		unsigned __int128 wide = (unsigned __int128)random_minus_ln(bits) * mean;

		assert_int_equal(random_exponential(bits, mean), (uint64_t)(wide >> 56));
		assert_true(mean == 0 || random_exponential(bits, mean) < 45 * mean);
	}
}

static void hits_to_the_point(void **state)
{
	(void)state;
	assert_false(random_hit(0, 0));
	assert_true(random_hit(0, 1));
	assert_false(random_hit(1, 1));
	assert_true(random_hit(UINT32_MAX - 2, UINT32_MAX - 1));
	assert_false(random_hit(UINT32_MAX - 1, UINT32_MAX - 1));
	assert_true(random_hit(UINT32_MAX, UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ln_is_that_of_libm),
		cmocka_unit_test(exponential_is_the_product),
		cmocka_unit_test(hits_to_the_point),
	};

	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
