/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fair share of messages: of each kind of workload, of uplinks, and as transports are told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lib/small_net.h"
#include "lib/small_session.h"
#include "session/traffic.h"
#include "transport/kind.h"

#define GBPS_ALL 100000000000ull

/* Eight hosts of 100 Gbps below two switches; full: as much leads up as down. */
#define FULL   "{leaf_spine: {leaves: 2, spines: 4, hosts_per_leaf: 4}}"
#define NARROW "{leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 4}}"

struct found {
	struct small_session s;
	struct operations m;
	struct fair_shares shares;
	char why[FAIR_SHARE_WHY];
};

static void find(struct found *f, const char *topology, const char *workload)
{
	char text[1024];

	*f = (struct found){.m = OPERATIONS_INIT};
	snprintf(text, sizeof(text), "name: f\ntopology: %s\nworkload: [%s]\n", topology, workload);
	small_session_load(&f->s, text, NULL, 0);
	assert_int_equal(traffic_list(&f->m, f->s.scenario, f->s.fabric, 0), 0);
	assert_int_equal(
		traffic_fair_shares(&f->shares, f->why, f->s.scenario, f->s.fabric, 0, &f->m), 0);
}

static void forget(struct found *f)
{
	fair_shares_release(&f->shares);
	operations_release(&f->m);
	small_session_close(&f->s);
}

/* All messages have as much. */
static void all_have(const char *topology, const char *workload, uint64_t bps)
{
	char why[FAIR_SHARE_WHY];
	struct found f;

	find(&f, topology, workload);
	if (f.why[0])
		fail_msg("%s", f.why);
	assert_int_equal(f.shares.least_bps, bps);
	assert_int_equal(f.shares.most_bps, bps);
	assert_int_equal(traffic_has_fair_shares(f.s.scenario, f.s.fabric, 0, why), 0);
	forget(&f);
}

static void not_known(const char *topology, const char *workload, const char *words)
{
	char why[FAIR_SHARE_WHY];
	struct found f;

	find(&f, topology, workload);
	assert_string_equal(f.why, words);
	assert_int_equal(f.shares.count, 0);
	assert_int_equal(fair_share(&f.shares, 0, 1), 0);
	assert_int_equal(traffic_has_fair_shares(f.s.scenario, f.s.fabric, 0, why), -ENOENT);
	assert_string_equal(why, words);
	forget(&f);
}

static void hosts_divide_their_links(void **state)
{
	(void)state;
	all_have(FULL, "permutation: {message: 1MB}", GBPS_ALL);
	all_have(FULL, "permutation: {message: 1MB, count: 3}", GBPS_ALL / 3);
	all_have(FULL, "permutation: {message: 1MB, count: 3, repeat: 5, gap: 1us}", GBPS_ALL / 3);
	all_have(FULL, "all_to_all: {message: 1MB}", GBPS_ALL / 7);
	all_have(FULL, "all_to_all: {message: 1MB, window: 3}", GBPS_ALL / 3);
	all_have(FULL, "incast: {senders: 5, message: 1MB}", GBPS_ALL / 5);
	all_have(FULL, "incast: {senders: 5, message: 1MB, repeat: 4}", GBPS_ALL / 5);
	/* of several entries together */
	all_have(FULL, "permutation: {message: 1MB, count: 2}, permutation: {message: 2MB}",
		GBPS_ALL / 3);
}

static void collectives_take_turns(void **state)
{
	(void)state;
	all_have(FULL, "collective: {op: all_reduce, size: 64MB, chunk: off}", GBPS_ALL);
	/* the chunks of a step are a stream */
	all_have(
		FULL, "collective: {op: all_reduce, size: 64MB, chunk: 64KB, repeat: 2}", GBPS_ALL);
	all_have(FULL, "collective: {op: all_gather, size: 64MB, chunk: 64KB, channels: 2}",
		GBPS_ALL / 2);
	all_have(FULL, "collective: {op: all_to_all, size: 8MB}", GBPS_ALL);
	all_have(FULL, "collective: {op: all_to_all, size: 8MB, algorithm: windowed, window: 4}",
		GBPS_ALL / 4);
	all_have(FULL,
		"collective: {op: all_reduce, size: 8MB, algorithm: halving_doubling, chunk: off}",
		GBPS_ALL);
	not_known(FULL, "collective: {op: all_reduce, size: 8MB, algorithm: halving_doubling}",
		"workload.0.collective: the chunks of a step overlap with those of the next, which go elsewhere; take chunk: off");
	not_known(FULL, "collective: {op: all_reduce, size: 8MB, algorithm: tree}",
		"workload.0.collective: ranks send to different numbers of others, some later than others; take another algorithm, such as ring");
	not_known(FULL,
		"collective: {op: all_reduce, size: 8MB, stragglers: [{rank: 1, delay: 1us}]}",
		"workload.0.collective: stragglers begin later than others, and have no fixed number of messages under way");
}

