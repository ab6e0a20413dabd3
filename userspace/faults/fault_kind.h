/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FAULT_KIND_H
#define FABRICBED_FAULT_KIND_H

/*
 * Kinds of faults. Each has a row of FAULTS, its values in struct fault_effect, and in fault_kind.c
 * a row of fault_keys[] and one of fault_kinds[]. No other code knows a kind.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/schema.h"

struct engine;
struct fault;
struct net;
struct sw_tables;

/* In the order of lists. X(symbol, its place in messages' list of faults of a link). */
#define FAULTS(X)                                                                                  \
	X(RATE, "{rate: 25%}")                                                                     \
	X(DELAY, ", {delay: 5us}")                                                                 \
	X(LOSS, ", {loss: 0.1%}")                                                                  \
	X(GILBERT, ", {gilbert: ...}")                                                             \
	X(FLAKY, ", {flaky: ...}")                                                                 \
	X(ERRORS, ", {errors: 1e-9}")                                                              \
	X(PAUSE, "")                                                                               \
	X(DOWN, "")

enum fault_kind {
#define X(symbol, example) FAULT_##symbol,
	FAULTS(X)
#undef X
		FAULT_KINDS
};

/* What a fault befalls, and so what its target names. */
enum fault_target { TARGET_LINK, TARGET_SWITCH, TARGET_HOST, FAULT_TARGETS };

/* What a fault does: its kind, and the values of that. */
struct fault_effect {
	enum fault_kind kind;
	union {
		struct {
			double enter, leave;        /* 0..1, a frame: from good to bad and back */
			double lost_good, lost_bad; /* 0..1, of a frame that meets it */
		} gilbert;                          /* the largest: zeros of it are zeros of all */
		struct {
			uint64_t every_ps, last_ps; /* means: start to start, and length */
		} flaky;
		double share;      /* RATE: of the link's rate that is left, 0 < share < 1 */
		double loss;       /* LOSS: of frames, 0 < loss <= 1 */
		double bit_errors; /* ERRORS: of bits, 0 < rate < 1 */
		uint64_t delay_ps; /* DELAY: on top of the link's own */
		uint32_t class;    /* PAUSE */
	};
};

/* What a fault costs whoever uses the link. */
struct fault_cost {
	uint32_t frame_bytes; /* of frames of that size */
	double left;          /* share of the frames, or of the link's rate, that comes through */
	uint64_t delay_ps;    /* is added to the link's delay */
	uint64_t hold_up_ps;  /* a packet may be held up for so long */
};

/* A fault begins or ends, in a fabric that runs. */
struct fault_change {
	struct engine *engine;
	struct sw_tables *tables; /* with the features of the kind */
	const struct net *net;
	uint64_t seed; /* the scenario's */
	const struct fault_effect *effect;
	uint32_t at; /* either port of the link; or the node */
	bool begins;
};

struct fault_kind_info {
	/* Its end and its beginning in events.jsonl, by target; NULL: it has no such target. */
	const char *events[FAULT_TARGETS][2];
	const char *one, *several; /* for inject, of one target and of several; the values follow */
	uint32_t features;         /* SW_*: what the tables must have */
	uint32_t drops;            /* bits 1 << enum drop_reason: what it takes frames by */
	bool cuts;                 /* nothing passes the link, or any of the switch's: reroute */
	bool steady;               /* what is left is the same at all times, and not by chance */
	bool pauses_class;         /* `class` must be a lossless one */
	void (*set)(const struct fault_change *c); /* NULL: `frames` or `cuts` does all */
	/* Sets the frames' fault on a cable from now_ps on; all values 0: none. NULL: never. */
	void (*frames)(struct fault *f, const struct fault_effect *e, uint64_t now_ps);
	/* Adds to an event the figures that hold from then on. NULL: there are none. */
	void (*note)(json_t *event, const struct fault_change *c);
	/* Changes *cost, which is that of no fault. NULL: unless it cuts, it costs nothing. */
	void (*cost)(struct fault_cost *cost, const struct fault_effect *e);
	/* For the report, as a sentence about the target goes on. */
	void (*describe)(FILE *out, const struct fault_effect *e);
};

extern const struct fault_kind_info fault_kinds[FAULT_KINDS];

/* The keys of a scenario's `do`: the name of a kind, and its values in struct fault_effect. */
extern const struct key fault_keys[FAULT_KINDS];

static inline bool fault_befalls(enum fault_kind kind, enum fault_target target)
{
	return fault_kinds[kind].events[target][true];
}

/* Begins or ends it, but for the cuts. */
void fault_set(const struct fault_change *c);

/*
 * The same of frames alone (`frames`), and only of those towards one port. The outcome depends on
 * the seed, the port (of bursts: the link) and the time or the number of the frame alone, so that a
 * fault that ends and returns, or another beside it, does not change it. now_ps is below 2^63. The
 * model and its limits: bpf/sw/cable.h.
 */
void fault_set_port(struct sw_tables *t, uint32_t port, const struct fault_effect *e, bool begins,
	uint64_t seed, uint64_t now_ps);

/* Of a fault in force. */
struct fault_cost fault_cost(const struct fault_effect *e, uint32_t frame_bytes);

#endif
