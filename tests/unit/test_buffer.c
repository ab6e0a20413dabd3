/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a switch over many frames, and the pauses of a queue over many requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "lib/buffer.h"
#include "lib/pause.h"

#define QUEUES  5u
#define IN      4u /* ingresses, of two classes */
#define FRAMES  400u
#define STEPS   20000u
#define QUANTUM (1000 * 256) /* 1,000 ps */

static uint64_t beyond(uint64_t bytes, uint64_t own)
{
	return bytes > own ? bytes - own : 0;
}

/* alpha is in 256ths; what is free is what nobody took, and never less than nothing. */
static void threshold(void **state)
{
	struct switch_state sw = {.pool_bytes = 100000, .pool_used = 40000};

	(void)state;
	assert_int_equal(buffer_threshold(&sw, 7000, 0), 7000);
	assert_int_equal(buffer_threshold(&sw, 7000, 256), 67000);
	assert_int_equal(buffer_threshold(&sw, 7000, 128), 37000);
	assert_int_equal(buffer_threshold(&sw, 0, 2048), 480000);
	assert_int_equal(buffer_threshold(&sw, 0, 1), 234);
	sw.pool_used = 100000;
	assert_int_equal(buffer_threshold(&sw, 7000, 256), 7000);
	sw.pool_used = 100001;
	assert_int_equal(buffer_threshold(&sw, 7000, 256), 7000);
	/* a switch of 64 GiB: no product leaves 64 bits */
	sw = (struct switch_state){.pool_bytes = 1ull << 36};
	assert_true(buffer_threshold(&sw, 0, 256 * 64) == 1ull << 42);
}

/* Without alpha no pool is looked at: a host's port has no switch. */
static void no_alpha_no_switch(void **state)
{
	struct queue q = {.limit_bytes = 3000};

	(void)state;
	assert_true(queue_has_room(&q, NULL, 3000));
	assert_false(queue_has_room(&q, NULL, 3001));
	queue_take(&q, NULL, 3000);
	assert_false(queue_has_room(&q, NULL, 1));
	queue_give(&q, NULL, 3000);
	assert_int_equal(q.depth_bytes, 0);
	assert_int_equal(q.depth_frames, 0);
	assert_int_equal(q.max_depth_bytes, 3000);
}

/* A frame that is somewhere. */
struct held {
	uint32_t length, queue, in; /* in: IN if it is not lossless */
};

struct memory {
	struct switch_state sw;
	struct queue queues[QUEUES];
	struct ingress in[IN];
	struct held held[FRAMES];
	unsigned count, refused, above;
	uint64_t pool_max;
};

static uint32_t class_of(uint32_t in)
{
	return 3 + in % 2;
}

/* The accounts, all of them, are what the frames that are there say. */
static void assert_balanced(struct memory *m)
{
	uint64_t depth[QUEUES] = {0}, total[IN + 1] = {0}, frames[QUEUES] = {0}, shared = 0;

	for (unsigned i = 0; i < m->count; i++) {
		depth[m->held[i].queue] += m->held[i].length;
		frames[m->held[i].queue]++;
		total[m->held[i].in] += m->held[i].length;
	}
	for (unsigned i = 0; i < QUEUES; i++) {
		const struct queue *q = &m->queues[i];

		assert_int_equal(q->depth_bytes, depth[i]);
		assert_int_equal(q->depth_frames, frames[i]);
		assert_true(q->max_depth_bytes >= depth[i]);
		shared += q->alpha ? beyond(depth[i], q->limit_bytes) : 0;
	}
	for (unsigned i = 0; i < IN; i++) {
		const struct ingress *in = &m->in[i];

		assert_int_equal(in->bytes + in->headroom_bytes, total[i]);
		assert_true(in->headroom_bytes <= in->headroom_limit);
		shared += in->alpha ? beyond(in->bytes, in->xoff_bytes) : 0;
	}
	for (unsigned class = 3; class < 5; class ++) {
		uint64_t sum = m->in[class - 3].headroom_bytes + m->in[class - 1].headroom_bytes;

		assert_int_equal(m->sw.headroom_used[class], sum);
		assert_true(sum <= m->sw.headroom_bytes[class]);
	}
	if (m->pool_max < shared)
		m->pool_max = shared;
	assert_int_equal(m->sw.pool_used, shared);
	assert_int_equal(m->sw.pool_max, m->pool_max);
	assert_true(shared <= m->sw.pool_bytes);
}

