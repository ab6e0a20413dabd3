/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a port shares its line among classes (802.1Q, 8.6.8): by shares, and by strict priority. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/class_net.h"

#define GBPS  1000000000ull
#define RATE  (100 * GBPS)
#define FAST  (100000 * GBPS) /* arrivals are then as far apart as they were sent */
#define DELAY 1000000u

/* ---- shares --------------------------------------------------------------------------------- */

/* A class of a host's own that sends to host 0. */
struct offer {
	uint8_t class;
	uint32_t payload;
	double share; /* 0: strict */
	double load;  /* of the line, in a stream as even as Poisson's; 0: more than there is */
};

/* What left towards host 0 between two moments: on the wire, and how long that took in all. */
struct served {
	uint32_t port;
	uint64_t from_ps, until_ps;
	uint64_t bytes[CLASSES], busy_ps;
};

static void on_sent(void *arg, uint64_t now, uint32_t port, const uint8_t *bytes, uint32_t captured,
	uint32_t length)
{
	struct served *s = arg;

	(void)captured;
	if (port != s->port || now < s->from_ps || now >= s->until_ps)
		return;
	s->bytes[class_net_frame_class(bytes)] += wire_bytes(length);
	s->busy_ps += serialise_ps(length, RATE);
}

/* At the switch's port towards host 0; `at_host`: one host sends all, and it is that one's port. */
static void serve_at(
	struct served *s, const struct offer *offers, uint32_t count, uint64_t ms, bool at_host)
{
	struct class_link links[CLASSES + 1] = {{0, count + 1, RATE, DELAY}};
	struct class_net n;

	for (uint32_t i = 1; i <= count; i++)
		links[i] = (struct class_link){i, count + 1, RATE, DELAY};
	class_net_init(&n, count + 1, 1, links, count + 1);
	for (uint32_t i = 0; i < count; i++)
		n.params.schedule.share[offers[i].class] = offers[i].share;
	n.params.observer.sent = on_sent;
	n.params.observer.arg = s;
	class_net_open(&n);
	*s = (struct served){.port = at_host ? class_net_port(&n, 1, count + 1)
					     : class_net_port(&n, count + 1, 0),
		.from_ps = 100 * PS_PER_US,
		.until_ps = 100 * PS_PER_US + ms * PS_PER_MS};
	for (uint32_t i = 0; i < count; i++) {
		const struct offer *o = &offers[i];
		uint64_t gap = serialise_ps(o->payload + 74, RATE);
		struct class_stream stream = {.src = at_host ? 1 : i + 1,
			.class = o->class,
			.payload = o->payload,
			.packets = UINT32_MAX / o->payload,
			.mean_gap_ps = o->load > 0 ? (uint64_t)((double)gap / o->load) : 0};

		class_net_stream(&n, &stream);
	}
	class_net_run(&n, s->until_ps);
	assert_int_equal(class_net_dropped(&n), 0);
	assert_int_equal(engine_check_balance(n.engine), 0);
	class_net_close(&n);
}

static void serve(struct served *s, const struct offer *offers, uint32_t count, uint64_t ms)
{
	serve_at(s, offers, count, ms, false);
}

/* Of all bytes that were served; the line was never idle. */
static void assert_share(const struct served *s, uint32_t class, double share, double within)
{
	uint64_t sum = 0;
	double got;

	for (uint32_t c = 0; c < CLASSES; c++)
		sum += s->bytes[c];
	got = (double)s->bytes[class] / (double)sum;
	print_message("# class %u: %.4f of the bytes served, asked for %.4f\n", class, got, share);
	assert_true(fabs(got / share - 1) < within);
	assert_in_range(s->busy_ps, s->until_ps - s->from_ps - serialise_ps(65535, RATE),
		s->until_ps - s->from_ps + serialise_ps(65535, RATE));
}

static void shares_under_overload(void **state)
{
	static const struct offer offers[] = {
		{4, 4096, 0.5, 0}, {2, 4096, 0.3, 0}, {0, 4096, 0.2, 0}};
	struct served s;

	(void)state;
	serve(&s, offers, 3, 10);
	assert_share(&s, 4, 0.5, 0.01);
	assert_share(&s, 2, 0.3, 0.01);
	assert_share(&s, 0, 0.2, 0.01);
}

