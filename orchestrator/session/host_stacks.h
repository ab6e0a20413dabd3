/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_HOST_STACKS_H
#define FABRICBED_HOST_STACKS_H

/*
 * Hosts' kernel stacks: what programs send is read from the host's TAP interface, and joins its
 * queue in the engine; what reaches a host for a program is written to it.
 */
#include <stdint.h>
#include "base/error.h"
#include "base/net.h"
#include "bringup/bringup.h"
#include "engine/engine.h"

struct stacks;

/* By host, since the beginning. */
struct stack_counts {
	uint64_t *sent;      /* frames that its programs sent */
	uint64_t *delivered; /* that were handed to it */
	uint64_t *lost;      /* of these, not taken: interface down, or no memory */
	uint64_t *refused;   /* that its programs sent and that were not taken in time */
};

/* Of a fabric built with stacks; both outlive it. 0 or -errno with why. */
int stacks_new(struct stacks **ret, const struct built *b, struct engine *e, const struct net *net,
	struct error *why);
void stacks_free(struct stacks *s);

/* Polls as readable when a program has sent something. */
int stacks_fd(const struct stacks *s);

/*
 * What programs have sent, in two steps, so that the clock can be read between them: a frame that
 * has been read was sent before. stacks_read() reads as many frames as it can hold, all hosts
 * alike; nothing while it holds some. stacks_send() queues them at their hosts. Both return their
 * number.
 */
unsigned stacks_read(struct stacks *s);
unsigned stacks_send(struct stacks *s);

/*
 * Frames that programs have sent and that were not read in time since the last call: the machine
 * was too slow. Checks only hosts that have sent something.
 */
uint64_t stacks_refused(struct stacks *s);

/* Hands a frame to a host's stack. */
void stacks_give(struct stacks *s, uint32_t host, const uint8_t *bytes, uint32_t length);

const struct stack_counts *stacks_counts(const struct stacks *s);

#endif