static void come(struct memory *m, uint64_t *rng)
{
	struct held h = {64 + rng_below(rng, 9000), rng_below(rng, QUEUES), IN};

	/* the last queue is lossless */
	if (h.queue == QUEUES - 1) {
		uint32_t i = rng_below(rng, IN), class = class_of(i);
		enum ingress_fit fit = ingress_fit(&m->in[i], &m->sw, class, h.length);

		m->above += fit == INGRESS_HEADROOM;
		m->refused += fit == INGRESS_FULL;
		if (fit == INGRESS_FULL)
			return;
		ingress_take(&m->in[i], &m->sw, class, h.length, fit);
		h.in = i;
	} else if (!queue_has_room(&m->queues[h.queue], &m->sw, h.length)) {
		m->refused++;
		return;
	}
	queue_take(&m->queues[h.queue], &m->sw, h.length);
	m->held[m->count++] = h;
}

static void go(struct memory *m, unsigned which)
{
	struct held h = m->held[which];

	m->held[which] = m->held[--m->count];
	if (h.in < IN)
		ingress_give(&m->in[h.in], &m->sw, class_of(h.in), h.length);
	queue_give(&m->queues[h.queue], &m->sw, h.length);
}

static void memory_init(struct memory *m)
{
	static const uint32_t alphas[QUEUES] = {0, 64, 256, 2048, 0};

	memset(m, 0, sizeof(*m));
	m->sw.pool_bytes = 400000;
	m->sw.headroom_bytes[3] = 30000;
	m->sw.headroom_bytes[4] = 90000;
	for (unsigned i = 0; i < QUEUES; i++) {
		m->queues[i].alpha = alphas[i];
		m->queues[i].limit_bytes = i ? 20000 : 90000;
	}
	for (unsigned i = 0; i < IN; i++) {
		m->in[i].alpha = i < 2 ? 64 : 0;
		m->in[i].xoff_bytes = i < 2 ? 5000 : 60000;
		m->in[i].headroom_limit = 40000;
		m->in[i].lossless = 1;
	}
}

/* Whatever comes and goes, the pool holds all but the reserves; at the end nothing. */
static void memory_balances(void **state)
{
	uint64_t rng = rng_stream(1, "memory", 0);
	struct memory m;

	(void)state;
	memory_init(&m);
	for (unsigned i = 0; i < STEPS; i++) {
		/* by turns it fills up and empties */
		bool fills = i / 500 % 2 == 0;

		if (m.count < FRAMES && (!m.count || rng_below(&rng, 3) < (fills ? 2 : 1)))
			come(&m, &rng);
		else
			go(&m, rng_below(&rng, m.count));
		assert_balanced(&m);
	}
	assert_true(m.refused > 100 && m.above > 100 && m.pool_max > 200000);
	while (m.count)
		go(&m, m.count - 1);
	assert_balanced(&m);
	assert_int_equal(m.sw.pool_used, 0);
}

/* Frames of a full ingress leave: the headroom is given back first. */
static void headroom_is_given_back_first(void **state)
{
	struct switch_state sw = {.headroom_used[3] = 5000};
	struct ingress in = {.bytes = 9000, .headroom_bytes = 1500, .xoff_bytes = 9000};

	(void)state;
	ingress_give(&in, &sw, 3, 1000);
	assert_int_equal(in.headroom_bytes, 500);
	assert_int_equal(in.bytes, 9000);
	assert_int_equal(sw.headroom_used[3], 4000);
	assert_false(ingress_may_resume(&in, &sw));
	ingress_give(&in, &sw, 3, 1000);
	assert_int_equal(in.headroom_bytes, 0);
	assert_int_equal(in.bytes, 8500);
	assert_int_equal(sw.headroom_used[3], 3500);
	assert_true(ingress_may_resume(&in, &sw));
	in.xon_bytes = 501;
	assert_false(ingress_may_resume(&in, &sw));
	ingress_give(&in, &sw, 3, 8500);
	assert_int_equal(in.bytes, 0);
	assert_true(ingress_may_resume(&in, &sw));
}

