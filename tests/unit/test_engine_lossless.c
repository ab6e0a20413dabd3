/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A lossless class loses nothing, and its headroom is no larger than needed (802.1Q, annex N). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/headroom.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/class_net.h"
#include "lib/small_session.h"

#define GBPS     1000000000ull
#define FRAME    CLASS_NET_FRAME
#define LOSSLESS 3
#define OTHER    1

/* ---- the worst case ------------------------------------------------------------------------- */

struct link {
	uint64_t rate_bps, delay_ps, response_ps;
	bool shared;
	uint64_t latency_ps;
};

struct crossing {
	uint64_t used, limit, dropped; /* headroom, bytes; frames */
};

/*
 * h1 sends full frames to h0, whose class stands still. The switch's ingress fills up; the frame
 * that does not fit below XOFF comes at a time when full frames of another class, from h2, leave
 * for h1 one after the other, the last one having started `phase` after it came, or so much less a
 * frame.
 */
static struct crossing cross(const struct link *l, uint64_t phase, uint64_t cut)
{
	const struct class_link links[] = {{0, 3, l->rate_bps, l->delay_ps},
		{1, 3, l->rate_bps, l->delay_ps}, {2, 3, 2 * l->rate_bps, l->delay_ps}};
	/* from h2's link so many picoseconds sooner than from h1's */
	uint64_t sooner = serialise_ps(FRAME, l->rate_bps) - serialise_ps(FRAME, 2 * l->rate_bps);
	const struct class_stream streams[] = {
		{.src = 1, .dst = 0, .class = LOSSLESS, .payload = 4096, .packets = 3000},
		{.src = 2,
			.dst = 1,
			.class = OTHER,
			.payload = 4096,
			.packets = 3000,
			.start_ps = phase + sooner}};
	const struct headroom_params h = {.rate_bps = l->rate_bps,
		.delay_ps = l->delay_ps,
		.latency_ps = l->latency_ps,
		.response_ps = l->response_ps,
		.frame_bytes = FRAME};
	struct crossing c;
	const struct ingress *in;
	struct class_net n;

	class_net_init(&n, 3, 1, links, 3);
	net_set_latency(&n.net, l->latency_ps);
	class_net_lossless(&n, LOSSLESS, 50 * FRAME);
	n.switching.classes[LOSSLESS].headroom_bytes = headroom_bytes(&h) - cut;
	n.switching.config.response_ps = l->response_ps;
	if (l->shared) {
		n.switching.shared = true;
		n.switching.classes[LOSSLESS].limit_bytes = 10 * FRAME;
		for (uint32_t i = 0; i < CLASSES; i++)
			if (i != LOSSLESS)
				n.switching.classes[i].limit_bytes = 1u << 24;
		n.switching.pool_bytes = 1u << 30;
		n.switching.alpha = 1.0 / 256;
	}
	class_net_open(&n);
	for (uint32_t i = 0; i < 2; i++)
		class_net_stream(&n, &streams[i]);
	engine_set_storm(n.engine, 0, 1u << LOSSLESS);
	in = class_net_ingress(&n, class_net_port(&n, 3, 1), LOSSLESS);
	class_net_run(&n, 3000 * serialise_ps(FRAME, l->rate_bps) / 2);
	assert_true(in->paused && !in->resumes_sent);
	c = (struct crossing){.used = in->headroom_bytes,
		.limit = in->headroom_limit,
		.dropped = class_net_stats(&n).dropped[DROP_HEADROOM]};
	assert_int_equal(class_net_dropped(&n), c.dropped);
	/* it ends, and nothing else is lost */
	engine_set_storm(n.engine, 0, 0);
	class_net_run(&n, UINT64_MAX);
	assert_int_equal(class_net_dropped(&n), c.dropped);
	assert_int_equal(class_net_stats(&n).delivered, 6000 - c.dropped);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	return c;
}

static void worse(struct crossing *worst, struct crossing c)
{
	worst->limit = c.limit;
	worst->used = c.used > worst->used ? c.used : worst->used;
	worst->dropped = c.dropped > worst->dropped ? c.dropped : worst->dropped;
}

/* Over all phases, the ends of a frame among them. */
static struct crossing cross_at_worst(const struct link *l, uint64_t cut)
{
	uint64_t ser = serialise_ps(FRAME, l->rate_bps);
	struct crossing worst = {0};

	for (uint64_t i = 0; i < 8; i++)
		worse(&worst, cross(l, i * ser / 8, cut));
	worse(&worst, cross(l, 1, cut));
	worse(&worst, cross(l, ser - 1, cut));
	return worst;
}

/*
 * The peer's frames follow each other, so the headroom takes the one that did not fit and all that
 * start until the pause takes effect, that moment included: one frame's wait, the PFC frame, two
 * delays, the switch's latency and the response later. That is a whole number of frames; the
 * formula, which knows nothing of phases, is less than a frame above.
 */
