/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ENGINE_INTERNAL_H
#define FABRICBED_ENGINE_INTERNAL_H

/* The engine's own state, shared by its files and nobody else. */
#include <errno.h>
#include <string.h>
#include "abi/wire.h"
#include "base/rng_stream.h"
#include "base/wiretime.h"
#include "engine/engine.h"
#include "engine/event_heap.h"
#include "engine/pool.h"
#include "engine/reorder.h"
#include "lib/compiler.h"

/* One end of a link, as each frame needs it: a cache line. */
struct engine_port {
	uint32_t node;
	uint32_t peer;
	uint64_t byte_ps;         /* of a byte at its rate; 0: not a whole number */
	uint64_t delay_ps;        /* propagation, and the latency of a switch at the far end */
	uint64_t last_arrival_ps; /* of what it has sent: nothing may arrive before that */
	struct port *shared;      /* its element of the dataplane's table */
	struct packet_fifo wire;  /* flying towards this port */
	uint32_t serving_bytes;   /* the frame on the line; 0: idle */
	uint32_t serving_port;    /* where it had come in */
	uint8_t serving_queue, serving_in;
	uint8_t ready;   /* packets at the wire's head that have their verdict */
	uint8_t waiting; /* a bit a class: there is something in its queue */
	uint8_t paused;  /* a bit a class: its queue may not send */
	uint8_t turn;    /* class that the weighted scheduler serves */
};

_Static_assert(sizeof(struct engine_port) == 64, "a cache line");

/* The rest of it. */
struct engine_link {
	uint64_t rate_bps;
	uint64_t peak_bps; /* the highest rate it ever had: what flies may have been sent at it */
	uint64_t own_delay_ps; /* as the fabric has it: the port's may be longer */
	/* of a switch at the far end: the part of both delays that frames for the port skip */
	uint64_t latency_ps;
};

/* What waits for a port's line, a queue a class; see egress.c. */
struct engine_queue {
	struct packet_fifo packets;
	int64_t credit; /* wire bytes that it may send in this turn */
};

/* What a port has to do with pauses, where there is PFC; see pause.c. */
struct engine_pause {
	uint64_t armed_ps; /* time of its live event; 0: none */
	uint64_t refresh_ps
		[CLASSES]; /* ingress: when the peer must be told again; 0: it is not paused */
	uint8_t storm;     /* classes that a host holds for ever */
};

struct engine_node {
	struct event_heap events;
	uint64_t trace;
	uint32_t first_port, port_count;
	bool is_host;
	bool in_order;         /* how its policy chooses depends on what happened before */
	uint8_t room;          /* a bit a class: in this window the switch refuses nothing of it */
	uint64_t window_bytes; /* that its links can bring in a window, whole frames apart */
	uint64_t
		bunched_until_ps; /* what a wire that became shorter brings at once is there then */
	uint32_t schedule_slot;   /* its place in the schedule */
	uint32_t packets_made;    /* numbers this host's packets, for the trace */
	uint8_t sending;          /* a bit a class: a host has senders of it, see engine_senders */
	uint8_t turn;             /* class with a share whose senders are served */
	bool stack_sent;          /* the latest turn was the stack's */
	uint64_t stack_bytes;     /* of its stack's frames that wait for the line */
};

/* Of a class, a host's senders that may have something to send: they take turns. */
struct engine_senders {
	uint32_t head, tail; /* places */
	int64_t credit;      /* wire bytes that they may send in this turn of the class */
};

/* One side of a flow that is under way, as its host sees it. */
struct engine_side {
	uint64_t timer_ps; /* time of its live timer event; 0: none */
	uint32_t node;
	bool active; /* a sender in its host's engine_senders */
};

/*
 * A connection that is open: its two endpoints follow. It lasts until all is acknowledged and none
 * of its packets is in flight, so that whatever comes finds whom it is for.
 */
struct engine_live {
	struct engine_side side[2]; /* of the sender, of the receiver */
	uint32_t place;
	uint32_t flow;      /* its first message */
	uint32_t number;    /* of its queue pairs */
	uint32_t drawn;     /* of its first message */
	uint32_t in_flight; /* packets of either side */
	uint32_t next;      /* of engine_senders; of blocks that are free: by place */
	uint32_t stream;    /* 0: one message */
	bool delivered;     /* of one message: what waited for that has been told */
	bool open;          /* it has not been given back */
	uint8_t class;      /* of its data at its host */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct engine_live) == 64, "a cache line");

