/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PODS_H
#define FABRICBED_PODS_H

/*
 * Pods: what is still connected without the top tier of switches. In a leaf-spine that is a leaf
 * with its hosts; a fabric with one tier of switches has no pods.
 */
#include "topology/fabric.h"

#define NO_POD UINT32_MAX

struct pods {
	uint32_t *of;           /* by node; NO_POD: it is in none */
	uint32_t *first_switch; /* by pod: its node of the lowest number that is a switch */
	uint32_t count;         /* in the order of their first hosts */
};

#define PODS_INIT                                                                                  \
	{                                                                                          \
		0                                                                                  \
	}

/* 0 or -ENOMEM. */
int pods_init(struct pods *p, const struct fabric *f);
void pods_release(struct pods *p);

/* Writes what reports call a pod: "pod 3", "the pod of tor3.0" or "leaf3". Returns buf. */
#define POD_NAME (NODE_NAME + 12)
const char *pod_name(
	const struct fabric *f, const struct pods *p, uint32_t pod, char buf[POD_NAME]);

/* Whether the node is a switch of the highest tier. */
static inline bool fabric_is_top(const struct fabric *f, uint32_t node)
{
	return f->nodes[node].tier + 1 == f->tier_count;
}

#endif
