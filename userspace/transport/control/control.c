/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport/control/control.h"
#include "base/wiretime.h"

#define CONTROL_ROW(symbol, word) &control_kind_##symbol,

const struct control_kind *const control_kinds[CONTROL_KINDS] = {CONTROLS(CONTROL_ROW)};

uint64_t control_bdp(const struct transport_env *env)
{
	return (uint64_t)((unsigned __int128)env->host_rate_bps * env->base_rtt_ps /
			  (8 * PS_PER_S));
}

double control_window(const struct transport_env *env, const struct quantity *q)
{
	double bytes = q->unit == QUANTITY_BDP ? q->value * (double)control_bdp(env) : q->value;

	return control_clamp(bytes, env->mtu, CONTROL_WINDOW_MAX);
}
