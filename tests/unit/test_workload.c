/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/wiretime.h"
#include "fabric_fixture.h"
#include "workload/ideal.h"
#include "workload/kind.h"

struct asked {
	uint64_t bytes, start_ps, gap_ps, seed;
	uint32_t repeat;
};

static const struct asked plain = {.bytes = 1000, .repeat = 1, .seed = 1};

/* As the two arguments that they are. */
#define ASKED(a)                                                                                   \
	&(struct workload_params){.seed = (a)->seed}, &(struct workload_rounds)                    \
	{                                                                                          \
		{(a)->start_ps, (a)->bytes}, (a)->gap_ps, (a)->repeat                              \
	}

static void assert_derangement(const struct operation *m, uint32_t hosts)
{
	bool *received = calloc(hosts, sizeof(*received));

	assert_non_null(received);
	for (uint32_t h = 0; h < hosts; h++) {
		assert_int_equal(m[h].src_host, h);
		assert_int_not_equal(m[h].dst_host, h);
		assert_in_range(m[h].dst_host, 0, hosts - 1);
		assert_false(received[m[h].dst_host]);
		received[m[h].dst_host] = true;
	}
	free(received);
}

static void permutations_are_derangements(void **state)
{
	static const uint32_t sizes[] = {2, 3, 4, 7, 16, 128, 1000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t seed = 0; seed < 30; seed++) {
			struct operations m = OPERATIONS_INIT;
			struct asked p = plain;

			p.seed = seed;
			assert_int_equal(workload_permutation(&m, ASKED(&p), sizes[i], 1, 3), 0);
			assert_int_equal(m.count, 3 * sizes[i]);
			for (int n = 0; n < 3; n++)
				assert_derangement(m.items + n * sizes[i], sizes[i]);
			operations_release(&m);
		}
}

/*
 * Of the 9 derangements of 4 each comes as often as the others; chi-squared with 8 degrees, 99.9%:
 * 26.1.
 */
static void derangements_are_equally_likely(void **state)
{
	enum { DRAWS = 9000 };
	unsigned seen[256] = {0}, kinds = 0;
	double chi = 0;

	(void)state;
	for (uint64_t seed = 0; seed < DRAWS; seed++) {
		struct operations m = OPERATIONS_INIT;
		struct asked p = plain;

		p.seed = seed;
		assert_int_equal(workload_permutation(&m, ASKED(&p), 4, 1, 1), 0);
		seen[m.items[0].dst_host | m.items[1].dst_host << 2 | m.items[2].dst_host << 4 |
			m.items[3].dst_host << 6]++;
		operations_release(&m);
	}
	for (int i = 0; i < 256; i++) {
		double off = seen[i] - DRAWS / 9.0;

		kinds += seen[i] > 0;
		chi += seen[i] ? off * off / (DRAWS / 9.0) : 0;
	}
	assert_int_equal(kinds, 9);
	assert_true(chi < 26.1);
}

static void draws_depend_on_the_seed_alone(void **state)
{
	struct operations a = OPERATIONS_INIT, b = OPERATIONS_INIT, c = OPERATIONS_INIT;
	struct asked p = plain;

	(void)state;
	assert_int_equal(workload_permutation(&a, ASKED(&p), 64, 1, 2), 0);
	assert_int_equal(workload_incast(&a, ASKED(&p), 64, 1, 20, 5), 0);
	assert_int_equal(workload_permutation(&b, ASKED(&p), 64, 1, 2), 0);
	assert_int_equal(workload_incast(&b, ASKED(&p), 64, 1, 20, 5), 0);
	for (size_t i = 0; i < a.count; i++)
		assert_int_equal(a.items[i].src_host << 16 | a.items[i].dst_host,
			b.items[i].src_host << 16 | b.items[i].dst_host);
	/* The draws of one list differ from each other, and from another seed's. */
	assert_memory_not_equal(a.items, a.items + 64, 64 * sizeof(*a.items));
	p.seed = 2;
	assert_int_equal(workload_permutation(&c, ASKED(&p), 64, 1, 2), 0);
	assert_memory_not_equal(a.items, c.items, 64 * sizeof(*a.items));
	operations_release(&a);
	operations_release(&b);
	operations_release(&c);
}

