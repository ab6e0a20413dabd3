/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WORKLOAD_KIND_H
#define FABRICBED_WORKLOAD_KIND_H

/*
 * Kinds of workload. Each is a file, with its options, their keys and its messages, and a row of
 * WORKLOADS.
 */
#include "base/collective_facts.h"
#include "base/schema.h"
#include "workload/workload.h"

/* In the order in which they are listed. */
#define WORKLOADS(X)                                                                               \
	X(permutation)                                                                             \
	X(incast) X(pairs) X(all_to_all) X(collective) X(flows) X(goal) X(load) X(parameter_server)

/* What the options of each kind begin with. */
struct workload_common {
	uint64_t start_ps; /* of the first that it does */
	uint64_t bytes;    /* of its longest message; 0: refuse() has looked at that */
};

/* The options of kinds whose messages are sent again and again. */
struct workload_rounds {
	struct workload_common common;
	uint64_t gap_ps; /* from the end of a message to the start of the next of its pair */
	uint32_t repeat; /* times, at least 1 */
};

#define MESSAGE_BYTES_MAX (1ull << 40)

/* Their keys: type is the struct of options, whose first member is `rounds`. */
#define WORKLOAD_ROUNDS_KEYS(type)                                                                 \
	KEY("message", BYTES, type, rounds.common.bytes, .required = true, .min = 1,               \
		.max = MESSAGE_BYTES_MAX, .help = "the size of each message"),                     \
		KEY("start", TIME, type, rounds.common.start_ps, .fallback = "0",                  \
			.max = MOMENT_MAX, .help = "when the first message is handed over"),       \
		KEY("repeat", COUNT, type, rounds.repeat, .fallback = "1", .min = 1,               \
			.max = TIMES_MAX, .help = "so many messages one after the other"),         \
		KEY("gap", TIME, type, rounds.gap_ps, .fallback = "0", .max = TIME_MAX,            \
			.help = "from the end of one to the start of the next")

#define WORKLOAD_REFUSAL 512

/* The hosts of a fabric. */
struct workload_hosts {
	uint32_t count;
	uint64_t message_max; /* bytes */
	uint32_t mtu;
	uint64_t packet_ps; /* of a full packet on the slowest host link */
	const void *fabric; /* what these are asked of */
	uint32_t (*number)(const void *fabric, const char *name); /* UINT32_MAX: there is none */
	bool (*matches)(const void *fabric, uint32_t host, const char *glob); /* its name does */
	uint64_t (*rate_bps)(const void *fabric, uint32_t host);              /* of its link */
	uint32_t nics;   /* of a server: host h is NIC h % nics of its own; 0: as 1 */
	uint32_t planes; /* host h is in plane h % planes, and no path leads out; 0: as 1 */
	/* Why data may not have that DSCP ("DSCP 49 ..."): NULL, or buf. */
	const char *(*refuse_dscp)(const void *fabric, uint32_t dscp, char buf[WORKLOAD_REFUSAL]);
};

/*
 * Groups of hosts that send within the group alone: NICs with the same number, if that is asked
 * for, or planes. Host h is in group h % groups.
 */
static inline uint32_t workload_groups(const struct workload_hosts *hosts, bool same_nic)
{
	uint32_t groups = same_nic ? hosts->nics : hosts->planes;

	return groups ? groups : 1;
}

/* Host number i if they are counted group by group. */
static inline uint32_t workload_host(
	const struct workload_hosts *hosts, uint32_t groups, uint32_t i)
{
	uint32_t size = hosts->count / groups;

	return i % size * groups + i / size;
}

/* Why hosts have no others in their groups, for `refuse`; NULL: they have. */
const char *workload_refuse_alone(const struct workload_hosts *hosts, bool same_nic,
	const char *key, char buf[WORKLOAD_REFUSAL]);

/* The key that asks for that. */
#define SAME_NIC_KEY(type)                                                                         \
	KEY("same_nic", FLAG, type, same_nic, .fallback = "no",                                    \
		.words = (const char *const[]){"no", "yes", NULL},                                 \
		.help = "a host sends to NICs with its own number alone; in planes it always does")

/* Of an open loop: its messages are made as time passes. */
struct workload_arrivals {
	/* 0, -ENOMEM or -E2BIG */
	int (*open)(void **ret, const struct workload_params *p, const void *options,
		const struct workload_hosts *hosts);
	/*
	 * Appends the next `count` or a few more, in the order of their starts; none: that was all.
	 * They do not depend on how many are taken at a time. 0, or an error of
	 * operations_reserve().
	 */
	int (*next)(void *arrivals, struct operations *m, size_t count);
	void (*close)(void *arrivals);
	/* How many are under way at a time, about: the mean in the long run. */
	double (*under_way)(const void *options, const struct workload_hosts *hosts);
};

/*
 * How messages that wait for others follow these, so that it is known how many are under way at a
 * time: see workload/fair_share.h.
 */
enum workload_turns {
	TURNS_UNKNOWN,
	TURNS_AT_HOSTS, /* one takes the place of one of its sender, and of its receiver */
	TURNS_OF_PAIRS, /* which is between the same two hosts */
};

struct workload_kind {
	const char *name;
	struct map map;       /* its keys; size: of its options */
	bool balanced;        /* each host sends as much as it receives */
	bool own_dscps;       /* its messages may have DSCPs of their own */
	const char *size_key; /* which its longest message follows from; NULL: "message" */
	/* How many operations it comes to: at least, where that depends on what is drawn. */
	double (*count)(const void *options, const struct workload_hosts *hosts);
	/* Why these hosts will not do ("senders: ..."): NULL, or buf. Callback NULL: never. */
	const char *(*refuse)(const void *options, const struct workload_hosts *hosts,
		char buf[WORKLOAD_REFUSAL]);
	/*
	 * The whole list: appends to m, or leaves it as it was. 0, or an error of
	 * operations_reserve(). NULL: it has `arrivals`.
	 */
	int (*operations)(struct operations *m, const struct workload_params *p,
		const void *options, const struct workload_hosts *hosts);
	const struct workload_arrivals *arrivals;
	/*
	 * What results say of its rounds, the entry apart; the group of an operation is its job
	 * times the rounds plus its round. NULL: it has none.
	 */
	void (*facts)(struct collective_facts *ret, const void *options,
		const struct workload_hosts *hosts);
	/* ret_why: why that is TURNS_UNKNOWN, and the remedy. NULL: it is, whatever the options. */
	enum workload_turns (*turns)(const void *options, const char **ret_why);
};

#define WORKLOAD_DECLARE(name) extern const struct workload_kind workload_kind_##name;
WORKLOADS(WORKLOAD_DECLARE)

#define WORKLOAD_ONE(name) +1
enum { WORKLOAD_KINDS = WORKLOADS(WORKLOAD_ONE) };

extern const struct workload_kind *const workload_kinds[WORKLOAD_KINDS];

#endif
