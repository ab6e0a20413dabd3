/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Many to one: distinct senders, drawn from all hosts but the receiver. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/rng_stream.h"
#include "workload/kind.h"
#include "workload/list.h"

int workload_incast(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, uint32_t hosts, uint32_t groups, uint32_t senders,
	uint32_t to)
{
	uint32_t others = hosts / groups - 1;
	uint32_t *src = calloc(hosts, sizeof(*src));
	uint32_t *dst = calloc(hosts, sizeof(*dst));
	uint64_t rng = rng_stream(p->seed, "incast", to);
	int err = -ENOMEM;

	if (src && dst) {
		for (uint32_t i = 0; i < others; i++)
			src[i] = (i < to / groups ? i : i + 1) * groups + to % groups;
		for (uint32_t i = 0; i < senders; i++)
			dst[i] = to;
		workload_sample(src, others, senders, &rng);
		err = operations_add_rounds(m, p, rounds, src, dst, senders);
	}
	free(src);
	free(dst);
	return err;
}

struct incast {
	struct workload_rounds rounds;
	uint32_t senders;
	char *to;
	bool same_nic;
};

static const struct key keys[] = {
	KEY("senders", COUNT, struct incast, senders, .required = true, .min = 1, .max = TIMES_MAX,
		.help = "hosts that send at once, drawn by the seed"),
	KEY("to", LABEL, struct incast, to, .fallback = "h0", .max = NODE_NAME_LIMIT,
		.is_host = true, .expected = "the name of a host such as h0",
		.help = "the receiver"),
	WORKLOAD_ROUNDS_KEYS(struct incast),
	SAME_NIC_KEY(struct incast),
};

static double count(const void *options, const struct workload_hosts *hosts)
{
	const struct incast *o = options;

	(void)hosts;
	return (double)o->senders * o->rounds.repeat;
}

static const char *refuse(
	const void *options, const struct workload_hosts *hosts, char buf[WORKLOAD_REFUSAL])
{
	const struct incast *o = options;
	uint32_t groups = workload_groups(hosts, o->same_nic), reached = hosts->count / groups;

	if (o->senders < reached)
		return NULL;
	snprintf(buf, WORKLOAD_REFUSAL,
		"senders: %u; of the fabric's %u hosts%s one receives, so at most %u", o->senders,
		reached, groups > 1 ? " with the same NIC number" : "", reached - 1);
	return buf;
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct incast *o = options;

	return workload_incast(m, p, &o->rounds, hosts->count, workload_groups(hosts, o->same_nic),
		o->senders, hosts->number(hosts->fabric, o->to));
}

const struct workload_kind workload_kind_incast = {
	.name = "incast",
	.map = {KEYS(keys), .size = sizeof(struct incast), .help = "many hosts send to one"},
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
	.turns = workload_rounds_turns,
};
