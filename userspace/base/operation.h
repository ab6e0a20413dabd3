/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_OPERATION_H
#define FABRICBED_OPERATION_H

/*
 * What hosts do: a graph of operations, each of which begins when others have begun, ended or been
 * received. Workloads make such a graph, and the engine executes it. Operations are numbered in the
 * order of their list.
 */
#include <stdbool.h>
#include <stdint.h>

/*
 * A message to another host, a computation, or a barrier. It begins `start_ps` after all that it
 * waits for, or at start_ps if it waits for nothing. A barrier has no host: it ends half a fabric
 * round trip after the last of what it waits for, everywhere at the same time.
 */
struct operation {
	uint32_t src_host, dst_host; /* the same: a computation; OPERATION_BARRIER: both */
	uint64_t bytes;              /* of a message, at least 1; else 0 */
	uint64_t start_ps;
	union {
		uint64_t
			base_rtt_ps; /* a message's idle round trip; 0: the longest of the fabric */
		uint64_t lasts_ps;   /* a computation */
	};
	union {
		uint64_t ideal_ps; /* a message: its time alone in the idle fabric; 0: unknown */
		uint64_t after_ps; /* a computation: from the end of its work to its own end */
	};
	uint32_t entry;  /* of the scenario's workloads that it is of */
	uint32_t stream; /* below; messages and computations each count theirs from 1 on; 0: none */
	bool waits : 1;  /* for others */
	bool again : 1;  /* waits for one between the same two hosts and no shorter */
	bool unmeasured : 1; /* a message whose completion time does not count */
	bool arrives : 1;    /* of an open loop: it counts from when it begins, and has no stream */
	uint8_t dscp;        /* of its data, plus 1; 0: that of transport_env */
	uint8_t transport;   /* below OPERATION_TRANSPORTS; 0: that of hosts */
	/* of its entry's: what results tell of together; of an open loop: its number there */
	uint32_t group;
};

/*
 * The messages of a stream have the same two hosts, size, DSCP and transport. They are sent in the
 * order in which they begin, with what the connection has learnt of the network from those before.
 * Where a stream has more than one, the size is a multiple of the MTU, and all of them together
 * have at most STREAM_PACKETS.
 *
 * The computations of a stream have the same host. They are worked on one at a time, in the order
 * in which they could begin (by number where that is at the same time), as by something that does
 * one thing at a time: a GPU's port inside its host. During after_ps of one the next is worked on.
 */
#define STREAM_PACKETS (1u << 24)

#define OPERATION_BARRIER UINT32_MAX
#define OPERATIONS_MAX    (1u << 29)

/* That operations of a fabric may have, each with its options: struct engine_params. */
#define OPERATION_TRANSPORTS 16

static inline bool operation_is_message(const struct operation *o)
{
	return o->bytes > 0;
}

static inline bool operation_is_barrier(const struct operation *o)
{
	return o->src_host == OPERATION_BARRIER;
}

/* What may be waited for, and whose host knows of it at that moment. */
enum operation_event {
	OPERATION_BEGUN,     /* at the sender */
	OPERATION_ENDED,     /* at the sender: all is acknowledged */
	OPERATION_DELIVERED, /* at the receiver: the last byte is there */
};

/*
 * Operation `to` waits for an event of operation `from`, which has the smaller number. The event
 * must be one of the host that `to` begins at, unless either is a barrier.
 */
struct wait {
	uint32_t from, to;
	enum operation_event event;
};

#endif
