/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pauses that a switch asks for, storms of them, and the watchdog that ends one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/pause_watch.h"

#define GBPS  1000000000ull
#define RATE  (100 * GBPS)
#define DELAY 1000000u
#define FRAME CLASS_NET_FRAME
#define OTHER 1

/* ---- pauses that the ingress asks for ------------------------------------------------------- */

/* h1, and h2 the other way so that PFC frames have to wait, to h0 over a link a tenth as fast. */
static struct pause_watch *open_slow(struct class_net *n, uint16_t quanta, uint64_t response_ps)
{
	static const struct class_link links[] = {
		{0, 3, RATE / 10, DELAY}, {1, 3, RATE, DELAY}, {2, 3, RATE, DELAY}};
	static const struct class_stream streams[] = {
		{.src = 1, .dst = 0, .class = PAUSE_CLASS, .payload = 4096, .packets = 1000},
		{.src = 2, .dst = 1, .class = OTHER, .payload = 4096, .packets = 5000}};
	struct pause_watch *w;

	class_net_init(n, 3, 1, links, 3);
	class_net_lossless(n, PAUSE_CLASS, 40 * FRAME);
	n->switching.classes[PAUSE_CLASS].xon_bytes = 10 * FRAME;
	n->switching.config.quanta = quanta;
	n->switching.config.response_ps = response_ps;
	w = pause_watch_new(n, class_net_port(n, 1, 3));
	class_net_open(n);
	for (uint32_t i = 0; i < 2; i++)
		class_net_stream(n, &streams[i]);
	return w;
}

/*
 * A pause that has to last is told again in time: between its first frame and XON nothing of the
 * class starts. The shortest quanta that can do so: half of them are time enough for a frame that
 * is on the line and the PFC frame.
 */
static void a_pause_lasts_as_long_as_it_must(void **state)
{
	const uint16_t least =
		(uint16_t)((wire_bytes(FRAME) + wire_bytes(PFC_FRAME)) * 8 * 2 / PFC_BITS + 1);
	const uint16_t quanta[] = {least, 200, 1000, 65535};
	const uint64_t responses[] = {0, 500000};

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct class_net n;
		struct pause_watch *w = open_slow(&n, quanta[i % 4], responses[i / 4]);
		const struct ingress *in = class_net_ingress(&n, w->peer, PAUSE_CLASS);
		uint32_t episodes = 0;

		class_net_run(&n, UINT64_MAX);
		pause_watch_assert_told(w);
		for (uint32_t o = 0; o < w->order_count; o++)
			episodes += !w->orders[o].length_ps;
		/* one pause from each first XOFF to its XON, without a gap: else there were more */
		assert_int_equal(w->told_count, episodes);
		assert_int_equal(w->goes, in->resumes_sent);
		assert_int_equal(w->stops, in->pauses_sent);
		assert_true(episodes > 10);
		if (quanta[i % 4] <= 1000)
			assert_true(w->stops > 2 * episodes);
		if (quanta[i % 4] == 65535) /* no pause lasts half as long as that */
			assert_int_equal(w->stops, episodes);
		assert_int_equal(class_net_stats(&n).pauses_sent, w->stops);
		assert_int_equal(class_net_stats(&n).resumes_sent, w->goes);
		assert_int_equal(class_net_dropped(&n), 0);
		class_net_at_rest(n.engine);
		class_net_close(&n);
		free(w);
	}
}

