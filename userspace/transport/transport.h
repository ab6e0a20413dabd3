/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TRANSPORT_H
#define FABRICBED_TRANSPORT_H

/*
 * A transport as the engine knows it: one struct transport_ops. It is given the time, its
 * randomness and its memory; it allocates nothing, prints nothing and reads no clock. A connection
 * carries one message, or several one after the other: two endpoints, the sender's and the
 * receiver's, and between them one queue pair or several.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all flows of a transport share. Those of a fabric differ in the last four. */
struct transport_env {
	uint32_t mtu;           /* payload bytes of a full packet */
	uint64_t host_rate_bps; /* slowest host link */
	uint64_t base_rtt_ps;   /* longest idle round trip of a full packet and its answer */
	uint64_t queue_bytes;   /* what a queue of data in a switch may hold; 0: unknown */
	bool ip6;
	bool payload_full;    /* frames carry real payload bytes, else headers only */
	uint8_t data_dscp;    /* of data, where a flow has none of its own */
	uint8_t control_dscp; /* of answers */
	uint8_t notify_dscp;  /* of congestion notifications */
	uint8_t qps;          /* queue pairs of a flow, at least 1 */
	uint8_t spare_qps;    /* numbers beyond these that a flow takes: all flows take as many */
	uint16_t paths;       /* UDP source ports that the data of a queue pair takes, at least 1 */
	const void *options;  /* the transport's own, e.g. struct strack_options */
};

struct flow_spec {
	uint32_t id;
	uint32_t src_host, dst_host;
	uint8_t src_mac[6];  /* of the sender's port */
	uint8_t dst_mac[6];  /* of the receiver's port */
	uint8_t src_next[6]; /* of the switch port that the sender is cabled to */
	uint8_t dst_next[6];
	uint64_t bytes; /* of a message, at least 1 */
	uint32_t more;  /* messages after the first; if there are, bytes is a multiple of the MTU */
	uint64_t base_rtt_ps; /* idle round trip of a full packet and its answer; 0: env's */
	uint64_t seed;
	uint64_t fair_bps; /* its fair share, on the wire; 0: it is not known */
	uint8_t dscp;      /* of its data */
};

static inline uint64_t flow_base_rtt(const struct transport_env *env, const struct flow_spec *flow)
{
	return flow->base_rtt_ps ? flow->base_rtt_ps : env->base_rtt_ps;
}

/* InfiniBand keeps queue pairs 0 and 1 for its own management (volume 1, 3.9). */
#define QP_FIRST 2u

/* Pairs of numbers that a flow takes, used or not: by them a number tells the flow. */
static inline uint32_t flow_qp_numbers(const struct transport_env *env)
{
	return (uint32_t)env->qps + env->spare_qps;
}

/*
 * The number of a flow's queue pair i at its sender or its receiver: they come in pairs, the
 * sender's even.
 */
static inline uint32_t flow_qp(
	const struct transport_env *env, uint32_t flow, uint32_t i, bool sender)
{
	return QP_FIRST + 2 * (flow * flow_qp_numbers(env) + i) + !sender;
}

/* The flow that a queue pair belongs to, and which of its pairs it is. */
static inline uint32_t qp_flow(const struct transport_env *env, uint32_t qp)
{
	return (qp - QP_FIRST) / 2 / flow_qp_numbers(env);
}

static inline uint32_t qp_index(const struct transport_env *env, uint32_t qp)
{
	return (qp - QP_FIRST) / 2 % flow_qp_numbers(env);
}

/* Queue pairs of a flow with messages of so many bytes: no more than one of them has packets. */
static inline uint32_t flow_qps(const struct transport_env *env, uint64_t bytes)
{
	uint64_t packets = (bytes + env->mtu - 1) / env->mtu;

	return packets < env->qps ? (uint32_t)packets : env->qps;
}

/* Where a flow's source ports lie: the dynamic range (RFC 6335, section 6), as RoCEv2 uses it. */
#define ENTROPY_PORTS 0xc000u
#define ENTROPY_MASK  0x3fffu

/* The UDP source port of a side, a queue pair and a path; seed: of the flow_spec. */
uint16_t flow_port(uint64_t seed, bool sender, uint32_t pair, uint32_t path);

/*
 * What one side of a flow counted: a transport counts packets, of which a connection never sends as
 * many as 2^32; what it leaves to the engine comes last.
 */
struct endpoint_stats {
	uint32_t packets_sent;
	uint32_t retransmitted;
	uint32_t duplicates; /* receiver: data that it had already; spurious at the sender */
	uint32_t timeouts;
	uint32_t probes;
	uint32_t paths_used;
	uint32_t trimmed;  /* receiver: headers of data that came without their payload */
	uint32_t returned; /* sender: its own headers that a switch sent back */
	uint32_t
		out_of_order; /* receiver: data that came before some that should have come first */
	uint32_t naks;        /* sent by the receiver, heard by the sender */
	uint32_t marks;       /* CNPs, likewise; SACKs that tell of a mark, heard by the sender */
	/* of the engine: */
	uint32_t lost;         /* sender: data that was dropped, as headers too */
	uint32_t reordered;    /* receiver: data that came after some that was sent later */
	uint32_t reorder_sum;  /* of the reordering extents (engine/reorder.h) of that */
	uint32_t reorder_most; /* the largest of them */
};

