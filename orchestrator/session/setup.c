/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/setup.h"

#include <string.h>
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
	ret->frame_bytes = f->packet_bytes;
	for (uint32_t c = 0; c < CLASSES; c++)
		ret->share[c] = f->switching.classes[c].share;
}

void setup_frames(struct workload_frames *ret, const struct scenario *s, const struct fabric *f)
{
	const struct transport_choice *t;

	*ret = (struct workload_frames){
		.mtu = f->mtu,
		.ip6 = s->host.ip6,
		.dscp = (uint8_t)s->host.data_dscp,
	};
	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++) {
		ret->transports[i].data_extension = transport_kinds[t->kind]->data_bytes;
		ret->transports[i].answer_extension = transport_kinds[t->kind]->answer_bytes;
		ret->transports[i].pairs = transport_facts(t).qps;
		ret->transports[i].even = transport_facts(t).even;
	}
}

void setup_transports(struct engine_transport ret[OPERATION_TRANSPORTS], const struct scenario *s,
	const struct fabric *f)
{
	const struct transport_choice *t;

	memset(ret, 0, OPERATION_TRANSPORTS * sizeof(*ret));
	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++) {
		struct transport_facts facts = transport_facts(t);

		ret[i] = (struct engine_transport){
			.name = transport_name(t),
			.ops = transport_kinds[t->kind]->ops,
			.env = {.mtu = f->mtu,
				.host_rate_bps = f->host_rate_bps,
				.base_rtt_ps = f->base_rtt_ps,
				.queue_bytes = fabric_data_queue(f, s, i),
				.ip6 = s->host.ip6,
				.payload_full = setup_payload_is_full(s, f),
				.data_dscp = (uint8_t)s->host.data_dscp,
				.control_dscp = (uint8_t)s->host.control_dscp,
				.notify_dscp = (uint8_t)s->host.notify_dscp,
				.qps = (uint8_t)facts.qps,
				.paths = (uint16_t)facts.paths,
				.options = t->options},
		};
	}
}
