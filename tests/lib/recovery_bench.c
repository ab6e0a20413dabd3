/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "recovery_bench.h"

#define RATE (100 * GBPS)
#define DATA                                                                                       \
	(14 + 20 + 8 + sizeof(struct bth_hdr) + sizeof(struct assembled_data) + MTU + ICRC_BYTES)
#define BACK (14 + 20 + 8 + sizeof(struct bth_hdr) + sizeof(struct assembled_answer) + ICRC_BYTES)

static unsigned recovery_number(const char *name)
{
	unsigned i = 0;

	while (i < RECOVERY_KINDS && strcmp(recovery_kinds[i]->name, name))
		i++;
	assert_true(i < RECOVERY_KINDS);
	return i;
}

const struct recovery_kind *recovery_bench_kind(const char *name)
{
	return recovery_kinds[recovery_number(name)];
}

void recovery_bench_prepare(
	struct recovery_bench *b, const char *recovery, void *options, uint32_t packets)
{
	uint64_t full = fake_wire_time(DATA, RATE), back = fake_wire_time(BACK, RATE);

	memset(b, 0, sizeof(*b));
	b->window = (struct quantity){1ull << 40, QUANTITY_BYTES};
	b->options = (struct assembled_options){
		.recovery = recovery_number(recovery),
		.recovery_options = options,
		.control_options = &b->window,
	};
	while (strcmp(paths_kinds[b->options.paths]->name, "single"))
		b->options.paths++;
	while (strcmp(control_kinds[b->options.control]->name, "window"))
		b->options.control++;
	b->env = (struct transport_env){
		.mtu = MTU,
		.host_rate_bps = RATE,
		.base_rtt_ps = RTT,
		.qps = 1,
		.paths = 1,
		.options = &b->options,
	};
	b->config = (struct fake_config){
		.ops = &assembled_transport,
		.env = &b->env,
		.senders = 1,
		.message_bytes = (uint64_t)packets * MTU,
		.rate_bps = RATE,
		.queue_rate_bps = RATE,
		.delay_ps = (RTT - 2 * full - back) / 4,
		.buffer_bytes = UINT32_MAX,
		.seed = 1,
	};
}

struct endpoint *recovery_bench_sender(struct recovery_bench *b)
{
	return b->wire.flows[0].ends[1];
}

struct endpoint *recovery_bench_receiver(struct recovery_bench *b)
{
	return b->wire.flows[0].ends[0];
}

void recovery_bench_run(struct recovery_bench *b)
{
	uint32_t messages = 1 + b->config.more;
	const struct endpoint *s, *r;

	b->packets = (uint32_t)((b->config.message_bytes + MTU - 1) / MTU) * messages;
	fake_wire_open(&b->wire, &b->config);
	fake_wire_run(&b->wire, FOREVER);
	assert_true(fake_wire_finished(&b->wire));
	assert_int_equal(b->wire.malformed, 0);
	s = recovery_bench_sender(b);
	r = recovery_bench_receiver(b);
	for (uint32_t i = 0; i < b->packets; i++)
		assert_true(b->wire.flows[0].arrivals[i] > 0);
	assert_int_equal(r->received, b->config.message_bytes * messages);
	assert_int_equal(r->done, messages);
	assert_int_equal(s->done, messages);
	assert_int_equal(s->stats.packets_sent, b->packets + s->stats.retransmitted);
	assert_true(r->delivered_ps > 0 && r->delivered_ps <= s->finished_ps);
	assert_int_equal(s->deadline_ps, 0);
	assert_int_equal(r->deadline_ps, 0);
}
