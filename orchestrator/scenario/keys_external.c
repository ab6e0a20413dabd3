/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"

#define BRIDGE_LIMIT  15 /* bytes: IFNAMSIZ with its terminating zero is 16 */
#define ADDRESS_BYTES 16

#define BRIDGE_EXPECTED "the name of a bridge: 1 to 15 bytes without blanks, '/' and ':'"

/* What dev_valid_name() of Linux's net/core/dev.c takes. */
static bool check_bridge(struct check *c, const struct tree *n, void *target)
{
	const char *name = *(char **)target;

	if (!strpbrk(name, "/:\t\n\v\f\r") && strcmp(name, ".") && strcmp(name, ".."))
		return true;
	return explain_unexpected(c->diags, n, BRIDGE_EXPECTED);
}

/* A family of addresses, and the range of it that the fabric's own hosts have. */
struct family {
	int number;
	unsigned bits;
	unsigned char net[ADDRESS_BYTES];
	unsigned net_bits;
	const char *net_text;
	const char *expected;
};

static const struct family family4 = {
	.number = AF_INET,
	.bits = 32,
	.net = {10},
	.net_bits = 8,
	.net_text = "10.0.0.0/8",
	.expected = "an IPv4 address of a host with a prefix length, such as 192.0.2.1/24",
};

static const struct family family6 = {
	.number = AF_INET6,
	.bits = 128,
	.net = {0xfd, 0x00, 0x0f, 0xab},
	.net_bits = 64,
	.net_text = "fd00:fab::/64",
	.expected = "an IPv6 address of a host with a prefix length, such as 2001:db8::1/64",
};

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	return !memcmp(a, b, bytes) && (!rest || !((a[bytes] ^ b[bytes]) >> (8 - rest)));
}

/* Not one of "this network", loopback, multicast and reserved ones (RFC 1122, 3.2.1.3; RFC 4291, 2.5 and 2.7). */
static bool is_hosts(const struct family *f, const unsigned char *address)
{
	static const unsigned char zeroes[ADDRESS_BYTES];

	if (f->number == AF_INET)
		return address[0] != 0 && address[0] != 127 && address[0] < 224;
	return address[0] != 0xff &&
	       (memcmp(address, zeroes, ADDRESS_BYTES - 1) || address[ADDRESS_BYTES - 1] > 1);
}

/* "192.0.2.1/24" into its bytes and the length of its prefix. */
static bool split_address(
	const struct family *f, const char *text, unsigned char *ret_address, unsigned *ret_bits)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN] = "";
	unsigned long bits;

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return false;
	memcpy(address, text, (size_t)(slash - text));
	if (!slash[1] || strlen(slash + 1) > 3 ||
		strspn(slash + 1, "0123456789") != strlen(slash + 1))
		return false;
	bits = strtoul(slash + 1, NULL, 10);
	if (!bits || bits > f->bits || inet_pton(f->number, address, ret_address) != 1)
		return false;
	*ret_bits = (unsigned)bits;
	return is_hosts(f, ret_address);
}

static bool is_outside(struct check *c, const struct tree *n, const struct family *f)
{
	unsigned char address[ADDRESS_BYTES] = {0};
	unsigned bits = 0;

	if (!split_address(f, n->text, address, &bits))
		return explain_unexpected(c->diags, n, f->expected);
	if (!same_bits(address, f->net, bits < f->net_bits ? bits : f->net_bits))
		return true;
	return explain_value(c->diags, n,
		"%s overlaps %s, where the fabric's own hosts are; expected another network",
		n->text, f->net_text);
}

static bool check_address(struct check *c, const struct tree *n, void *target)
{
	(void)target;
	return is_outside(c, n, &family4);
}

static bool check_address6(struct check *c, const struct tree *n, void *target)
{
	(void)target;
	return is_outside(c, n, &family6);
}

/* Messages about the fabric speak of the node. */
static bool check_external(
	struct check *c, const struct tree *n, void *external_spec, uint64_t good)
{
	(void)c;
	(void)good;
	((struct external_spec *)external_spec)->pos = tree_get(n, "node")->pos;
	return true;
}

static const struct key keys[] = {
	KEY("node", LABEL, struct external_spec, node, .required = true, .max = NODE_NAME_LIMIT,
		.expected = "the name of a host such as h0",
		.help = "the host that routes between the fabric and the bridge"),
	KEY("bridge", LABEL, struct external_spec, bridge, .required = true, .max = BRIDGE_LIMIT,
		.check = check_bridge, .expected = BRIDGE_EXPECTED,
		.help = "the Open vSwitch bridge"),
	KEY("address", LABEL, struct external_spec, address, .max = LABEL_LIMIT,
		.check = check_address, .usual = "none",
		.expected = "an IPv4 address of a host with a prefix length, such as 192.0.2.1/24",
		.help = "the node's IPv4 address on the bridge"),
	KEY("address6", LABEL, struct external_spec, address6, .max = LABEL_LIMIT,
		.check = check_address6, .usual = "none",
		.expected =
			"an IPv6 address of a host with a prefix length, such as 2001:db8::1/64",
		.help = "the node's IPv6 address on the bridge"),
};

const struct map external_map = {
	KEYS(keys), .on = FIELD(struct external_spec, node), .check = check_external};
