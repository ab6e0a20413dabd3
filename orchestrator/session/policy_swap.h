/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_SWAP_H
#define FABRICBED_POLICY_SWAP_H

/* A policy of the user's in the place of the switches' own, while the session lasts. */
#include <jansson.h>
#include <stdint.h>
#include "base/error.h"

struct policy_source;
struct session;

/*
 * Between two windows: all switches balance by this policy from now on, whatever the scenario gives
 * them; NULL: by their own again. What a policy remembers begins anew. No frame is lost. A new
 * reference to what docs/control.md says, or NULL with why, and an error in *ret_error (-EINVAL:
 * the file is wrong): the policy is the one before, unless why says that the switches have their
 * own.
 */
json_t *session_swap_policy(
	struct session *s, const struct policy_source *source, int *ret_error, struct error *why);

/* The name of the file that BALANCE_FILE is; NULL: there is none. */
const char *session_policy_file(const struct session *s);

/* How often that was done: a scenario can't tell it. */
uint32_t session_policy_swaps(const struct session *s);

#endif
