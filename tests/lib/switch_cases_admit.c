/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tail drop, and what is counted where. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT BENCH_LOCAL(1)

void switch_exactly_full(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct queue *out;
	struct trial t;

	trial_init(&t, &spec);
	t.chosen = OUT;
	out = trial_queue(b, &t, OUT);
	for (uint32_t depth = 0; depth < 3; depth++) {
		out->depth_bytes = depth;
		out->limit_bytes = depth + t.hop.length;
		bench_accept(b);
		trial_forwards(b, &t, OUT);
		out->depth_bytes = depth;
		out->limit_bytes = depth + t.hop.length - 1;
		bench_accept(b);
		trial_drops(b, &t, DROP_BUFFER, OUT);
	}
	/*
	 * full to the last byte; more in it than there is room for, after the buffer was made
	 * smaller; no buffer
	 */
	out->limit_bytes = out->depth_bytes = 5000;
	bench_accept(b);
	trial_drops(b, &t, DROP_BUFFER, OUT);
	out->depth_bytes = 6000;
	bench_accept(b);
	trial_drops(b, &t, DROP_BUFFER, OUT);
	out->limit_bytes = out->depth_bytes = 0;
	bench_accept(b);
	trial_drops(b, &t, DROP_BUFFER, OUT);
	/* a drop leaves no trace: a smaller frame still fits */
	out->limit_bytes = t.hop.length - 1;
	bench_accept(b);
	trial_drops(b, &t, DROP_BUFFER, OUT);
	spec.payload--;
	trial_init(&t, &spec);
	trial_forwards(b, &t, OUT);
}

/* The modelled length counts, not the bytes that are there; the deepest is kept. */
void switch_queue_accounting(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	uint32_t sum = 0, frames = 0;
	struct queue *out;
	struct trial t;

	for (uint16_t payload = 0; payload < 4000; payload += 400, frames++) {
		spec.payload = payload;
		trial_init(&t, &spec);
		out = trial_queue(b, &t, OUT);
		assert_true(t.in.captured < t.hop.length);
		sum += t.hop.length;
		trial_forwards(b, &t, OUT);
		assert_int_equal(out->depth_bytes, sum);
		assert_int_equal(out->max_depth_bytes, sum);
	}
	assert_int_equal(out->depth_frames, frames);
	/* the engine gives back; the deepest stays until it is passed */
	out->depth_bytes = 100;
	out->depth_frames = 1;
	bench_accept(b);
	trial_forwards(b, &t, OUT);
	assert_int_equal(out->max_depth_bytes, sum);
	/* a hop's length beyond the IP length is padding and takes room too */
	t.hop.length += 1000;
	trial_forwards(b, &t, OUT);
}

void switch_a_length_near_2_to_32_does_not_wrap(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	trial_init(&t, &packet_spec_default);
	trial_queue(b, &t, OUT)->depth_bytes = 5000;
	bench_accept(b);
	t.hop.length = UINT32_MAX - 1000;
	t.chosen = OUT;
	trial_drops(b, &t, DROP_BUFFER, OUT);
}

/* The engine vouches for the room, and takes it when the frame arrives. */
void switch_a_frame_ahead_of_time_takes_no_space(void **state)
{
	struct switch_bench *b = *state;
	struct queue *out;
	struct trial t;

	trial_init(&t, &packet_spec_default);
	out = trial_queue(b, &t, OUT);
	t.chosen = OUT;
	t.hop.flags = HOP_ROOM;
	trial_forwards(b, &t, OUT);
	assert_int_equal(out->depth_bytes, 0);
	out->depth_bytes = out->limit_bytes;
	bench_accept(b);
	trial_forwards(b, &t, OUT);
	t.hop.flags = 0;
	trial_drops(b, &t, DROP_BUFFER, OUT);
}