static void rounds_follow_each_other(void **state)
{
	struct operations m = OPERATIONS_INIT;
	struct asked p = {.bytes = 77, .start_ps = 5, .repeat = 3, .gap_ps = 9, .seed = 1};
	const uint32_t from[] = {0, 3}, to[] = {1, 2};

	(void)state;
	assert_int_equal(workload_pairs(&m, ASKED(&plain), from, to, 1), 0);
	assert_int_equal(workload_pairs(&m, ASKED(&p), from, to, 2), 0);
	assert_int_equal(m.count, 1 + 6);
	assert_false(m.items[0].waits);
	assert_int_equal(m.wait_count, 4);
	for (uint32_t i = 1; i < 7; i++) {
		uint32_t pair = (i - 1) % 2;

		assert_int_equal(m.items[i].src_host, from[pair]);
		assert_int_equal(m.items[i].dst_host, to[pair]);
		assert_int_equal(m.items[i].bytes, 77);
		assert_int_equal(m.items[i].start_ps, i < 3 ? 5 : 9);
		assert_int_equal(m.items[i].waits, i >= 3);
		assert_int_equal(m.items[i].again, i >= 3);
		if (i < 3)
			continue;
		assert_int_equal(m.waits[i - 3].from, i - 2);
		assert_int_equal(m.waits[i - 3].to, i);
		assert_int_equal(m.waits[i - 3].event, OPERATION_ENDED);
	}
	operations_release(&m);
}

static void incast_senders_are_distinct_others(void **state)
{
	unsigned drawn[16] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct operations m = OPERATIONS_INIT;
		struct asked p = plain;
		unsigned seen = 0;

		p.seed = seed;
		assert_int_equal(workload_incast(&m, ASKED(&p), 16, 1, 5, 3), 0);
		assert_int_equal(m.count, 5);
		for (size_t i = 0; i < m.count; i++) {
			assert_int_equal(m.items[i].dst_host, 3);
			assert_in_range(m.items[i].src_host, 0, 15);
			assert_int_not_equal(m.items[i].src_host, 3);
			assert_false(seen & 1u << m.items[i].src_host);
			seen |= 1u << m.items[i].src_host;
			drawn[m.items[i].src_host]++;
		}
		operations_release(&m);
	}
	/* 400 draws of 5 out of 15: 133 each, with a deviation of 9.4. */
	for (int h = 0; h < 16; h++)
		if (h != 3)
			assert_in_range(drawn[h], 95, 171);
}

static void all_others_can_send(void **state)
{
	struct operations m = OPERATIONS_INIT;

	(void)state;
	for (uint32_t to = 0; to < 4; to++)
		assert_int_equal(workload_incast(&m, ASKED(&plain), 4, 1, 3, to), 0);
	assert_int_equal(m.count, 12);
	operations_release(&m);
}

static void too_many_messages_leave_the_list_alone(void **state)
{
	struct operations m = OPERATIONS_INIT;
	struct asked p = plain;

	(void)state;
	assert_int_equal(workload_incast(&m, ASKED(&p), 4, 1, 3, 0), 0);
	p.repeat = UINT32_MAX;
	assert_int_equal(workload_incast(&m, ASKED(&p), 4, 1, 3, 0), -E2BIG);
	assert_int_equal(workload_permutation(&m, ASKED(&p), 4, 1, UINT32_MAX), -E2BIG);
	assert_int_equal(m.count, 3);
	operations_release(&m);
}

/* 4,096 bytes of payload: 4,194 byte times of 80 ps; a SACK: 122. */
#define S     (4194 * 80ull)
#define A     (122 * 80ull)
#define DELAY 1000000ull

static struct workload_frames strack_frames(const struct fabric *f)
{
	return (struct workload_frames){
		.mtu = f->mtu,
		.ip6 = f->ip6,
		.transports[0].data_extension = sizeof(struct strack_data),
		.transports[0].answer_extension = sizeof(struct strack_sack),
	};
}

