/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "io/netlink_request.h"

#define BATCH_BYTES    32768
#define REQUEST_BYTES  1024 /* more than any request below takes */
#define REPLY_BYTES    16384
#define LOOPBACK_INDEX 1 /* of every namespace */

struct rtnl {
	struct mnl_socket *socket;
	uint32_t seq; /* of the latest request */
	size_t used;
	struct nlmsghdr *latest; /* NULL: the batch is empty */
	int code;                /* 0, or the first failure: nothing is sent after it */
	struct error why;        /* of it */
	alignas(NLMSG_ALIGNTO) uint8_t batch[BATCH_BYTES];
	alignas(NLMSG_ALIGNTO) uint8_t reply[REPLY_BYTES];
};

int rtnl_open(struct rtnl **ret, struct error *why)
{
	struct rtnl *r = calloc(1, sizeof(*r));
	int on = 1, code;

	if (!r)
		return error_set(why, -ENOMEM, "out of memory");
	r->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!r->socket || mnl_socket_bind(r->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		code = error_set(
			why, -errno, "cannot open a rtnetlink socket: %s", strerror(errno));
		rtnl_close(r);
		return code;
	}
	/*
	 * Errors with the kernel's own words, and without a copy of the request; neither is
	 * essential.
	 */
	mnl_socket_setsockopt(r->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(r->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	*ret = r;
	return 0;
}

void rtnl_close(struct rtnl *r)
{
	if (!r)
		return;
	if (r->socket)
		mnl_socket_close(r->socket);
	free(r);
}

static const char *request_name(uint16_t type)
{
	switch (type) {
	case RTM_NEWLINK:
		return "create the veth pair of";
	case RTM_SETLINK:
		return "set up";
	case RTM_DELLINK:
		return "delete";
	case RTM_NEWADDR:
		return "add an address to";
	case RTM_NEWROUTE:
		return "add a route over";
	case RTM_NEWQDISC:
		return "add the clsact qdisc to";
	default:
		return "attach the egress program to";
	}
}

/* The interface that a route leads over: an attribute, where others have it in their header. */
static uint32_t route_index(const struct nlmsghdr *h)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, h, sizeof(struct rtmsg))
	{
		if (mnl_attr_get_type(attr) == RTA_OIF)
			return mnl_attr_get_u32(attr);
	}
	return 0;
}

/* The interface that a request of the batch is about. */
static uint32_t request_index(const struct nlmsghdr *h)
{
	const struct ifaddrmsg *address = mnl_nlmsg_get_payload(h);
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(h);
	const struct tcmsg *tc = mnl_nlmsg_get_payload(h);

	switch (h->nlmsg_type) {
	case RTM_NEWADDR:
		return address->ifa_index;
	case RTM_NEWROUTE:
		return route_index(h);
	case RTM_NEWQDISC:
	case RTM_NEWTFILTER:
		return (uint32_t)tc->tcm_ifindex;
	default:
		return (uint32_t)link->ifi_index;
	}
}

static const struct nlmsghdr *request_find(const struct rtnl *r, uint32_t seq)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)r->batch;
	int left = (int)r->used;

	for (; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left))
		if (h->nlmsg_seq == seq)
			return h;
	return NULL;
}

/*
 * The kernel's own explanation in an error reply, or "". With NETLINK_CAP_ACK it follows the bare
 * header.
 */
static const char *reply_text(const struct nlmsghdr *reply)
{
	const struct nlattr *attr;

	if (!(reply->nlmsg_flags & NLM_F_ACK_TLVS) || !(reply->nlmsg_flags & NLM_F_CAPPED))
		return "";
	mnl_attr_for_each(attr, reply, sizeof(struct nlmsgerr)) if (
		mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		!mnl_attr_validate(attr, MNL_TYPE_NUL_STRING)) return mnl_attr_get_str(attr);
	return "";
}

static int explain(const struct rtnl *r, const struct nlmsghdr *reply, int code, struct error *why)
{
	const struct nlmsghdr *request = request_find(r, reply->nlmsg_seq);
	const char *text = reply_text(reply);

	return error_set(why, code, "cannot %s interface %u: %s%s%s",
		request ? request_name(request->nlmsg_type) : "change",
		request ? request_index(request) : 0, strerror(-code), *text ? ": " : "", text);
}

