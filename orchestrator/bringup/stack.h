/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STACK_H
#define FABRICBED_STACK_H

/* The network card of a host's kernel stack: eth0, a TAP interface to the engine. */
#include <stdbool.h>
#include "bringup/bringup.h"
#include "io/netlink.h"
#include "io/tap.h"

#define STACK_INTERFACE "eth0"

struct stack {
	const struct build_params *params;
	uint32_t host;  /* number */
	uint32_t index; /* ifindex of eth0: no port's */
	uint32_t port;  /* whose MAC it has */
	int program_fd; /* at its egress; -1: none */
	bool ip6;
};

/* The addresses of a host, for one of its interfaces. Joins the batch. */
void stack_add_addresses(struct rtnl *rtnl, uint32_t index, uint32_t host, bool ip6);

/*
 * Makes and configures eth0 in the calling thread's namespace, which is the host's and rtnl's;
 * rtnetlink requests join the batch. 0 or -errno with why.
 */
int stack_open(struct tap *ret, const struct stack *s, struct rtnl *rtnl, struct error *why);

#endif
