/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a message is split over queue pairs. */
#include "transport/roce_flow.h"

void roce_flow_open(struct roce_flow *f, const struct transport_env *env,
	const struct flow_spec *flow, bool sender)
{
	f->env = env;
	f->options = env->options;
	f->id = flow->id;
	f->bytes = flow->bytes * (1 + flow->more);
	f->message_packets = (uint32_t)((flow->bytes + env->mtu - 1) / env->mtu);
	f->packets = f->message_packets * (1 + flow->more);
	f->last_bytes = (uint32_t)(f->bytes - (uint64_t)(f->packets - 1) * env->mtu);
	f->write_packets = ROCE_WRITE_MAX / env->mtu;
	f->qps = flow_qps(env, flow->bytes, flow->more);
	f->sender = sender;
}

struct roce_part roce_part(const struct roce_flow *f, uint32_t i)
{
	uint32_t least = f->packets / f->qps, longer = f->packets % f->qps;

	return (struct roce_part){
		.first = i * least + (i < longer ? i : longer),
		.packets = least + (i < longer),
	};
}

/* Payload bytes of the message from packet n to before packet end. */
static uint64_t bytes_between(const struct roce_flow *f, uint32_t n, uint32_t end)
{
	return (uint64_t)(end - n) * f->env->mtu -
	       (end == f->packets ? f->env->mtu - f->last_bytes : 0);
}

uint32_t roce_writes(const struct roce_flow *f, const struct roce_part *part, uint32_t n)
{
	uint32_t whole = roce_has_several(f) ? f->message_packets : part->packets;

	/* a message's last write may be shorter */
	return n / whole * ((whole + f->write_packets - 1) / f->write_packets) +
	       n % whole / f->write_packets;
}

void roce_packet(const struct roce_flow *f, const struct roce_part *part, uint32_t n,
	struct roce_packet *ret)
{
	static const uint8_t opcodes[2][2] = {
		{RC_WRITE_MIDDLE, RC_WRITE_LAST}, {RC_WRITE_FIRST, RC_WRITE_ONLY}};
	uint32_t message = roce_has_several(f) ? n - n % f->message_packets : 0;
	uint32_t limit = roce_has_several(f) ? message + f->message_packets : part->packets;
	uint32_t start = n - (n - message) % f->write_packets;
	uint32_t end = limit - start > f->write_packets ? start + f->write_packets : limit;

	ret->reth = n == start;
	ret->opcode = opcodes[ret->reth][n + 1 == end];
	ret->payload = (uint32_t)bytes_between(f, part->first + n, part->first + n + 1);
	ret->offset = (uint64_t)(part->first + n) * f->env->mtu;
	ret->write_bytes = (uint32_t)bytes_between(f, part->first + start, part->first + end);
}

bool roce_flow_qp(const struct roce_flow *f, uint32_t qp, uint32_t *ret)
{
	uint32_t i = qp_index(f->env, qp);

	if (i >= f->qps || (flow_qp(f->env, f->id, i, f->sender) & BTH_MASK_24) != qp)
		return false;
	*ret = i;
	return true;
}
