/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ENGINE_H
#define FABRICBED_ENGINE_H

/*
 * The engine keeps model time: it holds packets in egress queues, serialises them at link rate,
 * lets them propagate, and runs each arrival through the dataplane. Time is in picoseconds. It
 * reads no clock and does no I/O; its caller may change links and routes between calls of
 * engine_run().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/drop.h"
#include "base/fair_shares.h"
#include "base/metrics.h"
#include "base/net.h"
#include "base/operation.h"
#include "dataplane/dataplane.h"
#include "transport/transport.h"

struct engine;

/*
 * Callbacks, each of which may be NULL. Called as things happen, in model order at a node; between
 * nodes there is no order within a window, and where windows end depends on until_ps of
 * engine_run().
 */
struct engine_observer {
	/* `captured` of its `length` bytes are there, as it was when it ended. */
	void (*dropped)(void *arg, uint64_t now_ps, uint32_t port, enum drop_reason reason,
		const uint8_t *bytes, uint32_t captured, uint32_t length);
	/* The classes whose queues at a port are paused, a bit each: before and from now on. */
	void (*paused)(void *arg, uint64_t now_ps, uint32_t port, uint8_t before, uint8_t after);
	/* A frame starts to leave a port: `captured` of `length` bytes are there. */
	void (*sent)(void *arg, uint64_t now_ps, uint32_t port, const uint8_t *bytes,
		uint32_t captured, uint32_t length);
	/* A frame for the node's own processor, which may engine_send_control() on its ports. */
	void (*control)(
		void *arg, uint64_t now_ps, uint32_t port, const uint8_t *bytes, uint32_t captured);
	/* A frame for the kernel stack of a host. NULL: hosts have none. */
	void (*stack)(
		void *arg, uint64_t now_ps, uint32_t host, const uint8_t *bytes, uint32_t captured);
	/* All of a message is acknowledged. Its result is final once it is `over`. */
	void (*ended)(void *arg, uint64_t now_ps, uint32_t flow);
	/* A window has ended: all before engine_now() has been told. */
	void (*settled)(void *arg);
	void *arg;
};

/* How a port serves its queues (802.1Q, 8.6.8): strict ones first, then these by their shares. */
struct engine_schedule {
	uint32_t frame_bytes;  /* of the longest data frame, where a class has a share */
	double share[CLASSES]; /* of what strict classes leave; 0: strict priority */
};

/* A transport that flows may have: see struct operation. */
struct engine_transport {
	const char *name; /* for results */
	const struct transport_ops *ops;
	struct transport_env env; /* spare_qps follows from the others' */
};

struct engine_params {
	const struct net *net;
	struct dataplane *dataplane;
	/* That of hosts comes first. ops NULL: there are no more. */
	struct engine_transport transports[OPERATION_TRANSPORTS];
	uint64_t seed;
	struct engine_schedule schedule;
	struct engine_observer observer;
	uint32_t stack_frame; /* most bytes of a frame that a host's stack sends; 0: none does */
	uint64_t stack_queue; /* bytes of them that wait for a host's line */
	bool lasting;         /* goes on when no flow is left */
};

/* Copies what it needs of net; writes the ports' constants to the tables. 0, -ENOMEM or -EINVAL. */
int engine_new(struct engine **ret, const struct engine_params *params);
void engine_free(struct engine *e);

/*
 * Adds operations, which begin now at the earliest, and their dependences. They are numbered from 0
 * in their order. 0, -ENOMEM or -EINVAL.
 */
int engine_add_flows(struct engine *e, const struct operation *flows, size_t count,
	const struct wait *waits, size_t wait_count);

/*
 * The fair shares of messages whose connections are opened from now on; NULL: they are not known.
 * They outlive the engine, or the next call.
 */
void engine_set_shares(struct engine *e, const struct fair_shares *shares);

/* Payload that receivers have got of all messages so far. */
uint64_t engine_received(const struct engine *e);

/* How many there are, of all kinds. */
uint32_t engine_flow_count(const struct engine *e);

