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
	f->qps = flow_qps(env, flow->bytes);
	f->sender = sender;
}

struct roce_part roce_part(const struct roce_flow *f, uint32_t i)
{
	uint32_t least = f->message_packets / f->qps, longer = f->message_packets % f->qps;
	uint32_t each = least + (i < longer);

	return (struct roce_part){
		.first = i * least + (i < longer ? i : longer),
		.each = each,
		.packets = each * (f->packets / f->message_packets),
	};
}

/* Payload bytes from packet n to before packet end, of those of all messages. */
static uint64_t bytes_between(const struct roce_flow *f, uint32_t n, uint32_t end)
{
	return (uint64_t)(end - n) * f->env->mtu -
	       (end == f->packets ? f->env->mtu - f->last_bytes : 0);
}

uint32_t roce_writes(const struct roce_flow *f, const struct roce_part *part, uint32_t n)
{
	/* a message's last write may be shorter */
	return n / part->each * ((part->each + f->write_packets - 1) / f->write_packets) +
	       n % part->each / f->write_packets;
}

void roce_packet(const struct roce_flow *f, const struct roce_part *part, uint32_t n,
	struct roce_packet *ret)
{
	static const uint8_t opcodes[2][2] = {
		{RC_WRITE_MIDDLE, RC_WRITE_LAST}, {RC_WRITE_FIRST, RC_WRITE_ONLY}};
	uint32_t first = n / part->each * f->message_packets + part->first,
		 in_part = n % part->each;
	uint32_t start = in_part - in_part % f->write_packets;
	uint32_t left = part->each - start;
	uint32_t end = start + (left > f->write_packets ? f->write_packets : left);

	ret->reth = in_part == start;
	ret->opcode = opcodes[ret->reth][in_part + 1 == end];
	ret->payload = (uint32_t)bytes_between(f, first + in_part, first + in_part + 1);
	ret->offset = (uint64_t)(first + in_part) * f->env->mtu;
	ret->write_bytes = (uint32_t)bytes_between(f, first + start, first + end);
}

bool roce_flow_qp(const struct roce_flow *f, uint32_t qp, uint32_t *ret)
{
	uint32_t i = qp_index(f->env, qp);

	if (i >= f->qps || (flow_qp(f->env, f->id, i, f->sender) & BTH_MASK_24) != qp)
		return false;
	*ret = i;
	return true;
}
