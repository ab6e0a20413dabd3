/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CUTS_H
#define FABRICBED_CUTS_H

/* The bound by links between switches: "messages that leave a part" in docs/closed-forms.md. */
#include "base/net.h"
#include "workload/ideal.h"

/*
 * A lower bound on the largest completion time, whatever paths packets take; 0: none. rate_bps: of
 * each link by its number, 0 if it is dead. 0 or -ENOMEM.
 */
int workload_cut_bound(const struct operations *m, const struct net *net,
	const struct workload_frames *frames, const uint64_t *rate_bps, uint64_t *ret);

#endif
