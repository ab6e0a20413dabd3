/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EGRESS_ECT_H
#define FABRICBED_EGRESS_ECT_H

/* Makes non-ECT packets ECT(0) (RFC 3168, section 5): switches then mark instead of dropping. */
#include "egress/packet.h"
#include "lib/ip.h"

static __always_inline void egress_ect(
	struct egress_packet *p, const volatile struct egress_config *config)
{
	__u8 tos = ip_tos(p->ip4, p->ip6);

	if (config->ect && (tos & 3) == ECN_NOT_ECT)
		ip_set_tos(p->ip4, p->ip6, tos | ECN_ECT0);
}

#endif