#define PICTURE 2000000u
#define QUANTA  50u /* most of a frame, of 1,000 ps each */

/* What a queue's pauses must be: a picture of them, a picosecond a byte. */
struct picture {
	bool paused[PICTURE];
	uint64_t since; /* the last beginning */
};

/* The last moment from `from` on that is paused, or 0. Nothing reaches far ahead. */
static uint64_t last_paused(const struct picture *p, uint64_t from, uint64_t response)
{
	uint64_t last = 0;

	for (uint64_t at = from; at < from + 2 * response + 1000 * QUANTA; at++)
		if (p->paused[at])
			last = at;
	return last;
}

static uint64_t paused_from(const struct picture *p, uint64_t from)
{
	uint64_t sum = 0;

	for (uint64_t at = from; at < PICTURE; at++)
		sum += p->paused[at];
	return sum;
}

/*
 * A frame comes at `now`. What is paused as it takes effect, it says anew. What ends before that,
 * and has not ended yet, lasts until then after all if it is to be paused.
 */
static void picture_frame(struct picture *p, uint32_t quanta, uint64_t now, uint64_t response)
{
	uint64_t at = now + response, last = last_paused(p, now, response), from = at;

	if (p->paused[at])
		memset(p->paused + at, 0, PICTURE - at);
	else if (!last)
		p->since = at;
	else if (quanta)
		from = last;
	memset(p->paused + from, 1, quanta ? at + quanta * 1000 - from : 0);
}

static void assert_like_picture(const struct queue *q, const struct picture *p, uint64_t now)
{
	assert_int_equal(pause_holds(q, now), p->paused[now]);
	assert_int_equal(pause_left(q, now), paused_from(p, now));
	assert_int_equal(q->paused_ps, paused_from(p, 0));
	assert_int_equal(q->paused_since_ps, p->since);
}

/* Many frames, at any distance from one another, and now and then an end to all that they said. */
static void run_pauses(uint64_t response)
{
	static struct picture p;
	uint64_t rng = rng_stream(1, "pause", response), now = 1;
	unsigned begun = 0, ended = 0, waited = 0;
	struct queue q = {0};

	memset(&p, 0, sizeof(p));
	while (now < PICTURE - 400000) {
		uint32_t quanta = rng_below(&rng, 3) ? rng_below(&rng, QUANTA) : 0;
		uint64_t since = p.since;

		assert_like_picture(&q, &p, now);
		if (!rng_below(&rng, 8)) {
			waited += p.since > now && paused_from(&p, now);
			memset(p.paused + now, 0, PICTURE - now);
			pause_end(&q, now);
			ended++;
		} else {
			picture_frame(&p, quanta, now, response);
			pause_set(&q, quanta, QUANTUM, now, response, 0);
			begun += p.since != since;
		}
		assert_like_picture(&q, &p, now);
		now += 1 + rng_below(&rng, rng_below(&rng, 2) ? 4000 : 60000);
	}
	assert_true(begun > 10 && ended > 5 && (waited > 0 || response < 10000));
	assert_in_range(q.paused_ps, PICTURE / 20, PICTURE - PICTURE / 20);
}

static void pauses_add_up(void **state)
{
	static const uint64_t responses[] = {0, 1, 700, 5000, 20000, 100000};

	(void)state;
	for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++)
		run_pauses(responses[i]);
}

static void a_pause_that_is_cut_short(void **state)
{
	struct queue q = {0};

	(void)state;
	pause_end(&q, 500); /* nothing to end */
	assert_int_equal(q.paused_ps, 0);
	assert_int_equal(q.paused_until_ps, 0);
	pause_set(&q, 10, QUANTUM, 1000, 0, 0);
	assert_true(pause_holds(&q, 1000) && pause_holds(&q, 10999));
	assert_false(pause_holds(&q, 11000));
	assert_int_equal(pause_left(&q, 4000), 7000);
	pause_end(&q, 4000);
	assert_false(pause_holds(&q, 4000));
	assert_int_equal(q.paused_ps, 3000);
	pause_end(&q, 4000);
	pause_end(&q, 20000);
	assert_int_equal(q.paused_ps, 3000);
	assert_int_equal(pause_left(&q, 4000), 0);
}