/* What is left of one that is over. */
struct engine_record {
	uint64_t finish_ps, delivered_ps;
	struct endpoint_stats sender, receiver;
};

/* Messages of one connection: they are sent in the order in which they begin. */
struct engine_stream {
	uint32_t place; /* of its engine_live; FLOW_NONE: it is not open */
	uint32_t first; /* the message that opened it */
	uint32_t messages, begun, delivered, ended;
	uint32_t next_delivered, next_ended, last; /* operations; FLOW_NONE */
	struct endpoint_stats sender, receiver; /* that the messages that have ended account for */
};

/* Computations that are worked on one at a time. */
struct engine_work_stream {
	uint64_t free_ps; /* when the last that has come is done */
	uint32_t host;
};

/* FLOW_NOTHING: there is none yet, or it is forgotten. */
enum { FLOW_NOTHING, FLOW_WAITS, FLOW_ARMED, FLOW_BEGUN, FLOW_ENDED };

/* An operation. */
struct engine_flow_state {
	struct operation flow;
	uint64_t when_ps; /* FLOW_WAITS: of the latest event it waited for; then: when it began */
	union {
		uint32_t needs;  /* events that are still to come; then: */
		uint32_t number; /* of the connection that it opened, which its queue pairs have */
	};
	uint32_t first_wait;
	/*
	 * of a connection's only message: its engine_live, or its record if `over`; of a stream's
	 * message: its record
	 */
	uint32_t place;
	uint32_t next; /* in its stream */
	uint8_t state;
	bool over;
	/*
	 * What is drawn for it follows from this number, which does not depend on when messages of
	 * open loops were added: its number among the others, or its entry and number there.
	 */
	uint32_t drawn;
};

/* docs/engine.md says so; there may be millions. */
_Static_assert(sizeof(struct engine_flow_state) == 88 && sizeof(struct engine_record) == 136,
	"an operation's row, and what is left of it");

/* So many rows are whole pages: their memory goes back when all of them are forgotten. */
#define FORGET_ROWS 512
_Static_assert(FORGET_ROWS * sizeof(struct engine_flow_state) % 4096 == 0, "whole pages");

/* An operation that waits for another: in the list of that one. */
struct engine_waiter {
	uint32_t to : 30;
	uint32_t event : 2;
	uint32_t next;
};

/* Flows that are under way and those that are over, and who is who by queue pair; see flow.c. */
struct flow_memory {
	uint8_t *
		blocks; /* engine_live, endpoints, a reorder a queue pair; reserved address space */
	size_t block_bytes, receiver_offset, reorder_offset;
	uint32_t lines[2]; /* of the cache that a packet touches at a sender, at a receiver */
	uint32_t capacity, fresh, free_head;
	uint32_t numbers;    /* connections that are open at the same time, at most */
	uint32_t *by_number; /* the place of the one that has a number, plus 1; 0: none; reserved */
	uint64_t closed_bytes; /* that receivers got whose connection is closed */
	struct reorder_memory reorder;
	struct engine_record *records;
	uint32_t record_count;
	uint32_t free_record; /* whose flow is forgotten; its finish_ps is the next; FLOW_NONE */
	uint16_t *forgotten;  /* of each FORGET_ROWS operations, so many */
};

struct schedule_item {
	uint64_t time_ps;
	uint32_t node;
};

/* Of a connection's sender, or its receiver, by its number: what a timer event is for. */
static inline uint32_t flow_side(uint32_t number, bool sender)
{
	return 2 * number + !sender;
}

#define FLOW_NONE    UINT32_MAX
#define FLOW_NUMBERS ((1u << 23) - 1) /* queue pairs have 24 bits, and a flow has two of them */
#define LINE_BATCH   64               /* fits engine_port.ready */

