/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_CHECK_H
#define FABRICBED_POLICY_CHECK_H

/*
 * A policy on trial: random packets through switches with random queues, on both dataplanes. After
 * each packet the verdict, the frame and all tables must be the same in both.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

struct policy;
struct policy_code;
struct policy_source;

#define CHECK_SWITCHES 4 /* with up to 8, 16, 64 and 254 candidates */
#define CHECK_TEXT     256

struct check_params {
	const struct policy_source *source; /* for messages */
	const struct policy_code *code;
	/* What code->function returned last: the caller's function tells. */
	const uint32_t *returned;
	uint64_t seed;
	uint32_t packets;
	bool kernel; /* else the process' half alone */
};

/* Instructions of a switch's program: as the kernel keeps it, and as its verifier walked them. */
struct check_size {
	uint32_t loaded, walked;
};

struct check_result {
	uint32_t packets;            /* that were run */
	uint32_t choices;            /* of these, the policy had to choose for */
	uint32_t out_of_range;       /* and returned a number that is no candidate */
	bool differs;                /* the last packet came out differently, and none followed */
	char difference[CHECK_TEXT]; /* how */
	char example[CHECK_TEXT];    /* the first that was out of range */
	struct check_size policy, ecmp; /* of a switch with this policy, and with ECMP */
};

/*
 * Runs in a process of its own, whose network namespace goes with it. 0, however it went; -EINVAL:
 * the kernel refuses the policy, or it crashes; -EPERM: no privilege for the kernel's half; another
 * -errno; with why.
 */
int policy_check(struct check_result *ret, const struct check_params *params, struct error *why);

#endif
