/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FIDELITY_TEXT_H
#define FABRICBED_FIDELITY_TEXT_H

/*
 * The words for how faithful a fabric on the wall clock is, of its "fidelity" object
 * (docs/results.md).
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define FIDELITY_TEXT 96

struct fidelity_text {
	bool good;                    /* all of it, up to now */
	char now[FIDELITY_TEXT];      /* "faithful", or "faithful now; degraded 12 s of 95" */
	char whole[FIDELITY_TEXT];    /* of one that has ended: "DEGRADED for 12 s of 95" */
	char remedy[FIDELITY_TEXT];   /* "" if none is needed; at most 66 columns */
	char in_short[FIDELITY_TEXT]; /* the same in 30 */
	char late[FIDELITY_TEXT];     /* at most 66 columns */
	char load[FIDELITY_TEXT];
};

enum fidelity_detail {
	FIDELITY_VERDICT, /* and what would cure it */
	FIDELITY_LATE,    /* and how late events were */
	FIDELITY_LOAD,    /* and how busy the box is */
};

/*
 * Lines of a report, on the whole life of one that has ended, else on now. Of NULL nothing is
 * printed.
 */
void fidelity_print(const json_t *fidelity, bool ended, enum fidelity_detail detail, FILE *out);

void fidelity_text(struct fidelity_text *ret, const json_t *fidelity);

#endif