struct engine {
	int64_t quantum[CLASSES]; /* wire bytes of a weighted class in a turn */
	uint32_t features;        /* SW_*, of the program */
	uint8_t strict;           /* a bit a class */
	uint8_t used_classes;     /* a bit a class that some DSCP leads to */
	uint8_t becomes
		[CLASSES]; /* bit mask: classes in which its packets may leave a switch untrimmed */
	struct engine_queue *queues;    /* by port id and class */
	struct packet_fifo *control;    /* by port id: MAC control and LLDP */
	struct engine_pause *pauses;    /* by port id; NULL without PFC */
	struct engine_senders *senders; /* by host and class */
	struct dataplane *dp;
	struct engine_observer observer;
	uint64_t seed;
	const struct fair_shares *shares; /* NULL: they are not known */
	uint32_t frame_capacity;          /* bytes of a frame that a packet holds */
	uint64_t stack_queue;
	bool lasting;
	bool overtakes; /* switches have a latency, which frames for a port itself skip */
	bool balances;  /* a switch may have another policy than ECMP */
	uint64_t now_ps, window_end_ps;
	uint64_t end_ps;       /* of the run, if no flow is left: see run_limit() */
	uint64_t lookahead_ps; /* nothing that a node does reaches another one sooner */
	struct engine_node *nodes;
	uint32_t node_count, host_count;
	struct engine_port *ports; /* by port id */
	struct engine_link *links; /* by port id */
	uint32_t port_count;
	struct schedule_item *schedule; /* a heap of nodes by their next event */
	struct packet_pool pool;
	uint32_t spare; /* pool slot for the next generated frame, or PACKET_NONE */
	struct engine_flow_state *flows; /* reserved address space */
	uint32_t listed;                 /* flows that are of no open loop */
	uint32_t flow_count, flows_ended;
	struct engine_stream *streams; /* number 1 comes first */
	uint32_t stream_count;
	struct engine_work_stream *work_streams; /* number 1 comes first */
	uint32_t work_stream_count;
	struct engine_waiter *waiters;
	uint32_t waiter_count;
	struct flow_memory memory;
	uint32_t longest_frame;      /* made so far */
	struct engine_node *running; /* its place in the schedule is set when it has run */
	struct engine_stats stats;
	int failed;
	struct engine_transport transports[OPERATION_TRANSPORTS]; /* as of engine_params */
};

/* What all transports have in common. */
static inline const struct transport_env *engine_env(const struct engine *e)
{
	return &e->transports[0].env;
}

/* schedule.c: which node has the earliest event */
void schedule_init(struct engine *e);
void schedule_update(struct engine *e, struct engine_node *n);

static inline uint64_t node_next(const struct engine_node *n)
{
	return n->events.count ? n->events.items[0].time_ps : UINT64_MAX;
}

static inline uint32_t node_index(const struct engine *e, const struct engine_node *n)
{
	return (uint32_t)(n - e->nodes);
}

/* Room for more events at a node. 0 or -ENOMEM. */
int engine_reserve_events(struct engine_node *n, uint32_t more);

/*
 * Arms an event at a node; the node's place in the schedule follows unless it is the running one.
 */
static inline void engine_arm_drawn(struct engine *e, struct engine_node *n, uint64_t time_ps,
	enum event_kind kind, uint32_t index, uint32_t drawn)
{
	if (sw_unlikely(n->events.count == n->events.capacity) && engine_reserve_events(n, 1) < 0) {
		e->failed = -ENOMEM;
		return;
	}
	event_heap_push(&n->events, event_make_drawn(time_ps, kind, index, drawn));
	if (n != e->running)
		schedule_update(e, n);
}

static inline void engine_arm(struct engine *e, struct engine_node *n, uint64_t time_ps,
	enum event_kind kind, uint32_t index)
{
	engine_arm_drawn(e, n, time_ps, kind, index, index);
}

/* Time on the line for a frame: a multiplication wherever the rate divides a byte's bits. */
static inline uint64_t port_serialise(const struct engine *e, uint32_t port, uint32_t length)
{
	if (sw_likely(e->ports[port].byte_ps))
		return wire_bytes(length) * e->ports[port].byte_ps;
	return serialise_ps(length, e->links[port].rate_bps);
}

