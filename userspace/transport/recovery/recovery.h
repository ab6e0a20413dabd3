/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RECOVERY_H
#define FABRICBED_RECOVERY_H

/*
 * What is sent, what has arrived, and what is sent again: a part of an assembled transport, at both
 * ends. It owns the sequence numbers. It decides neither when nor on which path a packet leaves.
 * Each scheme is a file, with its options and their keys, and a row of RECOVERIES. Every data
 * packet that arrives is answered.
 */
#include "base/schema.h"
#include "transport/kind.h"

/* In the order in which they are listed: symbol, word in files. */
#define RECOVERIES(X)                                                                              \
	X(coding, "coding")                                                                        \
	X(dupack, "dupack")                                                                        \
	X(subflow_dupack, "subflow-dupack")                                                        \
	X(go_back_n, "go-back-n")                                                                  \
	X(trim, "trim")                                                                            \
	X(returned, "return")                                                                      \
	X(sack, "sack")

/* How messages are cut into packets. Numbers run through all messages of the connection. */
struct packets {
	uint64_t bytes;      /* of all messages */
	uint32_t count;      /* of all messages */
	uint32_t of_message; /* of one */
	uint32_t mtu;        /* payload of each but the last */
	uint32_t last_bytes; /* payload of the last */
};

/* Counts end at UINT32_MAX: more packets are never sent, but memory is asked for with more. */
struct packets packets_of_flow(const struct transport_env *env, const struct flow_spec *flow);

static inline uint32_t packets_payload(const struct packets *p, uint32_t number)
{
	return number + 1 == p->count ? p->last_bytes : p->mtu;
}

/* First in the options of each scheme. Its key: what it is, and rto_least_ps in words. */
struct recovery_options {
	uint64_t rto_ps; /* 0: transport_rto() */
};

#define RECOVERY_RTO(what, least)                                                                  \
	KEY("rto", TIME, struct recovery_options, rto_ps, AUTO, .min = PS_PER_NS, .max = TIME_MAX, \
		.help = what "; auto: the larger of " least " and 10 base round trips")

#define RECOVERY_RTO_LEAST_PS (100 * PS_PER_US) /* rto_least_ps of most: "100us" */

/* The common head of either end's state; the scheme's own follows it. */
struct recovery {
	struct endpoint
		*ep; /* counters; done, finished_ps, delivered_ps and received are set here */
	const struct transport_env *env;
	const void *options;
	struct packets packets;
	uint64_t base_rtt_ps; /* of this flow */
	uint64_t rto_ps;      /* its timeout, not doubled */
	uint64_t fair_bps;    /* its fair share of the hosts' links; 0: unknown */
	uint64_t rng;         /* a stream of random numbers of its own (lib/rng.h) */
	uint32_t messages;    /* of the connection */
	uint32_t released;    /* sender: messages that may be sent */
};

/* A data packet: struct assembled_data in host byte order, with the BTH's PSN. */
struct recovery_data {
	uint32_t psn;     /* sequence number, as its subflow counts; 24 bits of it if it came */
	uint32_t number;  /* which packet of all messages, or which symbol of its message */
	uint32_t message; /* which it is of */
	uint16_t subflow;
	bool again;       /* it was sent before */
	uint64_t sent_ps; /* its first bit left the sender; not for next() to set */
};

/* An answer: struct assembled_answer in host byte order, with the BTH's PSN. */
struct recovery_answer {
	uint32_t psn;      /* of the packet that it answers; coding: 24 bits of it */
	uint32_t expected; /* of its subflow: all before have arrived; coding: messages complete */
	uint32_t count;    /* arrived beyond that; coding: symbols of the message */
	uint32_t base;     /* number of bit 0 of the bitmap */
	uint64_t bitmap;   /* bit i: base + i has arrived */
	uint16_t subflow;
	bool trimmed;     /* the packet came without its payload */
	bool nak;         /* the receiver wants all from `expected` on again */
	uint64_t sent_ps; /* of the packet that it answers; not for on_data() to set */
};

/* What an answer or a timer told the sender. */
struct recovery_news {
	uint64_t acked_bytes; /* payload newly known to have arrived */
	uint64_t lost_bytes;  /* payload newly thought lost, by what arrived after it */
	bool timeout;         /* a timeout: all that was under way is thought lost */
};

struct recovery_kind {
	const char *name; /* in files */
	struct map map;   /* keys of its options; their size */
	/* Bytes of the state of either end, its head included, a multiple of 8. */
	size_t (*size)(const struct transport_env *env, const void *options,
		const struct flow_spec *flow, bool sender);
	/* The head has been filled in, and the rest is zeroed. */
	void (*open)(struct recovery *r, bool sender, uint64_t now);

	/* -- the sender -- */

	/* Whether there is a packet that may be sent now, if window and pace allow it. */
	bool (*has)(const struct recovery *r, uint64_t now);
	/* The next packet; there is one. It is entered in the books as sent now. */
	void (*next)(struct recovery *r, struct recovery_data *ret, uint64_t now);
	/* Payload that is believed to be under way. */
	uint64_t (*unacked)(const struct recovery *r);
	/* False: it can't be an answer to what was sent, and nothing has changed. */
	bool (*on_answer)(struct recovery *r, const struct recovery_answer *answer,
		struct recovery_news *news, uint64_t now);
	/*
	 * The headers of its own packet came back, without its message. False: as
	 * above. NULL: it does not use them.
	 */
	bool (*on_returned)(struct recovery *r, const struct recovery_data *data,
		struct recovery_news *news, uint64_t now);
	/* When on_timer is to be called, 0: not at all; asked after each call. */
	uint64_t (*due)(const struct recovery *r);
	void (*on_timer)(struct recovery *r, struct recovery_news *news, uint64_t now);

	/* -- the receiver -- */

	/*
	 * A packet arrived. Fills in the answer, of which psn, subflow and trimmed are set.
	 * False: it can't be one of this flow, and nothing has changed.
	 */
	bool (*on_data)(struct recovery *r, const struct recovery_data *data,
		struct recovery_answer *ret, uint64_t now);
	/* The same without its payload and its message. NULL: it is ignored. */
	bool (*on_trimmed)(struct recovery *r, const struct recovery_data *data,
		struct recovery_answer *ret, uint64_t now);
	/*
	 * Where its payload lies in the messages and how long it is. NULL: where its number says.
	 * False: it can't be one of this flow.
	 */
	bool (*place)(const struct recovery *r, const struct recovery_data *data,
		uint64_t *ret_offset, uint32_t *ret_bytes);

	/* -- what others reckon with -- */

	uint64_t rto_least_ps;  /* of a timeout that is not given */
	const char *loss_harm;  /* what a lossy class does to it; NULL: it copes with losses */
	const char *order_harm; /* what packets out of order do to it; NULL: it copes with them */
	/* From which subflows_needed() makes the number of subflows; 0: it doesn't. NULL: 0 */
	uint32_t (*subflow_threshold)(const void *options);
	enum transport_trims needs; /* of switches */
	bool even;                  /* a message's packets are all as long */
};

#define RECOVERY_DECLARE(symbol, word) extern const struct recovery_kind recovery_kind_##symbol;
RECOVERIES(RECOVERY_DECLARE)

#define RECOVERY_ONE(symbol, word) +1
enum { RECOVERY_KINDS = RECOVERIES(RECOVERY_ONE) };

extern const struct recovery_kind *const recovery_kinds[RECOVERY_KINDS];

#endif
