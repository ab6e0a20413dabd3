/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_SWITCH_BENCH_H
#define FABRICBED_TEST_SWITCH_BENCH_H

/*
 * One switch and one host port on a bench, over any dataplane. Each trial knows what must become
 * of every byte: the frame's, the verdict's, and those of all tables, which are compared whole. So
 * a drop that is counted twice, or at the wrong port, or that takes space, fails without a word of
 * the case about it.
 */
#include "abi/drop.h"
#include "abi/policies.h"
#include "abi/wire.h"
#include "dataplane/dataplane.h"
#include "lib/packet.h"

#define BENCH_HOST_PORT  2u /* of host BENCH_HOST */
#define BENCH_HOST       7u
#define BENCH_IN         3u /* where trials enter the switch: its port 0 */
#define BENCH_LOCAL(n)   (BENCH_IN + (n))
#define BENCH_PORTS      70u /* of the switch */
#define BENCH_PORT_COUNT (BENCH_IN + BENCH_PORTS)
#define BENCH_BUFFER     (1u << 30) /* no case fills it by accident */
#define BENCH_HEADROOM   (1u << 20) /* nor that */
#define BENCH_FLOW_SETS  2
#define BENCH_HOSTS      100u      /* host_count; blocks cover 128 */
#define BENCH_QUANTUM    5120u     /* ps: 512 bits at 100 Gbps */
#define BENCH_QUANTA     0x1234u   /* of an XOFF */
#define BENCH_RESPONSE   2500u     /* ps */
#define BENCH_WATCHDOG   1000000u  /* ps */
#define BENCH_INTERVAL   50000000u /* ps: of supplemental CNPs */

/* What the route of a host leads to. All hosts that are not named: port 1 alone. */
enum bench_host {
	TO_ONE = 7,   /* port 1 */
	TO_NONE = 8,  /* ROUTE_NONE */
	TO_EMPTY = 9, /* a group without ports */
	TO_2 = 10,    /* 2, 3, 4, 7, 64 ports, from port 1 on */
	TO_3 = 11,
	TO_4 = 12,
	TO_7 = 13,
	TO_64 = 14,
	TO_NO_PORT = 15,    /* a port that is not in the port table */
	TO_NO_GROUP = 16,   /* a group that is not in the group table */
	TO_HUGE_GROUP = 17, /* a count beyond GROUP_PORTS: only an error can write that */
	TO_BACK = 18,       /* port 0, where trials enter */
	TO_AROUND = 19,     /* ports 1, 0, 2, 0 */
	TO_LAST = 99,       /* port 3 */
	TO_BEYOND = 100,    /* port 1, but no host */
};

/* The programs that the cases run on: their features, and settings that are in no table. */
enum bench_kind {
	BENCH_PLAIN,     /* nothing on */
	BENCH_FULL,      /* everything on; what is trimmed goes to the receiver, or nowhere */
	BENCH_OR_RETURN, /* as that, but back to the sender where headers have no room either */
	BENCH_TO_SENDER, /* as that, but straight back to the sender */
	BENCH_STACK,     /* as BENCH_FULL, and hosts have kernel stacks */
	BENCH_GATEWAY,   /* as that, and BENCH_HOST takes what is for outside */
	BENCH_KINDS
};

/* The classes of everything on. The default packet's is CLASS_PLAIN. */
enum bench_class {
	CLASS_ZERO = 0,     /* of DSCP 0 and most others */
	CLASS_PLAIN = 1,    /* lossy, not trimmed */
	CLASS_TRIM = 2,     /* trimmed */
	CLASS_LOSSLESS = 3, /* lossless */
	CLASS_BOUNCED = 4,  /* and where it goes from uplink to uplink */
	CLASS_TRIM_TOO = 5,
	CLASS_HEADERS = 6, /* trimmed_dscp and returned_dscp */
	CLASS_CNP = 7,     /* cnp_dscp */
};

/* DSCPs by which the classes are meant. */
enum bench_dscp {
	DSCP_ZERO = 0,
	DSCP_PLAIN = 46,
	DSCP_TRIM = 10,
	DSCP_TRIM_TOO = 11,
	DSCP_LOSSLESS = 24,
	DSCP_BOUNCED = 25, /* LOSSLESS retagged */
	DSCP_TRIMMED = 7,
	DSCP_RETURNED = 56,
	DSCP_CNP = 48,
};