static inline void port_set_rate(struct engine *e, uint32_t port, uint64_t rate_bps)
{
	struct engine_link *l = &e->links[port];

	l->rate_bps = rate_bps;
	if (rate_bps > l->peak_bps)
		l->peak_bps = rate_bps;
	e->ports[port].shared->quantum = pfc_quantum(rate_bps);
	e->ports[port].shared->rate_bps = rate_bps;
	e->ports[port].byte_ps = 8 * PS_PER_S % rate_bps ? 0 : 8 * PS_PER_S / rate_bps;
}

/* Its number on its node. */
static inline uint32_t port_local(const struct engine *e, uint32_t port)
{
	return port - e->nodes[e->ports[port].node].first_port;
}

static inline struct engine_queue *port_queue(const struct engine *e, uint32_t port, uint32_t class)
{
	return &e->queues[port * CLASSES + class];
}

static inline struct switch_state *port_switch(const struct engine *e, const struct engine_port *p)
{
	return &e->dp->tables.switches[p->shared->switch_id];
}

static inline bool engine_has(const struct engine *e, uint32_t feature)
{
	return e->features & feature;
}

/* The class of a DSCP. */
static inline uint8_t engine_class(const struct engine *e, uint8_t dscp)
{
	return engine_has(e, SW_CLASSES) ? e->dp->tables.config.class_of[dscp & (DSCP_COUNT - 1)]
					 : 0;
}

/* egress.c: which frame a port sends next */
void egress_init(struct engine *e, const struct engine_schedule *schedule);
/* The class among `ready`, none of them strict, to serve; a turn adds its quantum once. */
uint32_t egress_turn(struct engine *e, uint32_t port, uint32_t ready);

static inline void egress_push(struct engine *e, uint32_t port, uint32_t packet)
{
	uint32_t class = packet_get(&e->pool, packet)->queue;

	if (sw_unlikely(class >= CLASSES)) {
		packet_fifo_push(&e->pool, &e->control[port], packet);
		return;
	}
	packet_fifo_push(&e->pool, &port_queue(e, port, class)->packets, packet);
	e->ports[port].waiting |= (uint8_t)(1u << class);
}

/* The next packet of a queue, whatever the scheduler says. The queue must not be empty. */
static inline uint32_t egress_pop(struct engine *e, uint32_t port, uint32_t class)
{
	struct engine_queue *q = port_queue(e, port, class);
	uint32_t packet = packet_fifo_pop(&e->pool, &q->packets);

	if (packet_fifo_empty(&q->packets)) {
		e->ports[port].waiting &= (uint8_t) ~(1u << class);
		q->credit = 0; /* what it did not use is not saved up */
	}
	return packet;
}

/* The next packet of those that may leave now; PACKET_NONE: there is none. */
static inline uint32_t egress_next(struct engine *e, uint32_t port)
{
	struct engine_port *p = &e->ports[port];
	uint32_t ready = p->waiting & ~p->paused, strict = ready & e->strict;

	if (engine_has(e, SW_CONTROL) && !packet_fifo_empty(&e->control[port]))
		return packet_fifo_pop(&e->pool, &e->control[port]);
	if (!ready)
		return PACKET_NONE;
	if (sw_likely(strict))
		return egress_pop(e, port, 31u - (uint32_t)__builtin_clz(strict));
	return egress_pop(e, port, egress_turn(e, port, ready));
}

/* line.c: serialisation, propagation */
void line_start(struct engine *e, uint32_t port, uint32_t packet, uint64_t now);
void line_enqueue(struct engine *e, uint32_t port, uint32_t packet, uint64_t now);
void line_done(struct engine *e, struct engine_node *n, uint32_t port, uint64_t now);
/* Sends on, if the line is idle: something may leave now that could not before. */
void line_kick(struct engine *e, uint32_t port, uint64_t now);
/* Gives back a packet's place in a switch. */
void line_give(struct engine *e, uint32_t port, uint32_t length, uint32_t in_port, uint8_t queue,
	uint8_t in_queue, uint64_t now);
/*
 * Takes the head off the wire towards `port`, the node's earliest event, with its verdict, and
 * re-arms for the next. PACKET_NONE: the dataplane failed, or the event was for one that has been
 * taken already.
 */
uint32_t line_take_arrival(struct engine *e, struct engine_node *n, uint32_t port, uint64_t now);

