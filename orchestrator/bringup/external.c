/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bringup/external.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/parallel.h"
#include "base/rng_stream.h"
#include "io/netlink.h"
#include "io/offload.h"
#include "io/ovs.h"
#include "scenario/scenario.h"

#define KEYWORD      "external "
#define ALIAS_BYTES  256 /* with the final zero: IFALIASZ of include/linux/if.h */
#define NAME_SHOWN   5   /* letters of the fabric's name in the port's, which has 15 */
#define LINK_LOCAL   64  /* bits of its prefix (RFC 4291, 2.5.6) */
#define PREFIX_WORDS "expected an address with a prefix length"

/* ---- what it is called ---- */

static uint32_t id_of(const char *fabric)
{
	return (uint32_t)rng_stream(0, fabric, 0);
}

/* Whole, for who takes it away may be elsewhere; and a record has lines. */
static int find_rundir(char ret[PATH_MAX], struct error *why)
{
	const char *rundir = getenv(OVS_RUNDIR);

	if (!rundir || !*rundir)
		return 0;
	if (!realpath(rundir, ret) || strchr(ret, '\n'))
		return error_set(why, -ENOPKG,
			OVS_RUNDIR "=%s: there is no such directory; unset it, or set it to "
				   "that of the db.sock of Open vSwitch",
			rundir);
	return 0;
}

int external_plan(struct external **ret, const struct external_spec *spec, const char *fabric,
	const char *netns, struct error *why)
{
	struct external *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return error_set(why, -ENOMEM, "out of memory");
	snprintf(x->netns, sizeof(x->netns), "%s", netns);
	snprintf(x->port, sizeof(x->port), "fb-%.*s-%06x", NAME_SHOWN, fabric,
		id_of(fabric) & 0xffffff);
	r = find_rundir(x->rundir, why);
	if (!r)
		r = ovs_check_bridge(x->rundir, spec->bridge, why);
	if (r < 0) {
		free(x);
		return r;
	}
	*ret = x;
	return 0;
}

int external_write(const struct external *x, char **ret)
{
	return asprintf(ret, KEYWORD "%s %s %s", x->netns, x->port, x->rundir) < 0 ? -ENOMEM : 0;
}

/* Up to the next blank into a buffer; what follows it, or NULL. */
static const char *take_word(const char *text, char *word, size_t size)
{
	size_t n = strcspn(text, " ");

	if (!n || n >= size || text[n] != ' ')
		return NULL;
	memcpy(word, text, n);
	word[n] = '\0';
	return text + n + 1;
}

bool external_read(struct external *ret, const char *line, const char *record)
{
	size_t prefix = strlen(record);
	const char *rest = line + strlen(KEYWORD);
	struct external x = {0};

	if (strncmp(line, KEYWORD, strlen(KEYWORD)))
		return false;
	rest = take_word(rest, x.netns, sizeof(x.netns));
	if (rest)
		rest = take_word(rest, x.port, sizeof(x.port));
	if (!rest || strlen(rest) >= sizeof(x.rundir))
		return false;
	if (strncmp(x.netns, record, prefix) || x.netns[prefix] != '-' || strchr(x.netns, '/'))
		return false;
	strcpy(x.rundir, rest);
	*ret = x;
	return true;
}

/* ---- the host's side ---- */

struct making {
	const struct external *external;
	const struct external_site *site;
	int outside_fd; /* the namespace of the other end */
	uint8_t mac[6]; /* of ext0 */
};

static int add_pair(const struct making *m, struct rtnl *rtnl, struct error *why)
{
	uint32_t id = htonl(id_of(m->site->fabric));
	struct veth_end inside = {
		.netns_fd = m->site->netns_fd, .index = m->site->index, .name = EXTERNAL_INTERFACE};
	struct veth_end outside = {.netns_fd = m->outside_fd, .mac = {0x0a, 0xfb}};
	int r;

	memcpy(inside.mac, m->mac, sizeof(inside.mac));
	memcpy(outside.mac + 2, &id, sizeof(id));
	snprintf(outside.name, sizeof(outside.name), "%s", m->external->port);
	rtnl_add_veth(rtnl, &inside, &outside, EXTERNAL_MTU);
	r = rtnl_flush(rtnl, why);
	return r == -EEXIST
		       ? error_set(why, r, "there is an interface %s already, not of this fabric",
				 outside.name)
		       : r;
}

static int add_address(
	const struct making *m, struct rtnl *rtnl, int family, const char *text, struct error *why)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN];
	uint8_t bytes[16];

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return error_set(why, -EINVAL, "%s: " PREFIX_WORDS, text);
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	if (inet_pton(family, address, bytes) != 1)
		return error_set(why, -EINVAL, "%s: " PREFIX_WORDS, text);
	rtnl_add_address(
		rtnl, m->site->index, family, bytes, (unsigned)strtoul(slash + 1, NULL, 10));
	return 0;
}

/*
 * The kernel's own would be tentative for a second, and a router solicits neighbours from no other
 * address (net/ipv6/ndisc.c, ndisc_send_ns()). RFC 4291, appendix A.
 */
