/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_LLDP_H
#define FABRICBED_SW_LLDP_H

/* LLDP frames go to the node's own processor (IEEE 802.1AB). Needs the Ethernet header. */
#include "sw/context.h"

static __always_inline enum sw_step sw_lldp(struct sw_ctx *c)
{
	if (sw_likely(c->eth->type != be16(ETHERTYPE_LLDP)))
		return SW_NEXT;
	return sw_done(c, VERDICT_CONTROL);
}

#endif
