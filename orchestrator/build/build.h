/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BUILD_H
#define FABRICBED_BUILD_H

/*
 * Turns a fabric into kernel objects: a network namespace a node, a veth pair a link, a program and
 * a socket a port; and takes all of it away again, its own or what a killed process left.
 */
#include "base/error.h"
#include "dataplane/dataplane.h"
#include "topology/fabric.h"

struct built;

/*
 * Builds f under `name` (or "<name>-2", ... where that is in use by a living process), tables of
 * the given sizes zeroed. First removes what dead processes left. On error nothing stays behind. 0
 * or -errno with why.
 */
int build_up(struct built **ret, const struct fabric *f, const char *name,
	const struct sw_tables *sizes, uint32_t frame_capacity, struct error *why);

/* The dataplane of a built fabric; it goes with build_down(). */
struct dataplane *build_dataplane(struct built *b);
const char *build_name(const struct built *b);

/* Closes sockets, removes interfaces and namespaces, frees b. NULL is fine. */
void build_down(struct built *b);

/* Removes all fabrics whose process is gone. Returns how many, or -errno. */
int build_sweep(struct error *why);

#endif
