/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TRAFFIC_H
#define FABRICBED_TRAFFIC_H

/* What a scenario's workloads send over its fabric. */
#include "workload/workload.h"

struct fabric;
struct scenario;

/* Appends the messages of workloads from number `first` on, in the file's order. 0 or -ENOMEM. */
int traffic_messages(
	struct operations *m, const struct scenario *s, const struct fabric *f, size_t first);

#endif
