/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TRAFFIC_H
#define FABRICBED_TRAFFIC_H

/* What a scenario's workloads send over its fabric. */
#include <stdbool.h>
#include "workload/fair_share.h"

struct diags;
struct fabric;
struct scenario;
struct workload_arrivals;

/*
 * Appends the operations of workloads from number `first` on that have a list, in the file's
 * order. 0 or -ENOMEM.
 */
int traffic_list(
	struct operations *m, const struct scenario *s, const struct fabric *f, size_t first);

/*
 * The fair share of each message of workloads from number `first` on, which m is the list of; if it
 * is not known, ret->count is 0, and why has the words. 0 or -ENOMEM.
 */
int traffic_fair_shares(struct fair_shares *ret, char why[FAIR_SHARE_WHY], const struct scenario *s,
	const struct fabric *f, size_t first, const struct operations *m);

/* Whether some transport of these workloads goes by it. */
bool traffic_uses_shares(const struct scenario *s, size_t first);

/* Whether it is known of all of them, before anything is built. 0, -ENOENT or -ENOMEM. */
int traffic_has_fair_shares(
	const struct scenario *s, const struct fabric *f, size_t first, char why[FAIR_SHARE_WHY]);

/*
 * Whether entries from number `first` on have what their transports need to know of the traffic;
 * each one that lacks it is a message, with the words of `busy` in place of the reason if that is
 * not NULL. 0; -EINVAL with messages; -ENOMEM.
 */
int traffic_check(const struct scenario *s, const struct fabric *f, size_t first, const char *busy,
	struct diags *diags);

/* An open-loop workload: what it sends arrives as time passes. */
struct arrivals {
	const struct workload_arrivals *ops;
	void *state;
	uint32_t dscp, transport; /* as workload_spec has them */
};

/* So many at a time: each part takes memory, and a walk of the fabric. */
#define ARRIVALS_PART 8192

/* The next workload from number *entry on that is one; *entry is then its number, or the count. */
bool arrivals_find(const struct scenario *s, size_t *entry);

/* 0 or -ENOMEM. */
int arrivals_open(
	struct arrivals *ret, const struct scenario *s, const struct fabric *f, size_t entry);

/* What comes next, in place of what m held; nothing: that was all. 0 or -ENOMEM. */
int arrivals_next(struct arrivals *a, struct operations *m);
void arrivals_close(struct arrivals *a);

#endif
