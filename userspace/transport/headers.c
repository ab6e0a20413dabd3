/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The headers of every packet: built once an endpoint, copied and patched a packet. */
#include <endian.h>
#include <string.h>
#include "lib/checksum.h"
#include "lib/rng.h"
#include "transport/headers.h"

#define DONT_FRAG   0x4000 /* RFC 791, 3.1 */
#define IP6_VERSION 6u
#define LABEL_BITS  20

_Static_assert(sizeof(struct eth_hdr) + sizeof(struct ip6_hdr) + sizeof(struct udp_hdr) +
			       sizeof(struct bth_hdr) <=
		       TEMPLATE_BYTES,
	"the longest headers fit");
_Static_assert(TEMPLATE_BYTES + sizeof(struct assembled_answer) <= HEADERS_MAX,
	"room for the longest extension");

static void prepare_ip4(
	uint8_t *at, uint32_t src_host, uint32_t dst_host, uint8_t tos, uint32_t above)
{
	struct ip4_hdr ip = {
		.version_ihl = 0x45,
		.tos = tos,
		.length = htobe16((uint16_t)(sizeof(ip) + above)),
		.fragment = htobe16(DONT_FRAG),
		.ttl = HEADERS_TTL,
		.protocol = PROTO_UDP,
		.src = htobe32(HOST_IP4_NET + src_host + 1),
		.dst = htobe32(HOST_IP4_NET + dst_host + 1),
	};

	ip.checksum = (uint16_t)~checksum_ip4(&ip);
	memcpy(at, &ip, sizeof(ip));
}

static void host_ip6(uint8_t *address, uint32_t host)
{
	static const uint8_t net[16] = HOST_IP6_NET_BYTES;
	uint32_t number = htobe32(host + 1);

	memcpy(address, net, sizeof(net));
	memcpy(address + sizeof(net) - sizeof(number), &number, sizeof(number));
}

static void prepare_ip6(uint8_t *at, uint32_t src_host, uint32_t dst_host, uint32_t above)
{
	struct ip6_hdr ip = {
		.payload_length = htobe16((uint16_t)above),
		.next_header = PROTO_UDP,
		.hop_limit = HEADERS_TTL,
	};

	host_ip6(ip.src, src_host);
	host_ip6(ip.dst, dst_host);
	memcpy(at, &ip, sizeof(ip));
}

/* The random base that a path is added to. */
static uint16_t entropy_of(uint64_t seed, bool sender, uint32_t pair)
{
	return (uint16_t)(rng_mix(seed ^ sender ^ (uint64_t)pair << 32) & ENTROPY_MASK);
}

static uint16_t port_of(uint16_t entropy, uint32_t path)
{
	return (uint16_t)(ENTROPY_PORTS + ((entropy + path) & ENTROPY_MASK));
}

uint16_t flow_port(uint64_t seed, bool sender, uint32_t pair, uint32_t path)
{
	return port_of(entropy_of(seed, sender, pair), path);
}

