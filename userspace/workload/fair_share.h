/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FAIR_SHARE_H
#define FABRICBED_FAIR_SHARE_H

/*
 * The fair share of each message of a workload, if it is known. See docs/workloads.md, "the fair
 * share of a message".
 */
#include "base/fair_shares.h"
#include "base/net.h"
#include "workload/kind.h"

/* Why it is not known: "workload.1.load: ...". */
#define FAIR_SHARE_WHY 256

/* An entry of the scenario's list: its number is what operation.entry says. */
struct fair_share_entry {
	const struct workload_kind *kind;
	const void *options;
};

/*
 * Of all entries from number `first` on, together; m: what they come to, those that arrive left
 * out. packet_bytes: of a full packet's frame. Links as they were built: faults change no share. If
 * it is not known, ret->count is 0, and why has the words; else why is empty. 0 or -ENOMEM.
 */
int fair_shares_init(struct fair_shares *ret, char why[FAIR_SHARE_WHY], const struct net *net,
	const struct fair_share_entry *entries, size_t first, size_t count,
	const struct operations *m, uint32_t packet_bytes);
void fair_shares_release(struct fair_shares *s);

#endif
