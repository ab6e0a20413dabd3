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
#include "base/error.h"
#include "base/operation.h"
#include "base/quantity.h"
#include "base/schema.h"
#include "base/series.h"
#include "faults/fault_kind.h"
#include "scenario/sweep_spec.h"
#include "transport/kind.h"

struct link_override {
	char *match; /* glob over link names */
	uint64_t rate_bps;
	uint64_t delay_ps; /* UINT64_MAX: unchanged */
	struct diag_pos pos;
};

/* A server has its NICs at one leaf, each at one of its own, or each in a fabric of its own. */
enum nics_to { NICS_TO_LEAF, NICS_TO_RAILS, NICS_TO_PLANES };

struct topology_spec {
	bool valid;    /* false: there are messages about it */
	unsigned kind; /* index in topology_kinds[] */
	void *options; /* the kind's own */
	uint64_t rate_bps;
	uint64_t host_rate_bps; /* host links; 0: rate_bps */
	uint64_t delay_ps;
	uint32_t mtu;     /* payload bytes of a full packet, 64..65000 */
	uint32_t nics;    /* of a server, each a host of the fabric; 0 or 1: hosts are servers */
	unsigned nics_to; /* enum nics_to */
	struct link_override *overrides;
	size_t override_count;
	struct diag_pos pos;
};

/* RED's line: from 0 at kmin to pmax at kmax, 1 above. */
struct ecn_spec {
	struct quantity kmin, kmax; /* bytes, BDP or time; kmax 0: off */
	double pmax;                /* 0..1 */
	uint32_t
		average; /* weight of a new depth 1 / 2^average, 1..9; 0: the depth itself counts */
};

#define SCENARIO_CLASSES 8 /* 802.1Q's traffic classes */

/* A traffic class. What the file does not say of it is the switch's own. */
struct class_spec {
	bool used;     /* there is such a class */
	bool added;    /* the file does not name it: it is that of trimmed headers, or of answers */
	uint64_t dscp; /* bit mask: its DSCPs; others map to the lowest class */
	bool lossless; /* needs pfc */
	double share;  /* ETS: of what strict classes leave, 0 < share <= 1; 0: strict priority */
	struct quantity buffer; /* of a queue (lossless: of an ingress) where buffers are static */
	struct ecn_spec ecn;
	struct quantity xoff, xon, headroom; /* lossless; each may be QUANTITY_AUTO */
	struct diag_pos pos;
};

enum trim_to { TRIM_OFF, TRIM_RECEIVER, TRIM_SENDER };
enum reroute_mode { REROUTE_GLOBAL, REROUTE_LOCAL };

#define POLICY_FILE_MAX (1u << 20) /* bytes of a user's own */

/* How some of the switches pick among equal-cost ports. */
struct balance_spec {
	struct file_text policy; /* the word of one of fabricbed's own, or the user's file */
	uint64_t gap_ps;
	uint64_t lifetime_ps; /* 0: flows are never forgotten */
	struct quantity threshold;
	uint32_t choices, remembered;
	struct diag_pos pos;
};

#define BALANCE_TIERS 5
struct balances_spec {
	struct balance_spec all;                   /* of switches whose tier is not named */
	struct balance_spec *tiers[BALANCE_TIERS]; /* beside balance_tiers[]; NULL: not named */
	uint32_t flows; /* that a switch remembers; rounded up to what its table has room for */
};

/* The letters that the names of switches of a tier begin with; NULL ends them. */
extern const char *const balance_tiers[BALANCE_TIERS + 1];

/* Its policy: enum balance of abi/policies.h, BALANCE_FILE for a file; unsaid: the first. */
uint32_t balance_policy(const struct balance_spec *b);

/* Whether a policy uses the key; a user's own may use them all. */
enum balance_use {
	BALANCE_GAP,
	BALANCE_LIFETIME,
	BALANCE_THRESHOLD,
	BALANCE_CHOICES,
	BALANCE_REMEMBERED,
	BALANCE_FLOWS
};
bool balance_uses(uint32_t policy, enum balance_use use);

/* The user's file with a policy, of which there is at most one; NULL: there is none. */
const struct file_text *balance_file(const struct balances_spec *b);

