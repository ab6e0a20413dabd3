/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOPOLOGY_KIND_H
#define FABRICBED_TOPOLOGY_KIND_H

/*
 * Kinds of topology. Each is a file, with its options, their keys, its nodes and links, and a row
 * of TOPOLOGIES.
 */
#include "base/schema.h"

struct shape;
struct topology_spec;

/* In the order in which they are listed. */
#define TOPOLOGIES(X) X(fat_tree) X(leaf_spine) X(three_tier) X(custom)

struct topology_kind {
	const char *title; /* in reports */
	struct map map;    /* its keys; size: of its options */
	/* Where two hosts four links apart, and more, are, for reports. Two: under one switch. */
	const char *near, *far;
	bool listed; /* a scenario names its hosts and links */
	bool pods;   /* parts without the top tier are called pods; else by a switch */
	/*
	 * The reader has checked each value and name. What conflicts is a message in diags, and
	 * then *s stays empty. 0 or -ENOMEM.
	 */
	int (*shape)(struct shape *s, const struct topology_spec *t, struct diags *diags);
};

#define TOPOLOGY_DECLARE(name) extern const struct topology_kind topology_kind_##name;
TOPOLOGIES(TOPOLOGY_DECLARE)

#define TOPOLOGY_ONE(name) +1
enum { TOPOLOGY_KINDS = TOPOLOGIES(TOPOLOGY_ONE) };

extern const struct topology_kind *const topology_kinds[TOPOLOGY_KINDS];

/* Ports of all nodes: a machine's interfaces and the engine's arrays, two a link. */
#define PORTS_MAX (1u << 20)

/* What a link may have of its own. */
#define LINK_KEYS(type)                                                                            \
	KEY("rate", RATE, type, rate_bps, .optional = true, .usual = "the topology's",             \
		.min = RATE_MIN, .max = RATE_MAX, .help = "of these links"),                       \
		KEY("delay", TIME, type, delay_ps, .optional = true, .usual = "the topology's",    \
			.word_value = UINT64_MAX, .max = DELAY_MAX,                                \
			.help = "propagation delay of these links")

#endif
