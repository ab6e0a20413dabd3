/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NETLINK_H
#define FABRICBED_NETLINK_H

/*
 * Interfaces, by batched rtnetlink. Requests gather in a buffer and go to the kernel many at a
 * time, which carries them out in order; rtnl_flush() sends what is left, and reports what failed.
 * Once a request has failed, what was in its batch may or may not have been done, and nothing after
 * it is: undo by deleting the namespaces.
 */
#include <net/if.h>
#include <stdint.h>
#include "base/error.h"

struct rtnl;

/*
 * Opens a rtnetlink socket in the calling thread's namespace; it stays there. Free with
 * rtnl_close(). 0 or -errno with why.
 */
int rtnl_open(struct rtnl **ret, struct error *why);
void rtnl_close(struct rtnl *r);

struct veth_end {
	int netns_fd;   /* where it is born */
	uint32_t index; /* its ifindex there */
	char name[IF_NAMESIZE];
	uint8_t mac[6];
};

/*
 * A veth pair, each end born in its namespace under its index, with one queue, down. The socket's
 * own namespace must have no interface of a's index: kernels before 6.15 look there for one to
 * change.
 */
void rtnl_add_veth(
	struct rtnl *r, const struct veth_end *a, const struct veth_end *b, uint32_t mtu);

/* No IPv6 address of the kernel's own making; before the link is up. */
void rtnl_no_autoconf(struct rtnl *r, uint32_t index);

/* Attaches an XDP program in native mode. */
void rtnl_attach_xdp(struct rtnl *r, uint32_t index, int program_fd);

/* A remark that `ip link` shows, up to 255 bytes. */
void rtnl_set_alias(struct rtnl *r, uint32_t index, const char *alias);

struct link_settings {
	uint8_t mac[6];
	uint32_t mtu;
	uint32_t queue_packets; /* what `ip link` calls qlen */
	uint32_t
		gso_segments; /* most segments of a packet that the stack hands over; 0: as it is */
};

/* Before the link is up. */
void rtnl_set_link(struct rtnl *r, uint32_t index, const struct link_settings *to);

/*
 * Up, and silent: without ARP and neighbour discovery (IFF_NOARP), nor, without IFF_MULTICAST, the
 * MLD reports that a forwarding namespace sends for the routers' groups. Programs' multicast frames
 * pass.
 */
void rtnl_link_up(struct rtnl *r, uint32_t index);

/* Up, as a machine on a real Ethernet has it: with ARP, neighbour discovery and groups. */
void rtnl_ethernet_up(struct rtnl *r, uint32_t index);

void rtnl_loopback_up(struct rtnl *r);

/* Of a veth pair both ends go. */
void rtnl_delete_link(struct rtnl *r, uint32_t index);

/*
 * Adds an address, AF_INET or AF_INET6 in network byte order, without duplicate address detection.
 */
void rtnl_add_address(
	struct rtnl *r, uint32_t index, int family, const void *address, unsigned prefix_bits);

/* By way of a neighbour; the interface is up and has an address of its net. As above. */
void rtnl_add_default_route(struct rtnl *r, uint32_t index, int family, const void *gateway);

/* Sends what is left. 0, or the first failure since the last flush: -errno with why. */
int rtnl_flush(struct rtnl *r, struct error *why);

#endif