struct switch_spec {
	bool valid; /* false: there are messages about it */
	struct {
		struct quantity per_port; /* bytes of each queue, if shared is off */
		bool shared;
		struct quantity
			pool; /* of a switch; QUANTITY_AUTO: 256 MB for 51.2 Tbps (STrack, 4.1) */
		double alpha; /* dynamic threshold: alpha x what is free, 1/256..256 */
		struct quantity
			reserve; /* of a queue or a lossless ingress, whatever the others hold */
	} buffer;
	struct ecn_spec ecn; /* of classes that have none of their own */
	struct class_spec classes[SCENARIO_CLASSES];
	struct {
		enum trim_to to;
		bool or_return;        /* to the receiver, else to the sender */
		uint32_t class;        /* of headers */
		uint32_t dscp;         /* of headers to the receiver */
		uint32_t return_dscp;  /* of headers to the sender */
		struct quantity queue; /* bytes of headers that a port holds */
	} trim;
	struct {
		bool on;
		uint32_t quanta;      /* of an XOFF, 1..65535 */
		uint64_t response_ps; /* from a PFC frame's arrival to its effect */
		uint64_t watchdog_ps; /* 0: off */
	} pfc;
	struct {
		bool on;
		uint8_t to[SCENARIO_CLASSES]; /* new class of each; its own number: unchanged */
	} roles;
	struct balances_spec balance;
	uint64_t latency_ps; /* from a frame's arrival to its place in an egress queue */
	uint64_t lldp_ps;    /* between two LLDP frames of a port; 0: off */
	uint64_t cnp_ps; /* supplemental CNPs: time in which senders raise their rates; 0: off */
	uint64_t reroute_ps; /* from a link's change to the new routes */
	enum reroute_mode reroute_mode;
};

enum payload_kind { PAYLOAD_AUTO, PAYLOAD_HEADERS, PAYLOAD_FULL };

#define STACK_CLASSES 8 /* rules at most */

/* Programs' packets that get a DSCP: of a TCP or UDP port (either end), or of a cgroup. */
struct stack_class {
	uint32_t port; /* 0: cgroup counts */
	char *cgroup;  /* path below the cgroup2 mount, "/" in front; NULL: port counts */
	uint32_t dscp;
	struct diag_pos pos;
};

enum stack_entropy { ENTROPY_FLOW, ENTROPY_FLOWLET, ENTROPY_PACKET };

/* host.stack: what a host's own kernel stack sends and how; see bpf/egress.bpf.c. */
struct stack_spec {
	struct stack_class classes[STACK_CLASSES]; /* the first that fits */
	size_t class_count;
	bool ect;                   /* what is not ECN-capable becomes ECT(0) */
	bool ecn;                   /* its TCP asks for ECN (net.ipv4.tcp_ecn) */
	enum stack_entropy entropy; /* of the IPv6 flow label */
	uint64_t flowlet_ps;        /* gap that begins a new flowlet */
	uint64_t queue_bytes;       /* that wait for the NIC's line; default 1 MB */
};

struct host_spec {
	struct transport_choice transport;
	uint32_t data_dscp, control_dscp, notify_dscp; /* of data, of answers, of CNPs */
	enum payload_kind payload;
	bool ip6; /* ip: 4 | 6 */
	struct stack_spec stack;
};

/* What model time follows. */
struct clock_spec {
	bool wall;       /* the clock on the wall, else only what happens (stepped) */
	double slowdown; /* wall time over model time; 0: auto, measured */
};

/* A node that joins the fabric to an Open vSwitch bridge outside of it. */
struct external_spec {
	char *node;    /* a host; NULL: there is none */
	char *bridge;  /* where the command runs */
	char *address; /* of the node on the bridge, "192.0.2.1/24"; NULL: none */
	char *address6;
	struct diag_pos pos; /* of the node's name */
};

/* Most packets of a message: a PSN has 24 bits (InfiniBand, volume 1, 9.2) and must not repeat. */
#define MESSAGE_PACKETS (1ull << 24)

struct workload_common;

#define DSCP_OF_HOSTS UINT32_MAX

