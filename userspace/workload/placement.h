/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PLACEMENT_H
#define FABRICBED_PLACEMENT_H

/* The hosts of ranks, and how those of a host send to each other. */
#include "workload/kind.h"

enum placement_order { IN_ORDER, RANDOM, BY_NIC };

/* What the options of a workload with ranks have of it. */
struct placement {
	uint32_t ranks_per_host;
	struct {
		uint64_t rate_bps, delay_ps;
	} inside; /* between ranks of a host; rate 0: a host has one */
	unsigned order;
	char **hosts; /* NULL: by the order */
	size_t host_count;
};

extern const char *const placement_words[];
extern const struct key placement_host;

/* So that a message takes less than 2^63 ps. */
#define INSIDE_RATE_MIN 1000000

/* The map of `inside`; `member` of the options `type` is a struct placement. */
#define PLACEMENT_INSIDE(type, member)                                                                  \
	{                                                                                               \
		KEYS(((const struct key[]){                                                             \
			KEY("rate", RATE, type, member.inside.rate_bps, .required = true,               \
				.min = INSIDE_RATE_MIN, .max = RATE_MAX,                                \
				.help = "of what a rank sends to the others of its host"),              \
			KEY("delay", TIME, type, member.inside.delay_ps, .fallback = "0",               \
				.max = DELAY_MAX,                                                       \
				.help = "from the last byte sent to its arrival"),                      \
		})),                                                                                    \
			.on = FIELD(type, member.inside.rate_bps),                                      \
			.help = "how ranks of a host send to each other: each has a port of that rate", \
	}

/* Its keys. inside: the map of that; by_what: ends the help of `hosts`. */
#define PLACEMENT_KEYS(type, member, inside_, by_what)                                                                                                   \
	KEY("ranks_per_host", COUNT, type, member.ranks_per_host, .fallback = "1", .min = 1,                                                             \
		.max = 1024, .help = "a host has at most so many ranks, which share its links"),                                                         \
		SECTION("inside", inside_, .fallback = "off"),                                                                                           \
		KEY("placement", WORD, type, member.order, .fallback = "in_order",                                                                       \
			.words = placement_words,                                                                                                        \
			.help = "the hosts of ranks: one after the other, drawn by the seed, or NIC 0 of each server, then NIC 1, ...; each is filled"), \
		KEY("hosts", LIST, type, member.hosts, .usual = "by placement",                                                                          \
			.list = (&(const struct list){.item = &placement_host,                                                                           \
				.size = sizeof(char *),                                                                                                  \
				.count = offsetof(type, member.host_count)}),                                                                            \
			.expected = "a list of hosts such as [h0, h1]",                                                                                  \
			.help = "the host of each rank" by_what)

/* Whether each name of the list `key` is there `most` times at most; says so at n, with `why`. */
bool placement_check_names(struct check *c, const struct tree *n, const char *key,
	char *const *names, size_t count, uint32_t most, const char *why);

/* Whether no host has too many ranks, and `inside` is there where it is needed; says so at n. */
bool placement_check(struct check *c, const struct tree *n, const struct placement *p);

/*
 * The hosts of ranks 0 to ranks - 1. ret has room for as many and for all hosts; the hosts have
 * room for the ranks, and a list has as many. rng: of the order at random.
 */
void placement_hosts(uint32_t *ret, const struct placement *p, uint32_t ranks, uint64_t rng,
	const struct workload_hosts *hosts);

#endif