/* drop.c: a packet's end, as the program decided and counted it */
void engine_drop(
	struct engine *e, uint32_t port, uint32_t packet, enum drop_reason reason, uint64_t now);

/* The port of a switch at which a drop is to be shown: a full queue's is the egress. */
uint32_t engine_drop_port(const struct verdict *v, uint32_t in);

/* The same where the program has had no say: counts it at the port too. */
void engine_discard(
	struct engine *e, uint32_t port, uint32_t packet, enum drop_reason reason, uint64_t now);

/* generate.c: frames that nodes send by themselves */
void make_pfc(struct engine *e, uint32_t port, uint16_t kind, uint8_t classes, uint64_t now);
void make_cnp(struct engine *e, uint32_t port, uint32_t data, uint32_t out, uint64_t now);

/* pause.c: PFC as it takes and loses effect */
int pause_init(struct engine *e);
/* A PFC frame has reached the port. */
void pause_received(struct engine *e, uint32_t port, uint64_t now);
/* The peer was told what these classes of the ingress call for now. */
void pause_sent(struct engine *e, uint32_t port, uint8_t classes, uint64_t now);
/* The ingress gave back space. */
void pause_check_resume(struct engine *e, uint32_t port, uint32_t class, uint64_t now);
/* EVENT_PAUSE */
void pause_due(struct engine *e, uint32_t port, uint64_t now);
/* A link that went or came: neither end holds the other any more. */
void pause_forget(struct engine *e, uint32_t port, uint64_t now);

/* A frame has crossed a link and has its verdict: into the counters and the node's trace. */
static inline void engine_count_hop(struct engine *e, struct engine_node *n, uint64_t packet_id,
	const struct frame *frame, uint64_t now)
{
	const struct verdict *v = &frame->verdict;
	uint64_t x = now ^ packet_id * 0x9e3779b97f4a7c15ull;
	uint64_t header[3];

	/* from the IP header on: what the program rewrites, and the ports that choose the path */
	memcpy(header, frame->bytes + sizeof(struct eth_hdr), sizeof(header));
	x ^= (header[0] ^ (header[1] << 21 | header[1] >> 43) ^
		     (header[2] << 42 | header[2] >> 22)) *
	     0xc4ceb9fe1a85ec53ull;

	x += (uint64_t)v->port << 32 | (uint64_t)v->action << 24 | (uint64_t)v->reason << 16 |
	     (uint64_t)v->flags << 8 | v->queue;
	n->trace = (n->trace ^ x) * 0xff51afd7ed558ccdull;
	n->trace ^= n->trace >> 32;
	e->stats.hops++;
	e->stats.marked += v->flags & VERDICT_MARKED;
	if (sw_unlikely(v->flags & (VERDICT_TRIMMED | VERDICT_RETURNED | VERDICT_REMAPPED))) {
		e->stats.trimmed += !!(v->flags & VERDICT_TRIMMED);
		e->stats.returned += !!(v->flags & VERDICT_RETURNED);
		e->stats.remapped += !!(v->flags & VERDICT_REMAPPED);
	}
}

/* Follows a link's rate: the length of windows, and what they bring to a node. */
void engine_bound_lookahead(struct engine *e, uint32_t port);
void engine_bound_window(const struct engine *e, struct engine_node *n);

/* flow.c: operations, from the moment that they are added until they are over */
int flow_memory_init(struct engine *e);
void flow_memory_release(struct engine *e);
/* The start or the end of an operation that is due. Returns the message that starts, else NULL. */
struct engine_live *flow_due(struct engine *e, struct engine_node *n, uint32_t flow, uint64_t now);
/* It waits for nothing that is still to come. */
void flow_ready(struct engine *e, uint32_t flow);
/* After a call into an endpoint: whether messages have arrived, or are acknowledged. */
void flow_follow_up(struct engine *e, struct engine_live *l, bool sender, uint64_t now);
/* Gives its memory back if nothing of it is left to happen. */
void flow_settle(struct engine *e, struct engine_live *l);
/* A frame arrived at the receiver: counts data that is reordered. Before the endpoint has it. */
void flow_packet_arrived(
	struct engine *e, struct engine_live *l, const struct packet *k, const struct rx_frame *rx);