static void add_link_local(const struct making *m, struct rtnl *rtnl)
{
	const uint8_t *mac = m->mac;
	uint8_t address[16] = {
		0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};

	rtnl_add_address(rtnl, m->site->index, AF_INET6, address, LINK_LOCAL);
}

static int add_addresses(const struct making *m, struct rtnl *rtnl, struct error *why)
{
	const struct external_spec *spec = m->site->spec;
	int r = 0;

	if (spec->address6 && !m->site->ip6)
		return error_set(why, -EAFNOSUPPORT, "external.address6: this kernel has no IPv6");
	if (spec->address)
		r = add_address(m, rtnl, AF_INET, spec->address, why);
	if (m->site->ip6)
		add_link_local(m, rtnl);
	if (!r && spec->address6)
		r = add_address(m, rtnl, AF_INET6, spec->address6, why);
	return r;
}

static int set_up_inside(const struct making *m, struct rtnl *rtnl, struct error *why)
{
	char alias[ALIAS_BYTES];
	int r = offload_off(EXTERNAL_INTERFACE, why);

	if (r < 0)
		return r;
	snprintf(alias, sizeof(alias), "bridge %s", m->site->spec->bridge);
	rtnl_set_alias(rtnl, m->site->index, alias);
	if (m->site->ip6)
		rtnl_no_autoconf(rtnl, m->site->index);
	rtnl_ethernet_up(rtnl, m->site->index);
	r = add_addresses(m, rtnl, why);
	return r < 0 ? r : rtnl_flush(rtnl, why);
}

/* In a thread of its own, which may stay in the host's namespace. */
static int make_inside(void *context, uint32_t index, struct error *why)
{
	const struct making *m = context;
	struct rtnl *rtnl = NULL;
	int r;

	(void)index;
	r = netns_enter(m->site->netns_fd);
	if (r < 0)
		return error_set(why, r, "cannot enter the namespace %s: %s", m->external->netns,
			strerror(-r));
	r = rtnl_open(&rtnl, why);
	if (!r)
		r = add_pair(m, rtnl, why);
	if (!r)
		r = set_up_inside(m, rtnl, why);
	rtnl_close(rtnl);
	return r;
}

/* ---- the bridge's side ---- */

static int set_up_outside(
	const struct external *x, const struct external_site *site, struct error *why)
{
	uint32_t index = if_nametoindex(x->port);
	struct rtnl *rtnl = NULL;
	char alias[ALIAS_BYTES];
	int r;

	snprintf(alias, sizeof(alias), "fabricbed %s:%s", site->fabric, site->spec->node);
	r = index ? offload_off(x->port, why)
		  : error_set(why, -ENODEV, "the interface %s is gone", x->port);
	if (!r)
		r = rtnl_open(&rtnl, why);
	if (!r) {
		rtnl_set_alias(rtnl, index, alias);
		if (site->ip6)
			rtnl_no_autoconf(rtnl, index);
		rtnl_ethernet_up(rtnl, index);
		r = rtnl_flush(rtnl, why);
	}
	rtnl_close(rtnl);
	return r;
}

int external_open(const struct external *x, const struct external_site *site, struct error *why)
{
	uint32_t id = htonl(id_of(site->fabric));
	struct making m = {.external = x, .site = site, .mac = {0x06, 0xfb}};
	struct ovs_port port = {.bridge = site->spec->bridge,
		.name = x->port,
		.fabric = site->fabric,
		.node = site->spec->node};
	int r;

	memcpy(m.mac + 2, &id, sizeof(id));
	m.outside_fd = netns_open_own();
	if (m.outside_fd < 0)
		return error_set(why, m.outside_fd, "cannot open the network namespace: %s",
			strerror(-m.outside_fd));
	/*
	 * A port of that name is a leftover. It goes first: ovs-vswitchd would take the new
	 * interface as soon as it is there, and put it down again when it gives it up.
	 */
	ovs_remove_port(x->rundir, x->port);
	r = parallel_for(1, 1, make_inside, &m, why);
	close(m.outside_fd);
	if (!r)
		r = set_up_outside(x, site, why);
	return r < 0 ? r : ovs_add_port(x->rundir, &port, why);
}

/* ---- the undo ---- */

static int delete_pair(void *context, uint32_t i, struct error *why)
{
	const int *netns_fd = context;
	struct rtnl *rtnl = NULL;
	uint32_t index;
	int r;

	(void)i;
	r = netns_enter(*netns_fd);
	index = r < 0 ? 0 : if_nametoindex(EXTERNAL_INTERFACE);
	if (!index)
		return r;
	r = rtnl_open(&rtnl, why);
	if (!r) {
		rtnl_delete_link(rtnl, index);
		r = rtnl_flush(rtnl, why);
	}
	rtnl_close(rtnl);
	return r;
}

/* The namespace would take the pair along, but later, and not while a program holds it. */
void external_remove(const struct external *x)
{
	int netns_fd;

	ovs_remove_port(x->rundir, x->port);
	netns_fd = netns_open(x->netns);
	if (netns_fd < 0)
		return;
	parallel_for(1, 1, delete_pair, &netns_fd, NULL);
	close(netns_fd);
}
