/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every packet is accounted for, whatever happens to it and however the dataplane fails. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "lib/datagram.h"
#include "lib/small_net.h"
#include "transport/strack.h"

#define FOREVER (100 * PS_PER_S)
#define RATE    (100 * GBPS)
#define DELAY   1000000u

/* Counts, as the observer hears of them, what the engine says it has dropped. */
struct heard {
	uint64_t drops[DROP_REASON_COUNT], bytes;
	uint64_t now_ps;
};

static void hear(void *arg, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	const uint8_t *frame, uint32_t captured, uint32_t bytes)
{
	struct heard *h = arg;

	(void)frame;
	(void)captured;
	assert_true(port >= PORT_FIRST);
	assert_in_range(reason, DROP_NONE + 1, DROP_REASON_COUNT - 1);
	assert_true(bytes > 0);
	h->drops[reason]++;
	h->bytes += bytes;
	h->now_ps = now_ps;
}

/* sent + made = delivered + consumed + dropped + in flight, by this test's own sum. */
static void assert_balanced(const struct small_net *s)
{
	struct engine_stats stats = small_net_stats(s);

	assert_int_equal(engine_check_balance(s->engine), 0);
	assert_int_equal(stats.sent + stats.made,
		stats.delivered + stats.consumed + small_net_dropped(s) + stats.in_flight);
}

/* A link between leaf and spine goes down or up, slower or faster, or routes follow. */
static void any_fault(struct small_net *s, uint64_t *rng)
{
	uint32_t port = PORT_FIRST + rng_below(rng, s->net.port_count);
	uint32_t link = s->net.ports[port].link;

	switch (rng_below(rng, 4)) {
	case 0:
	case 1:
		s->link_up[link] = !s->link_up[link];
		engine_set_link_up(s->engine, port, s->link_up[link]);
		break;
	case 2:
		engine_set_link_rate(s->engine, port, (1 + rng_below(rng, 8)) * RATE / 8);
		break;
	case 3:
		routing_compute(s->routing, s->link_up, &s->dp->tables);
		break;
	}
}

static void all_links_up(struct small_net *s)
{
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + s->net.port_count; port++)
		if (!s->link_up[s->net.ports[port].link]) {
			s->link_up[s->net.ports[port].link] = true;
			engine_set_link_up(s->engine, port, true);
		}
	routing_compute(s->routing, s->link_up, &s->dp->tables);
}

/* Small buffers and links that come and go, looked at after every slice. */
static void storm(uint64_t seed)
{
	struct heard heard = {0};
	const struct small_config c = {.seed = seed,
		.buffer_bytes = 20000,
		.kmin_bytes = 5000,
		.kmax_bytes = 15000,
		.ip6 = seed & 1,
		.observer = {.dropped = hear, .arg = &heard}};
	struct small_net s;
	uint64_t rng = seed, slices = 0;

	small_net_fabric(&s, 3, 2, 4, RATE, DELAY);
	small_net_open(&s, &c);
	for (uint32_t i = 0; i < 12; i++)
		small_net_flow(&s, i, (i + 1 + rng_below(&rng, 11)) % 12, 200000, i * 1000);
	while (!engine_done(s.engine) && slices++ < 100000) {
		if (slices < 200)
			any_fault(&s, &rng);
		if (slices == 200)
			all_links_up(&s);
		small_net_run(&s, engine_now(s.engine) + 1 + rng_below(&rng, 3000000));
		assert_balanced(&s);
	}
	assert_int_equal(small_net_stats(&s).flows_done, 12);
	assert_int_not_equal(heard.drops[DROP_BUFFER], 0);
	assert_int_not_equal(heard.drops[DROP_LINK_DOWN], 0);
	assert_memory_equal(heard.drops, small_net_stats(&s).dropped, sizeof(heard.drops));
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + s.net.port_count; port++)
		if (!small_net_stats(&s).in_flight)
			for (uint32_t c = 0; c < CLASSES; c++)
				assert_int_equal(engine_queue_depth(s.engine, port, c), 0);
	small_net_close(&s);
}

static void balanced_through_faults(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 100 : 6;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		storm(seed);
}

/* h0 and h1 around a switch, in the middle of a message, with something dropped. */
static void open_midway(struct small_net *s)
{
	static const struct small_config c = {.buffer_bytes = 8400};

	small_net_star(s, 3, RATE, RATE, DELAY);
	small_net_open(s, &c);
	small_net_flow(s, 1, 0, 1 << 20, 0);
	small_net_flow(s, 2, 0, 1 << 20, 0);
	small_net_run(s, 20 * PS_PER_US);
	assert_int_not_equal(small_net_dropped(s), 0);
	assert_balanced(s);
}