/* Shares are of bytes: a class of small packets gets as much as one of large ones. */
static void shares_of_unequal_frames(void **state)
{
	static const struct offer offers[] = {
		{0, 1000, 0.5, 0}, {1, 8192, 0.3, 0}, {2, 301, 0.2, 0}};
	struct served s;

	(void)state;
	serve(&s, offers, 3, 10);
	assert_share(&s, 0, 0.5, 0.01);
	assert_share(&s, 1, 0.3, 0.01);
	assert_share(&s, 2, 0.2, 0.01);
}

/* What a class leaves, the others have by their shares. */
static void an_idle_class_leaves_its_share(void **state)
{
	static const struct offer idle[] = {{2, 4096, 0.3, 0}, {0, 4096, 0.2, 0}};
	static const struct offer light[] = {
		{4, 4096, 0.5, 0.1}, {2, 4096, 0.3, 0}, {0, 4096, 0.2, 0}};
	struct served s;

	(void)state;
	serve(&s, idle, 2, 10);
	assert_share(&s, 2, 0.6, 0.01);
	assert_share(&s, 0, 0.4, 0.01);
	serve(&s, light, 3, 20);
	assert_share(&s, 4, 0.1, 0.05); /* Poisson: 6,000 packets */
	assert_share(&s, 2, 0.54, 0.01);
	assert_share(&s, 0, 0.36, 0.01);
}

/*
 * A class that asks for less than its share does not wait long for its turn: not even for two
 * packets of each of the others' per share of the smallest one.
 */
static void a_turn_is_short(void **state)
{
	static const struct class_link links[] = {
		{0, 4, RATE, DELAY}, {1, 4, RATE, DELAY}, {2, 4, RATE, DELAY}, {3, 4, RATE, DELAY}};
	static const double share[] = {0.2, 0.3, 0.5};
	struct class_net n;
	uint32_t port;

	(void)state;
	class_net_init(&n, 4, 1, links, 4);
	for (uint32_t i = 0; i < 3; i++)
		n.params.schedule.share[i] = share[i];
	class_net_open(&n);
	for (uint32_t i = 0; i < 3; i++) {
		struct class_stream stream = {
			.src = i + 1, .class = (uint8_t)i, .payload = 4096, .packets = 100000};

		/* the first has 1,000 bytes for each 6,278 that the line could carry */
		if (!i)
			stream.payload = 1000;
		stream.mean_gap_ps = i ? 0 : 10 * serialise_ps(1074, RATE);
		class_net_stream(&n, &stream);
	}
	class_net_run(&n, 5 * PS_PER_MS);
	port = class_net_port(&n, 4, 0);
	print_message("# within its share a class was never deeper than %u bytes\n",
		class_net_queue(&n, port, 0)->max_depth_bytes);
	assert_true(class_net_queue(&n, port, 0)->max_depth_bytes < 16 * 1074);
	class_net_close(&n);
}

/* Whatever its number, a strict class goes before all that have shares. */
static void a_strict_class_takes_what_it_needs(void **state)
{
	static const uint8_t strict[] = {0, 3, 7};

	(void)state;
	for (size_t i = 0; i < sizeof(strict); i++) {
		const struct offer offers[] = {{6, 4096, 0.5, 0}, {5, 4096, 0.3, 0},
			{4, 4096, 0.2, 0}, {strict[i], 4096, 0, 0.4}};
		struct served s;
		double left;

		serve(&s, offers, 4, 20);
		left = 1 - (double)s.bytes[strict[i]] * 80 / (double)(s.until_ps - s.from_ps);
		assert_true(fabs(left - 0.6) < 0.02); /* Poisson: 24,000 packets */
		assert_share(&s, 6, 0.5 * left, 0.01);
		assert_share(&s, 5, 0.3 * left, 0.01);
		assert_share(&s, 4, 0.2 * left, 0.01);
	}
}

