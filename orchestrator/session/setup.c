/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/setup.h"

#include "abi/policies.h"
#include "control/lldp_agent.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"
#include "transport/kind.h"

bool setup_payload_is_full(const struct scenario *s, const struct fabric *f)
{
	if (s->host.payload == PAYLOAD_AUTO)
		return fabric_holds_payload(f);
	return s->host.payload == PAYLOAD_FULL;
}

uint32_t setup_frame_capacity(const struct scenario *s, const struct fabric *f)
{
	uint32_t capacity = headers_capacity(s->host.ip6);

	if (setup_payload_is_full(s, f) && f->packet_bytes > capacity)
		capacity = f->packet_bytes;
	if (s->sw.lldp_ps && capacity < LLDP_FRAME_MAX)
		capacity = LLDP_FRAME_MAX;
	return capacity;
}

#define LIVE_FLOWS 1024 /* of a switch whose own policy needs none */

uint32_t setup_flow_sets(const struct fabric *f, bool lasting)
{
	uint32_t sets = f->switching.config.flow_sets;

	/* a policy that needs flows may take the place of one that needs none */
	return lasting && !sets ? LIVE_FLOWS / FLOW_WAYS : sets;
}

void setup_schedule(struct engine_schedule *ret, const struct fabric *f)
{
	for (uint32_t c = 0; c < CLASSES; c++)
		ret->share[c] = f->switching.classes[c].share;
}

void setup_frames(struct workload_frames *ret, const struct scenario *s, const struct fabric *f)
{
	const struct transport_kind *kind = transport_kinds[s->host.transport.kind];

	*ret = (struct workload_frames){
		.mtu = f->mtu,
		.ip6 = s->host.ip6,
		.dscp = (uint8_t)s->host.data_dscp,
		.data_extension = kind->data_bytes,
		.answer_extension = kind->answer_bytes,
		.pairs = transport_facts(&s->host.transport).qps,
	};
}

const struct transport_ops *setup_transport(
	struct transport_env *ret_env, const struct scenario *s, const struct fabric *f)
{
	*ret_env = (struct transport_env){
		.mtu = f->mtu,
		.host_rate_bps = f->host_rate_bps,
		.base_rtt_ps = f->base_rtt_ps,
		.queue_bytes = switching_data_queue(&f->switching, &f->net),
		.ip6 = s->host.ip6,
		.payload_full = setup_payload_is_full(s, f),
		.data_dscp = (uint8_t)s->host.data_dscp,
		.control_dscp = (uint8_t)s->host.control_dscp,
		.notify_dscp = (uint8_t)s->host.notify_dscp,
		.qps = (uint8_t)transport_facts(&s->host.transport).qps,
		.paths = (uint16_t)transport_facts(&s->host.transport).paths,
		.options = s->host.transport.options,
	};
	return transport_kinds[s->host.transport.kind]->ops;
}
