/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define UDP         17
#define ROCE        4791
#define ICRC        4
#define IP4         0x0800
#define IP6         0x86dd
#define MAC_CONTROL 0x8808
#define CHECKSUM    10 /* its offset in an IPv4 header */
#define OTHER       20 /* bytes of a header that is not UDP's */
#define KEPT        36 /* UDP 8, BTH 12, extension 16 */

const struct packet_spec packet_spec_default = {
	.dst_mac = {0x02, 0xfb, 0, 0, 0, 3},
	.src_mac = {0x02, 0xfb, 0, 0, 0, 99},
	.src_host = 1,
	.dst_host = 7,
	.tos = 0xb8 | 2, /* DSCP EF, ECT(0) */
	.ttl = 64,
	.protocol = UDP,
	.id = 0x1234,
	.fragment = 0x4000, /* do not fragment */
	.flow_label = 0x5abcd,
	.src_port = 0xc123,
	.payload = 1024,
};

uint16_t packet_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

void packet_put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	packet_put16(at, (uint16_t)(value >> 16));
	packet_put16(at + 2, (uint16_t)value);
}

uint16_t packet_checksum(const struct packet *p)
{
	const uint8_t *ip = p->bytes + PACKET_IP;
	unsigned bytes = (ip[0] & 15u) * 4;
	uint32_t sum = 0;

	for (unsigned i = 0; i < bytes; i += 2)
		if (i != CHECKSUM)
			sum += packet_get16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void packet_seal(struct packet *p)
{
	packet_put16(p->bytes + PACKET_IP + CHECKSUM, packet_checksum(p));
}

static bool is_ip6(const struct packet *p)
{
	return p->bytes[PACKET_IP] >> 4 == 6;
}

uint8_t packet_tos(const struct packet *p)
{
	const uint8_t *ip = p->bytes + PACKET_IP;

	return is_ip6(p) ? (uint8_t)(ip[0] << 4 | ip[1] >> 4) : ip[1];
}

void packet_set_tos(struct packet *p, uint8_t tos)
{
	uint8_t *ip = p->bytes + PACKET_IP;

	if (is_ip6(p)) {
		ip[0] = (uint8_t)(0x60 | tos >> 4);
		ip[1] = (uint8_t)(tos << 4 | (ip[1] & 15));
	} else {
		ip[1] = tos;
		packet_seal(p);
	}
}

void packet_trim(struct packet *p)
{
	uint8_t *ip = p->bytes + PACKET_IP;
	uint32_t header = is_ip6(p) ? 40 : 20;

	packet_put16(ip + (is_ip6(p) ? 4 : 2), (uint16_t)(is_ip6(p) ? KEPT : header + KEPT));
	packet_put16(ip + header + 4, KEPT);
	p->length = PACKET_IP + header + KEPT;
	if (!is_ip6(p))
		packet_seal(p);
}

void packet_turn(struct packet *p)
{
	uint32_t bytes = is_ip6(p) ? 16 : 4;
	uint8_t *src = p->bytes + PACKET_IP + (is_ip6(p) ? 8 : 12), was[16];

	memcpy(was, src, bytes);
	memcpy(src, src + bytes, bytes);
	memcpy(src + bytes, was, bytes);
}

static uint8_t *build_ip4(uint8_t *ip, const struct packet_spec *s, uint32_t above)
{
	unsigned header = 20u + s->options * 4u;

	ip[0] = (uint8_t)(0x40 | header / 4);
	ip[1] = s->tos;
	packet_put16(ip + 2, (uint16_t)(header + above));
	packet_put16(ip + 4, s->id);
	packet_put16(ip + 6, s->fragment);
	ip[8] = s->ttl;
	ip[9] = s->protocol;
	put32(ip + 12, 0x0a000001 + s->src_host);
	put32(ip + 16, 0x0a000001 + s->dst_host);
	memset(ip + 20, 1, s->options * 4u);
	return ip + header;
}

static void put_ip6_address(uint8_t *at, uint32_t host)
{
	put32(at, 0xfd000fab);
	put32(at + 12, host + 1);
}

static uint8_t *build_ip6(uint8_t *ip, const struct packet_spec *s, uint32_t above)
{
	put32(ip, 6u << 28 | (uint32_t)s->tos << 20 | s->flow_label);
	packet_put16(ip + 4, (uint16_t)above);
	ip[6] = s->protocol;
	ip[7] = s->ttl;
	put_ip6_address(ip + 8, s->src_host);
	put_ip6_address(ip + 24, s->dst_host);
	return ip + 40;
}

/* UDP without a checksum (RoCEv2), BTH of a STrack data packet with PSN 0x123456, its extension. */
static uint8_t *build_udp(uint8_t *udp, const struct packet_spec *s, uint32_t above)
{
	uint8_t *bth = udp + 8;

	packet_put16(udp, s->src_port);
	packet_put16(udp + 2, ROCE);
	packet_put16(udp + 4, (uint16_t)above);
	bth[0] = 0xc0;
	packet_put16(bth + 2, 0xffff);
	put32(bth + 4, 0x000042);
	put32(bth + 8, 0x80123456);
	for (int i = 0; i < 16; i++)
		bth[12 + i] = (uint8_t)(0xd0 + i);
	return bth + 28;
}

/* Ports first, as TCP and SCTP have them; then what a test can recognise. */
static uint8_t *build_other(uint8_t *at, const struct packet_spec *s)
{
	packet_put16(at, s->src_port);
	packet_put16(at + 2, 80);
	for (int i = 4; i < OTHER; i++)
		at[i] = (uint8_t)(0xa0 + i);
	return at + OTHER;
}

void packet_build(struct packet *ret, const struct packet_spec *s)
{
	uint32_t above = (s->protocol == UDP ? 36u : OTHER) + s->payload + ICRC;
	uint8_t *at = ret->bytes;

	memset(ret, 0, sizeof(*ret));
	memcpy(at, s->dst_mac, 6);
	memcpy(at + 6, s->src_mac, 6);
	packet_put16(at + 12, s->ip6 ? IP6 : IP4);
	at += PACKET_IP;
	at = s->ip6 ? build_ip6(at, s, above) : build_ip4(at, s, above);
	ret->length = (uint32_t)(at - ret->bytes) + above;
	at = s->protocol == UDP ? build_udp(at, s, above) : build_other(at, s);
	ret->captured = (uint32_t)(at - ret->bytes);
	if (!s->ip6)
		packet_seal(ret);
}

void packet_build_pfc(
	struct packet *ret, const uint8_t src_mac[6], uint8_t classes, const uint16_t quanta[8])
{
	static const uint8_t control[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	uint8_t *at = ret->bytes;

	memset(ret, 0, sizeof(*ret));
	ret->captured = ret->length = PACKET_PFC;
	memcpy(at, control, 6);
	memcpy(at + 6, src_mac, 6);
	packet_put16(at + 12, MAC_CONTROL);
	packet_put16(at + 14, 0x0101);
	at[17] = classes;
	for (int class = 0; class < 8; class ++)
		if (classes >> class & 1)
			packet_put16(at + 18 + 2 * class, quanta[class]);
}

uint32_t packet_bth(const struct packet *p)
{
	return PACKET_IP + (is_ip6(p) ? 40 : 20) + 8;
}

static void print_line(
	const char *name, const uint8_t *bytes, const uint8_t *other, uint32_t from, uint32_t to)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%-5s %04x ", name, from);

	for (uint32_t i = from; i < to; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%c%02x",
			bytes[i] == other[i] ? ' ' : '*', bytes[i]);
	print_error("%s\n", line);
}

void packet_assert_equal(const char *what, const uint8_t *got, const uint8_t *want, uint32_t n)
{
	if (!memcmp(got, want, n))
		return;
	print_error("%s differs in the bytes marked *:\n", what);
	for (uint32_t from = 0; from < n; from += 16) {
		uint32_t to = from + 16 < n ? from + 16 : n;

		if (!memcmp(got + from, want + from, to - from))
			continue;
		print_line("got", got, want, from, to);
		print_line("want", want, got, from, to);
	}
	fail();
}
