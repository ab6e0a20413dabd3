/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EGRESS_LABEL_H
#define FABRICBED_EGRESS_LABEL_H

/* The IPv6 flow label (RFC 6437), by which switches choose paths: 20 bits; 0 is no label. */
#include "egress/packet.h"
#include "lib/hash.h"

#define LABEL_MASK 0xfffffu

/* A flow's latest flowlet (Vanini and others: Let It Flow, 2017, section 3). */
struct egress_flowlet {
	__u64 last_ns; /* of its latest packet */
	__u32 label;
	__u32 reserved;
};

/* A label out of random bits or a hash: 1 to LABEL_MASK, evenly. */
static __always_inline __u32 egress_label_of(__u32 bits)
{
	return hash_pick(bits, LABEL_MASK) + 1;
}

static __always_inline __u32 egress_label(const struct egress_packet *p)
{
	return be32(p->ip6->version_class_flow) & LABEL_MASK;
}

static __always_inline void egress_set_label(struct egress_packet *p, __u32 label)
{
	__u32 word = be32(p->ip6->version_class_flow) & ~LABEL_MASK;

	p->ip6->version_class_flow = be32(word | label);
}

/* flow is zeroed. */
static __always_inline void egress_flow_of(const struct egress_packet *p, struct egress_flow *flow)
{
	__builtin_memcpy(flow->src, p->ip6->src, sizeof(flow->src));
	__builtin_memcpy(flow->dst, p->ip6->dst, sizeof(flow->dst));
	flow->src_port = p->src_port;
	flow->dst_port = p->dst_port;
	flow->protocol = p->protocol;
}

/* Entropy per flow: what the stack chose; where it chose none, a hash of the flow. */
static __always_inline __u32 egress_label_flow(__u32 label, const struct egress_flow *flow)
{
	__u64 words[5];

	if (label)
		return label;
	__builtin_memcpy(words, flow, sizeof(words));
	return egress_label_of(hash_flow(rng_mix(words[0] ^ rng_mix(words[1])),
		rng_mix(words[2] ^ rng_mix(words[3])), words[4]));
}

/* Entropy per flowlet: the bits make a new label if the flow was silent for more than gap_ns. */
static __always_inline __u32 egress_label_flowlet(
	struct egress_flowlet *f, __u64 now_ns, __u64 gap_ns, __u32 bits)
{
	/* signed: another core's packet may be later than this one */
	if ((__s64)(now_ns - f->last_ns) > (__s64)gap_ns)
		f->label = egress_label_of(bits);
	f->last_ns = now_ns;
	return f->label;
}

#endif
