/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COLLECTIVE_FACTS_H
#define FABRICBED_COLLECTIVE_FACTS_H

/* What results say of a collective, beside its times. */
#include <stdint.h>

struct collective_facts {
	const char *op, *algorithm;
	uint64_t bytes; /* as nccl-tests have it */
	uint32_t ranks, ranks_per_host, jobs, rounds;
	double bus;     /* busbw by algbw (nccl-tests, doc/PERFORMANCE.md) */
	uint32_t entry; /* of the scenario's workloads */
};

#endif