static uint64_t ideal(const struct fabric *f, struct operations *m)
{
	const struct workload_frames frames = strack_frames(f);
	struct workload_size size;

	assert_int_equal(workload_measure(m, &f->net, &frames, &size), 0);
	return size.ideal_ps;
}

static uint64_t ideal_of_one(const struct fabric *f, uint32_t src, uint32_t dst, uint64_t bytes)
{
	struct operation one = {.src_host = src, .dst_host = dst, .bytes = bytes};
	struct operations m = {.items = &one, .count = 1};

	return ideal(f, &m);
}

/* The payload alone, at the busiest host link: what waits does not come with the others. */
static void payload_alone(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f = fixture_fabric(&s);
	struct operation to_15[] = {{.src_host = 0, .dst_host = 15, .bytes = 1000},
		{.src_host = 1, .dst_host = 15, .bytes = 2500},
		{.src_host = 1, .dst_host = 15, .bytes = 3400, .waits = true}};
	struct operations m = {.items = to_15, .count = COUNT(to_15)};
	const struct workload_frames frames = {.mtu = f->mtu};
	struct workload_size size;

	(void)state;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.payload_ps, 3500 * 80);
	assert_int_equal(size.starts_ps, 0);
	to_15[2].bytes = 3600;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.payload_ps, 3600 * 80);
	to_15[1].start_ps = 7;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.starts_ps, 7);
	fabric_free(f);
}

/* What the transport adds counts: of RoCEv2 nothing on data, 4 bytes on an ACK. */
static void frames_of_another_transport(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f = fixture_fabric(&s);
	struct operation one = {.src_host = 0, .dst_host = 15, .bytes = 3 * 4096};
	struct operations m = {.items = &one, .count = 1};
	struct workload_frames frames = {
		.mtu = f->mtu, .transports[0].answer_extension = sizeof(struct aeth_hdr)};
	/* 14 + 20 + 8 + 12 + 4096 + 4, and 24 more on the wire; for an ACK 62 and 24 */
	const uint64_t data = (4154 + 24) * 80, ack = (62 + 24) * 80;
	struct workload_size size;

	(void)state;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.ideal_ps, 8 * data + 6 * (ack + 2 * DELAY));
	frames.ip6 = true;
	frames.transports[0].data_extension = 16;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.ideal_ps, 8 * (data + 36 * 80) + 6 * (ack + 20 * 80 + 2 * DELAY));
	frames.mtu = 8192;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.packets, 2);
	fabric_free(f);
}

static void one_message_is_the_closed_form(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f = fixture_fabric(&s);
	/* Last packet of 100 bytes: a frame of 174, so 198 byte times. */
	const uint64_t s_last = 198 * 80;

	(void)state;
	assert_int_equal(ideal_of_one(f, 0, 15, 4096), 6 * (S + A + 2 * DELAY));
	assert_int_equal(ideal_of_one(f, 0, 15, 100), 6 * (s_last + A + 2 * DELAY));
	assert_int_equal(ideal_of_one(f, 0, 2, 4096), 4 * (S + A + 2 * DELAY));
	assert_int_equal(ideal_of_one(f, 0, 1, 4096), 2 * (S + A + 2 * DELAY));
	/* 512 full packets: the first over five links, all of them over the last. */
	assert_int_equal(ideal_of_one(f, 0, 15, 2097152), 5 * S + 512 * S + 6 * (A + 2 * DELAY));
	assert_int_equal(ideal_of_one(f, 0, 15, 6 * 4096 + 100),
		5 * S + 6 * S + s_last + 6 * (A + 2 * DELAY));
	/* a short last packet may overtake the first where there are several ways; the long ones
	 * then need as long as ever */
	assert_int_equal(
		ideal_of_one(f, 0, 15, 3 * 4096 + 100), 5 * S + 3 * S + 6 * (A + 2 * DELAY));
	assert_int_equal(ideal_of_one(f, 0, 2, 4096 + 100), 3 * S + S + 4 * (A + 2 * DELAY));
	/* nearly as long as the others it is not there before the first */
	assert_int_equal(ideal_of_one(f, 0, 2, 2 * 4096 + 4000),
		3 * S + 2 * S + (4098 * 80) + 4 * (A + 2 * DELAY));
	/* there is one way only */
	assert_int_equal(ideal_of_one(f, 0, 1, 4096 + 100), S + S + s_last + 2 * (A + 2 * DELAY));
	assert_int_equal(f->base_rtt_ps, ideal_of_one(f, 0, 15, 4096));
	fabric_free(f);
}

