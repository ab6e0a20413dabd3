/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_OVS_H
#define FABRICBED_OVS_H

/*
 * Ports of Open vSwitch bridges, by its own ovs-vsctl(8), run in the caller's environment but for
 * OVS_RUNDIR: the directory with the database's socket, NULL or "" for ovs-vsctl's default.
 */
#include "base/error.h"

#define OVS_RUNDIR "OVS_RUNDIR"

/* 0; -ENOPKG: no Open vSwitch, or no such bridge; another -errno; with why and the remedy. */
int ovs_check_bridge(const char *rundir, const char *bridge, struct error *why);

struct ovs_port {
	const char *bridge;
	const char *name; /* an interface in the namespace of ovs-vswitchd */
	/* Whose it is: its external_ids fabricbed and fabricbed-node. */
	const char *fabric, *node;
};

/*
 * Adds a port and waits until it forwards, up to 20 s. There must be none of that name.
 * As above.
 */
int ovs_add_port(const char *rundir, const struct ovs_port *port, struct error *why);

/* Removes a port and waits until it is gone, up to 5 s. Fine without one, or Open vSwitch. */
void ovs_remove_port(const char *rundir, const char *name);

#endif