/* Two strict classes that both want all: the higher one has it, to the last packet. */
static void the_higher_strict_class_starves_the_lower(void **state)
{
	static const struct offer offers[] = {{5, 4096, 0, 0}, {2, 4096, 0, 0}};
	struct served s;

	(void)state;
	serve(&s, offers, 2, 1);
	assert_int_equal(s.bytes[2], 0);
	assert_true(s.bytes[5] > 0);
}

/* A host's senders share its line by their classes, as queues do that of a switch. */
static void a_host_serves_its_senders_by_class(void **state)
{
	static const struct offer shares[] = {
		{0, 1000, 0.5, 0}, {1, 8192, 0.3, 0}, {2, 301, 0.2, 0}};
	static const struct offer light[] = {
		{5, 4096, 0.5, 0.1}, {2, 4096, 0.3, 0}, {0, 4096, 0.2, 0}};
	static const struct offer strict[] = {{6, 4096, 0, 0}, {1, 4096, 0, 0}, {7, 4096, 0.5, 0}};
	struct served s;

	(void)state;
	serve_at(&s, shares, 3, 1, true);
	assert_share(&s, 0, 0.5, 0.01);
	assert_share(&s, 1, 0.3, 0.01);
	assert_share(&s, 2, 0.2, 0.01);
	serve_at(&s, light, 3, 3, true);
	assert_share(&s, 5, 0.1, 0.1); /* Poisson: 900 packets */
	assert_share(&s, 2, 0.54, 0.02);
	assert_share(&s, 0, 0.36, 0.02);
	serve_at(&s, strict, 3, 1, true);
	assert_share(&s, 6, 1, 0.0001);
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* The two classes of a queue in the order of their service. */
enum { HIGH, LOW };

/* When each packet of a class came to the queue, and when it left. */
struct visits {
	uint64_t *came_ps, *left_ps;
	uint32_t count, room;
	uint64_t line_free_ps; /* its host's */
	uint64_t service_ps, first_ps;
};

static void on_arrived(void *arg, const struct class_arrival *a)
{
	struct visits *v = (struct visits *)arg + a->stream;
	uint64_t start = a->due_ps > v->line_free_ps ? a->due_ps : v->line_free_ps;

	assert_in_range(v->count, 0, v->room - 1);
	assert_int_equal(a->number, v->count);
	v->line_free_ps = start + v->first_ps;
	v->came_ps[v->count] = v->line_free_ps + DELAY;
	v->left_ps[v->count++] = a->now_ps - DELAY;
}

/* The same queue without an engine: the highest class that waits when the line is free. */
static void assert_as_reckoned(const struct visits *high, const struct visits *low)
{
	uint32_t h = 0, l = 0;
	uint64_t free = 0;

	while (h < high->count || l < low->count) {
		uint64_t next_h = h < high->count ? high->came_ps[h] : UINT64_MAX;
		uint64_t next_l = l < low->count ? low->came_ps[l] : UINT64_MAX;
		uint64_t first = next_h < next_l ? next_h : next_l;

		/* what comes as the line falls free finds that the next one has just started */
		bool idle = first >= free, is_high;

		if (idle)
			free = first;
		is_high = next_h == first || next_h < free;
		/* of two that find an idle line at the same time the tie of arrivals decides */
		if (idle && next_h == next_l)
			is_high = high->left_ps[h] == free + high->service_ps;
		if (is_high) {
			free += high->service_ps;
			assert_int_equal(high->left_ps[h++], free);
		} else {
			free += low->service_ps;
			assert_int_equal(low->left_ps[l++], free);
		}
	}
}

static double mean_wait(const struct visits *v)
{
	double sum = 0;

	for (uint32_t i = 0; i < v->count; i++)
		sum += (double)(v->left_ps[i] - v->service_ps - v->came_ps[i]);
	return sum / v->count;
}

static void measure(struct visits v[2], uint64_t seed, const double load[2],
	const uint32_t payload[2], uint32_t packets)
{
	static const struct class_link links[] = {
		{0, 3, RATE, DELAY}, {1, 3, FAST, DELAY}, {2, 3, FAST, DELAY}};
	struct class_net n;

	class_net_init(&n, 3, 1, links, 3);
	n.params.seed = seed;
	n.arrived = on_arrived;
	n.arg = v;
	class_net_open(&n);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t frame = payload[i] + 74;
		/* both end at about the same time */
		double rate = load[i] / (double)serialise_ps(frame, RATE);
		struct class_stream stream = {.src = 1 + i,
			.class = i == HIGH ? 6 : 1,
			.payload = payload[i],
			.mean_gap_ps = (uint64_t)(1 / rate)};

		stream.packets =
			(uint32_t)(packets * rate /
				   (load[0] / (double)serialise_ps(payload[0] + 74, RATE)));
		v[i] = (struct visits){.came_ps = calloc(stream.packets, 8),
			.left_ps = calloc(stream.packets, 8),
			.room = stream.packets,
			.service_ps = serialise_ps(frame, RATE),
			.first_ps = serialise_ps(frame, FAST)};
		assert_true(v[i].came_ps && v[i].left_ps);
		class_net_stream(&n, &stream);
	}
	class_net_run(&n, UINT64_MAX);
	class_net_at_rest(n.engine);
	class_net_close(&n);
}

