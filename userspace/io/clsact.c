/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/clsact.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include "io/netlink_request.h"

#define FILTER_PRIORITY 1u
#define FILTER_NAME     "fabricbed" /* as `tc filter show` has it */

static struct tcmsg *put_tc(struct nlmsghdr *h, uint32_t index)
{
	struct tcmsg *tc = mnl_nlmsg_put_extra_header(h, sizeof(*tc));

	tc->tcm_family = AF_UNSPEC;
	tc->tcm_ifindex = (int)index;
	return tc;
}

static void add_qdisc(struct rtnl *r, uint32_t index)
{
	struct nlmsghdr *h = rtnl_begin(r, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL);
	struct tcmsg *tc = put_tc(h, index);

	tc->tcm_parent = TC_H_CLSACT;
	tc->tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0);
	mnl_attr_put_strz(h, TCA_KIND, "clsact");
	rtnl_end(r, h);
}

void clsact_attach_egress(struct rtnl *r, uint32_t index, int program_fd)
{
	struct nlattr *options;
	struct nlmsghdr *h;
	struct tcmsg *tc;

	add_qdisc(r, index);
	h = rtnl_begin(r, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
	tc = put_tc(h, index);
	tc->tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS);
	tc->tcm_info = TC_H_MAKE(FILTER_PRIORITY << 16, htons(ETH_P_ALL));
	mnl_attr_put_strz(h, TCA_KIND, "bpf");
	options = mnl_attr_nest_start(h, TCA_OPTIONS);
	mnl_attr_put_u32(h, TCA_BPF_FD, (uint32_t)program_fd);
	mnl_attr_put_strz(h, TCA_BPF_NAME, FILTER_NAME);
	mnl_attr_put_u32(h, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
	mnl_attr_nest_end(h, options);
	rtnl_end(r, h);
}
