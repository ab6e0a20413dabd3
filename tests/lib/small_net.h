/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_SMALL_NET_H
#define FABRICBED_TEST_SMALL_NET_H

/*
 * An engine over a small net made by hand, on the inline dataplane, with real routes: chains, stars
 * and two-tier fabrics. What can't be set up fails the test.
 */
#include <stdbool.h>
#include "base/net.h"
#include "base/switching.h"
#include "control/routing.h"
#include "dataplane/dataplane.h"
#include "engine/engine.h"

#define GBPS 1000000000ull

/* Nodes: hosts from 0, then switches. */
struct small_link {
	uint32_t a, b;
	uint64_t rate_bps, delay_ps;
};

/* Sees, and may change, what goes into the dataplane; an error is the dataplane's. */
typedef int (*small_meddle)(
	void *arg, struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n);

/* What is 0 takes the value in brackets. */
struct small_config {
	const struct transport_ops *transport; /* [STrack] */
	const void *options;                   /* of the transport [STrack's defaults] */
	uint32_t mtu;                          /* [4096] */
	uint8_t qps;                           /* [1] */
	bool ip6, payload_full;
	uint64_t seed;
	uint64_t base_rtt_ps;             /* [of the longest path, were it of the slowest links] */
	uint32_t buffer_bytes;            /* [1 GB] */
	uint32_t kmin_bytes, kmax_bytes;  /* [no marks] */
	uint32_t max_batch;               /* [the dataplane's] */
	struct switching_balance balance; /* of all switches [ECMP] */
	struct engine_observer observer;
	small_meddle meddle;
	void *meddle_arg;
};

struct small_net {
	struct net net;
	uint32_t hops; /* links of its longest path */
	bool *link_up;
	struct routing *routing;
	struct dataplane *dp;
	struct engine *engine;
};

/* h0 - s - ... - s - h1; links are counted from h0, of each the rate and the delay. */
void small_net_chain(struct small_net *s, uint32_t switches, const uint64_t *rates_bps,
	const uint64_t *delays_ps);
/* Hosts around one switch; h0's link may have a rate of its own. */
void small_net_star(struct small_net *s, uint32_t hosts, uint64_t rate0_bps, uint64_t rate_bps,
	uint64_t delay_ps);
/* Every leaf to every spine. */
void small_net_fabric(struct small_net *s, uint32_t leaves, uint32_t spines,
	uint32_t hosts_per_leaf, uint64_t rate_bps, uint64_t delay_ps);

void small_net_open(struct small_net *s, const struct small_config *config);
void small_net_close(struct small_net *s);

/* Adds a flow; returns its number. */
uint32_t small_net_flow(
	struct small_net *s, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t start_ps);

/* Runs until all flows are done or until_ps; must not fail. */
void small_net_run(struct small_net *s, uint64_t until_ps);

/* The port of node `from` on its first link to node `to`. */
uint32_t small_net_port(const struct small_net *s, uint32_t from, uint32_t to);

struct engine_stats small_net_stats(const struct small_net *s);
uint64_t small_net_dropped(const struct small_net *s); /* for whatever reason */

/* Completion time of a flow; 0: it has not finished. */
uint64_t small_net_fct(const struct small_net *s, uint32_t flow);

/* docs/closed-forms.md, "one message", over a chain's links. */
uint64_t small_net_closed_form(const struct small_net *s, uint64_t bytes, uint32_t mtu, bool ip6);

#endif