/* A packet was dropped: it is no longer in flight. */
void flow_packet_lost(struct engine *e, const struct packet *k, const uint8_t *bytes);
/* Whom a frame is for; NULL: no flow that is under way. */
struct engine_live *flow_find(const struct engine *e, const struct rx_frame *rx, bool *ret_sender);

static inline struct engine_live *flow_block(const struct engine *e, uint32_t place)
{
	return (struct engine_live *)(e->memory.blocks + (size_t)place * e->memory.block_bytes);
}

static inline struct endpoint *flow_endpoint(
	const struct engine *e, struct engine_live *l, bool sender)
{
	return (struct endpoint *)((uint8_t *)l +
				   (sender ? sizeof(*l) : e->memory.receiver_offset));
}

/* With many flows a host none of it is in the cache: what a packet touches is asked for at once. */
static inline void flow_prefetch(const struct engine *e, struct engine_live *l, bool sender)
{
	const uint8_t *from = (const uint8_t *)flow_endpoint(e, l, sender);

	__builtin_prefetch(l, 1);
	for (uint32_t i = 0; i < e->memory.lines[!sender]; i++)
		__builtin_prefetch(from + 64 * i, 1);
}

/* The open connection with that number; NULL: there is none. */
static inline struct engine_live *flow_numbered(const struct engine *e, uint32_t number)
{
	uint32_t place = e->memory.by_number[number];

	return place ? flow_block(e, place - 1) : NULL;
}

/* Its open connection; NULL: there is none. */
static inline struct engine_live *flow_live(const struct engine *e, uint32_t flow)
{
	const struct engine_flow_state *f = &e->flows[flow];
	uint32_t place = f->place;

	if (sw_unlikely(f->flow.stream && operation_is_message(&f->flow)))
		place = e->streams[f->flow.stream - 1].place;
	else if (f->over || f->state == FLOW_NOTHING)
		return NULL;
	return place != FLOW_NONE ? flow_block(e, place) : NULL;
}

/* The number whose turn it is: its own, unless that is still taken when it begins. */
static inline uint32_t flow_number(const struct engine *e, uint32_t flow)
{
	const struct engine_flow_state *f = &e->flows[flow];
	uint64_t numbers = e->memory.numbers;

	/* open loops begin far from lists, and from each other */
	if (f->flow.arrives)
		return (uint32_t)((numbers / 2 + f->flow.entry * (numbers / 5 * 2) +
					  f->flow.group) %
				  numbers);
	return f->drawn % (uint32_t)numbers;
}

static inline uint8_t flow_dscp(const struct engine *e, const struct operation *f)
{
	return f->dscp ? f->dscp - 1 : engine_env(e)->data_dscp;
}

static inline uint64_t flow_seed(const struct engine *e, uint32_t flow)
{
	return rng_stream(e->seed, "flow", e->flows[flow].drawn);
}

/* Whether a host's transport or stack made the packet, and not a switch. */
static inline bool host_made(const struct engine *e, const struct packet *k)
{
	return k->id >> 32 < e->host_count;
}

/* rx_headers.c: what the engine reads of a frame */
uint8_t frame_dscp(const uint8_t *bytes);
/* Where the transport header starts, in a frame that the program has parsed. False: none. */
bool frame_parse(
	const struct engine *e, const struct packet *k, const uint8_t *bytes, struct rx_frame *ret);

/* host.c: what a host does */
/* A frame with its verdict, which is not for the port itself. */
void host_arrive(
	struct engine *e, struct engine_node *n, uint32_t port, uint32_t packet, uint64_t now);
/* Of a side: see flow_side(). */
void host_timer(struct engine *e, struct engine_node *n, uint32_t side, uint64_t now);
/* EVENT_START */
void host_start(struct engine *e, struct engine_node *n, uint32_t flow, uint64_t now);
void host_line_free(struct engine *e, struct engine_node *n, uint64_t now);

/* payload.c: bytes of a message, made and checked */
void payload_fill(uint8_t *bytes, uint32_t flow, uint64_t offset, uint32_t length);
bool payload_matches(const uint8_t *bytes, uint32_t flow, uint64_t offset, uint32_t length);

#endif
