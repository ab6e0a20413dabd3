/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FABRIC_REPORT_H
#define FABRICBED_FABRIC_REPORT_H

/*
 * What a scenario comes to: what `validate` reports. It is made once, as JSON; the text is made of
 * that.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include "base/operation.h"
#include "base/series.h"
#include "workload/fair_share.h"

struct fabric;
struct scenario;

/* What a run is expected to take. */
struct report_cost {
	double memory_mb;
	double wall_s;
};

/* A file of samples, as it is at least. */
struct report_series {
	const char *file;
	double every_us;
	uint64_t rows; /* UINT64_MAX: that depends on what queues do */
	double mb;
};

/* What the scenario's workloads come to on this fabric. */
struct report_load {
	uint64_t flows, bytes, packets;
	uint64_t ideal_ps;
	struct report_cost kernel, in_process; /* of a run on either dataplane */
	uint64_t dscps[OPERATION_TRANSPORTS];  /* of data of each transport, a bit each */
	struct report_series series[SERIES_KINDS];
	size_t series_count;
	uint64_t least_share_bps, most_share_bps; /* fair shares of messages; 0: not known */
	char no_share[FAIR_SHARE_WHY];            /* why; empty: they are, or nothing is sent */
};

#define REPORT_FAILURES 100 /* moments at which faults begin, beyond which they are only counted */

/* A new object, or NULL for want of memory. */
json_t *fabric_report(
	const struct fabric *f, const struct scenario *s, const struct report_load *load);

void fabric_report_print(const json_t *report, FILE *out);

#endif
