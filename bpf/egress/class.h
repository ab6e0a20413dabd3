/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EGRESS_CLASS_H
#define FABRICBED_EGRESS_CLASS_H

/* The DSCP of a packet by its port or by who sent it. */
#include "egress/packet.h"
#include "lib/ip.h"

/* Whether the sender lies in that cgroup or below it. */
static __always_inline int egress_in_cgroup(const struct egress_packet *p, __u64 cgroup)
{
	int found = 0;

	sw_unroll for (int i = 0; i < EGRESS_LEVELS; i++)
	{
		found |= p->cgroups[i] == cgroup;
	}
	return found;
}

static __always_inline int egress_rule_fits(
	const struct egress_packet *p, const volatile struct egress_rule *rule)
{
	if (rule->port)
		return p->src_port == be16(rule->port) || p->dst_port == be16(rule->port);
	return rule->cgroup && egress_in_cgroup(p, rule->cgroup);
}

/* The first rule that fits sets the DSCP; ECN's two bits stay. */
static __always_inline void egress_class(
	struct egress_packet *p, const volatile struct egress_config *config)
{
	for (int i = 0; i < EGRESS_RULES; i++) {
		if (i >= config->rule_count)
			return;
		if (egress_rule_fits(p, &config->rules[i])) {
			__u8 ecn = ip_tos(p->ip4, p->ip6) & 3;

			ip_set_tos(p->ip4, p->ip6, (__u8)(config->rules[i].dscp << 2) | ecn);
			return;
		}
	}
}

#endif
