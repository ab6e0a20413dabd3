/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every host sends to all others of its group, which all are where there is but one: the windowed
 * all-to-all of the collectives, a job for each group, and a rank to a host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/rng_stream.h"
#include "workload/collective.h"

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

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct all_to_all *o = options;
	uint32_t groups = workload_groups(hosts, o->same_nic), turns = turns_of(o, hosts);
	const struct collective c = {.op = ALL_TO_ALL,
		.algorithm = WINDOWED,
		.bytes = o->common.bytes * (turns + 1),
		.window = free_turns(o, turns),
		.jobs = groups,
		.channels = 1,
		.repeat = 1};
	uint64_t rng = rng_stream(p->seed, "all_to_all", 0);
	uint32_t *ranks = malloc(hosts->count * sizeof(*ranks));
	size_t first = m->count;
	int r = -ENOMEM;

	for (uint32_t i = 0; ranks && i < hosts->count; i++)
		ranks[i] = workload_host(hosts, groups, i);
	if (ranks)
		r = collective_operations(m, p, &c, turns + 1, ranks, 0, NULL);
	free(ranks);
	/* not all in the same picosecond */
	for (size_t i = first; r == 0 && i < m->count; i++)
		if (!m->items[i].waits)
			m->items[i].start_ps =
				o->common.start_ps +
				rng_take(&rng) % (hosts->packet_ps ? hosts->packet_ps : 1);
	return r;
}

/* Each slot of the window, at a sender and at a receiver, has one message at a time. */
static enum workload_turns turns(const void *options, const char **ret_why)
{
	(void)options;
	(void)ret_why;
	return TURNS_AT_HOSTS;
}

const struct workload_kind workload_kind_all_to_all = {
	.name = "all_to_all",
	.map = {KEYS(keys), .size = sizeof(struct all_to_all),
		.help = "each host sends to all others"},
	.balanced = true,
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
	.turns = turns,
};
