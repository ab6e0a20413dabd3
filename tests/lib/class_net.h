/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_CLASS_NET_H
#define FABRICBED_TEST_CLASS_NET_H

/*
 * An engine over any net made by hand, with traffic classes: the inline dataplane, real routes, the
 * switches configured as the test likes. DSCP d belongs to class d / 8 (the class selectors of RFC
 * 2474). Traffic is streams: packets of any class that nobody answers. What can't be set up fails
 * the test.
 */
#include <stdbool.h>
#include "base/net.h"
#include "control/ports.h"
#include "control/routing.h"
#include "dataplane/dataplane.h"
#include "engine/engine.h"

#define CLASS_NET_STREAMS 80
#define CLASS_NET_MTU     4096u
#define CLASS_NET_FRAME   (CLASS_NET_MTU + 74u) /* a full packet, IPv4 */

/* Nodes: hosts from 0, then switches. A node's ports are in the order of its links. */
struct class_link {
	uint32_t a, b;
	uint64_t rate_bps, delay_ps;
};

struct class_stream {
	uint32_t src, dst;
	uint8_t class;
	uint32_t payload; /* of each packet; its frame has 74 bytes more */
	uint32_t packets;
	uint64_t start_ps;
	uint64_t mean_gap_ps; /* of a Poisson process; 0: one after the other */
};

/* A packet of a stream at its receiver. */
struct class_arrival {
	uint32_t stream, number;
	uint64_t due_ps, now_ps;
};

/* Between class_net_init() and class_net_open() a test may change switching, params and arrived. */
struct class_net {
	struct net net;
	struct switching switching;  /* eight lossy classes, 1 GB a queue */
	struct engine_params params; /* streams; all classes strict */
	void (*arrived)(void *arg, const struct class_arrival *a);
	void *arg;
	struct class_stream streams[CLASS_NET_STREAMS];
	uint32_t stream_count;
	bool *link_up;
	struct routing *routing;
	struct dataplane *dp;
	struct engine *engine;
};

void class_net_init(struct class_net *n, uint32_t hosts, uint32_t switches,
	const struct class_link *links, uint32_t count);

/* Makes a class lossless, with PFC: XOFF at so many bytes of an ingress, headroom as needed. */
void class_net_lossless(struct class_net *n, uint32_t class, uint64_t xoff_bytes);

void class_net_open(struct class_net *n);
void class_net_close(struct class_net *n);

/* Returns its number. */
uint32_t class_net_stream(struct class_net *n, const struct class_stream *s);

void class_net_run(struct class_net *n, uint64_t until_ps);

/* The port of node `from` on its first link to node `to`. */
uint32_t class_net_port(const struct class_net *n, uint32_t from, uint32_t to);

struct queue *class_net_queue(const struct class_net *n, uint32_t port, uint32_t class);
struct ingress *class_net_ingress(const struct class_net *n, uint32_t port, uint32_t class);
struct engine_stats class_net_stats(const struct class_net *n);
uint64_t class_net_dropped(const struct class_net *n);

/* The class of a frame as it is on the wire: by its DSCP; QUEUE_CONTROL of PFC and LLDP. */
uint8_t class_net_frame_class(const uint8_t *bytes);

/* Whether a PFC frame speaks of a class; its quanta. */
bool class_net_pfc(const uint8_t *bytes, uint32_t class, uint16_t *ret_quanta);

/* Queues a PFC frame on a port's line: `quanta` for each class of `classes`. */
void class_net_send_pfc(struct class_net *n, uint32_t port, uint8_t classes, uint16_t quanta);

/* No queue, ingress, headroom or pool holds anything, and all packets are accounted for. */
void class_net_at_rest(const struct engine *e);

#endif