/* What the programs count and what the engine counts are compared: one more or less is seen. */
static void cooked_counters_are_caught(void **state)
{
	struct small_net s;

	(void)state;
	open_midway(&s);
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + s.net.port_count; port++)
		for (int reason = 0; reason < DROP_REASON_COUNT; reason++) {
			s.dp->tables.drops[port].frames[reason]++;
			assert_int_equal(engine_check_balance(s.engine), -EIO);
			s.dp->tables.drops[port].frames[reason]--;
		}
	assert_balanced(&s);
	s.dp->tables.drops[small_net_port(&s, 3, 0)].frames[DROP_BUFFER]--;
	assert_int_equal(engine_check_balance(s.engine), -EIO);
	small_net_close(&s);
}

/* ---- a dataplane that does what it should not ------------------------------------------------ */

struct mischief {
	struct small_net *net;
	uint64_t submits, at; /* acts in the at-th frame, counted from 1 */
	uint64_t frames;
	int error;
	uint32_t flips; /* one in so many data frames */
	uint64_t flipped, data_seen;
	bool drop_silently;
};

/* Flips a bit of the payload's first byte, a middle one or its last one, at the receiver. */
static int flip(
	void *arg, struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	struct mischief *m = arg;

	for (unsigned i = 0; i < n; i++) {
		uint32_t length = frames[i].frame->hop.length;
		const uint32_t head = 14 + 20 + 8 + 12 + 16,
			       places[] = {head, (head + length - 5) / 2, length - 5};

		/* the ICRC is the last 4 bytes */
		if (dp->tables.ports[port].kind != PORT_HOST || frames[i].captured != length)
			continue;
		if (++m->data_seen % m->flips)
			continue;
		frames[i].frame->bytes[places[m->flipped % 3]] ^= (uint8_t)(1 << m->flipped % 8);
		m->flipped++;
	}
	return 0;
}

/* 101 packets of each of two flows; returns how many frames were found to be corrupt. */
static uint64_t run_flipped(const struct transport_ops *transport, uint32_t flips,
	bool payload_full, struct mischief *ret)
{
	struct mischief m = {.flips = flips};
	const struct datagram_options o = {.linger_ps = PS_PER_MS};
	const struct small_config c = {.transport = transport,
		.options = transport == &datagram_transport ? &o : NULL,
		.mtu = 1000,
		.payload_full = payload_full,
		.meddle = flip,
		.meddle_arg = &m};
	struct engine_stats stats;
	struct small_net s;

	small_net_star(&s, 3, RATE, RATE, DELAY);
	small_net_open(&s, &c);
	small_net_flow(&s, 1, 0, 100001, 0);
	small_net_flow(&s, 2, 0, 100999, 0);
	small_net_run(&s, FOREVER);
	stats = small_net_stats(&s);
	assert_int_equal(stats.flows_done, 2);
	assert_int_equal(stats.delivered, stats.sent);
	assert_balanced(&s);
	small_net_close(&s);
	*ret = m;
	return stats.corrupt;
}

static void flipped_payload_is_corrupt(void **state)
{
	static const struct transport_ops *const transports[] = {
		&datagram_transport, &strack_transport};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct mischief m;

		assert_int_equal(run_flipped(transports[i], UINT32_MAX, true, &m), 0);
		assert_int_equal(m.data_seen, 202);
		assert_int_equal(run_flipped(transports[i], 10, true, &m), 20);
		assert_int_equal(m.flipped, 20);
		assert_int_equal(run_flipped(transports[i], 1, true, &m), 202);
		/* with headers only there is none of it on the wire */
		assert_int_equal(run_flipped(transports[i], 1, false, &m), 0);
		assert_int_equal(m.data_seen, 0);
	}
}

/* Moves the payload of one packet to another: right for their flow, but in the wrong place. */
static int swap(
	void *arg, struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	const uint32_t head = 14 + 20 + 8 + 12 + 16;
	struct mischief *m = arg;
	uint8_t held[256];

	if (dp->tables.ports[port].kind != PORT_HOST || n < 2 || m->flipped)
		return 0;
	memcpy(held, frames[0].frame->bytes + head, sizeof(held));
	memcpy(frames[0].frame->bytes + head, frames[1].frame->bytes + head, sizeof(held));
	memcpy(frames[1].frame->bytes + head, held, sizeof(held));
	m->flipped = 2;
	return 0;
}

static void moved_payload_is_corrupt(void **state)
{
	struct mischief m = {0};
	struct datagram_options o = {.linger_ps = PS_PER_MS};
	const struct small_config c = {.transport = &datagram_transport,
		.options = &o,
		.mtu = 256,
		.payload_full = true,
		.max_batch = 16,
		.meddle = swap,
		.meddle_arg = &m};
	struct small_net s;

	(void)state;
	small_net_star(&s, 2, RATE, RATE, DELAY);
	small_net_open(&s, &c);
	small_net_flow(&s, 1, 0, 25600, 0);
	small_net_run(&s, FOREVER);
	assert_int_equal(m.flipped, 2);
	assert_int_equal(small_net_stats(&s).corrupt, 2);
	small_net_close(&s);
}

