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
#define BENCH_HOSTS      100u       /* host_count; blocks cover 128 */

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
	TO_LAST = 99,       /* port 3 */
	TO_BEYOND = 100,    /* port 1, but no host */
};

struct switch_bench {
	struct dataplane *dp;
	struct sw_tables want; /* what dp's tables must hold */
};

/* The table sizes of the bench, for who opens a dataplane. */
struct sw_tables bench_sizes(void);

/* Takes dp over; bench_close closes it. */
struct switch_bench *bench_open(struct dataplane *dp);
void bench_close(struct switch_bench *b);

/* Writes all tables as described above; after this the tests change what they need. */
void bench_tables(const struct sw_tables *t);

/* cmocka setup of a case: tables as new. state is the bench. */
int bench_reset(void **state);

/* A frame, where it enters and what must become of it. */
struct trial {
	struct packet_spec spec;
	struct packet in; /* built from spec; a case may change it */
	struct hop hop;
	uint32_t at;
	unsigned dice;   /* draws that the mark takes */
	uint32_t chosen; /* the egress, if one was chosen before the drop; else 0 */
	uint8_t flags;   /* VERDICT_*; with VERDICT_MARKED the frame must come out as CE */
};

/* Builds t->in from spec; enters at BENCH_IN, nothing behind it, on the wire from 1 to 2 us. */
void trial_init(struct trial *t, const struct packet_spec *spec);

/* Runs it: it must leave at `port`, rewritten. */
void trial_forwards(struct switch_bench *b, const struct trial *t, uint32_t port);

/* Runs it at the host port: it must be delivered as it is. */
void trial_delivers(struct switch_bench *b, const struct trial *t);

/*
 * Runs it: it must end, counted once, at `port`, with nothing changed (but a mark, if flags say
 * so).
 */
void trial_drops(
	struct switch_bench *b, const struct trial *t, enum drop_reason reason, uint32_t port);

/* Runs it without an expectation. Its bytes are in *ret_out if that is not NULL. */
struct verdict trial_run(struct switch_bench *b, const struct trial *t, struct packet *ret_out);

/* Runs it and gives the port that it was forwarded to. */
uint32_t trial_port(struct switch_bench *b, const struct trial *t);

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
