/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/pause_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/wiretime.h"

static void on_sent(void *arg, uint64_t now, uint32_t port, const uint8_t *bytes, uint32_t captured,
	uint32_t length)
{
	struct pause_watch *w = arg;
	const struct net_port *p = &w->net->net.ports[port];
	uint8_t class = class_net_frame_class(bytes);
	uint16_t quanta;

	(void)captured, (void)length;
	if (port == w->port && class < CLASSES) {
		assert_in_range(w->count[class], 0, PAUSE_WATCH_MOST - 1);
		w->starts[class][w->count[class]++] = now;
		w->last_ps = now;
	}
	if (port != w->peer || class != QUEUE_CONTROL ||
		!class_net_pfc(bytes, PAUSE_CLASS, &quanta))
		return;
	assert_in_range(w->order_count, 0, PAUSE_WATCH_MOST - 1);
	w->orders[w->order_count++] = (struct pause_order){
		.sent_ps = now,
		.from_ps = now + serialise_ps(PFC_FRAME, p->rate_bps) + p->delay_ps +
			   w->net->switching.config.response_ps,
		.length_ps = quanta * pfc_quantum(p->rate_bps) >> 8,
	};
	w->stops += quanta > 0;
	w->goes += !quanta;
}

static void on_paused(void *arg, uint64_t now, uint32_t port, uint8_t before, uint8_t after)
{
	struct pause_watch *w = arg;

	if (port != w->port)
		return;
	assert_int_equal((before ^ after) & ~(1u << PAUSE_CLASS), 0);
	if (after >> PAUSE_CLASS & 1)
		w->told[w->told_count++].from_ps = now;
	else
		w->told[w->told_count - 1].until_ps = now;
}

static void on_dropped(void *arg, uint64_t now, uint32_t port, enum drop_reason reason,
	const uint8_t *frame, uint32_t captured, uint32_t bytes)
{
	struct pause_watch *w = arg;

	(void)port, (void)frame, (void)captured, (void)bytes;
	if (!w->first_drop_ps)
		w->first_drop_ps = now;
	w->drops_at_first += now == w->first_drop_ps;
	w->dropped[reason]++;
}

struct pause_watch *pause_watch_new(struct class_net *n, uint32_t port)
{
	struct pause_watch *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->net = n;
	w->port = port;
	w->peer = n->net.ports[port].peer;
	n->params.observer = (struct engine_observer){
		.sent = on_sent, .paused = on_paused, .dropped = on_dropped, .arg = w};
	return w;
}

/*
 * What the orders come to: each holds from when it takes effect to its end, or until the next one
 * does. A pause whose end is still to come when an order to pause arrives does not end before that
 * takes effect. Returns how many there are.
 */
static uint32_t reckon(const struct pause_watch *w, struct pause_span *ret)
{
	struct pause_span now = {0, 0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < w->order_count; i++) {
		uint64_t from = w->orders[i].from_ps, length = w->orders[i].length_ps;
		uint64_t arrives = from - w->net->switching.config.response_ps;

		if (now.from_ps < now.until_ps && arrives < now.until_ps) {
			if (length || from < now.until_ps)
				now.until_ps = from + length;
			continue;
		}
		if (now.from_ps < now.until_ps)
			ret[count++] = now;
		now = (struct pause_span){from, from + length};
	}
	if (now.from_ps < now.until_ps)
		ret[count++] = now;
	/* what ends as the next begins is one */
	for (uint32_t i = 1; i < count; i++)
		if (ret[i].from_ps == ret[i - 1].until_ps) {
			ret[i].from_ps = ret[i - 1].from_ps;
			memmove(&ret[i - 1], &ret[i], (count - i) * sizeof(*ret));
			count--, i--;
		}
	return count;
}

void pause_watch_assert_told(const struct pause_watch *w)
{
	static struct pause_span want[PAUSE_WATCH_MOST];
	uint32_t count = reckon(w, want);
	uint64_t sum = 0;

	assert_int_equal(w->told_count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(w->told[i].from_ps, want[i].from_ps);
		assert_int_equal(w->told[i].until_ps, want[i].until_ps);
		sum += want[i].until_ps - want[i].from_ps;
	}
	assert_int_equal(class_net_queue(w->net, w->port, PAUSE_CLASS)->paused_ps, sum);
	assert_int_equal(
		class_net_ingress(w->net, w->port, PAUSE_CLASS)->pauses_received, w->order_count);
}

void pause_watch_assert_alone(const struct pause_watch *w)
{
	pause_watch_assert_told(w);
	assert_int_equal(class_net_stats(w->net).paused_ps,
		class_net_queue(w->net, w->port, PAUSE_CLASS)->paused_ps);
}

void pause_watch_assert_back_to_back(const struct pause_watch *w, uint32_t class, uint64_t ser)
{
	static struct pause_span pauses[PAUSE_WATCH_MOST];
	uint32_t count = class == PAUSE_CLASS ? reckon(w, pauses) : 0, at = 0;
	uint64_t next = w->starts[class][0];

	for (uint32_t i = 0; i < w->count[class]; i++) {
		while (at < count && pauses[at].until_ps <= next)
			at++;
		/* what starts as the pause takes effect has started */
		if (at < count && pauses[at].from_ps < next)
			next = pauses[at].until_ps;
		assert_int_equal(w->starts[class][i], next);
		next += ser;
	}
}
