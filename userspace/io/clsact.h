/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLSACT_H
#define FABRICBED_CLSACT_H

/* Programs of the traffic control hooks, by way of clsact: it takes 0.07 ms, where a TCX link takes 12. */
#include "io/netlink.h"

/*
 * Has a program (BPF_PROG_TYPE_SCHED_CLS) look at all that leaves by an interface of the socket's namespace; it may
 * change packets, and says what becomes of them (direct action). Joins the batch.
 */
void clsact_attach_egress(struct rtnl *r, uint32_t index, int program_fd);

#endif