/*
 * Completion time of one message over the links of a line, packet by packet: FIFO, store and
 * forward.
 */
static uint64_t pass_packets(
	const uint64_t *rates, const uint64_t *delays, int links, uint64_t bytes, uint32_t mtu)
{
	uint64_t left_at[8] = {0}, t = 0;

	for (uint64_t left = bytes; left;) {
		uint32_t payload = left < mtu ? (uint32_t)left : mtu;

		t = 0;
		for (int i = 0; i < links; i++) {
			t = t > left_at[i] ? t : left_at[i];
			t += serialise_ps(data_frame_bytes(payload, false), rates[i]);
			left_at[i] = t;
			t += delays[i];
		}
		left -= payload;
	}
	for (int i = links - 1; i >= 0; i--)
		t += serialise_ps(sack_frame_bytes(false), rates[i]) + delays[i];
	return t;
}

static void one_message_on_a_line_is_as_simulated(void **state)
{
	static struct fixture_custom c;
	struct scenario s = fixture_custom(&c, "a b", "r s t", "a-r r-s s-t t-b");
	uint64_t rng = 3;

	(void)state;
	s.topology.mtu = 1000;
	for (int round = 0; round < 300; round++) {
		bool equal = round % 2;
		uint64_t rates[4], delays[4], bound, real, bytes = 1 + rng_below(&rng, 9000);
		struct fabric *f;

		for (int i = 0; i < 4; i++) {
			rates[i] =
				equal && i ? rates[0] : (1 + rng_below(&rng, 400)) * 1000000000ull;
			delays[i] = rng_below(&rng, 3000000);
			c.links[i].rate_bps = rates[i];
			c.links[i].delay_ps = delays[i];
		}
		f = fixture_fabric(&s);
		bound = ideal_of_one(f, 0, 1, bytes);
		real = pass_packets(rates, delays, 4, bytes, 1000);
		if (equal)
			assert_int_equal(bound, real);
		else
			assert_true(bound <= real);
		fabric_free(f);
	}
}

static void shared_host_links_add_up(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f = fixture_fabric(&s);
	struct operations m = OPERATIONS_INIT;
	struct asked p = {.bytes = 10 * 4096, .repeat = 1, .seed = 1};
	const uint32_t from[] = {4, 8, 12}, to[] = {0, 0, 0};

	(void)state;
	assert_int_equal(workload_pairs(&m, ASKED(&p), from, to, 3), 0);
	assert_int_equal(ideal(f, &m), 30 * S + 5 * S + 6 * (A + 2 * DELAY));
	m.count = 0;
	assert_int_equal(workload_pairs(&m, ASKED(&p), to, from, 3), 0);
	assert_int_equal(ideal(f, &m), 30 * S + 5 * S + 6 * (A + 2 * DELAY));
	m.count = 0;
	assert_int_equal(workload_permutation(&m, ASKED(&p), 16, 1, 1), 0);
	assert_true(ideal(f, &m) <= 10 * S + 5 * S + 6 * (A + 2 * DELAY));
	operations_release(&m);
	fabric_free(f);
}

