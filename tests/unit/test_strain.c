/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long a workload keeps links busy, against reckoning by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/wiretime.h"
#include "fabric_fixture.h"
#include "workload/strain.h"

#define GBPS    1000000000ull
#define PACKETS 16
#define BYTES   (PACKETS * 4096ull)
#define WIRE    (PACKETS * 4194ull) /* with STrack's headers, FCS, preamble and gap */

/* Of a fabric, its links changed by name: the rate that is left, 0 for none, and delay on top. */
struct change {
	const char *link;
	uint64_t rate_bps, delay_ps;
};

static struct workload_strain strain(struct fabric *f, const struct operation *list, size_t count,
	const struct change *changes, size_t change_count)
{
	const struct workload_frames frames = {.mtu = f->mtu,
		.transports[0].data_extension = sizeof(struct strack_data),
		.transports[0].answer_extension = sizeof(struct strack_sack)};
	uint64_t rate[64], delay[64];
	const struct strain_links links = {rate, delay};
	const struct operations m = {.items = (struct operation *)list, .count = count};
	struct workload_strain found;
	struct strain *x = NULL;

	assert_in_range(f->net.link_count, 1, 64);
	for (uint32_t i = 0; i < f->net.link_count; i++) {
		rate[i] = f->net.ports[f->links[i].a].rate_bps;
		delay[i] = f->net.ports[f->links[i].a].delay_ps;
	}
	for (size_t i = 0; i < change_count; i++) {
		uint32_t link = fixture_link(f, changes[i].link);

		assert_in_range(link, 0, f->net.link_count - 1);
		rate[link] = changes[i].rate_bps;
		delay[link] += changes[i].delay_ps;
	}
	assert_int_equal(strain_new(&x, &f->net, &frames, &links), 0);
	assert_int_equal(strain_take(x, &m), 0);
	found = strain_found(x);
	strain_free(x);
	return found;
}

static uint64_t on_wire(uint64_t bytes, uint64_t rate_bps)
{
	return bytes * 8 * PS_PER_S / rate_bps;
}

#define TO(src, dst)                                                                               \
	{                                                                                          \
		.src_host = src, .dst_host = dst, .bytes = BYTES                                   \
	}
#define FROM_LEAF_0 TO(0, 4), TO(1, 5), TO(2, 6), TO(3, 7)

/* 4 hosts of a leaf send to 4 of another over 4 spines. */
static void what_is_forwarded_is_divided(void **state)
{
	static const struct operation four[] = {FROM_LEAF_0};
	static const struct {
		const char *name;
		size_t messages;
		struct change changes[3];
		size_t change_count;
		uint64_t rate_of_busiest;   /* at which a message passes there */
		double messages_of_busiest; /* that leave by it */
		uint64_t slowest;
	} cases[] = {
		{"host links and uplinks alike", 4, {{0}}, 0, 100 * GBPS, 1, 100 * GBPS},
		{"one message: a quarter an uplink", 1, {{0}}, 0, 100 * GBPS, 1, 100 * GBPS},
		{"a slow uplink has its share all the same", 4, {{"leaf0-spine2", 10 * GBPS, 0}}, 1,
			10 * GBPS, 1, 10 * GBPS},
		{"the far end counts as well", 4, {{"leaf1-spine0", 20 * GBPS, 0}}, 1, 20 * GBPS, 1,
			20 * GBPS},
		{"others' links do not", 4, {{"leaf2-spine0", GBPS, 0}}, 1, 100 * GBPS, 1,
			100 * GBPS},
		{"two uplinks are dead", 4, {{"leaf0-spine0", 0, 0}, {"leaf1-spine1", 0, 0}}, 2,
			100 * GBPS, 2, 100 * GBPS},
		{"a slow host", 4, {{"h2-leaf0", 5 * GBPS, 0}}, 1, 5 * GBPS, 1, 5 * GBPS},
	};
	struct scenario s = fixture_leaf_spine(3, 4, 4, 1);
	struct fabric *f = fixture_fabric(&s);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct workload_strain found =
			strain(f, four, cases[i].messages, cases[i].changes, cases[i].change_count);
		uint64_t busiest = on_wire((uint64_t)((double)WIRE * cases[i].messages_of_busiest),
			cases[i].rate_of_busiest);

		if (found.busiest_ps != busiest ||
			found.alone_ps != on_wire(WIRE, cases[i].slowest) ||
			found.packets != PACKETS)
			fail_msg("%s: busiest %llu, not %llu; alone %llu", cases[i].name,
				(unsigned long long)found.busiest_ps, (unsigned long long)busiest,
				(unsigned long long)found.alone_ps);
	}
	fabric_free(f);
}