struct switch_bench {
	struct dataplane *dp;
	struct sw_tables want; /* what dp's tables must hold */
};

/* The table sizes and the configuration of a bench, for who opens a dataplane. */
struct sw_sizes bench_sizes(enum bench_kind kind);

/* Takes dp over; bench_close closes it. */
struct switch_bench *bench_open(struct dataplane *dp);
void bench_close(struct switch_bench *b);

/* Writes all tables as described above; after this the tests change what they need. */
void bench_tables(const struct sw_tables *t);

/* cmocka setup of a case: tables as new. state is the bench. */
int bench_reset(void **state);

/* Whether this behaviour (SW_*) is on. */
bool bench_has(const struct switch_bench *b, uint32_t feature);

/* The class of a DSCP: 0 where classes are off. */
uint8_t bench_class(const struct switch_bench *b, uint8_t dscp);

/* In dp's tables: the elements of a class of a port. */
struct queue *bench_queue(struct switch_bench *b, uint32_t port, uint32_t class);
struct ingress *bench_ingress(struct switch_bench *b, uint32_t port, uint32_t class);

/* A frame, where it enters and what must become of it. */
struct trial {
	struct packet_spec spec;
	struct packet in; /* built from spec; a case may change it */
	struct hop hop;
	uint32_t at;
	unsigned dice;   /* draws that the mark takes */
	uint32_t chosen; /* the egress, if one was chosen before a drop or a cut; else 0 */
	uint8_t flags;   /* VERDICT_*; _LOSSLESS and _ASK_CNP follow from class and CE */
	uint8_t dscp;    /* with VERDICT_REMAPPED, _TRIMMED, _RETURNED: what it leaves with */
	bool above;      /* it takes headroom of its ingress */
};

/* Builds t->in from spec; enters at BENCH_IN, nothing behind it, on the wire from 1 to 2 us. */
void trial_init(struct trial *t, const struct packet_spec *spec);

/* The queue of dp's tables that it enters at `port`, unless its DSCP changes. */
struct queue *trial_queue(struct switch_bench *b, const struct trial *t, uint32_t port);

/* Runs it: it must leave at `port`, rewritten as a router does and as the flags say. */
void trial_forwards(struct switch_bench *b, const struct trial *t, uint32_t port);

/* Runs it at the host port: it must be delivered as it is, or handed to the stack where there is
 * one and it is no RoCE. */
void trial_delivers(struct switch_bench *b, const struct trial *t);

/*
 * Runs it: it must end, counted once, at `port`, with nothing changed but what flags say: a mark, a
 * cut, a return.
 */
void trial_drops(
	struct switch_bench *b, const struct trial *t, enum drop_reason reason, uint32_t port);

/* Runs it: it must be settled by this action at the port, with nothing changed. */
void trial_ends(struct switch_bench *b, const struct trial *t, enum verdict_action action);

/*
 * Runs it: it must come out as these bytes with this verdict, b->want being what the tables must
 * hold then, but for the ingress' counters.
 */
void trial_becomes(struct switch_bench *b, const struct trial *t, const struct packet *out,
	const struct verdict *want);

/* The same for a frame that is made at the port: nothing has arrived there. */
void trial_makes(struct switch_bench *b, const struct trial *t, const struct packet *out,
	const struct verdict *want);

/* Runs it without an expectation. Its bytes are in *ret_out if that is not NULL. */
struct verdict trial_run(struct switch_bench *b, const struct trial *t, struct packet *ret_out);

/* Runs it and gives the port that it was forwarded to. */
uint32_t trial_port(struct switch_bench *b, const struct trial *t);

/* In b->want: a queue takes a frame, its share of the switch's pool with it. */
void want_enter(struct switch_bench *b, uint32_t port, uint32_t class, uint32_t length);

/*
 * What the tables hold now is what they must hold: after a case wrote or ran without expectation.
 */
void bench_accept(struct switch_bench *b);

/* Fails with the first difference. */
void tables_assert_equal(const struct sw_tables *got, const struct sw_tables *want);

/*
 * Pearson's chi-square of n counts that should be equal is what even dice give: below mean + 4
 * deviations.
 */
void assert_even(const unsigned *counts, unsigned n, unsigned total);

#endif