/* Streams of computations: the highest number that one of them has. */
uint32_t engine_work_streams(const struct engine *e);

/*
 * Does all that is due before until_ps; returns earlier when engine_done() or *stop is set (may be
 * NULL; read between windows). 0; -EBUSY: more connections would be open than queue pairs have
 * numbers for; -EOVERFLOW: a transport's size() takes more for a flow than it said before; or
 * -errno from the dataplane. Then only counters may be read.
 */
int engine_run(struct engine *e, uint64_t until_ps, const volatile bool *stop);

/* Model time up to which all has happened. */
uint64_t engine_now(const struct engine *e);

/* Time of the next event, UINT64_MAX if nothing will ever happen by itself. */
uint64_t engine_next(const struct engine *e);

/* Whether every flow has finished and the run has come to its end, one lookahead later. */
bool engine_done(const struct engine *e);

/*
 * A link, by either of its ports: up or down; its rate; its delay on top of that at engine_new().
 * They hold from its next packet on. Where a delay shrinks, no packet overtakes another.
 */
void engine_set_link_up(struct engine *e, uint32_t port, bool up);
void engine_set_link_rate(struct engine *e, uint32_t port, uint64_t rate_bps);
void engine_set_link_delay(struct engine *e, uint32_t port, uint64_t extra_ps);

/* What a switch held when it died is lost. Its links are its caller's to cut and mend. */
void engine_empty_switch(struct engine *e, uint32_t node);

/* A host that pauses these classes (a bit each) of its switch for ever; 0 ends it. */
void engine_set_storm(struct engine *e, uint32_t host, uint8_t classes);

/*
 * A frame from a host's kernel stack, in two steps: the buffer for it (of stack_frame bytes; NULL:
 * no memory, and engine_run() will say so), then the length that was written. It joins the queue
 * for the host's line, or is counted as DROP_HOST_QUEUE (-ENOBUFS). Such frames and those of the
 * engine's own senders take turns.
 */
uint32_t engine_stack_capacity(const struct engine *e);
uint8_t *engine_stack_buffer(struct engine *e);
int engine_stack_send(struct engine *e, uint32_t host, uint32_t length);

/* Queues a frame of the node's own processor ahead of all queues. 0, -ENOBUFS or -EMSGSIZE. */
int engine_send_control(
	struct engine *e, uint32_t port, const uint8_t *bytes, uint32_t length, uint64_t now_ps);

struct engine_stats {
	/* the counters of base/metrics.h; in_flight is counted one by one, not derived */
#define COUNTER(section, name, help) uint64_t name;
	METRICS(COUNTER, METRIC_SKIP, METRIC_SKIP, METRIC_SKIP, METRIC_SKIP)
#undef COUNTER
	uint64_t dropped[DROP_REASON_COUNT];
	uint64_t paused_ps;          /* of all queues together, up to now */
	uint64_t hops;               /* frames that crossed a link */
	uint64_t max_queue_delay_ps; /* from admission to the first bit, over all switch ports */
	uint64_t max_queue_bytes;    /* of any switch port, the frame on the line included */
	uint64_t flows, flows_done;  /* messages */
	uint64_t bytes_delivered;    /* payload, of finished flows */
	uint64_t trace_hash;         /* over every packet event of every node in its order */
};

void engine_stats(const struct engine *e, struct engine_stats *ret);

/* Counters that are always current; not the sums over ports, in_flight and the hash. */
const struct engine_stats *engine_counts(const struct engine *e);

/* Nothing that a node does reaches another one sooner than this. */
uint64_t engine_lookahead(const struct engine *e);

/* sent + made = delivered + consumed + dropped + in flight; tables agree on drops. 0 or -EIO. */
int engine_check_balance(const struct engine *e);

struct engine_flow_result {
	struct operation flow;
	uint64_t start_ps;     /* when it began; UINT64_MAX: not yet */
	uint64_t finish_ps;    /* its last packet was acknowledged; 0: not yet */
	uint64_t delivered_ps; /* its last packet arrived; 0: not yet */
	uint64_t received;     /* payload bytes of it that its receiver has */
	bool over;             /* it has ended, and none of its packets is under way any more */
	struct endpoint_stats sender, receiver;
};

