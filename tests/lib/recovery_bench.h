/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_RECOVERY_BENCH_H
#define FABRICBED_TEST_RECOVERY_BENCH_H

/* An assembled transport on a fake wire, for its recovery: one path, the line's rate. */
#include "base/quantity.h"
#include "base/units.h"
#include "fake_wire.h"
#include "transport/assembled.h"
#include "transport/recovery/dupack.h"
#include "transport/recovery/selective.h"

#define US      1000000ull
#define GBPS    1000000000ull
#define MTU     4096u
#define RTT     (8 * US)
#define RTO     (100 * US)
#define FOREVER (100 * PS_PER_S)

struct recovery_bench {
	struct quantity window; /* of all flows; without end unless it is changed */
	struct assembled_options options;
	struct transport_env env;
	struct fake_config config;
	struct fake_wire wire;
	uint32_t packets; /* of all messages */
};

/*
 * Sets all up but b->wire: one flow whose only message has so many packets, at 100 Gbps, with a
 * queue without end. options: of the recovery of that name, as its file has them.
 */
void recovery_bench_prepare(
	struct recovery_bench *b, const char *recovery, void *options, uint32_t packets);

/* Runs to the end and checks what must hold at any. Then look, and fake_wire_close(&b->wire). */
void recovery_bench_run(struct recovery_bench *b);

const struct recovery_kind *recovery_bench_kind(const char *name);
struct endpoint *recovery_bench_sender(struct recovery_bench *b);
struct endpoint *recovery_bench_receiver(struct recovery_bench *b);

/* As go_back_n.c has them. */
struct recovery_bench_go_back {
	struct recovery_options common;
	bool whole;
};

/* As coding.c has them. */
struct recovery_bench_coding {
	struct recovery_options common;
	double overhead;
};

#endif
