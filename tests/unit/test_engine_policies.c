/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Load-balancing policies in a fabric: the program runs ahead of time wherever no choice depends on
 * what happens before a frame arrives, and nothing of it shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "abi/policies.h"
#include "base/numbers.h"
#include "base/units.h"
#include "lib/small_net.h"

#define RATE   (100 * GBPS)
#define HOSTS  12u
#define LEAVES 4u
#define SPINES 3u

static const struct {
	const char *word;
	bool ahead, flows;
} policies[] = {
#define X(symbol, name, word, ahead, flows, reorders, meaning) {word, ahead, flows},
	BALANCES(X)
#undef X
};

/* Frames that a switch's port was given together with others, by ports[].chooses. */
struct batches {
	const struct small_net *s;
	uint64_t together[2];
};

static int note_batch(
	void *arg, struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	struct batches *b = arg;
	const struct port *p = &dp->tables.ports[port];

	(void)frames;
	if (n > 1 && p->kind == PORT_SWITCH)
		b->together[p->chooses] += n;
	return 0;
}

struct outcome {
	struct engine_stats stats;
	uint64_t flows, forgotten; /* of all switches */
	struct batches before, after; /* the routes changed */
};

static struct outcome outcome_of(const struct small_net *s)
{
	struct outcome o = {.stats = small_net_stats(s)};

	for (uint32_t i = 0; i < s->dp->tables.count.balances; i++) {
		o.flows += s->dp->tables.balances[i].flows;
		o.forgotten += s->dp->tables.balances[i].forgotten;
	}
	return o;
}

static void set_up(struct small_net *s, uint32_t leaf, uint32_t spine, bool up)
{
	uint32_t port = small_net_port(s, HOSTS + leaf, HOSTS + LEAVES + spine);

	s->link_up[s->net.ports[port].link] = up;
	engine_set_link_up(s->engine, port, up);
}

/* A link fails, and later routes do without it; it comes back. */
static struct outcome run(enum balance policy, uint64_t seed, uint32_t max_batch)
{
	struct batches b = {0};
	const struct small_config c = {.seed = seed,
		.max_batch = max_batch,
		.buffer_bytes = 500000,
		.kmin_bytes = 20000,
		.kmax_bytes = 60000,
		.balance = {.policy = policy,
			.gap_ps = PS_PER_US,
			.lifetime_ps = 20 * PS_PER_US,
			.threshold_bytes = 10000,
			.choices = 2,
			.remembered = 1},
		.meddle = note_batch,
		.meddle_arg = &b};
	struct outcome o;
	struct small_net s;

	small_net_fabric(&s, LEAVES, SPINES, HOSTS / LEAVES, RATE, 500000);
	small_net_open(&s, &c);
	for (uint32_t i = 0; i < HOSTS; i++) {
		small_net_flow(&s, i, (i + 5) % HOSTS, 300000, 0);
		small_net_flow(&s, i, (i + 3) % HOSTS, 100000, i * 1000);
	}
	assert_int_equal(engine_run(s.engine, 20 * PS_PER_US, NULL), 0);
	o.before = b;
	set_up(&s, 0, 0, false);
	assert_int_equal(engine_run(s.engine, 25 * PS_PER_US, NULL), 0);
	routing_compute(s.routing, s.link_up, &s.dp->tables);
	assert_int_equal(engine_run(s.engine, 40 * PS_PER_US, NULL), 0);
	set_up(&s, 0, 0, true);
	routing_compute(s.routing, s.link_up, &s.dp->tables);
	small_net_run(&s, PS_PER_S);
	b.together[0] -= o.before.together[0];
	b.together[1] -= o.before.together[1];
	o.after = b;
	b = o.before;
	{
		struct batches before = o.before, after = o.after;

		o = outcome_of(&s);
		o.before = before;
		o.after = after;
	}
	assert_int_equal(o.stats.flows_done, o.stats.flows);
	assert_int_equal(engine_check_balance(s.engine), 0);
	small_net_close(&s);
	return o;
}

static void running_ahead_does_not_show(void **state)
{
	(void)state;
	for (unsigned policy = 0; policy < COUNT(policies); policy++)
		for (uint64_t seed = 1; seed < 3; seed++) {
			struct outcome one = run((enum balance)policy, seed, 1);
			struct outcome many = run((enum balance)policy, seed, 16);

print_message("%s: before %lu %lu after %lu %lu hops %lu flows %lu forgotten %lu drops %lu\n", policies[policy].word, many.before.together[0], many.before.together[1], many.after.together[0], many.after.together[1], many.stats.hops, many.flows, many.forgotten, many.stats.dropped[DROP_BUFFER]);
			assert_int_equal(many.stats.trace_hash, one.stats.trace_hash);
			assert_memory_equal(&many.stats, &one.stats, sizeof(one.stats));
			assert_int_equal(many.flows, one.flows);
			assert_int_equal(many.forgotten, one.forgotten);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(running_ahead_does_not_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
