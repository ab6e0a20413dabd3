/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/setup.h"

#include "abi/balance.h"
#include "abi/wire.h"
#include "control/lldp.h"
#include "transport/dcqcn.h"

_Static_assert(SCENARIO_CLASSES == CLASSES, "a scenario's classes are the switch's");

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

uint32_t setup_gateway(const struct scenario *s, const struct fabric *f)
{
	uint32_t node;

	if (!s->external.node || !fabric_find_node(f, s->external.node, &node))
		return UINT32_MAX;
	return f->net.nodes[node].number;
}

static void setup_class(struct ports_class *to, const struct fabric_class *from)
{
	*to = (struct ports_class){
		.used = from->used,
		.lossless = from->lossless,
		.limit_bytes = from->limit_bytes,
		.kmin = {from->kmin.bytes, from->kmin.ps},
		.kmax = {from->kmax.bytes, from->kmax.ps},
		.pmax = from->pmax,
		.average = from->average,
		.xoff_bytes = from->xoff_bytes,
		.xon_bytes = from->xon_bytes,
		.headroom_bytes = from->headroom_bytes,
	};
}

static bool has_cable_faults(const struct scenario *s)
{
	for (size_t i = 0; i < s->fault_count; i++)
		switch (s->faults[i].kind) {
		case FAULT_LINK_LOSS:
		case FAULT_LINK_GILBERT:
		case FAULT_LINK_FLAKY:
		case FAULT_LINK_ERRORS:
			return true;
		default:
			break;
		}
	return false;
}

static bool has_storms(const struct scenario *s)
{
	for (size_t i = 0; i < s->fault_count; i++)
		if (s->faults[i].kind == FAULT_HOST_STORM)
			return true;
	return false;
}

/* The behaviours that the scenario asks for; what the classes imply is added by ports_config(). */
static uint32_t setup_features(const struct scenario *s)
{
	const struct switch_spec *sw = &s->sw;

	return (sw->trim.to != TRIM_OFF ? SW_TRIM : 0) | (sw->pfc.on ? SW_PFC : 0) |
	       (has_cable_faults(s) ? SW_FAULTS : 0) | (sw->roles.on ? SW_ROLES : 0) |
	       (sw->cnp_ps ? SW_CNP : 0) | (sw->reroute_mode == REROUTE_LOCAL ? SW_DETOUR : 0) |
	       (sw->pfc.on || sw->lldp_ps || has_storms(s) ? SW_CONTROL : 0) |
	       (s->external.node ? SW_GATEWAY : 0) | SW_BALANCE(sw->balance);
}

void setup_ports(struct ports_params *ret, const struct scenario *s, const struct fabric *f)
{
	const struct switch_spec *sw = &s->sw;
	const struct fabric_switching *x = &f->switching;

	*ret = (struct ports_params){
		.seed = s->seed,
		.features = setup_features(s),
		.shared = x->shared,
		.pool_bytes = x->pool_bytes,
		.alpha = x->alpha,
		.frame_bytes = f->packet_bytes,
		.control_bytes = x->control_bytes,
		.response_ps = x->response_ps,
		.trim = {.class = sw->trim.class,
			.queue_bytes = x->classes[sw->trim.class].limit_bytes,
			.to_sender = sw->trim.to == TRIM_SENDER,
			.or_return = sw->trim.or_return,
			.dscp = (uint8_t)sw->trim.dscp,
			.return_dscp = (uint8_t)sw->trim.return_dscp},
		.quanta = (uint16_t)sw->pfc.quanta,
		.watchdog_ps = sw->pfc.watchdog_ps,
		.cnp_dscp = (uint8_t)s->host.notify_dscp,
		.cnp_interval_ps = sw->cnp_ps,
	};
	for (uint32_t c = 0; c < CLASSES; c++) {
		setup_class(&ret->classes[c], &x->classes[c]);
		ret->remap[c] = sw->roles.to[c];
	}
	for (uint32_t d = 0; d < DSCP_COUNT; d++)
		ret->class_of[d] = x->class_of[d];
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
