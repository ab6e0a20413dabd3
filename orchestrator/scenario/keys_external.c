/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "abi/wire.h"
#include "scenario/check.h"

#define BRIDGE_LIMIT  15 /* bytes: IFNAMSIZ with its terminating zero is 16 */
#define ADDRESS_BYTES 16

/* What dev_valid_name() of Linux's net/core/dev.c takes. */
static bool is_bridge(const char *name)
{
	return !strpbrk(name, "/:\t\n\v\f\r") && strcmp(name, ".") && strcmp(name, "..");
}

/* "192.0.2.1/24" */
struct prefix {
	unsigned char address[ADDRESS_BYTES];
	unsigned bits;
};

/* A family of addresses, and the range of it that the fabric's own hosts have. */
struct family {
	int number;
	unsigned bits;
	struct prefix hosts;
};

static const struct family family4 = {
	.number = AF_INET,
	.bits = 32,
	.hosts = {{HOST_IP4_NET >> 24}, HOST_IP4_NET_BITS},
};

static const struct family family6 = {
	.number = AF_INET6,
	.bits = 128,
	.hosts = {HOST_IP6_NET_BYTES, HOST_IP6_NET_BITS},
};

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	return !memcmp(a, b, bytes) && (!rest || !((a[bytes] ^ b[bytes]) >> (8 - rest)));
}

/* Not "this network", loopback, multicast, reserved (RFC 1122, 3.2.1.3; RFC 4291, 2.5, 2.7). */
static bool is_hosts(const struct family *f, const unsigned char *address)
{
	static const unsigned char zeroes[ADDRESS_BYTES];

	if (f->number == AF_INET)
		return address[0] != 0 && address[0] != 127 && address[0] < 224;
	return address[0] != 0xff &&
	       (memcmp(address, zeroes, ADDRESS_BYTES - 1) || address[ADDRESS_BYTES - 1] > 1);
}

static bool parse_prefix(const struct family *f, const char *text, struct prefix *ret)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN] = "";

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return false;
	memcpy(address, text, (size_t)(slash - text));
	if (!slash[1] || strlen(slash + 1) > 3 ||
		strspn(slash + 1, "0123456789") != strlen(slash + 1))
		return false;
	ret->bits = (unsigned)strtoul(slash + 1, NULL, 10);
	return ret->bits && ret->bits <= f->bits &&
	       inet_pton(f->number, address, ret->address) == 1 && is_hosts(f, ret->address);
}

static bool is_address4(const char *text)
{
	return parse_prefix(&family4, text, &(struct prefix){0});
}

static bool is_address6(const char *text)
{
	return parse_prefix(&family6, text, &(struct prefix){0});
}

static bool is_outside(struct check *c, const struct tree *n, void *target)
{
	const struct family *f = strchr(n->text, ':') ? &family6 : &family4;
	const struct prefix *hosts = &f->hosts;
	struct prefix own = {0};
	char net[INET6_ADDRSTRLEN];

	(void)target;
	parse_prefix(f, n->text, &own);
	if (!same_bits(
		    own.address, hosts->address, own.bits < hosts->bits ? own.bits : hosts->bits))
		return true;
	return explain_value(c->diags, n,
		"%s overlaps %s/%u, where the fabric's own hosts are; expected another network",
		n->text, inet_ntop(f->number, hosts->address, net, sizeof(net)), hosts->bits);
}

/* Messages about the fabric speak of the node. */
static bool check_external(
	struct check *c, const struct tree *n, void *external_spec, uint64_t valid)
{
	(void)c;
	(void)valid;
	((struct external_spec *)external_spec)->pos = tree_get(n, "node")->pos;
	return true;
}

static const struct key keys[] = {
	KEY("node", LABEL, struct external_spec, node, .required = true, .max = NODE_NAME_LIMIT,
		.expected = "the name of a host such as h0",
		.help = "the host that routes between the fabric and the bridge"),
	KEY("bridge", LABEL, struct external_spec, bridge, .required = true, .max = BRIDGE_LIMIT,
		.is_valid = is_bridge,
		.expected = "the name of a bridge: 1 to 15 bytes without blanks, '/' and ':'",
		.help = "the Open vSwitch bridge"),
	KEY("address", LABEL, struct external_spec, address, .max = LABEL_LIMIT,
		.is_valid = is_address4, .check = is_outside, .usual = "none",
		.expected = "an IPv4 address of a host with a prefix length, such as 192.0.2.1/24",
		.help = "the node's IPv4 address on the bridge"),
	KEY("address6", LABEL, struct external_spec, address6, .max = LABEL_LIMIT,
		.is_valid = is_address6, .check = is_outside, .usual = "none",
		.expected =
			"an IPv6 address of a host with a prefix length, such as 2001:db8::1/64",
		.help = "the node's IPv6 address on the bridge"),
};

const struct map external_map = {
	KEYS(keys), .on = FIELD(struct external_spec, node), .check = check_external};