/* On an idle reverse line PFC frames leave when due: at once, then at each half of the quanta. */
static void refreshes_are_on_time(void **state)
{
	static const struct class_link links[] = {{0, 2, RATE / 10, DELAY}, {1, 2, RATE, DELAY}};
	static const struct class_stream stream = {
		.src = 1, .dst = 0, .class = PAUSE_CLASS, .payload = 4096, .packets = 300};
	uint64_t half = (1000 * pfc_quantum(RATE) >> 8) / 2, refreshed = 0, frame = 1;
	struct class_net n;
	struct pause_watch *w;

	(void)state;
	class_net_init(&n, 2, 1, links, 2);
	class_net_lossless(&n, PAUSE_CLASS, 40 * FRAME);
	n.switching.classes[PAUSE_CLASS].xon_bytes = 10 * FRAME;
	n.switching.config.quanta = 1000;
	w = pause_watch_new(&n, class_net_port(&n, 1, 2));
	class_net_open(&n);
	class_net_stream(&n, &stream);
	class_net_run(&n, UINT64_MAX);
	for (uint32_t i = 1; i < w->order_count; i++)
		if (w->orders[i - 1].length_ps && w->orders[i].length_ps) {
			assert_int_equal(w->orders[i].sent_ps - w->orders[i - 1].sent_ps, half);
			refreshed++;
		}
	assert_true(refreshed > 20);
	/* due to the first frame that finds 40: one leaves while ten come */
	while (frame - (frame - 1) / 10 <= 40)
		frame++;
	assert_int_equal(w->orders[0].sent_ps, DELAY + frame * serialise_ps(FRAME, RATE));
	pause_watch_assert_told(w);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	free(w);
}

/* The sum of pauses so far, in the middle of one. */
static void paused_time_up_to_now(void **state)
{
	struct class_net n;
	struct pause_watch *w = open_slow(&n, 1000, 300000);

	(void)state;
	for (uint64_t now = 0; now < 300 * PS_PER_US; now += 1234567) {
		uint64_t sum = 0;

		class_net_run(&n, now);
		for (uint32_t i = 0; i < w->told_count; i++)
			sum += (w->told[i].until_ps ? w->told[i].until_ps : now) -
			       w->told[i].from_ps;
		assert_int_equal(class_net_stats(&n).paused_ps, sum);
	}
	assert_true(w->told_count > 3);
	class_net_close(&n);
	free(w);
}

/* ---- storms --------------------------------------------------------------------------------- */

/*
 * h0 pauses for ever: the switches towards it fill up one after the other, and each pauses those
 * before it, to the senders; who does not send that way goes on. When it ends, so do they, and
 * nothing was lost.
 */
static void a_storm_spreads_and_ends(void **state)
{
	/* h0 - s5 - s6 - h1, h2; h3 - s6, and h4 - s6 for a bystander */
	static const struct class_link links[] = {{0, 5, RATE, DELAY}, {5, 6, RATE, DELAY},
		{1, 6, RATE, DELAY}, {2, 6, RATE, DELAY}, {3, 6, RATE, DELAY}, {4, 6, RATE, DELAY}};
	struct class_stream stream = {.class = PAUSE_CLASS, .payload = 4096, .packets = 3000};
	struct class_net n;
	struct pause_watch *w;
	uint64_t before;

	(void)state;
	class_net_init(&n, 5, 2, links, 6);
	class_net_lossless(&n, PAUSE_CLASS, 40 * FRAME);
	w = pause_watch_new(&n, class_net_port(&n, 5, 0));
	class_net_open(&n);
	for (uint32_t src = 1; src < 4; src++) {
		stream.src = src;
		stream.dst = src == 3 ? 4 : 0;
		class_net_stream(&n, &stream);
	}
	class_net_run(&n, 50 * PS_PER_US);
	engine_set_storm(n.engine, 0, 1u << PAUSE_CLASS);
	class_net_run(&n, 3 * PS_PER_MS);
	/* all that was to h0 stands still, in both switches and at both hosts */
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t from[] = {6, 1, 2}, to[] = {5, 6, 6};
		uint32_t port = class_net_port(&n, from[i], to[i]);
		const struct ingress *in =
			class_net_ingress(&n, n.net.ports[port].peer, PAUSE_CLASS);

		assert_true(in->paused && in->pauses_sent);
		assert_true(
			class_net_queue(&n, port, PAUSE_CLASS)->paused_until_ps > 3 * PS_PER_MS);
	}
	assert_int_equal(
		class_net_ingress(&n, class_net_port(&n, 6, 3), PAUSE_CLASS)->pauses_sent, 0);
	assert_int_equal(n.dp->tables.ports[class_net_port(&n, 6, 4)].tx_frames, 3000);
	before = n.dp->tables.ports[w->port].tx_frames;
	class_net_run(&n, 5 * PS_PER_MS);
	assert_int_equal(n.dp->tables.ports[w->port].tx_frames, before);
	assert_true(before < 6000);
	engine_set_storm(n.engine, 0, 0);
	class_net_run(&n, UINT64_MAX);
	assert_int_equal(n.dp->tables.ports[w->port].tx_frames, 6000);
	assert_int_equal(class_net_dropped(&n), 0);
	pause_watch_assert_told(w);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	free(w);
}

