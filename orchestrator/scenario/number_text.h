/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_NUMBER_TEXT_H
#define FABRICBED_SCENARIO_NUMBER_TEXT_H

/* Numbers as text that reads as the same number. Each fills buf and returns it. Private to scenario/. */
#define NUMBER_TEXT 64

/* The shortest decimal: "0.25", "1e-09". */
const char *number_text(char buf[NUMBER_TEXT], double value);

/* The shortest percentage: "25%". */
const char *percent_text(char buf[NUMBER_TEXT], double share);

/* As people write a probability: a percentage, unless that is a long row of zeroes. */
const char *chance_text(char buf[NUMBER_TEXT], double chance);

#endif
