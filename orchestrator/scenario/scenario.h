/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_H
#define FABRICBED_SCENARIO_H

/*
 * A scenario: what to build, what to run over it and what must come out. A plain value, made from
 * text by scenario_load(), free of any reference to the text.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/diag.h"

/* Bytes, or a share of the fabric's bandwidth-delay product, which only the topology tells. */
struct quantity {
	double value; /* bytes, or the share (0.25 for "25% BDP") */
	bool of_bdp;
};

enum topology_kind { TOPOLOGY_FAT_TREE, TOPOLOGY_LEAF_SPINE, TOPOLOGY_CUSTOM };

struct custom_link {
	char *a, *b;       /* node names */
	uint64_t rate_bps; /* 0: the topology's */
	uint64_t delay_ps; /* UINT64_MAX: the topology's */
	struct diag_pos pos;
};

struct custom_node {
	char *name;
	struct diag_pos pos;
};

struct link_override {
	char *match; /* glob over link names */
	uint64_t rate_bps;
	uint64_t delay_ps; /* UINT64_MAX: unchanged */
	struct diag_pos pos;
};

struct topology_spec {
	enum topology_kind kind;
	uint32_t k; /* fat_tree: ports a switch; even, 2.. */
	uint32_t leaves, spines, hosts_per_leaf, links_per_pair;
	struct custom_node *hosts, *switches;
	struct custom_link *links;
	size_t host_count, switch_count, link_count;
	uint64_t rate_bps;
	uint64_t host_rate_bps; /* host links; 0: rate_bps */
	uint64_t delay_ps;
	uint32_t mtu; /* payload bytes of a full packet, 64..65000 */
	struct link_override *overrides;
	size_t override_count;
	struct diag_pos pos;
};

struct switch_spec {
	bool sound;                 /* false: there are messages about it */
	struct quantity buffer;     /* per port */
	struct quantity kmin, kmax; /* ecn; both 0: off */
	double pmax;                /* 0..1 */
	uint64_t reroute_ps;        /* from a link's change to the new routes */
};

enum transport_kind { TRANSPORT_STRACK };
enum spray_kind { SPRAY_ADAPTIVE, SPRAY_OBLIVIOUS, SPRAY_SINGLE };
enum payload_kind { PAYLOAD_AUTO, PAYLOAD_HEADERS, PAYLOAD_FULL };

struct host_spec {
	enum transport_kind transport;
	struct {
		uint32_t paths;           /* 1..1024, default 256 */
		enum spray_kind spray;    /* default adaptive */
		uint32_t sack_packets;    /* 1..64, default 4 */
		uint64_t rto_ps;          /* 0 = auto: max(100 us, 10 base RTTs) */
		struct quantity window;   /* the largest, default 140% BDP */
		uint32_t bitmap_rtts;     /* default 8; 0: never reset */
		uint64_t target_delay_ps; /* 0 = auto: one base RTT */
	} strack;
	enum payload_kind payload;
	bool ip6; /* ip: 4 | 6 */
};

enum workload_kind { WORKLOAD_PERMUTATION, WORKLOAD_INCAST, WORKLOAD_PAIRS };

struct workload_spec {
	bool sound;
	enum workload_kind kind;
	uint64_t message_bytes; /* at least 1 */
	uint64_t start_ps;
	uint32_t repeat;        /* messages one after the other; default 1 */
	uint64_t gap_ps;        /* between the end of one and the start of the next */
	uint32_t count;         /* permutation: so many at once, default 1 */
	uint32_t senders;       /* incast */
	char *to;               /* incast: receiver, default h0 */
	char **from, **pair_to; /* pairs: from[i] sends to pair_to[i] */
	size_t pair_count;
	struct diag_pos pos;
};

enum fault_kind { FAULT_LINK_DOWN, FAULT_LINK_RATE };

struct fault_spec {
	bool sound;
	enum fault_kind kind;
	char *link; /* glob over link names */
	uint64_t at_ps;
	uint64_t until_ps; /* UINT64_MAX: for good */
	double share;      /* FAULT_LINK_RATE: of the link's rate that is left, 0 < share < 1 */
	struct diag_pos pos;
};

enum expect_bound { EXPECT_AT_MOST, EXPECT_AT_LEAST, EXPECT_EQUALS };

struct expect_spec {
	char *metric; /* dotted path in summary.json */
	enum expect_bound bound;
	double value;
	struct diag_pos pos;
};

struct scenario {
	char *path; /* as it was named, for messages */
	char *name;
	char *about;
	uint64_t seed;
	struct topology_spec topology;
	struct switch_spec sw;
	struct host_spec host;
	struct workload_spec *workloads;
	size_t workload_count;
	struct fault_spec *faults;
	size_t fault_count;
	uint64_t sample_ps; /* telemetry.queues; 0: off */
	uint64_t until_ps;  /* model time at which a run ends at the latest; 0: automatic */
	struct expect_spec *expects;
	size_t expect_count;
};

/*
 * Reads the file at path with `key.path=value` overrides applied, checks it whole, and adds one
 * message per fault to diags. *ret is set only if there was no error. 0; -EINVAL with messages in
 * diags (an unreadable file is one of them); -ENOMEM. Free with scenario_free().
 */
int scenario_load(struct scenario **ret, const char *path, const char *const *sets,
	size_t set_count, struct diags *diags);

/*
 * The same, but of a file with mistakes whose topology is sound *ret is what is sound of the rest, for
 * fabric_inspect() to name what else is wrong in it; NULL if there is no such thing. The result
 * stays -EINVAL.
 */
int scenario_inspect(struct scenario **ret, const char *path, const char *const *sets,
	size_t set_count, struct diags *diags);

/* scenario_load() from memory; `name` stands for the file's name in messages. For tests and fuzzing. */
int scenario_load_text(struct scenario **ret, const char *name, const char *text, size_t length,
	const char *const *sets, size_t set_count, struct diags *diags);

/* The scenario as YAML that loads to the same value, every default written out. 0 or -errno. */
int scenario_write(const struct scenario *s, FILE *out);

void scenario_free(struct scenario *s);

#endif