/* h1 is paused in the class of its first sender: those of others send as if it were not. */
static void a_pause_holds_senders_of_its_class_alone(void **state)
{
	static const struct class_link links[] = {
		{0, 3, RATE, DELAY}, {1, 3, RATE, DELAY}, {2, 3, RATE, DELAY}};
	struct class_stream stream = {.src = 1, .class = PAUSE_CLASS, .payload = 4096};
	uint64_t paused, start = 50 * PS_PER_US, packets = 1000;
	struct class_net n;
	struct pause_watch *w;
	uint32_t port;

	(void)state;
	class_net_init(&n, 3, 1, links, 3);
	class_net_lossless(&n, PAUSE_CLASS, 40 * FRAME);
	w = pause_watch_new(&n, class_net_port(&n, 1, 3));
	class_net_open(&n);
	port = class_net_port(&n, 3, 2);
	engine_set_storm(n.engine, 0, 1u << PAUSE_CLASS);
	stream.packets = 2000;
	class_net_stream(&n, &stream);
	class_net_run(&n, start);
	assert_true(engine_is_paused(n.engine, w->port, PAUSE_CLASS));
	paused = w->count[PAUSE_CLASS];
	for (uint32_t i = 0; i < 2; i++) {
		stream = (struct class_stream){1, 2, OTHER, 4096, (uint32_t)packets / 2, start, 0};
		class_net_stream(&n, &stream);
	}
	/* to the packet: what h1's line can carry, and what its link holds */
	class_net_run(&n, start + packets * serialise_ps(FRAME, RATE) + 1);
	assert_int_equal(w->count[OTHER], packets);
	class_net_run(&n, start + 2 * packets * serialise_ps(FRAME, RATE));
	assert_int_equal(n.dp->tables.ports[port].tx_frames, packets);
	assert_int_equal(w->count[PAUSE_CLASS], paused);
	assert_int_equal(class_net_queue(&n, w->port, OTHER)->paused_ps, 0);
	engine_set_storm(n.engine, 0, 0);
	class_net_run(&n, UINT64_MAX);
	assert_int_equal(w->count[PAUSE_CLASS], 2000);
	assert_int_equal(class_net_dropped(&n), 0);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	free(w);
}

/* ---- the watchdog --------------------------------------------------------------------------- */

#define PATIENCE (200 * PS_PER_US)

static struct pause_watch *open_watched(struct class_net *n)
{
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	static const struct class_stream stream = {
		.src = 1, .dst = 0, .class = PAUSE_CLASS, .payload = 4096, .packets = 10000};
	struct pause_watch *w;

	class_net_init(n, 2, 1, links, 2);
	class_net_lossless(n, PAUSE_CLASS, 40 * FRAME);
	n->switching.config.watchdog_ps = PATIENCE;
	w = pause_watch_new(n, class_net_port(n, 2, 0));
	class_net_open(n);
	class_net_stream(n, &stream);
	class_net_run(n, 30 * PS_PER_US);
	return w;
}

/* Until the peer relents all for that queue is dropped and counted there; then nothing is. */
static void close_watched(
	struct class_net *n, struct pause_watch *w, uint64_t relents_ps, uint64_t slack)
{
	uint64_t ser = serialise_ps(FRAME, RATE), trip = w->orders[0].from_ps + PATIENCE;
	struct engine_stats s;
	uint32_t next = 0;

