/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_ECMP_H
#define FABRICBED_BALANCE_ECMP_H

/* ECMP: by the flow's hash under this switch's seed (RFC 2992, hash-threshold). */
#include <fabricbed/policy.h>

POLICY(ecmp)
{
	return policy_scale(p->hash, p->count);
}

#endif
