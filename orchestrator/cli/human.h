/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_HUMAN_H
#define FABRICBED_HUMAN_H

/*
 * Figures for a person: at least four digits and the unit that suits the size. Files and JSON have one unit for each key instead,
 * the one in its name. Each writes to buf, of HUMAN_TEXT, and returns it.
 */
#define HUMAN_TEXT 32

const char *human_time(char buf[HUMAN_TEXT], double us); /* "214 us", "1.387 s" */
const char *human_bytes(char buf[HUMAN_TEXT], double n); /* "212.7 KB": of 1,024, as in scenarios */
const char *human_rate(char buf[HUMAN_TEXT], double gbps); /* "92.40 Mbps": decimal */

#endif
