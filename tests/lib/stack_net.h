/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_STACK_NET_H
#define FABRICBED_TEST_STACK_NET_H

/* A class_net whose hosts have kernel stacks, and all that is seen of their frames. */
#include "lib/class_net.h"
#include "lib/packet.h"

#define STACK_FRAME  9014u          /* stack_frame */
#define STACK_RATE   10000000000ull /* bits a second, of a chain's first link */
#define STACK_TAKEN  400            /* frames whose bytes are kept */
#define STACK_STARTS 20000          /* at ports */

/* A frame that was handed to a stack. */
struct stack_taken {
	uint64_t now_ps;
	uint32_t host, length;
	uint8_t bytes[STACK_FRAME];
};

/* A frame that began to leave a port. */
struct stack_start {
	uint64_t now_ps;
	uint32_t port, length;
	uint16_t type;    /* of Ethernet */
	uint8_t protocol; /* of IP: TCP is the stacks', UDP the streams' */
	uint8_t class;
};

/* Between stack_net_init() and class_net_open(&net) a test may change net. */
struct stack_net {
	struct class_net net;
	uint32_t taken_count, start_count;
	uint64_t dropped[DROP_REASON_COUNT]; /* heard of, each with all its bytes */
	uint64_t control;                    /* frames for a node's processor */
	struct stack_taken taken[STACK_TAKEN];
	struct stack_start starts[STACK_STARTS];
};

/* A queue of 1 MB a host; goes on when nothing is left to do. To be freed by stack_net_close(). */
struct stack_net *stack_net_new(
	uint32_t hosts, uint32_t switches, const struct class_link *links, uint32_t count);
void stack_net_close(struct stack_net *s);

/* h0 - s2 - s3 - h1, each link unlike the others; the last is slow, so that frames queue there. */
struct stack_net *stack_net_chain(void);
#define STACK_CHAIN_DELAY 700001u /* ps, of the first link */

/* Its flows are STrack's, which sends nothing again that only waits for less than this. */
void stack_net_strack(struct stack_net *s, uint64_t base_rtt_ps);

/* A whole TCP segment of `length` bytes from host to host, numbered so that no two are alike. */
struct stack_segment {
	uint32_t src, dst, length, number;
	bool ip6;
	uint8_t class;
};

void stack_segment_write(uint8_t *bytes, const struct stack_segment *g);

/* What engine_stack_send() says. */
int stack_net_send_bytes(struct stack_net *s, uint32_t host, const uint8_t *bytes, uint32_t length);
int stack_net_send(struct stack_net *s, const struct stack_segment *g);

/* The i-th frame taken is this segment after so many switches, the last leaving by `port`. */
void stack_net_assert_taken(const struct stack_net *s, uint32_t i, const struct stack_segment *g,
	uint32_t switches, uint32_t port);

/* By the engine's sum, by the tables' and by what was heard. */
void stack_net_assert_balanced(const struct stack_net *s);

#endif