struct workload_spec {
	bool valid;
	unsigned kind;                     /* index in workload_kinds[] */
	struct workload_common *options;   /* the kind's own; what they begin with, all have */
	uint32_t dscp;                     /* of its data; DSCP_OF_HOSTS: host.data_dscp */
	struct transport_choice transport; /* its own; options NULL: that of hosts */
	uint32_t transport_number;         /* of scenario_transport() */
	struct diag_pos pos;
};

/* In the order of words; the switch is that at a link's lower end, or the one of a host. */
enum pick_per { PICK_ALL, PICK_OF_ALL, PICK_PER_POD, PICK_PER_SWITCH };

/* How many of what its pattern matches a fault befalls, drawn by the seed; topology/pick.h. */
struct fault_pick {
	enum pick_per per; /* PICK_ALL: it picks none, but takes all; PICK_OF_ALL: `count` in all */
	uint32_t count;
	uint32_t skip; /* so many that come first are not picked */
	struct diag_pos pos;
};

/* Writes "3" or "2 per pod"; returns buf. */
#define PICK_TEXT 32
const char *fault_pick_text(const struct fault_pick *p, char buf[PICK_TEXT]);

struct fault_spec {
	bool valid;
	enum fault_target on;
	char *target; /* glob over the names of links, of switches, or of hosts, as `on` has it */
	struct fault_pick pick;
	uint64_t at_ps;
	uint64_t until_ps; /* UINT64_MAX: for good */
	struct fault_effect effect;
	struct diag_pos pos;
};

/* Whether two faults have the same kind and kind of target: a target has one of these at a time. */
static inline bool fault_alike(const struct fault_spec *a, const struct fault_spec *b)
{
	return a->effect.kind == b->effect.kind && a->on == b->on;
}

enum expect_bound { EXPECT_AT_MOST, EXPECT_AT_LEAST, EXPECT_EQUALS };
enum expect_of { EXPECT_OF_ALL, EXPECT_OF_FINISHED };

struct expect_spec {
	char *metric; /* dotted path in summary.json */
	enum expect_bound bound;
	enum expect_of of; /* the flows that it speaks of; where expect_has_of() */
	double value;
	struct diag_pos pos;
};

/* Whether it is the name of a number of summary.json: 0; -EINVAL with why, and the nearest name. */
int metric_check(const char *metric, struct error *why);

/* Whether the metric is of completion times: of all flows, or of those that have finished. */
bool expect_has_of(const char *metric);

struct scenario {
	char *path; /* as it was named, for messages */
	char *name;
	char *about;
	uint64_t seed;
	struct clock_spec clock;
	struct topology_spec topology;
	struct switch_spec sw;
	struct host_spec host;
	struct external_spec external;
	struct workload_spec *workloads;
	size_t workload_count;
	/* Different ones that entries have of their own: their options are those entries'. */
	struct transport_choice transports[OPERATION_TRANSPORTS - 1];
	uint32_t transport_count;
	struct fault_spec *faults;
	size_t fault_count;
	struct series_spec series[SERIES_KINDS]; /* telemetry */
	uint64_t until_ps; /* model time at which a run ends at the latest; 0: automatic */
	struct expect_spec *expects;
	size_t expect_count;
	struct variant_spec *variants; /* compare */
	size_t variant_count;
	struct sweep_spec sweep;
};

/*
 * Reads the file at path with `key.path=value` overrides applied, checks it whole, and adds one
 * message per fault to diags. *ret is set only if there was no error. 0; -EINVAL with messages in
 * diags (an unreadable file is one of them); -ENOMEM. Free with scenario_free().
 */
int scenario_load(struct scenario **ret, const char *path, const char *const *sets,
	size_t set_count, struct diags *diags);

/*
 * The same, but of a file with errors whose topology is valid *ret is the valid part of the rest,
 * for fabric_inspect() to find further errors; NULL if there is no such thing. The result stays
 * -EINVAL.
 */
int scenario_inspect(struct scenario **ret, const char *path, const char *const *sets,
	size_t set_count, struct diags *diags);

/* scenario_load() from memory, for tests and fuzzing; `name` is the file's name in messages. */
int scenario_load_text(struct scenario **ret, const char *name, const char *text, size_t length,
	const char *const *sets, size_t set_count, struct diags *diags);

