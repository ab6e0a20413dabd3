/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CONTROL_H
#define FABRICBED_CONTROL_H

/*
 * How fast a sender sends: a part of an assembled transport. It gives a window, or a time before
 * which no packet may leave, or both. It does not decide what is sent. Each scheme is a file, with
 * its options and their keys, and a row of CONTROLS.
 */
#include "base/schema.h"
#include "transport/transport.h"

/* In the order in which they are listed: symbol, word in files. */
#define CONTROLS(X)                                                                                \
	X(rate, "rate")                                                                            \
	X(window, "window")                                                                        \
	X(swift, "swift")                                                                          \
	X(dctcp, "dctcp")                                                                          \
	X(dcqcn, "dcqcn")                                                                          \
	X(nscc, "nscc")                                                                            \
	X(strack, "strack")

/* What the answer to a packet tells. */
struct control_answer {
	uint64_t now_ps;
	uint64_t rtt_ps;        /* from the packet's first bit out to its answer */
	uint64_t base_rtt_ps;   /* the same in the idle fabric, of this flow */
	uint32_t acked_bytes;   /* payload that is newly known to have arrived; may be 0 */
	uint32_t unacked_bytes; /* payload that is believed to be under way, after this answer */
	uint32_t hops;          /* switches that the packet crossed */
	bool marked;            /* CE */
	bool trimmed;           /* its payload was cut off: it is lost, and on_loss() is not told */
};

/* What recovery gives up. */
struct control_loss {
	uint64_t now_ps;
	uint32_t bytes;         /* payload that is lost, by later packets that arrived, or: */
	uint32_t unacked_bytes; /* payload that was believed to be under way, this included */
	bool timeout;           /* nothing came for so long that all of that is thought lost */
};

struct control_kind {
	const char *name;   /* in files */
	struct map map;     /* keys of its options; their size */
	size_t state_bytes; /* of a sender, a multiple of 8 */
	/* state is zeroed. rng: a stream of random numbers of its own (lib/rng.h). */
	void (*open)(void *state, const struct transport_env *env, const void *options,
		const struct flow_spec *flow, uint64_t rng, uint64_t now);
	/* Each of the following may be NULL. */
	void (*on_answer)(void *state, const struct control_answer *answer);
	/* Told once for each packet or burst. */
	void (*on_loss)(void *state, const struct control_loss *loss);
	/*
	 * Payload that may be under way, in bytes. One packet may always be. NULL: there is no
	 * limit.
	 */
	uint64_t (*window)(const void *state);
	/*
	 * When to look again whether a packet may leave: not after `now` if one may. NULL: at any
	 * time.
	 */
	uint64_t (*ready)(void *state, uint64_t now);
	/* A frame of that modelled length leaves now. */
	void (*on_send)(void *state, uint32_t frame_bytes, uint64_t now);
	/* The rate that it paces at, in bits a second; SENDER_NONE. NULL: it does not pace. */
	uint64_t (*rate)(const void *state, uint64_t now);
	/* Of the options: the largest window, a struct quantity. None: nobody knows how large. */
	struct field window_most;
	uint32_t least_share; /* as in struct transport_facts */
	const char *unmarked; /* what it does without switches that mark; NULL: it needs none */
	/* The part of flow_spec.fair_bps that it paces at in the mean. NULL: it needs none. */
	double (*share)(const void *options);
};

#define CONTROL_DECLARE(symbol, word) extern const struct control_kind control_kind_##symbol;
CONTROLS(CONTROL_DECLARE)

#define CONTROL_ONE(symbol, word) +1
enum { CONTROL_KINDS = CONTROLS(CONTROL_ONE) };

extern const struct control_kind *const control_kinds[CONTROL_KINDS];

/* Payload of one bandwidth-delay product: of the slowest host link and the longest round trip. */
uint64_t control_bdp(const struct transport_env *env);

#define CONTROL_WINDOW_MAX (1ull << 40)

/* A window that a key gives, in bytes: a packet at least, CONTROL_WINDOW_MAX at most. */
double control_window(const struct transport_env *env, const struct quantity *q);

static inline double control_clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

#endif