/* Each message has the smaller share of its two ends. */
static void ends_differ(void **state)
{
	struct found f;

	(void)state;
	find(&f, FULL, "pairs: {from: [h0, h0, h1, h2], to: [h4, h5, h5, h6], message: 1MB}");
	assert_string_equal(f.why, "");
	assert_int_equal(fair_share(&f.shares, 0, 4), GBPS_ALL / 2);
	assert_int_equal(fair_share(&f.shares, 1, 5), GBPS_ALL / 2);
	assert_int_equal(fair_share(&f.shares, 2, 6), GBPS_ALL);
	assert_int_equal(f.shares.least_bps, GBPS_ALL / 2);
	assert_int_equal(f.shares.most_bps, GBPS_ALL);
	forget(&f);
}

/* Links that hold up messages which leave a rack are shared by these; the others are not held. */
static void uplinks_are_shared_too(void **state)
{
	struct found f;

	(void)state;
	find(&f, NARROW, "pairs: {from: [h0, h1, h2, h3], to: [h4, h5, h6, h0], message: 1MB}");
	assert_string_equal(f.why, "");
	assert_int_equal(fair_share(&f.shares, 0, 4), GBPS_ALL / 3);
	assert_int_equal(fair_share(&f.shares, 3, 0), GBPS_ALL);
	forget(&f);
	/* as long as they carry what hosts may send, nobody is held */
	find(&f, NARROW, "pairs: {from: [h0, h0, h0, h1], to: [h1, h2, h4, h2], message: 1MB}");
	assert_string_equal(f.why, "");
	assert_int_equal(fair_share(&f.shares, 0, 4), GBPS_ALL / 3);
	assert_int_equal(fair_share(&f.shares, 1, 2), GBPS_ALL / 2);
	forget(&f);
	/* nor are those that come back, of which there is less */
	find(&f, NARROW,
		"pairs: {from: [h1, h2, h3, h6, h6, h7, h7, h7, h7],\n"
		"  to: [h5, h6, h7, h0, h4, h1, h2, h4, h5], message: 1MB}");
	assert_string_equal(f.why, "");
	assert_int_equal(fair_share(&f.shares, 2, 6), GBPS_ALL / 3);
	assert_int_equal(fair_share(&f.shares, 6, 0), GBPS_ALL / 2);
	assert_int_equal(fair_share(&f.shares, 7, 1), GBPS_ALL / 4);
	forget(&f);
	all_have(NARROW, "collective: {op: all_gather, size: 64MB}", GBPS_ALL);
	not_known(NARROW, "all_to_all: {message: 1MB, window: 3}",
		"the fabric is oversubscribed, and as messages take turns, the number of them that cross its uplinks changes");
}

/* Whatever faults do to links. */
static void failures_change_nothing(void **state)
{
	(void)state;
	all_have(FULL,
		"permutation: {message: 1MB, count: 2}]\n"
		"faults: [{links: 'leaf0-spine*', at: 0us, do: {rate: 10%}}",
		GBPS_ALL / 2);
}

static void what_is_left_to_time_is_not_known(void **state)
{
	(void)state;
	not_known(FULL, "load: {sizes: websearch, load: 30%, until: 1ms}",
		"workload.0.load: flows arrive at random; how many are under way at a time is not known");
	not_known(FULL, "parameter_server: {download: 1MB, upload: 1MB}",
		"workload.0.parameter_server: messages that wait for others need not take their places; how many are under way at a time is not known");
	not_known(FULL,
		"permutation: {message: 1MB}, incast: {senders: 2, message: 1MB, start: 50us}",
		"workload.1.incast: messages begin up to 50us apart; how many are under way at a time is not known");
	/* two at a host: a packet of 4096 bytes, 4192 on the wire, each 671 ns */
	all_have(FULL, "permutation: {message: 1MB}, permutation: {message: 1MB, start: 670ns}",
		GBPS_ALL / 2);
}