/* The scenario as YAML that loads to the same value, every default written out. 0 or -errno. */
int scenario_write(const struct scenario *s, FILE *out);

void scenario_free(struct scenario *s);

/*
 * A fault in words, as `inject` takes them: "link GLOB DEED", "switch GLOB down", "host GLOB pause
 * CLASS", each with "pick NUMBER [per pod|switch] [skip NUMBER]" behind the GLOB or without, where
 * DEED is "down", or a key of the scenario's `do` with its value or its own keys and
 * values ("loss 1%", "flaky every 100us last 20us"); then optionally "for TIME". The same checks
 * and messages as in a file. *ret is as index fault_count of a scenario's faults: at_ps 0, until_ps
 * the duration, UINT64_MAX without "for". 0; -EINVAL with messages; -ENOMEM. Release with
 * fault_spec_release().
 */
int scenario_fault_words(
	struct fault_spec *ret, const char *const *words, size_t count, struct diags *diags);
void fault_spec_release(struct fault_spec *f);

/* A key that a file may hold, for who lists them. */
struct scenario_key {
	const char *path;  /* "switch.buffer.per_port"; an element of a list is N: "faults.N.at" */
	const char *value; /* what it may be, as messages say it */
	const char *usual; /* its default, or "required" */
	const char *help;  /* a sentence */
	bool is_section;   /* there are keys below it */
	bool takes_word;   /* it may be a single word or number */
};

/* Calls visit for each, sections before what is in them. */
#define SCENARIO_PATH 128
void scenario_list_keys(void (*visit)(void *arg, const struct scenario_key *k), void *arg);

/* Whether two paths mean the same key: numbers and N match any list index, and are optional. */
bool scenario_path_is(const char *path, const char *other);

/*
 * The words of a fault ("link agg0.1-core2 loss 1%"), the inverse of scenario_fault_words() but for
 * its times. 0; -ENOSPC: they take more than size bytes, and buf is unchanged; FAULT_WORDS always
 * suffice; -ENOMEM.
 */
#define FAULT_WORDS 512
int fault_words(const struct fault_spec *f, char *buf, size_t size);

/*
 * The `workload` list of another file, whose other keys may be invalid; path: where that file is,
 * for the files that it names, or NULL. 0; -EINVAL with messages; -ENOMEM. Release each with
 * workload_spec_release(), and free() the array.
 */
int scenario_workloads(struct workload_spec **ret, size_t *ret_count, const char *path,
	const char *text, size_t length, struct diags *diags);
void workload_spec_release(struct workload_spec *w);

/* Calls visit for each host that a workload names: under which key ("pairs.to"), and its name. */
void scenario_workload_hosts(const struct workload_spec *w,
	void (*visit)(void *arg, const char *path, const char *name), void *arg);

/*
 * The different transports of a scenario, counted from 0, which is that of hosts. NULL: there are
 * no more; at most OPERATION_TRANSPORTS.
 */
const struct transport_choice *scenario_transport(const struct scenario *s, uint32_t number);

/* Whether an entry has it. That of hosts counts where there are no entries. */
bool scenario_uses_transport(const struct scenario *s, uint32_t number);

/*
 * The scheme of part `number` of a transport, from 0, with its options as far as they are not the
 * usual ones: "coding 5%"; *ret_key: which part it is, "recovery". To be freed. NULL: it has no
 * more parts, or for want of memory.
 */
bool scenario_has_parts(const struct transport_choice *t);
char *scenario_part_text(const struct transport_choice *t, uint32_t number, const char **ret_key);

/*
 * Numbers those of workloads that are to be added, by the scenario's. 0; -EINVAL with messages: it
 * has none like that; -ENOMEM.
 */
int scenario_find_transports(const struct scenario *s, struct workload_spec *workloads,
	size_t count, struct diags *diags);

/* Appends to a scenario's lists; takes what *f or *w holds, but not on failure. 0 or -ENOMEM. */
int scenario_add_fault(struct scenario *s, const struct fault_spec *f);
int scenario_add_workload(struct scenario *s, const struct workload_spec *w);

/* The class of packets with that DSCP (0..63): of those that claim it, else the lowest there is. */
uint32_t scenario_class_of(const struct switch_spec *sw, uint32_t dscp);

#endif
