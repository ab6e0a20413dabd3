/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ERROR_H
#define FABRICBED_ERROR_H

/* Why an operation on the machine failed, in words that the user can act upon. */

struct error {
	char text[512]; /* what failed, why, and the remedy where there is one */
};

#define ERROR_INIT                                                                                 \
	{                                                                                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

/* Fills *e (NULL is fine) and returns code, a negative errno. */
__attribute__((format(printf, 3, 4))) int error_set(
	struct error *e, int code, const char *format, ...);

#endif