/*
 * Means over seeds against A. Cobham, Priority Assignment in Waiting Line Problems, 1954: with W0
 * the mean of what is left of the service that an arrival finds, the sum of lambda_i s_i^2 / 2
 * where services are constant, the higher class waits W0 / (1 - rho_1), the lower one W0 / ((1 -
 * rho_1)(1 - rho_1 - rho_2)).
 */
static void assert_cobham(const double load[2], const uint32_t payload[2])
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 30 : 2;
	double sum[2] = {0}, want[2], w0 = 0;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct visits v[2];

		measure(v, seed, load, payload, 250000);
		assert_int_equal(v[HIGH].count, v[HIGH].room);
		assert_int_equal(v[LOW].count, v[LOW].room);
		assert_as_reckoned(&v[HIGH], &v[LOW]);
		for (uint32_t i = 0; i < 2; i++) {
			sum[i] += mean_wait(&v[i]) / (double)seeds;
			free(v[i].came_ps);
			free(v[i].left_ps);
		}
	}
	for (uint32_t i = 0; i < 2; i++)
		w0 += load[i] * (double)serialise_ps(payload[i] + 74, RATE) / 2;
	want[HIGH] = w0 / (1 - load[0]);
	want[LOW] = want[HIGH] / (1 - load[0] - load[1]);
	for (uint32_t i = 0; i < 2; i++) {
		print_message(
			"# loads %.2f and %.2f, %u and %u bytes: the %s class waits %.4f of Cobham's\n",
			load[0], load[1], payload[0], payload[1], i == HIGH ? "higher" : "lower",
			sum[i] / want[i]);
		assert_true(fabs(sum[i] / want[i] - 1) < (seeds > 2 ? 0.01 : 0.03));
	}
}

static void waits_of_two_classes_as_md1(void **state)
{
	static const double even[] = {0.35, 0.35}, mostly_low[] = {0.2, 0.5};
	static const uint32_t same[] = {4096, 4096};

	(void)state;
	assert_cobham(even, same);
	assert_cobham(mostly_low, same);
}

/* Small packets that have to wait for large ones: it is the second moment that counts. */
static void waits_of_unequal_services(void **state)
{
	static const double load[] = {0.3, 0.3};
	static const uint32_t payload[] = {1000, 4096};

	(void)state;
	assert_cobham(load, payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_under_overload),
		cmocka_unit_test(shares_of_unequal_frames),
		cmocka_unit_test(an_idle_class_leaves_its_share),
		cmocka_unit_test(a_turn_is_short),
		cmocka_unit_test(a_strict_class_takes_what_it_needs),
		cmocka_unit_test(the_higher_strict_class_starves_the_lower),
		cmocka_unit_test(a_host_serves_its_senders_by_class),
		cmocka_unit_test(waits_of_two_classes_as_md1),
		cmocka_unit_test(waits_of_unequal_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