void headers_prepare(struct header_template *t, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint32_t pair, uint8_t dscp, uint32_t full_body)
{
	uint32_t src = sender ? flow->src_host : flow->dst_host;
	uint32_t dst = sender ? flow->dst_host : flow->src_host;
	uint32_t qp = flow_qp(env, flow->id, pair, !sender);
	uint8_t tos = (uint8_t)(dscp << 2 | ECN_ECT0);
	uint32_t udp_length = sizeof(struct udp_hdr) + sizeof(struct bth_hdr) + full_body;
	struct eth_hdr eth = {.type = htobe16(env->ip6 ? ETHERTYPE_IP6 : ETHERTYPE_IP4)};
	/* No checksum, as RoCEv2 has it (InfiniBand annex A17): the ICRC covers more. */
	struct udp_hdr udp = {
		.dst = htobe16(UDP_PORT_ROCE), .length = htobe16((uint16_t)udp_length)};
	struct bth_hdr bth = {.pkey = htobe16(BTH_PKEY), .qp = htobe32(qp & BTH_MASK_24)};
	uint8_t *at = t->bytes;

	memcpy(eth.src, sender ? flow->src_mac : flow->dst_mac, sizeof(eth.src));
	memcpy(eth.dst, sender ? flow->src_next : flow->dst_next, sizeof(eth.dst));
	memcpy(at, &eth, sizeof(eth));
	at += sizeof(eth);
	if (env->ip6)
		prepare_ip6(at, src, dst, udp_length);
	else
		prepare_ip4(at, src, dst, tos, udp_length);
	at += env->ip6 ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr);
	memcpy(at, &udp, sizeof(udp));
	at += sizeof(udp);
	memcpy(at, &bth, sizeof(bth));
	at += sizeof(bth);
	t->length = (uint8_t)(at - t->bytes);
	t->ip6 = env->ip6;
	t->tos = tos;
	t->entropy = entropy_of(flow->seed, sender, pair);
	t->full_body = (uint16_t)full_body;
}

/* A packet of another size than the template's: lengths, and the checksum over them. */
static void patch_lengths(uint8_t *l3, bool ip6, uint32_t udp_length)
{
	uint8_t *udp = l3 + (ip6 ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr));

	((struct udp_hdr *)udp)->length = htobe16((uint16_t)udp_length);
	if (ip6) {
		((struct ip6_hdr *)l3)->payload_length = htobe16((uint16_t)udp_length);
		return;
	}
	struct ip4_hdr *ip = (struct ip4_hdr *)l3;
	ip->length = htobe16((uint16_t)(sizeof(*ip) + udp_length));
	ip->checksum = 0;
	ip->checksum = (uint16_t)~checksum_ip4(ip);
}

uint8_t *headers_write(
	const struct header_template *t, const struct header_fields *f, struct tx_frame *tx)
{
	uint32_t body = f->extension + f->payload + ICRC_BYTES;
	uint16_t port = port_of(t->entropy, f->path);
	uint8_t *l3 = tx->bytes + sizeof(struct eth_hdr);
	uint8_t *end = tx->bytes + t->length;
	struct bth_hdr *bth = (struct bth_hdr *)(end - sizeof(*bth));
	struct udp_hdr *udp = (struct udp_hdr *)(end - sizeof(*bth) - sizeof(*udp));

	memcpy(tx->bytes, t->bytes, TEMPLATE_BYTES);
	udp->src = htobe16(port);
	bth->opcode = f->opcode;
	bth->psn = htobe32((f->psn & BTH_MASK_24) | (f->ack_request ? BTH_ACK_REQ : 0));
	if (t->ip6) {
		/*
		 * The label follows the entropy, for switches that hash it instead of ports (RFC
		 * 6438).
		 */
		uint32_t label = (port * 0x9e3779b1u) >> (32 - LABEL_BITS);

		((struct ip6_hdr *)l3)->version_class_flow =
			htobe32(IP6_VERSION << 28 | (uint32_t)t->tos << LABEL_BITS | label);
	}
	if (body != t->full_body)
		patch_lengths(l3, t->ip6, sizeof(*udp) + sizeof(*bth) + body);
	tx->captured = t->length + f->extension;
	tx->length = t->length + body;
	tx->payload_length = f->payload;
	return end;
}

bool headers_read_bth(const struct rx_frame *rx, struct bth *ret)
{
	uint64_t end = (uint64_t)rx->transport_offset + sizeof(struct bth_hdr);
	struct bth_hdr bth;
	uint32_t psn;

	if (end > rx->captured)
		return false;
	memcpy(&bth, rx->bytes + rx->transport_offset, sizeof(bth));
	psn = be32toh(bth.psn);
	ret->opcode = bth.opcode;
	ret->ack_request = psn & BTH_ACK_REQ;
	ret->qp = be32toh(bth.qp) & BTH_MASK_24;
	ret->psn = psn & BTH_MASK_24;
	return true;
}
