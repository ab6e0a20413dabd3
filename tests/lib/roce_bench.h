/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_ROCE_BENCH_H
#define FABRICBED_TEST_ROCE_BENCH_H

/* RoCEv2 on a fake wire. */
#include "fake_wire.h"
#include "transport_options.h"

#define US      1000000ull
#define GBPS    1000000000ull
#define FOREVER (100 * 1000000000000ull)
#define HEADERS (14 + 20 + 8 + 12)

#define DATA_DSCP    26
#define CONTROL_DSCP 46
#define NOTIFY_DSCP  48

struct roce_bench {
	struct roce_options options;
	struct transport_env env;
	struct fake_config config;
	struct fake_wire wire;
	uint32_t packets; /* of the message */
};

/*
 * Sets all up but b->wire, with 4 KB packets, one queue pair, no marks and a queue without end;
 * the base RTT is rtt_ps, but for rounding. Change what differs, then run.
 */
void roce_bench_prepare(
	struct roce_bench *b, uint32_t senders, uint64_t bytes, uint64_t gbps, uint64_t rtt_ps);

/* Another packet size, before the run: the delays stay, and so the base RTT moves a little. */
void roce_bench_mtu(struct roce_bench *b, uint32_t mtu);

/* Runs to the end and checks what must hold at any. Then look, and fake_wire_close(&b->wire). */
void roce_bench_run(struct roce_bench *b);

struct endpoint *roce_bench_sender(struct roce_bench *b, uint32_t flow);
struct endpoint *roce_bench_receiver(struct roce_bench *b, uint32_t flow);

static inline bool roce_is_data(uint8_t opcode)
{
	return opcode >= RC_WRITE_FIRST && opcode <= RC_WRITE_ONLY;
}

#endif
