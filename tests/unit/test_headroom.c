/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/headroom.h"
#include "base/numbers.h"
#include "base/rng_stream.h"

/*
 * The formula beside a link played frame by frame. The peer sends back to back; the frame whose
 * last bit is through the switch at time 0 is the one that crosses XOFF. Until the pause has taken
 * effect, frames start; one that is due at that very moment still does.
 */
struct play {
	struct headroom_params h;
	uint32_t (*next_frame)(uint64_t *rng, uint32_t longest);
	uint32_t control_frames; /* ahead of the PFC frame, each of control_frame bytes */
	uint32_t control_frame;
	uint64_t begun_ps; /* how long before time 0 the frame in the PFC frame's way has begun */
	uint64_t rng;
};

static uint32_t longest_frame(uint64_t *rng, uint32_t longest)
{
	(void)rng;
	return longest;
}

/*
 * Any length from Ethernet's shortest packet without padding down to its headers, and a bit above.
 */
static uint32_t any_frame(uint64_t *rng, uint32_t longest)
{
	return 14 + rng_below(rng, longest - 13);
}

/* Long and short ones by turns of chance. */
static uint32_t long_or_short_frame(uint64_t *rng, uint32_t longest)
{
	return rng_below(rng, 3) ? longest - rng_below(rng, 2) : 60;
}

/* When the peer stops, after time 0. */
static uint64_t pause_takes_effect(const struct play *p)
{
	uint64_t t = serialise_ps(p->h.frame_bytes, p->h.rate_bps) - p->begun_ps;

	for (uint32_t i = 0; i < p->control_frames; i++)
		t += serialise_ps(p->control_frame, p->h.rate_bps);
	return t + serialise_ps(PFC_FRAME, p->h.rate_bps) + p->h.delay_ps + p->h.response_ps;
}

/* Bytes that arrive from the crossing frame on. */
static uint64_t play(struct play *p)
{
	uint64_t bytes = p->next_frame(&p->rng, p->h.frame_bytes), t = 0;
	/*
	 * the peer's time of starts is counted from its end of the crossing frame, a delay and the
	 * latency before time 0
	 */
	uint64_t stop = p->h.delay_ps + p->h.latency_ps + pause_takes_effect(p);

	while (t <= stop) {
		uint32_t frame = p->next_frame(&p->rng, p->h.frame_bytes);

		bytes += frame;
		t += serialise_ps(frame, p->h.rate_bps);
	}
	return bytes;
}

/* Rates that divide a second's picoseconds, and some that do not. */
static const uint64_t rates[] = {1000000000, 10000000000, 25000000000, 40000000000, 100000000000,
	400000000000, 800000000000, 1600000000000, 700000000, 33333333333, 270000000001,
	900000000000};
static const uint64_t delays[] = {0, 1, 333333, 1000000, 7654321, 50000000};
static const uint32_t frames[] = {60, 137, 578, 1590, 4170, 9074};
static const uint64_t responses[] = {0, 512345};

static void sweep(void (*check)(const struct headroom_params *h))
{
	for (size_t r = 0; r < COUNT(rates); r++)
		for (size_t d = 0; d < COUNT(delays); d++)
			for (size_t f = 0; f < COUNT(frames); f++)
				for (size_t s = 0; s < COUNT(responses); s++) {
					struct headroom_params h = {.rate_bps = rates[r],
						.delay_ps = delays[d],
						.latency_ps = delays[(d + f) % COUNT(delays)],
						.response_ps = responses[s],
						.frame_bytes = frames[f]};

					check(&h);
				}
}

/*
 * How far the formula, which knows rates, may be above frames whose times are whole picoseconds:
 * one frame, and what the link does in the fraction of a picosecond that each frame waits for.
 */
static uint64_t slack(const struct headroom_params *h, uint64_t came)
{
	uint64_t idle_ps = (came + h->control_bytes) / h->frame_bytes + 12;

	if (wire_bytes(h->frame_bytes) * 8 * PS_PER_S % h->rate_bps == 0)
		idle_ps = 12;
	return h->frame_bytes + 2 + idle_ps * h->rate_bps / (8 * PS_PER_S);
}

static void check_longest(const struct headroom_params *h)
{
	struct play p = {.h = *h, .next_frame = longest_frame};
	uint64_t came = play(&p), room = headroom_bytes(h);

	assert_true(came <= room);
	assert_true(room - came <= slack(h, came));
}

static void full_frames_just_fit(void **state)
{
	(void)state;
	sweep(check_longest);
}

