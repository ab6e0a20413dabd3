/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NETLINK_REQUEST_H
#define FABRICBED_NETLINK_REQUEST_H

/* For files of io/ that add requests of their own to a batch. */
#include <stdint.h>
#include <linux/netlink.h>
#include "io/netlink.h"

/*
 * Begins a request at the end of the batch, and sends the batch first if it is full; attributes are
 * added with libmnl, up to a kilobyte, and rtnl_end() closes it. An error's text names the
 * interface and the type: netlink.c knows both for the types in use.
 */
struct nlmsghdr *rtnl_begin(struct rtnl *r, uint16_t type, uint16_t flags);
void rtnl_end(struct rtnl *r, struct nlmsghdr *h);

#endif
