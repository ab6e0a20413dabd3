/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_RESUBMIT_H
#define FABRICBED_SW_RESUBMIT_H

/*
 * A frame that the switch has given another destination: it is parsed, routed and admitted anew. It
 * may go back where it came from.
 */
#include "sw/admit.h"
#include "sw/balance.h"
#include "sw/parse.h"
#include "sw/route.h"

static __always_inline enum sw_step sw_resubmit(struct sw_ctx *c)
{
	c->cursor.pos = (void *)(c->eth + 1);
	c->ip4 = 0;
	c->ip6 = 0;
	c->udp = 0;
	c->turned = 1;
	SW_STAGE(sw_parse);
	SW_STAGE(sw_route);
	SW_STAGE(sw_balance);
	return sw_admit(c);
}

#endif
