/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel dataplane: frames through veths and XDP programs, and their verdicts. */
#include "lib/kernel_case.h"

#include <stdlib.h>
#include "abi/drop.h"
#include "abi/wire.h"
#include "dataplane/kernel.h"

static void frames_pass_each_way(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build(s);
	const struct sw_tables *t = &build_dataplane(b)->tables;
	union frame_room sent, got;
	const struct eth_hdr *eth = (const struct eth_hdr *)got.frame.bytes;
	const struct ip4_hdr *ip = (const struct ip4_hdr *)(eth + 1);
	const uint8_t mac_s0[] = {0x02, 0xfb, 0, 0, 0, S0_H0}, mac_h0[] = {0x02, 0xfb, 0, 0, 0, H0};

	/* h1 to the switch: on to h0, one hop older, between other stations, all else as it was. */
	hand_frame(s->f, S0_H1, &sent.frame, CAPTURED);
	assert_int_equal(submit_one(s, b, S0_H1, &got.frame), 0);
	assert_int_equal(got.frame.verdict.action, VERDICT_FORWARD);
	assert_int_equal(got.frame.verdict.port, S0_H0);
	assert_int_equal(got.frame.verdict.length, CAPTURED);
	assert_memory_equal(eth->dst, mac_h0, 6);
	assert_memory_equal(eth->src, mac_s0, 6);
	assert_int_equal(ip->ttl, 63);
	assert_memory_equal(got.frame.bytes + 34, sent.frame.bytes + 34, CAPTURED - 34);
	assert_int_equal(t->queues[S0_H0 * CLASSES].depth_bytes, CAPTURED);

	/* The switch to each host: delivered, unchanged; counted where it arrived. */
	for (uint32_t port = H0; port <= H1; port++) {
		hand_frame(s->f, port, &sent.frame, CAPTURED);
		assert_int_equal(submit_one(s, b, port, &got.frame), 0);
		assert_int_equal(got.frame.verdict.action, VERDICT_DELIVER);
		assert_memory_equal(got.frame.bytes, sent.frame.bytes, CAPTURED);
		assert_int_equal(t->ports[port].rx_frames, 1);
	}
	build_down(b);
	assert_nothing_left(s);
}

static void drops_are_told(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build(s);
	struct sw_tables *t = &build_dataplane(b)->tables;
	union frame_room u;

	t->ports[S0_H0].up = 0;
	assert_int_equal(submit_one(s, b, S0_H0, &u.frame), 0);
	assert_int_equal(u.frame.verdict.action, VERDICT_DROP);
	assert_int_equal(u.frame.verdict.reason, DROP_LINK_DOWN);
	assert_int_equal(t->drops[S0_H0].frames[DROP_LINK_DOWN], 1);
	build_down(b);
}

/* All of a batch, in order, through rings that wrap around. */
static void batches_keep_their_order(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build(s);
	struct dataplane *dp = build_dataplane(b);
	uint8_t(*memory)[sizeof(struct frame) + CAPACITY] = calloc(dp->max_batch, sizeof(*memory));
	struct frame_ref *frames = calloc(dp->max_batch, sizeof(*frames));
	unsigned n, i, round;

	for (round = 0; round < 3; round++)
		for (n = 1; n <= dp->max_batch; n++) {
			for (i = 0; i < n; i++) {
				frames[i].frame = (struct frame *)memory[i];
				frames[i].captured = CAPTURED + i;
				hand_frame(s->f, H1, frames[i].frame, CAPTURED + i);
				memory[i][HOP_BYTES + CAPTURED - 1] = (uint8_t)i;
			}
			assert_int_equal(dp->ops->submit(dp, H1, frames, n), 0);
			for (i = 0; i < n; i++) {
				assert_int_equal(frames[i].frame->verdict.action, VERDICT_DELIVER);
				assert_int_equal(frames[i].captured, CAPTURED + i);
				assert_int_equal(memory[i][HOP_BYTES + CAPTURED - 1], i);
			}
		}
	free(memory);
	free(frames);
	build_down(b);
}

/* The largest frames there are, a batch of them. */
static void large_frames_pass(void **state)
{
	const struct kernel_case *s = *state;
	size_t room = sizeof(struct frame) + VETH_FRAME_MAX;
	struct build_params params = kernel_case_params(s);
	struct error why = ERROR_INIT;
	struct frame_ref frames[2];
	struct dataplane *dp;
	struct built *b;
	uint32_t i, k;

	params.frame_capacity = VETH_FRAME_MAX;
	if (build_up(&b, &params, &why) < 0)
		fail_msg("%s", why.text);
	dp = build_dataplane(b);
	hand_tables(s->f, &dp->tables);
	for (i = 0; i < 2; i++) {
		frames[i] = (struct frame_ref){malloc(room), VETH_FRAME_MAX};
		hand_frame(s->f, H0, frames[i].frame, VETH_FRAME_MAX);
		for (k = CAPTURED; k < VETH_FRAME_MAX; k++)
			frames[i].frame->bytes[k] = (uint8_t)(k * 7 + i);
	}
	assert_int_equal(dp->ops->submit(dp, H0, frames, 2), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(frames[i].frame->verdict.action, VERDICT_DELIVER);
		assert_int_equal(frames[i].captured, VETH_FRAME_MAX);
		for (k = CAPTURED; k < VETH_FRAME_MAX; k++)
			assert_int_equal(frames[i].frame->bytes[k], (uint8_t)(k * 7 + i));
		free(frames[i].frame);
	}
	build_down(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		kernel_case_test(frames_pass_each_way),
		kernel_case_test(drops_are_told),
		kernel_case_test(batches_keep_their_order),
		kernel_case_test(large_frames_pass),
	};

	return kernel_case_run(tests, sizeof(tests) / sizeof(tests[0]));
}