#define RTO_BACKOFF_MAX 6 /* times that a timeout is doubled at most, once at each expiry */

/* The retransmission timeout: the given one; if that is 0, ten RTTs, but at least `least_ps`. */
static inline uint64_t transport_rto(uint64_t given_ps, uint64_t least_ps, uint64_t base_rtt_ps)
{
	uint64_t rtts_ps = 10 * base_rtt_ps;

	return given_ps ? given_ps : rtts_ps > least_ps ? rtts_ps : least_ps;
}

struct transport_ops;

/* The common head of every endpoint; the transport's own state follows it. */
struct endpoint {
	const struct transport_ops *ops;
	uint64_t
		deadline_ps; /* on_timer is due then; 0: never. The transport sets it in any call */
	uint64_t delivered_ps; /* receiver: all messages have arrived; 0: not yet */
	uint64_t finished_ps;  /* sender: all messages are acknowledged; 0: not yet */
	uint64_t received;     /* receiver: payload bytes that it has, of all messages */
	uint32_t done; /* of several messages, those that have arrived, or are acknowledged */
	struct endpoint_stats stats;
};

/* A frame that came in: Ethernet header first, `captured` bytes of it present. */
struct rx_frame {
	const uint8_t *bytes;
	uint32_t captured;
	uint32_t transport_offset; /* where the BTH starts */
	uint32_t transport_length; /* modelled bytes from the BTH to the end, ICRC included */
	uint8_t ecn;               /* ECN_* of the IP header */
	/* A switch cut the payload off: these are data's headers, and good, at the receiver. */
	bool trimmed;
	bool returned; /* the same, but they came back to the sender, whose own they are */
};

/* A frame to be sent; bytes has room for HEADERS_MAX. */
struct tx_frame {
	uint8_t *bytes;
	uint32_t captured;       /* bytes of headers written */
	uint32_t length;         /* modelled length: Ethernet header to ICRC, payload included */
	uint64_t payload_offset; /* of the payload in the message */
	uint32_t payload_length; /* 0: control */
};

#define HEADERS_MAX 120

/*
 * What the headers of any frame need: so little that with its hop header an IPv4 frame fits two
 * cache lines.
 */
static inline uint32_t headers_capacity(bool ip6)
{
	return ip6 ? HEADERS_MAX : 96;
}

/* What a sender goes by. SENDER_NONE: the transport has no such thing, or not yet. */
#define SENDER_NONE UINT64_MAX
struct sender_state {
	uint64_t rate_bps;        /* that it keeps to, of all its queue pairs */
	uint64_t window_bytes;    /* payload that may be under way */
	uint64_t rtt_ps;          /* the latest round trip that it measured */
	uint64_t in_flight_bytes; /* payload that it believes to be under way */
};

#define SENDER_STATE_NONE                                                                          \
	{                                                                                          \
		.rate_bps = SENDER_NONE, .window_bytes = SENDER_NONE, .rtt_ps = SENDER_NONE        \
	}

/* What an operation asks of the caller. */
#define TRANSPORT_REPLY 0x1 /* `reply` was filled: send it ahead of data */
#define TRANSPORT_WAKE  0x2 /* next_packet may have something now */

struct transport_ops {
	/*
	 * Bytes of an endpoint, the struct endpoint included. Same for every call with these
	 * arguments.
	 */
	size_t (*size)(const struct transport_env *env, const struct flow_spec *flow, bool sender);
	/* Sets up zeroed memory of that size. env outlives the endpoint. */
	void (*open)(struct endpoint *ep, const struct transport_env *env,
		const struct flow_spec *flow, bool sender, uint64_t now);
	/*
	 * The first `messages` of a sender's connection may be sent; it is opened with one.
	 * Returns TRANSPORT_*. NULL: a connection carries one message only.
	 */
	unsigned (*release)(struct endpoint *ep, uint32_t messages, uint64_t now);
	/* A frame for this endpoint arrived. Returns TRANSPORT_*. */
	unsigned (*on_packet)(struct endpoint *ep, const struct rx_frame *rx,
		struct tx_frame *reply, uint64_t now);
	/* deadline_ps has come. Returns TRANSPORT_*. */
	unsigned (*on_timer)(struct endpoint *ep, struct tx_frame *reply, uint64_t now);
	/*
	 * Which bytes of the message a data frame carries, for a check of full payload: they
	 * start at bytes + *ret_start. False: not a data frame. Trusts nothing of the frame.
	 */
	bool (*payload)(const struct endpoint *ep, const struct rx_frame *rx, uint64_t *ret_offset,
		uint32_t *ret_start, uint32_t *ret_length);
	/* The next data packet, its first bit to leave now; false: nothing may be sent now. */
	bool (*next_packet)(struct endpoint *ep, struct tx_frame *tx, uint64_t now);
	/*
	 * Overrides SENDER_STATE_NONE with what a sender goes by now, for samples: nothing of it
	 * changes. NULL: there is nothing to tell.
	 */
	void (*sender_state)(const struct endpoint *ep, uint64_t now, struct sender_state *ret);
};

#endif
