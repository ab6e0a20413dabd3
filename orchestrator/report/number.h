/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NUMBER_H
#define FABRICBED_NUMBER_H

/*
 * Numbers for a person, with the unit that suits their size; JSON has one unit for each key
 * instead, the one in its name. Each function writes to buf, of NUMBER_TEXT bytes, and returns it.
 */
#include <jansson.h>

#define NUMBER_TEXT 40

/* In sentences, with four digits at least. */
const char *number_time(char buf[NUMBER_TEXT], double us);   /* "214 us", "1.387 s" */
const char *number_bytes(char buf[NUMBER_TEXT], double n);   /* "212.7 KB": of 1,024 */
const char *number_rate(char buf[NUMBER_TEXT], double gbps); /* "92.40 Mbps": decimal */

/*
 * A model time, exact to a millionth of its unit: "12.052 us", "1.2345 ms", "12.34 s"; "?" if it is
 * no number.
 */
const char *number_moment(char buf[NUMBER_TEXT], const json_t *us);

/* In narrow columns. */
enum number_format {
	NUMBER_NONE,   /* a text */
	NUMBER_WHOLE,  /* exact below a million, then as NUMBER_SCALED */
	NUMBER_SCALED, /* three digits and a decimal unit: "1.50k" */
	NUMBER_GBPS,   /* the same of Gbps, as bps */
	NUMBER_BYTES,  /* three digits and a unit of powers of 1,024: "95.0K" */
	NUMBER_PERCENT,
	NUMBER_TIME, /* microseconds, written with a unit: "1.25ms" */
};

/* NAN is "-". */
const char *number_short(char buf[NUMBER_TEXT], enum number_format format, double number);

#endif