/* Of one that is forgotten: no operation, of no entry (UINT32_MAX). */
void engine_flow_result(const struct engine *e, uint32_t flow, struct engine_flow_result *ret);

/* A message under way. */
struct engine_flow_now {
	uint32_t flow;
	uint64_t received;          /* payload bytes of it that its receiver has */
	uint64_t marks;             /* that its sender was told of */
	struct sender_state sender; /* of a stream: in flight at its first message that lasts */
};

/* Calls take for each message that has begun and has not ended, in no order. */
void engine_flows_now(const struct engine *e,
	void (*take)(void *arg, const struct engine_flow_now *now), void *arg);

/* A message that is there: one of an open loop is from when it begins. */
static inline bool engine_flow_counts(const struct engine_flow_result *f)
{
	return operation_is_message(&f->flow) && (!f->flow.arrives || f->start_ps != UINT64_MAX);
}

/*
 * A message that `arrives` and is over: nobody asks for its result again, and what it took is for
 * others. So memory follows the flows that are under way.
 */
void engine_forget(struct engine *e, uint32_t flow);

/* Completion time by that of the message alone in the idle fabric; 0: unknown. */
static inline double engine_flow_slowdown(const struct engine_flow_result *f)
{
	return f->finish_ps && f->flow.ideal_ps
		       ? (double)(f->finish_ps - f->start_ps) / (double)f->flow.ideal_ps
		       : 0;
}

/* What tells a message's data from others' on the wire. */
struct engine_flow_wire {
	uint32_t qp;    /* number of the receiver's first queue pair; each next is 2 higher */
	uint32_t qps;   /* how many; 0: its stream is not open yet */
	uint32_t ports; /* UDP source ports of a queue pair, one after the other in their range */
	uint8_t dscp;
	const char *transport; /* its name, as engine_params have it */
};

/* Before it begins the number is the one whose turn it is: it may still be taken then. */
void engine_flow_wire(const struct engine *e, uint32_t flow, struct engine_flow_wire *ret);

/* The UDP source port number `i` of its queue pair number `pair`. */
uint16_t engine_flow_port(const struct engine *e, uint32_t flow, uint32_t pair, uint32_t i);

/* Bytes in an egress queue now, the frame on the line included. */
uint32_t engine_queue_depth(const struct engine *e, uint32_t port, uint32_t class);

/* How long it has been paused, up to now. */
uint64_t engine_paused(const struct engine *e, uint32_t port, uint32_t class);

/* How long a port's line has been busy, preambles and gaps included, up to now. */
uint64_t engine_busy(const struct engine *e, uint32_t port);

/* The tables, for whoever shows queues, pauses or buffers. */
const struct sw_tables *engine_tables(const struct engine *e);

/* An egress queue in a circle of queues that wait for each other. */
struct engine_waiting {
	uint32_t port;
	uint8_t class;
};

/*
 * Whether queues wait for each other in a cycle that time does not open: each is paused by an
 * ingress that can't drain below XON before some of them move. Writes one such cycle, in the order
 * of waiting, up to `room` of it. Returns its length, 0 if there is none, or -ENOMEM.
 */
int engine_find_deadlock(const struct engine *e, struct engine_waiting *ret, size_t room);

/* A port's link now: bits a second; picoseconds of propagation, a fault's included. */
uint64_t engine_link_rate(const struct engine *e, uint32_t port);
uint64_t engine_link_delay(const struct engine *e, uint32_t port);

/* Bytes that an egress queue may hold now, pool included. UINT64_MAX: lossless, or a host's. */
uint64_t engine_queue_limit(const struct engine *e, uint32_t port, uint32_t class);

/* Whether it may not send now. */
bool engine_is_paused(const struct engine *e, uint32_t port, uint32_t class);

#endif