/* Reads replies up to the one to request `last`; the first error counts. */
static int read_replies(struct rtnl *r, uint32_t last, struct error *why)
{
	int code = 0;

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(r->socket, r->reply, sizeof(r->reply));
		const struct nlmsghdr *h = (const struct nlmsghdr *)r->reply;
		int left = (int)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(
				why, -errno, "lost the kernel's answer: %s", strerror(errno));
		for (; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
			const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);

			if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			if (e->error && !code)
				code = explain(r, h, e->error, why);
			if (h->nlmsg_seq == last)
				return code;
		}
	}
}

static void send_batch(struct rtnl *r)
{
	ssize_t n;

	if (!r->latest || r->code < 0)
		return;
	/* Failures are always reported; of the successes only the last one, which ends the wait. */
	r->latest->nlmsg_flags |= NLM_F_ACK;
	r->latest = NULL;
	do
		n = mnl_socket_sendto(r->socket, r->batch, r->used);
	while (n < 0 && errno == EINTR);
	r->code = n < 0 ? error_set(&r->why, -errno, "cannot ask the kernel: %s", strerror(errno))
			: read_replies(r, r->seq, &r->why);
}

int rtnl_flush(struct rtnl *r, struct error *why)
{
	int code;

	send_batch(r);
	code = r->code < 0 ? error_set(why, r->code, "%s", r->why.text) : 0;
	r->latest = NULL;
	r->used = 0;
	r->code = 0;
	return code;
}

struct nlmsghdr *rtnl_begin(struct rtnl *r, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *h;

	if (r->used + REQUEST_BYTES > sizeof(r->batch)) {
		send_batch(r);
		r->used = 0;
	}
	h = mnl_nlmsg_put_header(r->batch + r->used);
	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = ++r->seq;
	return h;
}

void rtnl_end(struct rtnl *r, struct nlmsghdr *h)
{
	r->latest = h;
	r->used += NLMSG_ALIGN(h->nlmsg_len);
}

static struct ifinfomsg *put_ifinfo(struct nlmsghdr *h, uint32_t index)
{
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));

	info->ifi_family = AF_UNSPEC;
	info->ifi_index = (int)index;
	return info;
}

static void put_veth_end(struct nlmsghdr *h, const struct veth_end *end, uint32_t mtu)
{
	mnl_attr_put_strz(h, IFLA_IFNAME, end->name);
	mnl_attr_put(h, IFLA_ADDRESS, sizeof(end->mac), end->mac);
	mnl_attr_put_u32(h, IFLA_MTU, mtu);
	mnl_attr_put_u32(h, IFLA_NET_NS_FD, (uint32_t)end->netns_fd);
	/* Else a queue for each possible CPU. */
	mnl_attr_put_u32(h, IFLA_NUM_TX_QUEUES, 1);
	mnl_attr_put_u32(h, IFLA_NUM_RX_QUEUES, 1);
}

