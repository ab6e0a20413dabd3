/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The XDP program of a host port. */
#include "xdp.h"

SEC("xdp")
int fabricbed_host(struct xdp_md *md)
{
	return xdp_run(md, PORT_HOST);
}

char _license[] SEC("license") __weak = "Dual BSD/GPL";