/* From the frame to its effect the queue sends; an end in that time leaves nothing of it. */
static void a_pause_that_has_not_begun(void **state)
{
	struct queue q = {0};

	(void)state;
	pause_set(&q, 10, QUANTUM, 1000, 500, 0);
	assert_false(pause_holds(&q, 1499));
	assert_true(pause_holds(&q, 1500) && pause_holds(&q, 11499));
	assert_false(pause_holds(&q, 11500));
	assert_int_equal(pause_left(&q, 1000), 10000);
	assert_int_equal(pause_left(&q, 1500), 10000);
	assert_int_equal(pause_left(&q, 1501), 9999);
	assert_int_equal(pause_watch(&q, 7000), 8500);
	pause_end(&q, 1200);
	assert_false(pause_holds(&q, 1500));
	assert_int_equal(pause_left(&q, 1200), 0);
	assert_int_equal(q.paused_ps, 0);
	/* which the next frame has nothing to do with */
	pause_set(&q, 1, QUANTUM, 1300, 500, 0);
	assert_false(pause_holds(&q, 1799));
	assert_true(pause_holds(&q, 1800) && pause_holds(&q, 2799));
	assert_int_equal(q.paused_ps, 1000);
}

/* Checked so long after the pause began, however often it was refreshed; then it ignores XOFF. */
static void trip(uint64_t response)
{
	const uint64_t watchdog = 20000;
	struct queue q = {0};

	/* the times are those of the effect */
	for (uint64_t at = 1000; at <= 17000; at += 4000) {
		pause_set(&q, 5, QUANTUM, at - response, response, watchdog);
		assert_int_equal(pause_watch(&q, watchdog), 21000);
	}
	pause_trip(&q, 21000);
	assert_true(q.stormed);
	assert_false(pause_holds(&q, 21000));
	assert_int_equal(q.paused_ps, 20000);
	/* ignored for as long as they keep coming */
	pause_set(&q, 5, QUANTUM, 22000 - response, response, watchdog);
	pause_set(&q, 5, QUANTUM, 42000 - response, response, watchdog);
	assert_true(q.stormed);
	assert_int_equal(pause_left(&q, 22000 - response), 0);
	assert_int_equal(q.paused_ps, 20000);
	/* after a longer silence it is a pause like any other, with a watchdog of its own */
	pause_set(&q, 5, QUANTUM, 62001 - response, response, watchdog);
	assert_false(q.stormed);
	assert_false(pause_holds(&q, 62000));
	assert_true(pause_holds(&q, 62001) && pause_holds(&q, 67000));
	assert_int_equal(pause_watch(&q, watchdog), 82001);
	assert_int_equal(q.paused_ps, 25000);
}

static void the_watchdog_trips(void **state)
{
	(void)state;
	trip(0);
	trip(900);
}

static void the_peer_relents(void **state)
{
	struct queue q = {0};

	(void)state;
	pause_set(&q, 5, QUANTUM, 900, 100, 2000);
	pause_trip(&q, 3000);
	pause_set(&q, 0, QUANTUM, 3400, 100, 2000);
	assert_false(q.stormed);
	assert_false(pause_holds(&q, 3500));
	assert_int_equal(q.paused_ps, 2000);
	pause_set(&q, 1, QUANTUM, 3500, 100, 2000);
	assert_false(pause_holds(&q, 3599));
	assert_true(pause_holds(&q, 3600) && pause_holds(&q, 4599));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threshold),
		cmocka_unit_test(no_alpha_no_switch),
		cmocka_unit_test(memory_balances),
		cmocka_unit_test(headroom_is_given_back_first),
		cmocka_unit_test(pauses_add_up),
		cmocka_unit_test(a_pause_that_is_cut_short),
		cmocka_unit_test(a_pause_that_has_not_begun),
		cmocka_unit_test(the_watchdog_trips),
		cmocka_unit_test(the_peer_relents),
	};

	return cmocka_run_group_tests_name("switch memory and pauses", tests, NULL, NULL);
}
