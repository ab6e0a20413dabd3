/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "strack_bench.h"
#include "lib/strack_state.h"

uint32_t strack_bench_length(uint32_t payload)
{
	return HEADERS + sizeof(struct strack_data) + payload + ICRC_BYTES;
}

void strack_bench_prepare(
	struct strack_bench *b, uint32_t senders, uint64_t bytes, uint64_t gbps, uint64_t rtt_ps)
{
	uint64_t rate = gbps * GBPS, full = fake_wire_time(strack_bench_length(MTU), rate);
	uint64_t sack = fake_wire_time(HEADERS + sizeof(struct strack_sack) + ICRC_BYTES, rate);

	memset(b, 0, sizeof(*b));
	b->options = (struct strack_options)STRACK_OPTIONS_DEFAULT;
	b->bdp_bytes = gbps * rtt_ps / 8000;
	b->config = (struct fake_config){
		.ops = &strack_transport,
		.env = &b->env,
		.senders = senders,
		.message_bytes = bytes,
		.rate_bps = rate,
		.queue_rate_bps = rate,
		.delay_ps = (rtt_ps - 2 * full - sack) / 4,
		.buffer_bytes = (uint32_t)(5 * b->bdp_bytes),
		.kmin_bytes = (uint32_t)(b->bdp_bytes / 4),
		.kmax_bytes = (uint32_t)(b->bdp_bytes * 3 / 4),
		.seed = 1,
	};
	b->env = (struct transport_env){
		.mtu = MTU,
		.host_rate_bps = rate,
		.base_rtt_ps = 2 * full + sack + 4 * b->config.delay_ps,
		.data_dscp = 3,
		.control_dscp = 48,
		.notify_dscp = 46,
		.qps = 1,
		.options = &b->options,
	};
}

struct endpoint *strack_bench_sender(struct strack_bench *b, uint32_t flow)
{
	return b->wire.flows[flow].ends[1];
}

struct endpoint *strack_bench_receiver(struct strack_bench *b, uint32_t flow)
{
	return b->wire.flows[flow].ends[0];
}

/* Every packet has arrived; those that came again, and no other, were counted as duplicates. */
static void check_arrivals(struct strack_bench *b, uint32_t flow)
{
	struct fake_flow *f = &b->wire.flows[flow];
	uint64_t packets = (b->config.message_bytes + MTU - 1) / MTU;

	for (uint64_t psn = 0; psn < packets; psn++)
		assert_true(f->arrivals[psn] > 0);
	assert_int_equal(
		strack_bench_receiver(b, flow)->stats.duplicates, f->data_arrived - packets);
	assert_true(strack_bench_receiver(b, flow)->delivered_ps > 0);
}

void strack_bench_run(struct strack_bench *b)
{
	fake_wire_open(&b->wire, &b->config);
	fake_wire_run(&b->wire, FOREVER);
	assert_true(fake_wire_finished(&b->wire));
	assert_int_equal(b->wire.malformed, 0);
	for (uint32_t i = 0; i < b->config.senders; i++) {
		assert_int_equal(strack_inflight(strack_bench_sender(b, i)), 0);
		assert_int_equal(strack_bench_sender(b, i)->deadline_ps, 0);
		check_arrivals(b, i);
	}
}
