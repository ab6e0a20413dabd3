/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport/recovery/recovery.h"

#include "base/numbers.h"

#define RECOVERY_ROW(symbol, word) &recovery_kind_##symbol,

const struct recovery_kind *const recovery_kinds[RECOVERY_KINDS] = {RECOVERIES(RECOVERY_ROW)};

struct packets packets_of_flow(const struct transport_env *env, const struct flow_spec *flow)
{
	uint64_t messages = 1 + (uint64_t)flow->more,
		 each = (flow->bytes + env->mtu - 1) / env->mtu;
	uint64_t bytes = flow->bytes * messages, count = each * messages;

	return (struct packets){
		.bytes = bytes,
		.count = (uint32_t)min_u64(count, UINT32_MAX),
		.of_message = (uint32_t)min_u64(each, UINT32_MAX),
		.mtu = env->mtu,
		.last_bytes = (uint32_t)(bytes - (count - 1) * env->mtu),
	};
}
