/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BRINGUP_H
#define FABRICBED_BRINGUP_H

/*
 * Turns a fabric into kernel objects: a network namespace per node, a veth pair per link, a program
 * and a socket per port, a TAP interface per host on request; and removes all of it, its own or
 * what a killed process left.
 */
#include "abi/egress.h"
#include "base/error.h"
#include "bringup/claim.h"
#include "dataplane/dataplane.h"

struct external_spec;
struct fabric;

struct built;

struct build_params {
	const struct fabric *fabric; /* used until build_up() returns, as all that is pointed to */
	const char *name;
	bool exact; /* this name, or none; else "<name>-2", ... where it is taken */
	const struct sw_sizes *sizes;
	uint32_t frame_capacity;          /* bytes of a frame that cross a veth */
	const struct policy_code *policy; /* BALANCE_FILE; NULL: no switch has it */

	/* Each host's kernel stack uses eth0, a TAP interface; else link0 has the addresses. */
	bool stacks;
	uint32_t stack_mtu; /* of eth0: bytes of an IP packet; below 1280 there is no IPv6 */
	const struct egress_config *egress; /* of eth0's program; NULL: none */
	bool ecn;                           /* the hosts' TCP asks for ECN */
	bool gso_off;     /* their TCP sends single segments, each through the program */
	uint32_t gateway; /* the other hosts' default route; it forwards; or HOST_NONE */
	const struct lock_wait *wait; /* for others that build; NULL: a few seconds */
	/* The Open vSwitch bridge, in the thread's namespace, that the gateway joins; or NULL. */
	const struct external_spec *external;
};

/*
 * Builds a fabric, tables of the given sizes zeroed. First removes what dead processes left. On
 * error nothing stays behind. 0; -EEXIST: exact, and the name is taken; -ENOPKG: no Open vSwitch,
 * or no such bridge; another -errno; with why.
 */
int build_up(struct built **ret, const struct build_params *params, struct error *why);

/* The dataplane of a built fabric; it goes with build_down(). */
struct dataplane *build_dataplane(struct built *b);
const char *build_name(const struct built *b);

/*
 * Another policy for the switches of a built fabric, and NULL: the one that it was built with.
 * Between two submits; no frame is lost. 0, or -errno with why: all is as it was, but if *ret_lost
 * is not 0; then they have the policy that they were built with.
 */
int build_swap(struct built *b, const struct fabric *f, const struct policy_code *code,
	int *ret_lost, struct error *why);

/*
 * With stacks: the TAP of a host (its number), non-blocking, one Ethernet frame without FCS a read
 * or write. build_down() closes it.
 */
int build_stack_fd(const struct built *b, uint32_t host);

/* Frames that its programs sent and that were not read in time. */
uint64_t build_stack_refused(const struct built *b, uint32_t host);

/* Closes sockets, removes interfaces and namespaces, frees b. NULL is fine. */
void build_down(struct built *b);

/* Removes all fabrics whose process is gone. Returns how many, or -errno. */
int build_sweep(const struct lock_wait *wait, struct error *why);

#endif
