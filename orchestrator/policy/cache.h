/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_CACHE_H
#define FABRICBED_POLICY_CACHE_H

/*
 * Compiled policies: $XDG_CACHE_HOME/fabricbed/policies, else ~/.cache/fabricbed/policies, else, as
 * root without a home of its own, /var/cache/fabricbed/policies; a file each. What is there is run,
 * as root too: nobody but its owner may write to the folder.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

#define CACHE_DAYS 30 /* an entry that was not used for so long is removed */

struct policy_cache {
	int fd;
	char path[PATH_MAX];
	/* of a policy that is being made: a folder of this process, by way of fd; "": none */
	char work[64];
};

/* What an entry is found by. All of it is compared, not only its hash. */
struct cache_key {
	const char *name; /* of the file, as messages have it */
	const char *text;
	size_t length;
	uint64_t stamp; /* of what it is compiled with */
};

/* Two objects, allocated. */
struct cache_objects {
	char *bpf, *native;
	size_t bpf_bytes, native_bytes;
};

/* Makes the folder if it is not there. 0, or -errno with why. */
int cache_open(struct policy_cache *ret, struct error *why);
void cache_close(struct policy_cache *c);

/* 0; -ENOENT: there is no such entry, or none that is whole; -ENOMEM. */
int cache_get(const struct policy_cache *c, const struct cache_key *key, struct cache_objects *ret);

/* code; if it is below 0, with why: it came of writing to the cache's folder. */
int cache_note_failure(const struct policy_cache *c, int code, struct error *why);

/* Makes c->work. 0, or -errno with why. */
int cache_make_work(struct policy_cache *c, struct error *why);

/*
 * Adds an entry, in the place of one that is there, by way of c->work: nobody ever sees a part of
 * it. Removes what is old. 0, or -errno with why.
 */
int cache_put(struct policy_cache *c, const struct cache_key *key, const struct cache_objects *o,
	struct error *why);

/* Whether the verifier of the kernel that runs has passed an entry's object, and that it has. */
bool cache_is_verified(const struct policy_cache *c, const struct cache_key *key);
void cache_note_verified(const struct policy_cache *c, const struct cache_key *key);

void cache_objects_release(struct cache_objects *o);

#endif
