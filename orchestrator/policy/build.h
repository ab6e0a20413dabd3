/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_BUILD_H
#define FABRICBED_POLICY_BUILD_H

/*
 * A load-balancing policy of the user's: one C file (bpf/fabricbed/policy.h), compiled as the
 * switch is, for the kernel and for the process. It is compiled once: the cache keeps what came of
 * it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "dataplane/dataplane.h"
#include "policy/cache.h"
#include "policy/source.h"

struct policy_build {
	uint64_t hash; /* of the file's text */
	bool cached;   /* nothing was compiled */
	struct cache_objects
		objects; /* bpf: the switch's programs with the policy linked into them */
	void *library;   /* of the native one, loaded; NULL: not yet */
	int library_fd;  /* 0: none */
};

/*
 * 0 or -errno with why: the first error with the file's line. *ret_messages (ret_messages may be
 * NULL): all that the compiler said of a file that it refuses, allocated; else NULL. Needs no
 * privilege: the kernel's verifier has not seen it.
 */
int policy_build(struct policy_build *ret, const struct policy_source *source, char **ret_messages,
	struct error *why);

/* What dataplanes take; the function is not loaded yet. It is there as long as b and source are. */
struct policy_code policy_code_of(const struct policy_build *b, const struct policy_source *source);

/* The verifier of this kernel passes it, now or before. As policy_verify(). */
int policy_be_verified(
	const struct policy_build *b, const struct policy_source *source, struct error *why);

/* Loads the native one. *ret_function is there until policy_release(). 0, or -errno with why. */
int policy_load(
	struct policy_build *b, uint32_t (**ret_function)(struct policy *p), struct error *why);

void policy_release(struct policy_build *b);

#endif