void rtnl_add_veth(struct rtnl *r, const struct veth_end *a, const struct veth_end *b, uint32_t mtu)
{
	struct nlattr *link, *data, *peer;
	struct nlmsghdr *h = rtnl_begin(r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);

	put_ifinfo(h, a->index);
	put_veth_end(h, a, mtu);
	link = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_str(h, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(h, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(h, VETH_INFO_PEER);
	put_ifinfo(h, b->index); /* a bare header in the attribute, its attributes after it */
	put_veth_end(h, b, mtu);
	mnl_attr_nest_end(h, peer);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, link);
	rtnl_end(r, h);
}

static struct nlmsghdr *begin_setlink(struct rtnl *r, uint32_t index)
{
	struct nlmsghdr *h = rtnl_begin(r, RTM_SETLINK, 0);

	put_ifinfo(h, index);
	return h;
}

void rtnl_no_autoconf(struct rtnl *r, uint32_t index)
{
	struct nlattr *spec, *ip6;
	struct nlmsghdr *h = begin_setlink(r, index);

	spec = mnl_attr_nest_start(h, IFLA_AF_SPEC);
	ip6 = mnl_attr_nest_start(h, AF_INET6);
	mnl_attr_put_u8(h, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(h, ip6);
	mnl_attr_nest_end(h, spec);
	rtnl_end(r, h);
}

void rtnl_attach_xdp(struct rtnl *r, uint32_t index, int program_fd)
{
	struct nlmsghdr *h = begin_setlink(r, index);
	struct nlattr *xdp;

	xdp = mnl_attr_nest_start(h, IFLA_XDP);
	mnl_attr_put_u32(h, IFLA_XDP_FD, (uint32_t)program_fd);
	mnl_attr_put_u32(h, IFLA_XDP_FLAGS, XDP_FLAGS_DRV_MODE);
	mnl_attr_nest_end(h, xdp);
	rtnl_end(r, h);
}

void rtnl_set_alias(struct rtnl *r, uint32_t index, const char *alias)
{
	struct nlmsghdr *h = begin_setlink(r, index);

	mnl_attr_put_strz(h, IFLA_IFALIAS, alias);
	rtnl_end(r, h);
}

void rtnl_set_link(struct rtnl *r, uint32_t index, const struct link_settings *to)
{
	struct nlmsghdr *h = begin_setlink(r, index);

	mnl_attr_put(h, IFLA_ADDRESS, sizeof(to->mac), to->mac);
	mnl_attr_put_u32(h, IFLA_MTU, to->mtu);
	mnl_attr_put_u32(h, IFLA_TXQLEN, to->queue_packets);
	if (to->gso_segments)
		mnl_attr_put_u32(h, IFLA_GSO_MAX_SEGS, to->gso_segments);
	rtnl_end(r, h);
}

static void set_flags(struct rtnl *r, uint32_t index, unsigned on, unsigned off)
{
	struct ifinfomsg *info;
	struct nlmsghdr *h = rtnl_begin(r, RTM_SETLINK, 0);

	info = put_ifinfo(h, index);
	info->ifi_flags = on;
	info->ifi_change = on | off;
	rtnl_end(r, h);
}

void rtnl_link_up(struct rtnl *r, uint32_t index)
{
	set_flags(r, index, IFF_UP | IFF_NOARP, IFF_MULTICAST);
}

void rtnl_ethernet_up(struct rtnl *r, uint32_t index)
{
	set_flags(r, index, IFF_UP, 0);
}

void rtnl_loopback_up(struct rtnl *r)
{
	set_flags(r, LOOPBACK_INDEX, IFF_UP, 0);
}

void rtnl_delete_link(struct rtnl *r, uint32_t index)
{
	struct nlmsghdr *h = rtnl_begin(r, RTM_DELLINK, 0);

	put_ifinfo(h, index);
	rtnl_end(r, h);
}

void rtnl_add_address(
	struct rtnl *r, uint32_t index, int family, const void *address, unsigned prefix_bits)
{
	size_t bytes = family == AF_INET ? 4 : 16;
	struct ifaddrmsg *info;
	struct nlmsghdr *h = rtnl_begin(r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);

	info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->ifa_family = (uint8_t)family;
	info->ifa_prefixlen = (uint8_t)prefix_bits;
	info->ifa_flags = IFA_F_NODAD;
	info->ifa_scope = RT_SCOPE_UNIVERSE;
	info->ifa_index = index;
	mnl_attr_put(h, IFA_LOCAL, bytes, address);
	mnl_attr_put(h, IFA_ADDRESS, bytes, address);
	rtnl_end(r, h);
}

void rtnl_add_default_route(struct rtnl *r, uint32_t index, int family, const void *gateway)
{
	size_t bytes = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = rtnl_begin(r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
	struct rtmsg *info;

	info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->rtm_family = (uint8_t)family;
	info->rtm_table = RT_TABLE_MAIN;
	info->rtm_protocol = RTPROT_STATIC;
	info->rtm_scope = RT_SCOPE_UNIVERSE;
	info->rtm_type = RTN_UNICAST;
	mnl_attr_put(h, RTA_GATEWAY, bytes, gateway);
	mnl_attr_put_u32(h, RTA_OIF, index);
	rtnl_end(r, h);
}
