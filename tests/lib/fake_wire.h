/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_FAKE_WIRE_H
#define FABRICBED_TEST_FAKE_WIRE_H

/*
 * A network for testing transports without an engine: N senders, each with a port of its own, one
 * queue that all their data shares, and a way back for each that is never congested. Its clock is
 * the time of its next event. Every frame is parsed and must be whole; a frame that is not is
 * counted in `malformed`.
 *
 *   sender --rate--delay--> [queue] --queue_rate--delay--> receiver --rate--2 delay--> sender
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/wire.h"
#include "transport/transport.h"

/* What a switch did with a frame that found no room. */
enum fake_cut { FAKE_WHOLE, FAKE_TRIMMED, FAKE_RETURNED };

struct fake_packet {
	uint8_t bytes[HEADERS_MAX];
	uint32_t captured, length;
	uint32_t flow;
	bool forward; /* from the flow's sender */
	bool marked;
	enum fake_cut cut; /* headers only: on to the receiver, or back to the sender */
	uint8_t opcode;
	uint32_t psn;
	bool ack_request;
	uint16_t path;   /* UDP source port less the flow's first */
	uint64_t number; /* counts the frames of the whole wire from 0 */
	uint64_t sent_ps;
	struct fake_packet *next;
};

struct fake_hooks {
	void *arg;
	/*
	 * Each may be NULL. Called as a frame leaves its endpoint: loses it, delays it by so
	 * much.
	 */
	bool (*drop)(void *arg, const struct fake_packet *p);
	uint64_t (*delay)(void *arg, const struct fake_packet *p);
	void (*see)(void *arg, const struct fake_packet *p);
	/* Cuts the payload off a frame of the flow's sender. */
	enum fake_cut (*cut)(void *arg, const struct fake_packet *p);
	/* A frame that is not lost or cut travels twice. */
	bool (*twice)(void *arg, const struct fake_packet *p);
};

struct fake_config {
	const struct transport_ops *ops;
	const struct transport_env *env;
	uint32_t senders;
	uint64_t message_bytes;
	uint32_t more; /* messages of each sender after the first, all of them released at once */
	uint64_t rate_bps, queue_rate_bps;
	uint64_t delay_ps;
	uint32_t buffer_bytes;           /* of the queue */
	enum fake_cut overflow;          /* what becomes of data beyond it; FAKE_WHOLE: dropped */
	uint32_t kmin_bytes, kmax_bytes; /* egress ECN; both 0: off */
	uint64_t seed;
	uint64_t start_gap_ps;    /* between the flows' starts */
	uint64_t measure_from_ps; /* of the queue's statistics */
	struct fake_hooks hooks;
};

struct fake_flow {
	struct endpoint *ends[2]; /* receiver, sender */
	uint64_t timers[2];       /* what is armed for each; 0: nothing */
	uint64_t busy_ps[2];
	bool sending;                /* the sender's port is busy */
	struct fake_packet *control; /* the sender's replies, ahead of data */
	uint8_t *arrivals; /* by packet of the message: how often it reached the receiver */
	uint16_t first_port[2];
	uint64_t data_arrived;
};

struct fake_wire {
	struct fake_config config;
	uint64_t now;
	struct fake_flow *flows;
	struct fake_event *events;
	size_t event_count, event_capacity;
	uint64_t sequence, frames, rng;
	struct fake_packet *head, **tail; /* the queue, the packet in service first */
	uint64_t depth_bytes;
	uint64_t malformed;
	uint64_t drops, drops_after, last_drop_ps;
	uint64_t cuts; /* frames that lost their payload, for whatever reason */
	uint64_t samples, depth_sum, max_depth; /* since measure_from_ps, as seen by arrivals */
};

void fake_wire_open(struct fake_wire *w, const struct fake_config *config);
void fake_wire_close(struct fake_wire *w);

/* Runs until nothing is left to do, or the clock would pass until_ps. */
void fake_wire_run(struct fake_wire *w, uint64_t until_ps);

/* Model time of a frame on a link. */
uint64_t fake_wire_time(uint32_t length, uint64_t rate_bps);
bool fake_wire_finished(const struct fake_wire *w);

#endif