	class_net_run(n, UINT64_MAX);
	s = class_net_stats(n);
	while (w->starts[PAUSE_CLASS][next] <= w->orders[0].from_ps)
		next++;
	/* what comes first after it goes; packets come one a serialisation */
	assert_in_range(w->starts[PAUSE_CLASS][next], relents_ps + 1, relents_ps + slack + ser);
	assert_int_equal(w->first_drop_ps, trip);
	/* what had passed the ingress before XOFF, and the frames that the headroom was for */
	assert_in_range(w->drops_at_first, 40, 40 + 10);
	assert_int_equal(w->dropped[DROP_WATCHDOG], class_net_dropped(n));
	assert_int_equal(
		n->dp->tables.drops[w->port].frames[DROP_WATCHDOG], s.dropped[DROP_WATCHDOG]);
	assert_int_equal(s.delivered + s.dropped[DROP_WATCHDOG], 10000);
	assert_true(s.dropped[DROP_WATCHDOG] > 100 && s.delivered > 5000);
	assert_int_equal(class_net_queue(n, w->port, PAUSE_CLASS)->stormed, 0);
	assert_int_equal(w->told[0].until_ps - w->told[0].from_ps, PATIENCE);
	class_net_at_rest(n->engine);
	class_net_close(n);
	free(w);
}

/* The peer says XON. */
static void the_watchdog_trips_until_xon(void **state)
{
	struct class_net n;
	struct pause_watch *w = open_watched(&n);

	(void)state;
	class_net_send_pfc(&n, w->peer, 1u << PAUSE_CLASS, 65535);
	class_net_run(&n, 310 * PS_PER_US);
	assert_int_equal(class_net_queue(&n, w->port, PAUSE_CLASS)->stormed, 1);
	class_net_send_pfc(&n, w->peer, 1u << PAUSE_CLASS, 0);
	class_net_run(&n, 320 * PS_PER_US);
	assert_int_equal(w->told_count, 1);
	assert_int_equal(class_net_queue(&n, w->port, PAUSE_CLASS)->paused_ps, PATIENCE);
	close_watched(&n, w, w->orders[1].from_ps - 1, 0);
}

/* The ignored peer sends XOFF for a while, then nothing for as long as the watchdog waits. */
static void the_watchdog_trips_until_silence(void **state)
{
	struct class_net n;
	struct pause_watch *w = open_watched(&n);
	uint32_t last;

	(void)state;
	engine_set_storm(n.engine, 0, 1u << PAUSE_CLASS);
	class_net_run(&n, 900 * PS_PER_US);
	assert_int_equal(class_net_queue(&n, w->port, PAUSE_CLASS)->stormed, 1);
	engine_set_storm(n.engine, 0, 0);
	last = w->order_count - 1;
	assert_true(last >= 3);
	assert_int_equal(w->told_count, 1);
	close_watched(&n, w, w->orders[last].from_ps + PATIENCE, 0);
}

/* A pause that is shorter is none of its business. */
static void the_watchdog_waits(void **state)
{
	struct class_net n;
	struct pause_watch *w = open_watched(&n);
	uint64_t quantum = pfc_quantum(RATE);
	/* the longest that ends by itself as it is due to look, or just before */
	uint16_t quanta = (uint16_t)((PATIENCE << 8) / quantum);

	(void)state;
	class_net_send_pfc(&n, w->peer, 1u << PAUSE_CLASS, quanta);
	class_net_run(&n, UINT64_MAX);
	assert_int_equal(class_net_dropped(&n), 0);
	pause_watch_assert_told(w);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_lasts_as_long_as_it_must),
		cmocka_unit_test(refreshes_are_on_time),
		cmocka_unit_test(paused_time_up_to_now),
		cmocka_unit_test(a_storm_spreads_and_ends),
		cmocka_unit_test(a_pause_holds_senders_of_its_class_alone),
		cmocka_unit_test(the_watchdog_trips_until_xon),
		cmocka_unit_test(the_watchdog_trips_until_silence),
		cmocka_unit_test(the_watchdog_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