/* Two leaves and one slow link between them: many to many, and many to one. */
static void oversubscription(void **state)
{
	static const struct operation list[] = {FROM_LEAF_0, TO(3, 4),
		{.src_host = 3, .dst_host = 4, .bytes = BYTES, .waits = true, .again = true}};
	struct scenario s = fixture_leaf_spine(2, 1, 4, 1);
	struct fabric *f;

	(void)state;
	s.topology.rate_bps = GBPS;
	s.topology.host_rate_bps = 400 * GBPS;
	f = fixture_fabric(&s);
	assert_int_equal(strain(f, list, 4, NULL, 0).busiest_ps, on_wire(4 * WIRE, GBPS));
	/* the last waits for the one before, and is not there at the same time */
	assert_int_equal(strain(f, list, 6, NULL, 0).busiest_ps, on_wire(5 * WIRE, GBPS));
	fabric_free(f);
}

/* In the middle of a line, where no host is near. */
static void a_slow_link_far_inside(void **state)
{
	static struct fixture_custom c;
	static const struct operation list[] = {TO(0, 2), TO(1, 3), TO(2, 0)};
	static const struct change slow = {"r-s", GBPS, 0}, dead = {"r-s", 0, 0},
				   far = {"s-t", 100 * GBPS, PS_PER_MS};
	struct scenario s = fixture_custom(&c, "a b x y", "q r s t", "a-q b-q q-r r-s s-t t-x t-y");
	struct fabric *f = fixture_fabric(&s);
	uint64_t hop = on_wire(4194, 100 * GBPS) + PS_PER_US;
	struct workload_strain found = strain(f, list, 3, &slow, 1);

	(void)state;
	assert_int_equal(found.busiest_ps, on_wire(2 * WIRE, GBPS));
	assert_int_equal(found.alone_ps, on_wire(WIRE, GBPS));
	assert_int_equal(strain(f, list, 3, NULL, 0).round_trip_ps, 10 * hop);
	assert_int_equal(strain(f, list, 3, &far, 1).round_trip_ps, 10 * (hop + PS_PER_MS));
	/* what has no way is not waited for */
	found = strain(f, list, 3, &dead, 1);
	assert_int_equal(found.busiest_ps, 0);
	assert_int_equal(found.alone_ps, 0);
	assert_int_equal(found.packets, 0);
	fabric_free(f);
}

/* Numbers that no one reaches end at the largest there is. */
static void no_sum_overflows(void **state)
{
	static const struct change slow = {"leaf0-spine0", 1, 0};
	struct operation list[] = {TO(0, 1), TO(1, 0)};
	struct scenario s = fixture_leaf_spine(2, 1, 1, 1);
	struct fabric *f = fixture_fabric(&s);

	(void)state;
	list[0].bytes = 4096ull << 24;
	assert_true(strain(f, list, 2, &slow, 1).busiest_ps == UINT64_MAX);
	assert_true(strain(f, list, 2, &slow, 1).alone_ps == UINT64_MAX);
	assert_int_equal(strain(f, list, 0, &slow, 1).busiest_ps, 0);
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_forwarded_is_divided),
		cmocka_unit_test(oversubscription),
		cmocka_unit_test(a_slow_link_far_inside),
		cmocka_unit_test(no_sum_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