static int fail_at(
	void *arg, struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	struct mischief *m = arg;

	(void)dp, (void)port, (void)frames, (void)n;
	return ++m->submits == m->at ? m->error : 0;
}

/* The engine stops there, says so each time, and can still be read and freed. */
static void dataplane_error_stops_the_engine(void **state)
{
	uint64_t seen_before = 0;

	(void)state;
	for (uint64_t at = 1; at < 60; at++) {
		struct mischief m = {.at = at, .error = at & 1 ? -EIO : -ENETDOWN};
		const struct small_config c = {
			.meddle = fail_at, .meddle_arg = &m, .buffer_bytes = 8400};
		struct engine_stats stats;
		struct small_net s;

		small_net_star(&s, 3, RATE, RATE, DELAY);
		small_net_open(&s, &c);
		small_net_flow(&s, 1, 0, 100000, 0);
		small_net_flow(&s, 2, 0, 100000, 0);
		assert_int_equal(engine_run(s.engine, FOREVER, NULL), m.error);
		stats = small_net_stats(&s);
		assert_false(engine_done(s.engine));
		assert_balanced(&s);
		assert_int_equal(engine_run(s.engine, FOREVER, NULL), m.error);
		assert_int_equal(m.submits, at);
		assert_int_equal(small_net_stats(&s).hops, stats.hops);
		assert_true(stats.hops >= seen_before);
		seen_before = stats.hops;
		small_net_close(&s);
	}
}

/* ---- frames for nobody ----------------------------------------------------------------------- */

/* What the engine counted in the tables beside the programs: a host's endpoints know the rest. */
static uint64_t dropped_at_host(const struct small_net *s, uint32_t host)
{
	return s->dp->tables.drops[s->net.nodes[host].first_port].frames[DROP_NOT_MINE];
}

static void unknown_queue_pairs_are_dropped(void **state)
{
	struct heard heard = {0};
	struct datagram_options o = {.linger_ps = PS_PER_MS, .wrong_qps = 7};
	const struct small_config c = {.transport = &datagram_transport,
		.options = &o,
		.observer = {.dropped = hear, .arg = &heard}};
	struct small_net s;

	(void)state;
	small_net_star(&s, 3, RATE, RATE, DELAY);
	small_net_open(&s, &c);
	small_net_flow(&s, 1, 0, 20 * 4096, 0);
	small_net_run(&s, FOREVER);
	assert_int_equal(small_net_stats(&s).delivered, 13);
	assert_int_equal(small_net_stats(&s).dropped[DROP_NOT_MINE], 7);
	assert_int_equal(dropped_at_host(&s, 0), 7);
	assert_int_equal(heard.drops[DROP_NOT_MINE], 7);
	assert_int_equal(heard.bytes, 7 * 4170);
	assert_balanced(&s);
	small_net_close(&s);
}

/* Sends the frames of flow 0 to another queue pair of flows 0 to 2. */
static int redirect(
	void *arg, struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	const uint32_t *qp = arg;

	if (dp->tables.ports[port].kind != PORT_HOST)
		return 0;
	for (unsigned i = 0; i < n; i++)
		frames[i].frame->bytes[14 + 20 + 8 + 7] = (uint8_t)*qp;
	return 0;
}

/* A QP that exists at another host, or whose sender has yet to start, has nobody here. */
static void queue_pairs_belong_to_hosts(void **state)
{
	/* 7 is of h0 too, but not under way */
	static const bool found[] = {[3] = true, [8] = false};

	(void)state;
	for (uint32_t qp = 0; qp < 9; qp++) {
		struct datagram_options o = {.linger_ps = PS_PER_MS};
		const struct small_config c = {.transport = &datagram_transport,
			.options = &o,
			.meddle = redirect,
			.meddle_arg = &qp};
		struct small_net s;

		small_net_star(&s, 3, RATE, RATE, DELAY);
		small_net_open(&s, &c);
		small_net_flow(&s, 1, 0, 5 * 4096, 0);
		small_net_flow(&s, 0, 2, 4096, PS_PER_S); /* its sender's QP is 4, at h0 */
		small_net_flow(&s, 1, 0, 4096, PS_PER_S); /* 6 at h1, 7 at h0 */
		small_net_run(&s, PS_PER_MS);
		assert_int_equal(small_net_stats(&s).delivered, found[qp] ? 5 : 0);
		assert_int_equal(dropped_at_host(&s, 0), found[qp] ? 0 : 5);
		assert_int_equal(small_net_stats(&s).dropped[DROP_NOT_MINE], found[qp] ? 0 : 5);
		assert_balanced(&s);
		small_net_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(balanced_through_faults),
		cmocka_unit_test(cooked_counters_are_caught),
		cmocka_unit_test(flipped_payload_is_corrupt),
		cmocka_unit_test(moved_payload_is_corrupt),
		cmocka_unit_test(dataplane_error_stops_the_engine),
		cmocka_unit_test(unknown_queue_pairs_are_dropped),
		cmocka_unit_test(queue_pairs_belong_to_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