static void messages_in_turn_do_not_add_up(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f = fixture_fabric(&s);
	struct operations m = OPERATIONS_INIT;
	struct asked p = {.bytes = 10 * 4096, .repeat = 5, .gap_ps = 7, .seed = 1};
	const uint32_t from[] = {4}, other[] = {8}, to[] = {0};
	const uint64_t path = 5 * S + 6 * (A + 2 * DELAY);

	(void)state;
	assert_int_equal(workload_pairs(&m, ASKED(&p), from, to, 1), 0);
	assert_int_equal(ideal(f, &m), 10 * S + path);
	/*
	 * Another that starts when 4 packets of the first have gone: 6 are left, so it takes 16 at
	 * least.
	 */
	m.count = 0;
	p.repeat = 1;
	p.start_ps = 50 * S;
	assert_int_equal(workload_pairs(&m, ASKED(&p), from, to, 1), 0);
	p.start_ps += 4 * S;
	assert_int_equal(workload_pairs(&m, ASKED(&p), other, to, 1), 0);
	assert_int_equal(ideal(f, &m), 16 * S + path);
	/* And one that starts long after. */
	m.count = 1;
	p.start_ps += 40 * S;
	assert_int_equal(workload_pairs(&m, ASKED(&p), other, to, 1), 0);
	assert_int_equal(ideal(f, &m), 10 * S + path);
	operations_release(&m);
	fabric_free(f);
}

static void sizes_are_counted(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f = fixture_fabric(&s);
	struct operation list[] = {{.src_host = 0, .dst_host = 15, .bytes = 4096},
		{.src_host = 0, .dst_host = 1, .bytes = 4097},
		{.src_host = 3, .dst_host = 0, .bytes = 1, .waits = true},
		{.src_host = 3, .dst_host = 3, .lasts_ps = 7, .stream = 1},
		{.src_host = OPERATION_BARRIER, .dst_host = OPERATION_BARRIER}};
	const struct workload_frames frames = strack_frames(f);
	struct operations m = {.items = list, .count = COUNT(list)};
	struct workload_size size;

	(void)state;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.messages, 3);
	assert_int_equal(size.bytes, 4096 + 4097 + 1);
	assert_int_equal(size.packets, 1 + 2 + 1);
	assert_int_equal(size.transports[0].packet_hops, 6 + 2 * 2 + 4);
	/* each pair's own idle RTT: 6 links, 2 and 4 alike, whatever the message's size */
	assert_int_equal(list[0].base_rtt_ps, f->base_rtt_ps);
	assert_int_equal(list[1].base_rtt_ps, f->base_rtt_ps / 3);
	assert_int_equal(list[2].base_rtt_ps, f->base_rtt_ps / 3 * 2);
	m.count = 0;
	assert_int_equal(workload_measure(&m, &f->net, &frames, &size), 0);
	assert_int_equal(size.packets, 0);
	assert_int_equal(size.ideal_ps, 0);
	fabric_free(f);
}

/* The bound takes the best of equal paths: with one quick core left, through that one. */
static void the_quickest_path_counts(void **state)
{
	struct link_override o = {
		.match = (char *)"agg*-core[012]", .rate_bps = 1000000000, .delay_ps = UINT64_MAX};
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f;

	(void)state;
	s.topology.overrides = &o;
	s.topology.override_count = 1;
	f = fixture_fabric(&s);
	assert_int_equal(ideal_of_one(f, 0, 15, 4096), 6 * (S + A + 2 * DELAY));
	assert_true(f->base_rtt_ps > 6 * (S + A + 2 * DELAY));
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(permutations_are_derangements),
		cmocka_unit_test(derangements_are_equally_likely),
		cmocka_unit_test(draws_depend_on_the_seed_alone),
		cmocka_unit_test(rounds_follow_each_other),
		cmocka_unit_test(incast_senders_are_distinct_others),
		cmocka_unit_test(all_others_can_send),
		cmocka_unit_test(too_many_messages_leave_the_list_alone),
		cmocka_unit_test(payload_alone),
		cmocka_unit_test(frames_of_another_transport),
		cmocka_unit_test(one_message_is_the_closed_form),
		cmocka_unit_test(one_message_on_a_line_is_as_simulated),
		cmocka_unit_test(shared_host_links_add_up),
		cmocka_unit_test(messages_in_turn_do_not_add_up),
		cmocka_unit_test(sizes_are_counted),
		cmocka_unit_test(the_quickest_path_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
