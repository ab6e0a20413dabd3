/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every host sends to all others of its group, which all are where there is but one. Message k of
 * host i of a group goes to its host i + k: so each host has one message from each turn, and the
 * k-th that a host receives is of turn k too.
 */
#include <stdio.h>
#include "base/rng_stream.h"
#include "workload/kind.h"

struct all_to_all {
	struct workload_common common;
	uint32_t window; /* messages under way at a sender, and at a receiver; 0: any number */
	bool same_nic;
};

static const struct key keys[] = {
	KEY("message", BYTES, struct all_to_all, common.bytes, .required = true, .min = 1,
		.max = MESSAGE_BYTES_MAX, .help = "the size of each message"),
	KEY("start", TIME, struct all_to_all, common.start_ps, .fallback = "0", .max = MOMENT_MAX,
		.help = "when the first message is handed over"),
	KEY("window", COUNT, struct all_to_all, window, .fallback = "off", .word = "off", .min = 1,
		.max = TIMES_MAX,
		.help = "a host sends so many messages at a time, and receives so many"),
	SAME_NIC_KEY(struct all_to_all),
};

/* Of how many others each is. */
static uint32_t turns_of(const struct all_to_all *o, const struct workload_hosts *hosts)
{
	return hosts->count / workload_groups(hosts, o->same_nic) - 1;
}

/* Turns whose messages wait for no others. */
static uint32_t free_turns(const struct all_to_all *o, uint32_t turns)
{
	return o->window && o->window < turns ? o->window : turns;
}

static double count(const void *options, const struct workload_hosts *hosts)
{
	uint32_t turns = turns_of(options, hosts);

	/* one that waits has a barrier before it */
	return (double)hosts->count * (2.0 * turns - free_turns(options, turns));
}

static const char *refuse(
	const void *options, const struct workload_hosts *hosts, char buf[WORKLOAD_REFUSAL])
{
	return workload_refuse_alone(
		hosts, ((const struct all_to_all *)options)->same_nic, "message", buf);
}

/* The message of a turn from a host, turns counted from 1 on. */
static uint32_t number_of(
	uint32_t first, uint32_t turn, uint32_t host, uint32_t hosts, uint32_t free)
{
	if (turn <= free)
		return first + (turn - 1) * hosts + host;
	return first + free * hosts + 2 * ((turn - free - 1) * hosts + host) + 1;
}

/*
 * As soon as the sender's own message of `window` turns before is acknowledged, and the receiver
 * has told that its message of that turn has arrived.
 */
static void add_waiting(struct operations *m, const struct operation *message, uint32_t first,
	uint32_t turn, uint32_t hosts, uint32_t groups, uint32_t window)
{
	uint32_t src = message->src_host, dst = message->dst_host, before = turn - window;
	uint32_t other = (dst + hosts - before * groups) % hosts, barrier;

	barrier = operations_add(m, &(struct operation){.src_host = OPERATION_BARRIER,
					    .dst_host = OPERATION_BARRIER,
					    .entry = message->entry});
	operations_wait(m, number_of(first, before, other, hosts, window), OPERATION_DELIVERED);
	operations_add(m, message);
	operations_wait(m, number_of(first, before, src, hosts, window), OPERATION_ENDED);
	operations_wait(m, barrier, OPERATION_ENDED);
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct all_to_all *o = options;
	uint32_t n = hosts->count, groups = workload_groups(hosts, o->same_nic);
	uint32_t turns = turns_of(o, hosts), free = free_turns(o, turns);
	uint32_t first = (uint32_t)m->count;
	uint64_t rng = rng_stream(p->seed, "all_to_all", 0);
	size_t waiting = (size_t)n * (turns - free);
	int r = operations_reserve(m, (size_t)n * free + 2 * waiting, 3 * waiting);

	for (uint32_t turn = 1; r == 0 && turn <= turns; turn++)
		for (uint32_t host = 0; host < n; host++) {
			struct operation message = {.src_host = host,
				.dst_host = (host + turn * groups) % n,
				.bytes = o->common.bytes,
				.entry = p->entry};

			if (turn > free) {
				add_waiting(m, &message, first, turn, n, groups, free);
				continue;
			}
			/* not all in the same picosecond */
			message.start_ps =
				o->common.start_ps +
				rng_take(&rng) % (hosts->packet_ps ? hosts->packet_ps : 1);
			operations_add(m, &message);
		}
	return r;
}

const struct workload_kind workload_kind_all_to_all = {
	.name = "all_to_all",
	.map = {KEYS(keys), .size = sizeof(struct all_to_all),
		.help = "each host sends to all others"},
	.balanced = true,
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
};
