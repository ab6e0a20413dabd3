/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_POLICIES_H
#define FABRICBED_ABI_POLICIES_H

/*
 * Load-balancing policies: how a switch picks among equal-cost ports. A policy is a file
 * bpf/sw/balance/<name>.h in the form of fabricbed/policy.h, and a row: X(symbol, name, word of the
 * scenario, ahead, flows, reorders).
 *
 * ahead: 1 where the choice depends on the packet and its ingress port alone, so that the program
 * may run before the packet arrives; 0 where it depends on queues, time or other ports.
 * flows: 1 where it has an entry of the flow table for each flow.
 * reorders: 1 where packets of a flow that follow each other take several paths.
 *
 * The first is what the plain program does.
 */
#define BALANCES(X)                                                                                \
	X(BALANCE_ECMP, ecmp, "ecmp", 1, 0, 0)                                                     \
	X(BALANCE_SPRAY, spray, "spray", 0, 0, 1)                                                  \
	X(BALANCE_RANDOM, random, "random", 1, 0, 1)                                               \
	X(BALANCE_ADAPTIVE, adaptive, "adaptive", 0, 0, 1)                                         \
	X(BALANCE_ECMP_ADAPTIVE, ecmp_adaptive, "ecmp-adaptive", 0, 1, 0)                          \
	X(BALANCE_FLOWLET, flowlet, "flowlet", 0, 1, 1)                                            \
	X(BALANCE_LETFLOW, letflow, "letflow", 0, 1, 1)                                            \
	X(BALANCE_DRILL, drill, "drill", 0, 0, 1)

enum balance {
#define X(symbol, name, word, ahead, flows, reorders) symbol,
	BALANCES(X)
#undef X
		BALANCE_FILE, /* the user's own */
	BALANCE_COUNT
};

#endif
