/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The XDP program of a host port. */
#include "xdp.h"

SEC("xdp")
int fabricbed_host(struct xdp_md *md)
{
	struct sw_ctx c = {0};
	struct verdict *verdict = xdp_enter(&c, md);

	if (!verdict)
		return XDP_DROP;
	if (sw_makes(&c))
		sw_verdict(&c, verdict, sw_make(&c), VERDICT_FORWARD);
	else
		sw_verdict(&c, verdict, sw_host(&c), VERDICT_DELIVER);
	return xdp_leave(&c);
}

char _license[] SEC("license") __weak = "Dual BSD/GPL";
