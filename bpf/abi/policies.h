/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_POLICIES_H
#define FABRICBED_ABI_POLICIES_H

/*
 * Load-balancing policies: how a switch picks among equal-cost ports. A policy is a function
 * balance_<word>() in bpf/balance/<word>.h and a row: X(symbol, word of the scenario, ahead,
 * meaning).
 *
 * ahead: 1 where the choice depends on the packet and its ingress port alone, so that the program
 * may run before the packet arrives; 0 where it depends on queues, time or other ports.
 *
 * The first is what the plain program does.
 */
#define BALANCES(X) X(BALANCE_ECMP, ecmp, 1, "by the hash of the flow")

enum balance {
#define X(symbol, word, ahead, meaning) symbol,
	BALANCES(X)
#undef X
		BALANCE_COUNT
};

/* The policy in a program's features: a constant of the loaded program, as its behaviours are. */
#define SW_BALANCE(policy)      ((__u32)(policy) << 24)
#define SW_BALANCE_OF(features) ((features) >> 24)

#endif
