/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CAPTURE_H
#define FABRICBED_CAPTURE_H

/*
 * Captures as pcapng: what chosen ports of a running fabric send, receive and drop. Several at
 * once, each with its own ports and its own sink. Times are model time.
 */
#include <jansson.h>
#include "abi/drop.h"
#include "base/error.h"
#include "io/pcapng.h"

struct fabric;

/* All captures of a fabric. */
struct captures;

/* The fabric outlives it. 0 or -ENOMEM. */
int captures_new(struct captures **ret, const struct fabric *f);
void captures_free(struct captures *c); /* ends those that are on; NULL is fine */

/* Whether there is one. */
bool captures_any(const struct captures *c);

/*
 * Begins one. target: a port's name ("tor0.0->agg0.1") or a glob over ports, with "->" in it;
 * "all"; a node or a glob over nodes, for all of their ports; a link or a glob over links, for both
 * of its ends. Writes an interface per port to the sink at once. 0; -EINVAL: nothing matches, with
 * why; -ENOBUFS: no room for the interfaces; -ENOMEM.
 */
struct capture;
int capture_begin(struct capture **ret, struct captures *c, const char *target, pcapng_sink sink,
	void *arg, struct error *why);

/* Ends it: statistics of what found no room go to the sink, if any did not. NULL is fine. */
void capture_end(struct captures *c, struct capture *one);

/* The names of its ports, an array: a new reference. */
json_t *capture_ports(const struct capture *one);

/*
 * A frame starts to leave a port: outbound there, and inbound at its peer, each if captured. Both
 * have the time at which its first bit leaves.
 */
void capture_sent(struct captures *c, uint64_t now_ps, uint32_t port, const uint8_t *bytes,
	uint32_t captured, uint32_t length);

/*
 * A frame was dropped at a port: it is recorded there, or at the link's other end if only that is
 * captured, with the reason as its comment. A frame lost after a link is thus recorded twice.
 */
void capture_dropped(struct captures *c, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	const uint8_t *bytes, uint32_t captured, uint32_t length);

/* pcapng_write(), with the ICRC that frames without payload lack: it is zero. */
void capture_write(struct pcapng *out, const struct pcapng_packet *packet);

#endif
