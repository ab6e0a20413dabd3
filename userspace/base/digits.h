/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DIGITS_H
#define FABRICBED_DIGITS_H

/*
 * Numbers as text where there are very many: printf() takes ten times as long. Each writes to `at`,
 * without a zero, and returns the end.
 */
#include <stdint.h>
#include <string.h>

#define DIGITS_MAX 24 /* of any of them */

/* At least `least` digits, at most 20. */
static inline char *digits_put(char *at, uint64_t n, unsigned least)
{
	char text[20], *end = text + sizeof(text), *first = end;

	while (n || end - first < (long)least) {
		*--first = (char)('0' + n % 10);
		n /= 10;
	}
	memcpy(at, first, (size_t)(end - first));
	return at + (end - first);
}

/* Millionths, as printf()'s "%.6f" has them: "12.345678". */
static inline char *digits_put_millionths(char *at, uint64_t n)
{
	at = digits_put(at, n / 1000000, 1);
	*at++ = '.';
	return digits_put(at, n % 1000000, 6);
}

#endif
