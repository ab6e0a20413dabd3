/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PATHS_H
#define FABRICBED_PATHS_H

/*
 * Which path a packet takes: a part of an assembled transport. A path is a UDP source port (and
 * with IPv6 a flow label), which the switches hash. Each scheme is a file, with its options and
 * their keys, and a row of PATHS.
 */
#include "base/schema.h"
#include "transport/transport.h"

/* In the order in which they are listed: symbol, word in files. */
#define PATHS(X)                                                                                   \
	X(single, "single")                                                                        \
	X(spray, "spray")                                                                          \
	X(subflows, "subflows")                                                                    \
	X(plb, "plb")                                                                              \
	X(reps, "reps")                                                                            \
	X(adaptive, "adaptive")                                                                    \
	X(oblivious, "oblivious")

/* Paths that there are: all source ports of the dynamic range. */
#define PATHS_ALL (ENTROPY_MASK + 1)

/* The moment at which a path is asked for. */
struct path_request {
	uint64_t now_ps;
	uint64_t window_bytes; /* payload that may be under way; SENDER_NONE: no limit */
};

/* What came back of a packet. */
struct path_answer {
	uint64_t now_ps;
	uint16_t path; /* that it took, below count() */
	bool bad;      /* marked (CE), or its payload was cut off */
};

struct paths_kind {
	const char *name; /* in files */
	struct map map;   /* keys of its options; their size */
	/* Paths that a flow takes, numbered from 0: 1..PATHS_ALL. NULL: PATHS_ALL. */
	uint32_t (*count)(const void *options);
	size_t state_bytes; /* of a sender, a multiple of 8 */
	/* Bytes behind these, likewise, that depend on the options. NULL: none. */
	size_t (*more_bytes)(const void *options);
	/* state is zeroed. rng: a stream of random numbers of its own (lib/rng.h). May be NULL. */
	void (*open)(void *state, const struct transport_env *env, const void *options,
		uint64_t rng, uint64_t now);
	/* The path of the packet that leaves now: below count(). */
	uint16_t (*choose)(void *state, const struct path_request *request);
	/* Paths that it has taken so far. NULL: as many as packets, up to count(). */
	uint32_t (*used)(const void *state);
	/* Each may be NULL. */
	void (*on_answer)(void *state, const struct path_answer *answer);
	void (*on_timeout)(void *state, uint64_t now);
	const char *unmarked; /* what it does without switches that mark; NULL: it needs none */
	bool reorders;        /* a flow's packets take several paths at a time */
};

#define PATHS_DECLARE(symbol, word) extern const struct paths_kind paths_kind_##symbol;
PATHS(PATHS_DECLARE)

#define PATHS_ONE(symbol, word) +1
enum { PATHS_KINDS = PATHS(PATHS_ONE) };

extern const struct paths_kind *const paths_kinds[PATHS_KINDS];

#endif
