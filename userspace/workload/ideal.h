/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_IDEAL_H
#define FABRICBED_IDEAL_H

/*
 * What a workload asks of a fabric, and the time that no transport can beat. See
 * docs/closed-forms.md.
 */
#include <stdbool.h>
#include "base/net.h"
#include "workload/workload.h"

struct workload_size {
	uint64_t messages;
	uint64_t bytes;   /* payload */
	uint64_t packets; /* full ones and last ones, none sent twice */
	uint64_t
		ideal_ps; /* bound on the largest completion time (first bit out to last SACK in) */
			  /* of those messages whose completion time counts */
	/* the same by the payload alone, for messages that start at the same time */
	uint64_t payload_ps;
	uint64_t starts_ps; /* from the first such start to the last */
	struct {
		uint64_t packet_hops; /* links that its packets cross */
		uint64_t dscps;       /* of its data, a bit each */
	} transports[OPERATION_TRANSPORTS];
};

/* What packets of the transports are like. */
struct workload_frames {
	uint32_t mtu; /* payload bytes of a full packet */
	bool ip6;
	uint8_t dscp; /* of messages that have none of their own */
	struct {
		uint32_t data_extension;   /* bytes after the BTH of any data packet, at least */
		uint32_t answer_extension; /* and of an answer to it */
		uint32_t pairs; /* queue pairs that divide a message's packets; 0 or 1: none do */
		bool even; /* a message's packets are all as long; else all but the last are full */
	} transports[OPERATION_TRANSPORTS];
};

struct measure;

/* Every host has a switch and reaches every other. net lives on. 0 or -ENOMEM. */
int measure_new(struct measure **ret, const struct net *net, const struct workload_frames *frames);
void measure_free(struct measure *x);

/*
 * A list, or its next part, whose messages begin no earlier than those before. Sets their
 * base_rtt_ps and ideal_ps. 0 or -ENOMEM.
 */
int measure_take(struct measure *x, struct operations *m);

/* The list is whole: before measure_size(), and before another list. */
void measure_end_list(struct measure *x);

/* Of all lists. The bound is the largest of theirs. */
struct workload_size measure_size(const struct measure *x);

/* All that for one list. */
int workload_measure(struct operations *m, const struct net *net,
	const struct workload_frames *frames, struct workload_size *ret);

#endif
