/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_UNITS_H
#define FABRICBED_UNITS_H

/* Quantities as people write them, and as the project prints them. */
#include <stdint.h>
#include <stddef.h>

#define PS_PER_NS 1000ull
#define PS_PER_US 1000000ull
#define PS_PER_MS 1000000000ull
#define PS_PER_S  1000000000000ull

/*
 * Each takes a whole word ("100Gbps", "1.5us", "32KB", "25%"), spaces before the unit allowed, and
 * sets *ret only on success. 0; -EINVAL: not such a quantity; -ERANGE: too large for its type, or
 * negative.
 */
int parse_rate(const char *text, uint64_t *ret_bps); /* bps, Kbps, Mbps, Gbps, Tbps: decimal */
int parse_time(const char *text, uint64_t *ret_ps); /* ps, ns, us, ms, s; exact to the picosecond */
int parse_bytes(
	const char *text, uint64_t *ret_bytes); /* B, KB, MB, GB, KiB, ...: powers of 1,024 */
int parse_percent(const char *text, double *ret_share); /* "25%" is 0.25 */

/* Shortest exact form with a unit; buf of at least UNITS_TEXT. Returns buf. */
#define UNITS_TEXT 32
const char *format_rate(char *buf, uint64_t bps);
const char *format_time(char *buf, uint64_t ps);
const char *format_bytes(char *buf, uint64_t bytes);

#endif
