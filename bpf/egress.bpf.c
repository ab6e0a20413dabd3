/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program of a host's eth0, for what ordinary programs send: DSCP, ECT, path entropy. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
#include "egress/class.h"
#include "egress/ect.h"
#include "egress/label.h"
#include "egress/parse_ports.h"

#define FLOWS 4096 /* that are known at once; a forgotten one begins a new flowlet */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FLOWS);
	__type(key, struct egress_flow);
	__type(value, struct egress_flowlet);
} flowlets SEC(".maps");

const volatile struct egress_config egress = {0};

static __always_inline int has_cgroup_rule(void)
{
	for (int i = 0; i < EGRESS_RULES; i++)
		if (i < egress.rule_count && egress.rules[i].cgroup)
			return 1;
	return 0;
}

static __always_inline void find_cgroups(struct egress_packet *p, struct __sk_buff *skb)
{
	sw_unroll for (int i = 0; i < EGRESS_LEVELS; i++)
	{
		p->cgroups[i] = bpf_skb_ancestor_cgroup_id(skb, i);
		if (!p->cgroups[i])
			return;
	}
}

static __always_inline __u32 flowlet_label(const struct egress_flow *flow)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct egress_flowlet *known = bpf_map_lookup_elem(&flowlets, flow), fresh = {0};

	if (known)
		return egress_label_flowlet(
			known, now_ns, egress.flowlet_ns, bpf_get_prandom_u32());
	fresh.last_ns = now_ns;
	fresh.label = egress_label_of(bpf_get_prandom_u32());
	bpf_map_update_elem(&flowlets, flow, &fresh, BPF_ANY);
	return fresh.label;
}

static __always_inline __u32 choose_label(const struct egress_packet *p)
{
	struct egress_flow flow = {0};

	if (egress.entropy == EGRESS_PACKET)
		return egress_label_of(bpf_get_prandom_u32());
	egress_flow_of(p, &flow);
	if (egress.entropy == EGRESS_FLOWLET)
		return flowlet_label(&flow);
	return egress_label_flow(egress_label(p), &flow);
}

/* What is not changed, or has been, goes on to whatever filter comes behind this one. */
SEC("tc")
int fabricbed_egress(struct __sk_buff *skb)
{
	struct egress_packet p = {0};

	if (skb->vlan_present)
		return TC_ACT_UNSPEC;
	/* headers may be out of reach in the linear part, as in packets that a gateway forwards */
	if (skb->data_end - skb->data < EGRESS_HEADERS && skb->len > skb->data_end - skb->data)
		bpf_skb_pull_data(skb, skb->len < EGRESS_HEADERS ? skb->len : EGRESS_HEADERS);
	p.cursor.pos = (void *)(long)skb->data;
	p.cursor.end = (void *)(long)skb->data_end;
	if (!egress_parse(&p))
		return TC_ACT_UNSPEC;
	if (has_cgroup_rule())
		find_cgroups(&p, skb);
	egress_class(&p, &egress);
	egress_ect(&p, &egress);
	if (p.ip6)
		egress_set_label(&p, choose_label(&p));
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") __weak = "Dual BSD/GPL";
