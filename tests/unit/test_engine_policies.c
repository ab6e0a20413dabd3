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
#include "lib/small_session.h"
#include "lib/transport_options.h"

#define RATE   (100 * GBPS)
#define HOSTS  12u
#define LEAVES 4u
#define SPINES 3u

static const struct {
	const char *word;
	bool ahead, flows;
} policies[] = {
#define X(symbol, name, word, ahead, flows, reorders) {word, ahead, flows},
	BALANCES(X)
#undef X
};

/* Frames that a switch's port was given together with others, by ports[].chooses. */
struct batches {
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

/* What a run leaves behind, all of which must be equal. */
struct outcome {
	struct engine_stats stats;
	uint64_t flows, forgotten; /* of all switches' flow tables */
};

static struct outcome outcome_of(const struct engine *e, const struct dataplane *dp)
{
	struct outcome o = {0};

	engine_stats(e, &o.stats);
	for (uint32_t i = 0; i < dp->tables.count.balances; i++) {
		o.flows += dp->tables.balances[i].flows;
		o.forgotten += dp->tables.balances[i].forgotten;
	}
	assert_int_equal(engine_check_balance(e), 0);
	assert_int_equal(o.stats.flows_done, o.stats.flows);
	return o;
}

static void set_link(struct small_net *s, uint32_t leaf, uint32_t spine, bool up)
{
	uint32_t port = small_net_port(s, HOSTS + leaf, HOSTS + LEAVES + spine);

	s->link_up[s->net.ports[port].link] = up;
	engine_set_link_up(s->engine, port, up);
}

static void run_until(struct small_net *s, uint64_t us)
{
	assert_int_equal(engine_run(s->engine, us * PS_PER_US, NULL), 0);
}

/*
 * A link fails, later routes do without it, and it comes back. Flows that change their path from
 * packet to packet, or do not. ret: before the routes changed, and after.
 */
static struct outcome run(
	enum balance policy, bool one_path, uint32_t max_batch, struct batches ret[2])
{
	struct batches b = {0};
	struct strack_options options = STRACK_OPTIONS_DEFAULT;
	const struct small_config c = {.options = &options,
		.seed = 1,
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

	options.paths = one_path ? 1 : options.paths;
	small_net_fabric(&s, LEAVES, SPINES, HOSTS / LEAVES, RATE, 500000);
	small_net_open(&s, &c);
	for (uint32_t i = 0; i < HOSTS; i++) {
		small_net_flow(&s, i, (i + 5) % HOSTS, 300000, 0);
		small_net_flow(&s, i, (i + 3) % HOSTS, 100000, i * 1000);
	}
	run_until(&s, 15);
	set_link(&s, 0, 0, false);
	run_until(&s, 20);
	ret[0] = b;
	b = (struct batches){0};
	routing_compute(s.routing, s.link_up, &s.dp->tables);
	run_until(&s, 30);
	set_link(&s, 0, 0, true);
	routing_compute(s.routing, s.link_up, &s.dp->tables);
	small_net_run(&s, PS_PER_S);
	ret[1] = b;
	o = outcome_of(s.engine, s.dp);
	small_net_close(&s);
	return o;
}

/*
 * At ports that choose only where the policy lets it; once routes have changed these are all. So
 * the comparison below means something.
 */
static void assert_batches(const struct batches b[2], bool ahead)
{
	assert_in_range(b[0].together[0], 100, UINT32_MAX);
	assert_int_equal(b[1].together[0], 0);
	for (int after = 0; after < 2; after++)
		if (ahead)
			assert_in_range(b[after].together[1], 100, UINT32_MAX);
		else
			assert_int_equal(b[after].together[1], 0);
}

static void running_ahead_does_not_show(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * COUNT(policies); i++) {
		struct batches b[2];
		enum balance policy = (enum balance)(i / 2);
		struct outcome one = run(policy, i & 1, 1, b), many;

		assert_int_equal(b[0].together[0] + b[0].together[1], 0);
		many = run(policy, i & 1, 16, b);
		if (policy != BALANCE_ECMP) /* for which nobody notes the ports that choose */
			assert_batches(b, policies[policy].ahead);
		assert_int_not_equal(one.stats.dropped[DROP_LINK_DOWN], 0);
		assert_int_equal(one.flows > 0, policies[policy].flows);
		assert_memory_equal(&many, &one, sizeof(one));
	}
}

/* Each policy has traces of its own, if flows change their path or if they do not. */
static void policies_differ(void **state)
{
	uint64_t hashes[COUNT(policies)];
	struct batches b[2];

	(void)state;
	for (unsigned i = 0; i < COUNT(policies); i++) {
		hashes[i] = run((enum balance)i, false, 1, b).stats.trace_hash ^
			    run((enum balance)i, true, 1, b).stats.trace_hash;
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(hashes[k], hashes[i]);
	}
}

/* ---- frames that switches make --------------------------------------------------------------- */

/* Severe congestion at h0's leaf, whose CNPs take a spine; there is room for all. */
static const char notified[] = "name: notified\n"
			       "topology:\n"
			       "  leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 4}\n"
			       "switch:\n"
			       "  buffer: {per_port: 4MB}\n"
			       "  ecn: {kmin: 20KB, kmax: 60KB, pmax: 0.5}\n"
			       "  classes:\n"
			       "    - {class: 3, dscp: 26, lossless: yes}\n"
			       "    - {class: 6, dscp: 48}\n"
			       "    - {class: 0}\n"
			       "  pfc: on\n"
			       "  cnp: {every: 1us}\n"
			       "host:\n"
			       "  transport: roce\n"
			       "  dscp: {data: 26, control: 48, notify: 48}\n"
			       "workload:\n"
			       "  - incast: {senders: 8, to: h0, message: 100KB}\n";

static struct outcome run_notified(const char *word, uint32_t max_batch)
{
	char set[64];
	const char *sets[] = {set};
	struct small_session s;
	struct outcome o;

	snprintf(set, sizeof(set), "switch.balance=%s", word);
	small_session_open(&s, notified, sets, 1, NULL);
	session_dataplane(s.session)->max_batch = max_batch;
	small_session_run(&s);
	o = outcome_of(session_engine(s.session), session_dataplane(s.session));
	small_session_close(&s);
	return o;
}

/* A CNP comes among packets that have run ahead, and chooses as if they had not. */
static void what_is_made_chooses_in_its_time(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT(policies); i++) {
		struct outcome one = run_notified(policies[i].word, 1);
		struct outcome many = run_notified(policies[i].word, 16);

		assert_in_range(one.stats.notified, 5, UINT32_MAX);
		assert_memory_equal(&many, &one, sizeof(one));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(running_ahead_does_not_show),
		cmocka_unit_test(policies_differ),
		cmocka_unit_test(what_is_made_chooses_in_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
