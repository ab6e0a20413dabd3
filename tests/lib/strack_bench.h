/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_STRACK_BENCH_H
#define FABRICBED_TEST_STRACK_BENCH_H

/* STrack on a fake wire with the settings of the paper's section 4.1. */
#include "fake_wire.h"
#include "transport_options.h"

#define US      1000000ull
#define GBPS    1000000000ull
#define MTU     4096u
#define FOREVER 1000000000000ull
#define HEADERS (14 + 20 + 8 + 12)

struct strack_bench {
	struct strack_options options;
	struct transport_env env;
	struct fake_config config;
	struct fake_wire wire;
	uint64_t bdp_bytes;
};

/* Modelled length of a data packet's frame. */
uint32_t strack_bench_length(uint32_t payload);

/*
 * Sets all up but b->wire; the base RTT is rtt_ps, but for rounding. Change what differs, then
 * run.
 */
void strack_bench_prepare(
	struct strack_bench *b, uint32_t senders, uint64_t bytes, uint64_t gbps, uint64_t rtt_ps);

/* Runs to the end and checks what must hold at any. Then look, and fake_wire_close(&b->wire). */
void strack_bench_run(struct strack_bench *b);

struct endpoint *strack_bench_sender(struct strack_bench *b, uint32_t flow);
struct endpoint *strack_bench_receiver(struct strack_bench *b, uint32_t flow);

#endif