static void headroom_is_tight(void **state)
{
	static const struct link links[] = {
		{100 * GBPS, 1000000, 0, false, 0},
		{400 * GBPS, 1000000, 0, false, 0},
		{400 * GBPS, 1000000, 0, true, 0},
		{800 * GBPS, 500000, 1000000, false, 0},
		{100 * GBPS, 0, 0, false, 0},
		{25 * GBPS, 10000000, 3000000, true, 0},
		{100 * GBPS, 1000000, 123456, true, 0},
		{400 * GBPS, 1000000, 0, false, 500000},
		{100 * GBPS, 0, 123456, true, 4000000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		const struct link *l = &links[i];
		uint64_t ser = serialise_ps(FRAME, l->rate_bps);
		uint64_t on_way = serialise_ps(PFC_FRAME, l->rate_bps) + 2 * l->delay_ps +
				  l->latency_ps + l->response_ps;
		uint64_t frames = 3 + on_way / ser;
		struct crossing whole = cross_at_worst(l, 0);
		struct crossing cut = cross_at_worst(l, 2ull * CLASS_NET_MTU);

		print_message(
			"# %4u Gbps, %5.2f us, latency %4.2f us, response %4.2f us, %s: %6u bytes of %6u used, none lost; two MTUs less: %u lost\n",
			(unsigned)(l->rate_bps / GBPS), (double)l->delay_ps / PS_PER_US,
			(double)l->latency_ps / PS_PER_US, (double)l->response_ps / PS_PER_US,
			l->shared ? "shared" : "static", (unsigned)whole.used,
			(unsigned)whole.limit, (unsigned)cut.dropped);
		assert_int_equal(whole.dropped, 0);
		assert_int_equal(whole.used, frames * FRAME);
		assert_in_range(whole.limit, whole.used, whole.used + FRAME + 1);
		assert_int_equal(cut.dropped, frames - cut.limit / FRAME);
		assert_in_range(cut.dropped, 1, 2);
	}
}

/* ---- fabrics -------------------------------------------------------------------------------- */

#define STATIC "{per_port: 250KB}"
#define SHARED "{shared: 2500KB, alpha: 1}"

static const char fabric[] = "name: lossless\n"
			     "topology:\n"
			     "  leaf_spine: {leaves: 5, spines: 3, hosts_per_leaf: 14}\n"
			     "  rate: 100Gbps\n"
			     "  delay: 1us\n"
			     "switch:\n"
			     "  ecn: off\n"
			     "  classes:\n"
			     "    - {class: 3, dscp: 26, lossless: yes}\n"
			     "    - {class: 6, dscp: 48}\n"
			     "    - {class: 0}\n"
			     "  pfc: on\n"
			     "host:\n"
			     "  transport: {roce: {congestion: off}}\n"
			     "  dscp: {data: 26, control: 48, notify: 48}\n";
/* the last message is one long after the others, so that at its end nothing is under way */
static const char incast[] = "workload:\n"
			     "  - incast: {senders: 64, to: h3, message: 100KB}\n"
			     "  - pairs: {from: [h0], to: [h1], message: 1KB, start: 4ms}\n";
static const char permutation[] = "workload:\n"
				  "  - permutation: {message: 256KB}\n"
				  "  - pairs: {from: [h0], to: [h1], message: 1KB, start: 4ms}\n";

struct sum {
	uint64_t pauses, used;
};

static void none_lost(const char *workload, const char *buffer, uint64_t seed, struct sum *ret_sum)
{
	char text[sizeof(fabric) + sizeof(incast) + sizeof(permutation)], seeded[32], buffered[64];
	const char *sets[] = {seeded, buffered};
	const struct sw_tables *t;
	struct engine_stats stats;
	struct small_session s;

	snprintf(text, sizeof(text), "%s%s", fabric, workload);
	snprintf(seeded, sizeof(seeded), "seed=%u", (unsigned)seed);
	snprintf(buffered, sizeof(buffered), "switch.buffer=%s", buffer);
	small_session_open(&s, text, sets, 2, NULL);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &stats);
	t = engine_tables(session_engine(s.session));
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		assert_int_equal(stats.dropped[i], 0);
	assert_int_equal(stats.flows_done, stats.flows);
	assert_int_equal(stats.marked, 0);
	class_net_at_rest(session_engine(s.session));
	for (uint32_t i = 0; i < t->count.queues; i++) {
		const struct ingress *in = &t->ingresses[i];
		uint64_t below = in->alpha ? UINT32_MAX : in->xoff_bytes;

		if (!in->lossless)
			continue;
		assert_true(in->max_bytes <= below + in->headroom_limit);
		if (!in->alpha && in->max_bytes > below && in->max_bytes - below > ret_sum->used)
			ret_sum->used = in->max_bytes - below;
	}
	for (uint32_t i = 0; i < t->count.switches; i++)
		assert_true(t->switches[i].pool_max <= t->switches[i].pool_bytes);
	ret_sum->pauses += stats.pauses_sent;
	small_session_close(&s);
}

static void none_lost_over_seeds(const char *name, const char *workload, const char *buffer)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 100 : 3;
	struct sum sum = {0};

	for (uint64_t seed = 1; seed <= seeds; seed++)
		none_lost(workload, buffer, seed, &sum);
	print_message("# %s, buffer %s: %u seeds, %u XOFF, most headroom used %u bytes\n", name,
		buffer, (unsigned)seeds, (unsigned)sum.pauses, (unsigned)sum.used);
	assert_true(sum.pauses > 5 * seeds);
}

static void incast_loses_nothing(void **state)
{
	(void)state;
	none_lost_over_seeds("incast 64:1", incast, STATIC);
	none_lost_over_seeds("incast 64:1", incast, SHARED);
}

static void permutation_loses_nothing(void **state)
{
	(void)state;
	none_lost_over_seeds("permutation", permutation, STATIC);
	none_lost_over_seeds("permutation", permutation, SHARED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headroom_is_tight),
		cmocka_unit_test(incast_loses_nothing),
		cmocka_unit_test(permutation_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
