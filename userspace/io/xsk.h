/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_XSK_H
#define FABRICBED_XSK_H

/*
 * AF_XDP sockets in copy mode, many of them: one a port, for a single thread that sends a burst out
 * of one, takes it in again at another, and only then goes on to the next. So at any time one burst
 * is under way, and the UMEMs of all sockets, though each has its own (a shared one costs the
 * kernel state per socket and chunk), are the same few pages of memory: they stay in the cache,
 * however many ports there are. Rings lie at computed addresses, so that a hop loads no pointers.
 *
 * The rings are those of Documentation/networking/af_xdp.rst. User space puts as many frames into
 * the fill ring as it is about to send to the socket, and takes them all back: between two bursts
 * all frames are its own.
 */
#include <errno.h>
#include <linux/if_xdp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/error.h"

#define XSK_BATCH       16u  /* entries of each ring: a power of two */
#define XSK_RX_RESERVED 256u /* of a frame, in front of what is received (XDP_PACKET_HEADROOM) */

enum xsk_ring { XSK_RX, XSK_TX, XSK_FILL, XSK_COMPLETION, XSK_RINGS };

struct xsk_pool {
	uint8_t *rings;  /* XSK_RINGS pages a socket */
	uint8_t *frames; /* 2 * XSK_BATCH of them: even ones to receive, odd ones to send */
	int *fds;        /* -1: not open */
	uint32_t count;
	uint32_t frame_bytes; /* 2048 or 4096 */
	uint32_t page_bytes;
	struct xdp_ring_offset at[XSK_RINGS];
};

/*
 * Address space for `count` sockets of frames that hold `packet_bytes`. 0; -EMSGSIZE: they do not
 * fit a frame; -ENOMEM; another -errno if the kernel has no AF_XDP. Release with xsk_pool_close().
 */
int xsk_pool_open(struct xsk_pool *p, uint32_t count, uint32_t packet_bytes, struct error *why);

/*
 * Closes all sockets, by many threads: each close waits for an RCU grace period. Fine when zeroed.
 */
void xsk_pool_close(struct xsk_pool *p);

/*
 * Opens socket i in the calling thread's namespace, with its frames and rings. Threads may do this
 * at once for different sockets. 0 or -errno with why.
 */
int xsk_open(struct xsk_pool *p, uint32_t i, struct error *why);

/* Binds it to queue 0 of an interface, which is up, of that namespace. 0 or -errno with why. */
int xsk_bind(struct xsk_pool *p, uint32_t i, uint32_t ifindex, struct error *why);

static inline uint8_t *xsk_ring_base(const struct xsk_pool *p, uint32_t i, enum xsk_ring ring)
{
	return p->rings + ((size_t)i * XSK_RINGS + ring) * p->page_bytes;
}

static inline uint32_t *xsk_producer(const struct xsk_pool *p, uint32_t i, enum xsk_ring ring)
{
	return (uint32_t *)(xsk_ring_base(p, i, ring) + p->at[ring].producer);
}

static inline uint32_t *xsk_consumer(const struct xsk_pool *p, uint32_t i, enum xsk_ring ring)
{
	return (uint32_t *)(xsk_ring_base(p, i, ring) + p->at[ring].consumer);
}

static inline void *xsk_entries(const struct xsk_pool *p, uint32_t i, enum xsk_ring ring)
{
	return xsk_ring_base(p, i, ring) + p->at[ring].desc;
}

/* Where to write the k-th packet of the next xsk_send(), of whichever socket. */
static inline uint8_t *xsk_tx_packet(const struct xsk_pool *p, unsigned k)
{
	return p->frames + (2 * k + 1) * (size_t)p->frame_bytes;
}

/* Says how long it is, and that socket i is to send it. */
static inline void xsk_tx_describe(const struct xsk_pool *p, uint32_t i, unsigned k, uint32_t bytes)
{
	struct xdp_desc *d = xsk_entries(p, i, XSK_TX);

	d += (*xsk_producer(p, i, XSK_TX) + k) & (XSK_BATCH - 1);
	d->addr = (2 * k + 1) * (uint64_t)p->frame_bytes;
	d->len = bytes;
	d->options = 0;
}

/*
 * Lends the kernel frames for n packets to come; n up to XSK_BATCH, all taken back by
 * xsk_rx_release().
 */
static inline void xsk_rx_lend(const struct xsk_pool *p, uint32_t i, unsigned n)
{
	uint32_t *producer = xsk_producer(p, i, XSK_FILL), at = *producer;
	uint64_t *address = xsk_entries(p, i, XSK_FILL);
	unsigned k;

	for (k = 0; k < n; k++)
		address[(at + k) & (XSK_BATCH - 1)] = 2 * k * (uint64_t)p->frame_bytes;
	__atomic_store_n(producer, at + n, __ATOMIC_RELEASE);
}

/* Packets that have arrived and are not released. */
static inline unsigned xsk_rx_count(const struct xsk_pool *p, uint32_t i)
{
	return __atomic_load_n(xsk_producer(p, i, XSK_RX), __ATOMIC_ACQUIRE) -
	       *xsk_consumer(p, i, XSK_RX);
}

/* The k-th of them, in the order of arrival. */
static inline const uint8_t *xsk_rx_packet(
	const struct xsk_pool *p, uint32_t i, unsigned k, uint32_t *ret_bytes)
{
	const struct xdp_desc *d = xsk_entries(p, i, XSK_RX);

	d += (*xsk_consumer(p, i, XSK_RX) + k) & (XSK_BATCH - 1);
	*ret_bytes = d->len;
	return p->frames + d->addr;
}

static inline void xsk_rx_release(const struct xsk_pool *p, uint32_t i, unsigned n)
{
	uint32_t *consumer = xsk_consumer(p, i, XSK_RX);

	__atomic_store_n(consumer, *consumer + n, __ATOMIC_RELEASE);
}

/*
 * Makes the kernel look at the ring of packets to send. 0 or -errno; the packets may be on their
 * way either way.
 */
static inline int xsk_kick(const struct xsk_pool *p, uint32_t i)
{
	return sendto(p->fds[i], NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? -errno : 0;
}

/*
 * Sends n described packets. 0 or -errno as xsk_kick().
 *
 * All that was sent before has arrived and is complete, but maybe only after that call had
 * returned. The kernel sends nothing, and reports no error, if the completion ring is full: earlier
 * completions are taken here.
 */
static inline int xsk_send(const struct xsk_pool *p, uint32_t i, unsigned n)
{
	uint32_t *producer = xsk_producer(p, i, XSK_TX);
	uint32_t done = __atomic_load_n(xsk_producer(p, i, XSK_COMPLETION), __ATOMIC_ACQUIRE);

	__atomic_store_n(xsk_consumer(p, i, XSK_COMPLETION), done, __ATOMIC_RELEASE);
	__atomic_store_n(producer, *producer + n, __ATOMIC_RELEASE);
	return xsk_kick(p, i);
}

#endif
