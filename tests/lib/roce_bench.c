/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "roce_bench.h"

#define ACK (HEADERS + sizeof(struct aeth_hdr) + ICRC_BYTES)

void roce_bench_mtu(struct roce_bench *b, uint32_t mtu)
{
	uint64_t rate = b->config.rate_bps;

	b->env.mtu = mtu;
	b->env.base_rtt_ps = 2 * fake_wire_time(HEADERS + mtu + ICRC_BYTES, rate) +
			     fake_wire_time(ACK, rate) + 4 * b->config.delay_ps;
}

void roce_bench_prepare(
	struct roce_bench *b, uint32_t senders, uint64_t bytes, uint64_t gbps, uint64_t rtt_ps)
{
	uint64_t rate = gbps * GBPS, full = fake_wire_time(HEADERS + 4096 + ICRC_BYTES, rate);

	memset(b, 0, sizeof(*b));
	b->options = (struct roce_options)ROCE_OPTIONS_DEFAULT;
	b->config = (struct fake_config){
		.ops = &roce_transport,
		.env = &b->env,
		.senders = senders,
		.message_bytes = bytes,
		.rate_bps = rate,
		.queue_rate_bps = rate,
		.delay_ps = (rtt_ps - 2 * full - fake_wire_time(ACK, rate)) / 4,
		.buffer_bytes = UINT32_MAX,
		.seed = 1,
	};
	b->env = (struct transport_env){
		.host_rate_bps = rate,
		.data_dscp = DATA_DSCP,
		.control_dscp = CONTROL_DSCP,
		.notify_dscp = NOTIFY_DSCP,
		.qps = 1,
		.options = &b->options,
	};
	roce_bench_mtu(b, 4096);
}

struct endpoint *roce_bench_sender(struct roce_bench *b, uint32_t flow)
{
	return b->wire.flows[flow].ends[1];
}

struct endpoint *roce_bench_receiver(struct roce_bench *b, uint32_t flow)
{
	return b->wire.flows[flow].ends[0];
}

/* Every packet has arrived; whatever else did is accounted for. */
static void check_flow(struct roce_bench *b, uint32_t flow)
{
	const struct endpoint *s = roce_bench_sender(b, flow), *r = roce_bench_receiver(b, flow);
	const struct fake_flow *f = &b->wire.flows[flow];

	for (uint32_t i = 0; i < b->packets; i++)
		assert_true(f->arrivals[i] > 0);
	assert_int_equal(r->stats.duplicates + r->stats.out_of_order, f->data_arrived - b->packets);
	assert_int_equal(s->stats.packets_sent, b->packets + s->stats.retransmitted);
	assert_true(r->delivered_ps > 0 && r->delivered_ps <= s->finished_ps);
	assert_int_equal(s->deadline_ps, 0);
	assert_int_equal(r->deadline_ps, 0);
}

void roce_bench_run(struct roce_bench *b)
{
	b->packets = (uint32_t)((b->config.message_bytes + b->env.mtu - 1) / b->env.mtu);
	fake_wire_open(&b->wire, &b->config);
	fake_wire_run(&b->wire, FOREVER);
	assert_true(fake_wire_finished(&b->wire));
	assert_int_equal(b->wire.malformed, 0);
	for (uint32_t i = 0; i < b->config.senders; i++)
		check_flow(b, i);
}
