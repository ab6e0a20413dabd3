/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/setup.h"

#include "abi/policies.h"
#include "abi/wire.h"
#include "control/lldp_agent.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"
#include "transport/dcqcn.h"

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

void setup_schedule(struct engine_schedule *ret, const struct fabric *f)
{
	for (uint32_t c = 0; c < CLASSES; c++)
		ret->share[c] = f->switching.classes[c].share;
}

static struct strack_options strack_options(const struct scenario *s, const struct fabric *f)
{
	const struct quantity *window = &s->host.strack.window;
	static const enum strack_spray spray[] = {
		[SPRAY_ADAPTIVE] = STRACK_ADAPTIVE,
		[SPRAY_OBLIVIOUS] = STRACK_OBLIVIOUS,
		[SPRAY_SINGLE] = STRACK_SINGLE,
	};

	return (struct strack_options){
		.paths = s->host.strack.paths,
		.spray = spray[s->host.strack.spray],
		.sack_packets = s->host.strack.sack_packets,
		.rto_ps = s->host.strack.rto_ps,
		.window_share = window->unit == QUANTITY_BDP ? window->value
							     : window->value / (double)f->bdp_bytes,
		.bitmap_rtts = s->host.strack.bitmap_rtts,
		.target_delay_ps = s->host.strack.target_delay_ps,
		.fixed = s->host.strack.fixed,
	};
}

static uint32_t dcqcn_fraction(double share)
{
	uint32_t r = (uint32_t)(share * DCQCN_ALPHA_ONE);

	return r ? r : 1;
}

static struct roce_options roce_options(const struct scenario *s)
{
	static const enum roce_scale scales[] = {
		[DCQCN_PAPER] = ROCE_PAPER,
		[DCQCN_TUNED] = ROCE_TUNED,
		[DCQCN_STRACK_PAPER] = ROCE_STRACK_PAPER,
	};

	return (struct roce_options){
		.dcqcn = s->host.roce.dcqcn,
		.rto_ps = s->host.roce.rto_ps,
		.cnp_ps = s->host.roce.cnp_ps,
		.increase_ps = s->host.roce.increase_ps,
		.increase_bytes = s->host.roce.increase_bytes,
		.additive_bps = s->host.roce.additive_bps,
		.hyper_bps = s->host.roce.hyper_bps,
		.min_bps = s->host.roce.min_bps,
		.alpha_ps = s->host.roce.alpha_ps,
		.scale = scales[s->host.roce.kind],
		.alpha_start = dcqcn_fraction(s->host.roce.alpha_start),
		.gain = dcqcn_fraction(s->host.roce.gain),
		.rounds = s->host.roce.rounds,
		.keep_target = s->host.roce.keep_target,
	};
}

/* Of RoCEv2 only a write's first packet has an extension. */
void setup_frames(struct workload_frames *ret, const struct scenario *s, const struct fabric *f)
{
	bool roce = s->host.transport == TRANSPORT_ROCE;

	*ret = (struct workload_frames){
		.mtu = f->mtu,
		.ip6 = s->host.ip6,
		.data_extension = roce ? 0 : sizeof(struct strack_data),
		.answer_extension = roce ? sizeof(struct aeth_hdr) : sizeof(struct strack_sack),
		.pairs = roce ? s->host.roce.qps : 1,
	};
}

const struct transport_ops *setup_transport(struct transport_env *ret_env,
	struct setup_options *options, const struct scenario *s, const struct fabric *f)
{
	bool roce = s->host.transport == TRANSPORT_ROCE;

	options->strack = strack_options(s, f);
	options->roce = roce_options(s);
	*ret_env = (struct transport_env){
		.mtu = f->mtu,
		.host_rate_bps = f->host_rate_bps,
		.base_rtt_ps = f->base_rtt_ps,
		.ip6 = s->host.ip6,
		.payload_full = setup_payload_is_full(s, f),
		.data_dscp = (uint8_t)s->host.data_dscp,
		.control_dscp = (uint8_t)s->host.control_dscp,
		.notify_dscp = (uint8_t)s->host.notify_dscp,
		.qps = (uint8_t)(roce ? s->host.roce.qps : 1),
		.options = roce ? (const void *)&options->roce : &options->strack,
	};
	return roce ? &roce_transport : &strack_transport;
}