static void check_mixed(const struct headroom_params *h)
{
	uint64_t room = headroom_bytes(h);

	for (uint64_t seed = 0; seed < 4; seed++) {
		struct play any = {.h = *h, .next_frame = any_frame, .rng = seed};
		struct play both = {.h = *h, .next_frame = long_or_short_frame, .rng = seed};

		both.begun_ps = any.begun_ps =
			rng_below(&any.rng, 2)
				? rng_take(&any.rng) % serialise_ps(h->frame_bytes, h->rate_bps)
				: 0;
		assert_true(play(&any) <= room);
		assert_true(play(&both) <= room);
	}
}

static void mixed_frames_fit(void **state)
{
	(void)state;
	sweep(check_mixed);
}

/* LLDP frames, and PFC frames of other classes: the time of each is rounded up for itself. */
static void check_control(const struct headroom_params *h)
{
	static const uint32_t lengths[] = {60, 61, 131};

	for (size_t i = 0; i < COUNT(lengths); i++)
		for (uint32_t n = 1; n <= 9; n += 4) {
			struct play p = {.h = *h,
				.next_frame = longest_frame,
				.control_frames = n,
				.control_frame = lengths[i]};
			uint64_t came, room;

			p.h.control_bytes = n * (uint32_t)wire_bytes(lengths[i]);
			room = headroom_bytes(&p.h);
			came = play(&p);
			assert_true(came <= room);
			assert_true(room - came <= slack(&p.h, came));
		}
}

static void control_frames_ahead_are_counted(void **state)
{
	(void)state;
	sweep(check_control);
}

/* 4 KB over 100 Gbps and 1 us: by hand. */
static void a_known_link(void **state)
{
	const struct headroom_params h = {
		.rate_bps = 100000000000, .delay_ps = 1000000, .frame_bytes = 4170};
	/*
	 * wire bytes: 4194 of the frame ahead, 84 of the PFC frame, 25000 in twice the delay; 1 ps,
	 * rounding
	 */
	uint64_t on_wire = 4194 + 84 + 25000;
	uint64_t expected = 2 * 4170 + on_wire * 4170 / 4194;

	(void)state;
	assert_in_range(headroom_bytes(&h), expected, expected + 3);
}

/*
 * Frames of a wire time that divides all others end exactly when the pause arrives: the formula is
 * met to the byte.
 */
static void the_worst_alignment_is_met(void **state)
{
	struct play p = {.h = {.rate_bps = 8 * PS_PER_S / 10, .frame_bytes = 60},
		.next_frame = longest_frame};

	(void)state;
	/*
	 * 840 ps a frame of 84 wire bytes at 10 ps: the one ahead, the PFC frame, and 100 of them
	 * on either way
	 */
	p.h.delay_ps = 100 * 840;
	assert_int_equal(play(&p), (1 + 1 + 1 + 200 + 1) * 60);
	assert_in_range(headroom_bytes(&p.h) - play(&p), 0, 2);
	/* a picosecond less, and the last one is not begun */
	p.begun_ps = 1;
	assert_int_equal(play(&p), (1 + 1 + 1 + 200) * 60);
}

/* Of many frames ahead, the fractions of a picosecond for which each is rounded up make bytes. */
static void roundings_add_up(void **state)
{
	/* 6.4 ps a byte: 544 ps a frame of the peer, 538 instead of 537.6 a control frame */
	struct play p = {.h = {.rate_bps = 1250000000000, .frame_bytes = 61},
		.next_frame = longest_frame,
		.control_frames = 60,
		.control_frame = 60};
	uint64_t rest = pause_takes_effect(&p) % 544;

	(void)state;
	p.h.control_bytes = 60 * 84;
	p.h.delay_ps = 544 + (544 - rest) / 2;
	assert_int_equal((p.h.delay_ps + pause_takes_effect(&p)) % 544, 0);
	assert_true(play(&p) <= headroom_bytes(&p.h));
}

static void the_pool_grows_with_the_switch(void **state)
{
	(void)state;
	assert_int_equal(pool_bytes_auto(51200000000000), 256ull << 20);
	assert_int_equal(pool_bytes_auto(25600000000000), 128ull << 20);
	assert_int_equal(pool_bytes_auto(400000000000), 2ull << 20);
	assert_int_equal(pool_bytes_auto(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_frames_just_fit),
		cmocka_unit_test(mixed_frames_fit),
		cmocka_unit_test(control_frames_ahead_are_counted),
		cmocka_unit_test(a_known_link),
		cmocka_unit_test(the_worst_alignment_is_met),
		cmocka_unit_test(roundings_add_up),
		cmocka_unit_test(the_pool_grows_with_the_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
