/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POOL_H
#define FABRICBED_POOL_H

/*
 * Packets, each in two parts: what the engine's lists need, 32 bytes, and the frame with its hop
 * header. Both are arrays in reserved address space that the system backs with memory on first use:
 * taking a packet never allocates, memory follows the peak, and walking a list touches no frame.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dataplane/dataplane.h"

#define PACKET_NONE UINT32_MAX

struct packet {
	uint32_t next;     /* in whichever list it is */
	uint32_t length;   /* modelled frame length */
	uint32_t in_port;  /* in a switch: where it came in */
	uint16_t captured; /* bytes of the frame that are there */
	uint8_t queue;     /* egress queue that it is in, or left: a class, or QUEUE_CONTROL */
	uint8_t in_queue;  /* class in which it came in, and PACKET_* */
	uint64_t id;       /* node that made it << 32 | its how-manieth packet */
	uint64_t time_ps;  /* on a wire: of its arrival; in a queue: since when */
};

#define PACKET_LOSSLESS 0x80 /* its space is counted at its ingress too */
#define PACKET_AHEAD    0x40 /* on a wire: the program has run and took no space */
#define PACKET_STACK    0x20 /* waits for its host's line, and is of the host's kernel stack */

_Static_assert(sizeof(struct packet) == 32, "two packets a cache line");

struct packet_pool {
	struct packet *packets;
	uint8_t *frames;
	size_t frame_bytes; /* hop header included, whole cache lines */
	size_t reserved_bytes;
	uint32_t capacity, fresh, free_head;
	uint32_t in_use;
};

struct packet_fifo {
	uint32_t head, tail;
};

#define PACKET_FIFO_INIT ((struct packet_fifo){PACKET_NONE, PACKET_NONE})

/* Bytes that a packet takes: its frame in whole cache lines, and what lists need. */
#define PACKET_ALIGN 64
static inline size_t packet_frame_bytes(uint32_t frame_capacity)
{
	return (sizeof(struct frame) + frame_capacity + PACKET_ALIGN - 1) &
	       ~(size_t)(PACKET_ALIGN - 1);
}

static inline size_t packet_slot_bytes(uint32_t frame_capacity)
{
	return packet_frame_bytes(frame_capacity) + sizeof(struct packet);
}

/* Packets with frames of up to frame_capacity bytes. 0 or -ENOMEM. */
int packet_pool_init(struct packet_pool *p, uint32_t frame_capacity);
void packet_pool_release(struct packet_pool *p);

static inline struct packet *packet_get(const struct packet_pool *p, uint32_t index)
{
	return &p->packets[index];
}

static inline struct frame *packet_frame(const struct packet_pool *p, uint32_t index)
{
	return (struct frame *)(p->frames + (size_t)index * p->frame_bytes);
}

/* Asks for a packet's headers, which will be looked at soon. */
static inline void packet_prefetch_frame(const struct packet_pool *p, uint32_t index)
{
	const uint8_t *frame = p->frames + (size_t)index * p->frame_bytes;

	__builtin_prefetch(frame, 1);
	__builtin_prefetch(frame + 64, 1);
}

/* A packet, its contents left over; PACKET_NONE when all of the reserve is in use. */
static inline uint32_t packet_alloc(struct packet_pool *p)
{
	uint32_t index = p->free_head;

	if (index != PACKET_NONE)
		p->free_head = packet_get(p, index)->next;
	else if (p->fresh < p->capacity)
		index = p->fresh++;
	else
		return PACKET_NONE;
	p->in_use++;
	return index;
}

static inline void packet_free(struct packet_pool *p, uint32_t index)
{
	packet_get(p, index)->next = p->free_head;
	p->free_head = index;
	p->in_use--;
}

static inline bool packet_fifo_empty(const struct packet_fifo *f)
{
	return f->head == PACKET_NONE;
}

static inline void packet_fifo_push(struct packet_pool *p, struct packet_fifo *f, uint32_t index)
{
	packet_get(p, index)->next = PACKET_NONE;
	if (f->head == PACKET_NONE)
		f->head = index;
	else
		packet_get(p, f->tail)->next = index;
	f->tail = index;
}

/* The FIFO must not be empty. */
static inline uint32_t packet_fifo_pop(struct packet_pool *p, struct packet_fifo *f)
{
	uint32_t index = f->head;

	f->head = packet_get(p, index)->next;
	return index;
}

#endif
