/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The XDP program of a switch port. */
#include "xdp.h"

SEC("xdp")
int fabricbed_switch(struct xdp_md *md)
{
	return xdp_run(md, PORT_SWITCH);
}

char _license[] SEC("license") __weak = "Dual BSD/GPL";