static uint64_t told[2];

static void open_told(struct endpoint *ep, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint64_t now)
{
	told[sender] = flow->fair_bps;
	transport_kinds[0]->ops->open(ep, env, flow, sender, now);
}

static void transports_are_told(void **state)
{
	uint64_t out[8] = {7, 9, 9, 9, 9, 9, 9, 9}, in[8] = {9, 9, 9, 9, 8, 9, 9, 6};
	struct share_division hosts = {NULL, out, in};
	const struct fair_shares shares = {&hosts, 1, .entries = 1};
	const struct operation messages[] = {{.src_host = 0, .dst_host = 4, .bytes = 1},
		{.src_host = 1, .dst_host = 4, .bytes = 1, .start_ps = 1000000000}};
	struct transport_ops ops = *transport_kinds[0]->ops;
	const struct small_config c = {.transport = &ops, .buffer_bytes = 1000000};
	struct small_net s;

	(void)state;
	ops.open = open_told;
	small_net_fabric(&s, 2, 2, 4, GBPS_ALL, 500000);
	small_net_open(&s, &c);
	engine_set_shares(s.engine, &shares);
	assert_int_equal(engine_add_flows(s.engine, messages, 2, NULL, 0), 0);
	small_net_run(&s, 1000000);
	assert_int_equal(told[0], 7);
	assert_int_equal(told[1], 7);
	engine_set_shares(s.engine, NULL);
	small_net_run(&s, 1000000000000ull);
	assert_true(engine_done(s.engine));
	assert_int_equal(told[1], 0);
	small_net_close(&s);
}

/* Fewer subflows than without a share, whose windows take more memory together. */
static void shares_fit_into_memory(void **state)
{
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_session_open(&s,
		"name: f\ntopology: {leaf_spine: {leaves: 2, spines: 4, hosts_per_leaf: 4}, rate: 400Gbps, delay: 11us}\n"
		"switch: {buffer: {per_port: 32KB}}\n"
		"workload: [permutation: {message: 100MB, count: 3}]\n"
		"host: {transport: {assembled: {recovery: subflow-dupack}}}\n",
		NULL, 0, NULL);
	if (session_advance(s.session, 2 * PS_PER_US, NULL, &why) < 0)
		fail_msg("%s", why.text);
	small_session_close(&s);
}

static size_t size_by_share(
	const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	return transport_kinds[0]->ops->size(env, flow, sender) +
	       (flow->fair_bps && !sender ? 4096 : 0);
}

static void what_does_not_fit_ends_the_run(void **state)
{
	uint64_t all[8] = {7, 7, 7, 7, 7, 7, 7, 7};
	struct share_division hosts = {NULL, all, all};
	const struct fair_shares shares = {&hosts, 1, .entries = 1};
	struct transport_ops ops = *transport_kinds[0]->ops;
	const struct small_config c = {.transport = &ops};
	struct small_net s;

	(void)state;
	ops.size = size_by_share;
	small_net_fabric(&s, 2, 2, 4, GBPS_ALL, 500000);
	small_net_open(&s, &c);
	engine_set_shares(s.engine, &shares);
	small_net_flow(&s, 0, 4, 1, 0);
	assert_int_equal(engine_run(s.engine, PS_PER_S, NULL), -EOVERFLOW);
	small_net_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_divide_their_links),
		cmocka_unit_test(collectives_take_turns),
		cmocka_unit_test(ends_differ),
		cmocka_unit_test(uplinks_are_shared_too),
		cmocka_unit_test(failures_change_nothing),
		cmocka_unit_test(what_is_left_to_time_is_not_known),
		cmocka_unit_test(transports_are_told),
		cmocka_unit_test(shares_fit_into_memory),
		cmocka_unit_test(what_does_not_fit_ends_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
