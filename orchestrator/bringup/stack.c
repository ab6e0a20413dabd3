/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bringup/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/net.h"
#include "io/clsact.h"

#define HOST_IP4_BITS 8
#define HOST_IP6_BITS 64
#define QUEUE_PACKETS 1000u /* that the stack has sent and the engine not read yet */

void stack_add_addresses(struct rtnl *rtnl, uint32_t index, uint32_t host, bool ip6)
{
	struct host_address a = host_address(host);

	rtnl_add_address(rtnl, index, AF_INET, &a.ip4, HOST_IP4_BITS);
	if (ip6)
		rtnl_add_address(rtnl, index, AF_INET6, a.ip6, HOST_IP6_BITS);
}

static void add_default_routes(const struct stack *s, struct rtnl *rtnl)
{
	struct host_address a = host_address(s->params->gateway);

	rtnl_add_default_route(rtnl, s->index, AF_INET, &a.ip4);
	if (s->ip6)
		rtnl_add_default_route(rtnl, s->index, AF_INET6, a.ip6);
}

/* A switch of the calling thread's namespace. */
static int write_sysctl(const char *path, struct error *why)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r;

	r = fd >= 0 && write(fd, "1", 1) == 1 ? 0 : -errno;
	if (fd >= 0)
		close(fd);
	return r < 0 ? error_set(why, r, "cannot write %s: %s%s", path, strerror(-r),
			       r == -EROFS ? "; in a container: --privileged" : "")
		     : 0;
}

/* After the interfaces are up: else they would join the routers' multicast groups. */
static int set_forwarding(const struct stack *s, struct rtnl *rtnl, struct error *why)
{
	int r;

	r = rtnl_flush(rtnl, why);
	if (!r)
		r = write_sysctl("/proc/sys/net/ipv4/ip_forward", why);
	if (!r && s->ip6)
		r = write_sysctl("/proc/sys/net/ipv6/conf/all/forwarding", why);
	return r;
}

static int set_up(const struct stack *s, struct rtnl *rtnl, struct error *why)
{
	struct link_settings to = {
		.mtu = s->params->stack_mtu,
		.queue_packets = QUEUE_PACKETS,
		.gso_segments = s->params->gso_off ? 1 : 0,
	};
	int r = 0;

	port_mac(s->port, to.mac);
	rtnl_loopback_up(rtnl);
	rtnl_set_link(rtnl, s->index, &to);
	if (s->ip6)
		rtnl_no_autoconf(rtnl, s->index);
	if (s->program_fd >= 0)
		clsact_attach_egress(rtnl, s->index, s->program_fd);
	rtnl_link_up(rtnl, s->index);
	stack_add_addresses(rtnl, s->index, s->host, s->ip6);
	if (s->params->ecn)
		r = write_sysctl("/proc/sys/net/ipv4/tcp_ecn", why);
	if (r < 0 || s->params->gateway == HOST_NONE)
		return r;
	if (s->params->gateway == s->host)
		return set_forwarding(s, rtnl, why);
	add_default_routes(s, rtnl);
	return 0;
}

int stack_open(struct tap *ret, const struct stack *s, struct rtnl *rtnl, struct error *why)
{
	struct tap tap;
	int r;

	r = tap_open(&tap, STACK_INTERFACE, s->index, why);
	if (r < 0)
		return r;
	r = set_up(s, rtnl, why);
	if (r < 0)
		tap_close(&tap);
	else
		*ret = tap;
	return r;
}
