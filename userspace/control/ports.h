/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PORTS_H
#define FABRICBED_PORTS_H

/* The configuration of every port, as a switch's own processor writes it once at start. */
#include "abi/state.h"
#include "base/net.h"

struct ports_params {
	uint64_t seed;
	uint32_t buffer_bytes;           /* of each switch port */
	uint32_t kmin_bytes, kmax_bytes; /* egress ECN of each switch port; kmax 0: off */
	double pmax;                     /* 0..1 */
};

/* Fills ports[] and the seeds of switches[]; every link is up, every queue empty. */
void ports_configure(struct sw_tables *t, const struct net *net, const struct ports_params *p);

#endif
