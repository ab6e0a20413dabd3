/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session makes of faults that begin and end, one upon another too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/small_session.h"

#define FABRIC                                                                                     \
	"name: t\n"                                                                                \
	"topology:\n"                                                                              \
	"  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}\n"                                \
	"  links:\n"                                                                               \
	"    - {match: \"leaf1-*\", rate: 40Gbps}\n"
/* something that begins when all faults are over */
#define LATE "workload:\n  - pairs: {from: [h0], to: [h1], message: 100KB, start: 1ms}\n"

static uint32_t link_named(const struct small_session *s, const char *name)
{
	for (uint32_t l = 0; l < s->fabric->net.link_count; l++)
		if (fabric_link_matches(s->fabric, l, name))
			return l;
	fail_msg("no link %s", name);
	return 0;
}

/* Its port at the lower tier, or the other one. */
static const struct port *port_of(const struct small_session *s, const char *link, bool upper)
{
	const struct fabric_link *l = &s->fabric->links[link_named(s, link)];

	return &engine_tables(session_engine(s->session))->ports[upper ? l->b : l->a];
}

static struct engine_stats stats_of(const struct small_session *s)
{
	struct engine_stats stats;

	engine_stats(session_engine(s->session), &stats);
	return stats;
}

static void advance(struct small_session *s, uint64_t us)
{
	struct error why = ERROR_INIT;

	if (session_advance(s->session, us * PS_PER_US, NULL, &why) < 0)
		fail_msg("%s", why.text);
}

/* ---- cuts ------------------------------------------------------------------------------------ */

#define LINKS 6

static const char *const links[LINKS] = {
	"h0-leaf0", "h1-leaf1", "leaf0-spine0", "leaf0-spine1", "leaf1-spine0", "leaf1-spine1"};

/* At a time, past what was due then, a letter a link: '-' is up, '/' is down. */
struct look {
	uint64_t us;
	const char *links;
};

static void assert_links(const char *text, const struct look *looks, size_t count)
{
	struct small_session s;

	small_session_open(&s, text, NULL, 0, NULL);
	for (size_t i = 0; i < count; i++) {
		char seen[LINKS + 1] = {0};

		advance(&s, looks[i].us + 1);
		for (int l = 0; l < LINKS; l++) {
			bool up = port_of(&s, links[l], false)->up;

			assert_int_equal(up, port_of(&s, links[l], true)->up);
			seen[l] = up ? '-' : '/';
		}
		if (strcmp(seen, looks[i].links))
			fail_msg("at %u us: %s, not %s", (unsigned)looks[i].us, seen,
				looks[i].links);
	}
	assert_int_equal(stats_of(&s).flows_done, 0);
	small_session_run(&s);
	assert_int_equal(stats_of(&s).flows_done, 1);
	small_session_close(&s);
}

#define ASSERT_LINKS(faults, looks)                                                                \
	assert_links(FABRIC LATE "faults:\n" faults, looks, sizeof(looks) / sizeof((looks)[0]))

static void a_switch_takes_its_links_with_it(void **state)
{
	static const struct look looks[] = {
		{0, "------"}, {10, "--/-/-"}, {29, "--/-/-"}, {30, "------"}};
	static const struct look leaf[] = {{0, "------"}, {10, "/-//--"}, {30, "------"}};

	(void)state;
	ASSERT_LINKS("  - {at: 10us, until: 30us, switch: spine0, do: down}\n", looks);
	ASSERT_LINKS("  - {at: 10us, until: 30us, switch: leaf0, do: down}\n", leaf);
}

/* A link is up again when nothing holds it down any more: not before, and not twice. */
static void two_cuts_on_one_link(void **state)
{
	static const struct look in_turn[] = {{0, "------"}, {10, "--/---"}, {20, "--/-/-"},
		{30, "--/-/-"}, {40, "------"}, {50, "------"}};
	static const struct look inside[] = {
		{0, "------"}, {10, "--/---"}, {20, "--/-/-"}, {30, "--/---"}, {40, "------"}};
	static const struct look around[] = {
		{0, "------"}, {10, "--/-/-"}, {20, "--/-/-"}, {30, "--/-/-"}, {40, "------"}};
	static const struct look ends[] = {
		{0, "------"}, {10, "/-//--"}, {20, "/-///-"}, {30, "--/-/-"}, {40, "------"}};
	static const struct look together[] = {{10, "--/-/-"}, {30, "------"}};

	(void)state;
	ASSERT_LINKS("  - {at: 10us, until: 30us, link: leaf0-spine0, do: down}\n"
		     "  - {at: 20us, until: 40us, switch: spine0, do: down}\n",
		in_turn);
	/* a switch that dies and returns while a link of it is cut */
	ASSERT_LINKS("  - {at: 20us, until: 30us, switch: spine0, do: down}\n"
		     "  - {at: 10us, until: 40us, link: leaf0-spine0, do: down}\n",
		inside);
	ASSERT_LINKS("  - {at: 10us, until: 40us, switch: spine0, do: down}\n"
		     "  - {at: 20us, until: 30us, link: leaf0-spine0, do: down}\n",
		around);
	/* the switches at both of its ends */
	ASSERT_LINKS("  - {at: 10us, until: 30us, switch: leaf0, do: down}\n"
		     "  - {at: 20us, until: 40us, switch: spine0, do: down}\n",
		ends);
	ASSERT_LINKS("  - {at: 10us, until: 30us, link: leaf0-spine0, do: down}\n"
		     "  - {at: 10us, until: 30us, switch: spine0, do: down}\n",
		together);
}

/* One cut hands over to the next: what was on the cable is lost all the same. */
static void cuts_that_meet(void **state)
{
	static const struct look looks[] = {
		{10, "--/---"}, {19, "--/---"}, {20, "--/-/-"}, {29, "--/-/-"}, {30, "------"}};

	(void)state;
	ASSERT_LINKS("  - {at: 20us, until: 30us, switch: spine0, do: down}\n"
		     "  - {at: 10us, until: 20us, link: leaf0-spine0, do: down}\n",
		looks);
}

/* What it held is lost and counted, as is what was on its links. All of it is sent again. */
static void a_switch_dies_with_what_it_holds(void **state)
{
	static const char *const transports[] = {"host.transport=strack", "host.transport=roce"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct small_session s;
		struct engine_stats before, after;
		uint32_t first, count;
		bool met;

		small_session_open(&s,
			"name: t\n"
			"topology: {leaf_spine: {leaves: 4, spines: 1, hosts_per_leaf: 4}}\n"
			"switch: {buffer: {per_port: 1MB}, reroute: 1us}\n"
			"workload:\n  - permutation: {message: 2MB}\n"
			"faults:\n"
			"  - {at: 30us, until: 60us, switch: spine0, do: down}\n",
			&transports[i], 1, NULL);
		advance(&s, 30);
		before = stats_of(&s);
		assert_int_equal(before.dropped[DROP_SWITCH_DOWN], 0);
		first = s.fabric->net.nodes[s.fabric->net.node_count - 1].first_port;
		count = s.fabric->net.nodes[s.fabric->net.node_count - 1].port_count;
		advance(&s, 31);
		after = stats_of(&s);
		assert_int_not_equal(after.dropped[DROP_SWITCH_DOWN], 0);
		assert_int_not_equal(after.dropped[DROP_LINK_DOWN], 0);
		for (uint32_t p = first; p < first + count; p++)
			assert_int_equal(engine_queue_depth(session_engine(s.session), p, 0), 0);
		assert_int_equal(engine_check_balance(session_engine(s.session)), 0);
		small_session_run(&s);
		assert_int_equal(stats_of(&s).flows_done, 16);
		assert_int_equal(
			stats_of(&s).dropped[DROP_SWITCH_DOWN], after.dropped[DROP_SWITCH_DOWN]);
		json_decref(small_session_summary(&s, &met)); /* checks the balance */
		small_session_close(&s);
	}
}

/* ---- the others ------------------------------------------------------------------------------ */

/* A share of each link's own rate, both ways, and back to that. */
static void rate_of_each_link(void **state)
{
	static const struct {
		uint64_t us, fast_bps, slow_bps;
	} looks[] = {{4, 100000000000, 40000000000}, {5, 25000000000, 10000000000},
		{9, 50000000000, 20000000000}, {13, 100000000000, 40000000000}};
	struct small_session s;

	(void)state;
	small_session_open(&s,
		FABRIC LATE "faults:\n"
			    "  - {at: 9us, until: 13us, link: \"leaf*-spine0\", do: {rate: 50%}}\n"
			    "  - {at: 5us, until: 9us, link: \"leaf*-spine0\", do: {rate: 25%}}\n",
		NULL, 0, NULL);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		/* what is not yet due at a moment is done by the next */
		advance(&s, looks[i].us + 1);
		for (int upper = 0; upper < 2; upper++) {
			assert_int_equal(port_of(&s, "leaf0-spine0", upper)->quantum,
				pfc_quantum(looks[i].fast_bps));
			assert_int_equal(port_of(&s, "leaf1-spine0", upper)->quantum,
				pfc_quantum(looks[i].slow_bps));
			assert_int_equal(port_of(&s, "leaf0-spine1", upper)->quantum,
				pfc_quantum(100000000000));
		}
	}
	small_session_close(&s);
}

/* Completion time of the one message, with sets. */
static uint64_t fct_with(const char *text, const char *set)
{
	struct engine_flow_result f;
	struct small_session s;

	small_session_open(&s, text, &set, 1, NULL);
	small_session_run(&s);
	engine_flow_result(session_engine(s.session), 0, &f);
	assert_int_not_equal(f.finish_ps, 0);
	small_session_close(&s);
	return f.finish_ps - f.start_ps;
}

/* Both ways of one link, from the moment on, for as long as it is asked for; nobody else's. */
static void delay_of_a_link(void **state)
{
	static const char text[] =
		"name: t\n"
		"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}}\n"
		"workload:\n  - pairs: {from: [h0], to: [h2], message: 1KB, start: 10us}\n"
		"faults:\n  - {at: 1us, until: 100us, link: h0-leaf0, do: {delay: 3us}}\n";
	const uint64_t plain = fct_with(text, "faults=[]");

	(void)state;
	assert_int_equal(fct_with(text, "seed=1"), plain + 6 * PS_PER_US);
	assert_int_equal(fct_with(text, "faults.0.do.delay=1ns"), plain + 2 * PS_PER_NS);
	/* it ends while the packet is on its way: the answer comes back over the link as it was */
	assert_int_equal(fct_with(text, "faults.0.until=11us"), plain + 3 * PS_PER_US);
	assert_int_equal(fct_with(text, "faults.0.at=11us"), plain + 3 * PS_PER_US);
	assert_int_equal(fct_with(text, "faults.0.until=10us"), plain);
	assert_int_equal(fct_with(text, "faults.0.link=h1-leaf0"), plain);
}

/* Packets that start when a delay has shrunk queue up behind those that are under way. */
static void shrinking_delay_does_not_reorder(void **state)
{
	static const char *const none[] = {"faults=[]"};

	(void)state;
	for (int delayed = 0; delayed < 2; delayed++) {
		struct engine_flow_result f;
		struct small_session s;

		small_session_open(&s,
			"name: t\n"
			"topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 2}}\n"
			"host: {transport: {roce: {congestion: off}}}\n"
			"workload:\n  - pairs: {from: [h0], to: [h1], message: 1MB}\n"
			"faults:\n"
			"  - {at: 10us, until: 20us, link: h0-leaf0, do: {delay: 7us}}\n"
			"  - {at: 20us, until: 25us, link: h0-leaf0, do: {delay: 2us}}\n"
			"  - {at: 30us, until: 40us, link: h1-leaf0, do: {delay: 5us}}\n",
			none, !delayed, NULL);
		small_session_run(&s);
		engine_flow_result(session_engine(s.session), 0, &f);
		/* RoCEv2's receiver throws away what comes out of order, and answers with a NAK */
		assert_int_equal(f.receiver.out_of_order, 0);
		assert_int_equal(f.receiver.naks, 0);
		assert_int_equal(f.sender.retransmitted, 0);
		assert_int_equal(stats_of(&s).flows_done, 1);
		small_session_close(&s);
	}
}

/* ---- what acts on the frames of a cable ------------------------------------------------------ */

static const struct fault *fault_of(const struct small_session *s, const char *link, bool upper)
{
	const struct fabric_link *l = &s->fabric->links[link_named(s, link)];

	return &engine_tables(session_engine(s->session))->faults[upper ? l->b : l->a];
}

/* What of it is on: L(oss), G(ilbert), B(ursts), E(rrors). */
static const char *on_cable(const struct fault *f, char buf[5])
{
	char *at = buf;

	if (f->loss)
		*at++ = 'L';
	if (f->enter)
		*at++ = 'G';
	if (f->every_ps)
		*at++ = 'B';
	if (f->hazard)
		*at++ = 'E';
	*at = 0;
	return buf;
}

/* Each has its time, both ways; one that goes leaves the others, and other cables have none. */
static void faults_of_a_cable_share_it(void **state)
{
	static const struct {
		uint64_t us;
		const char *on;
	} looks[] = {{5, ""}, {10, "L"}, {20, "LG"}, {30, "LGB"}, {40, "LGBE"}, {50, "GBE"},
		{60, "BE"}, {70, "E"}, {80, ""}};
	struct small_session s;

	(void)state;
	small_session_open(&s,
		FABRIC LATE
		"faults:\n"
		"  - {at: 10us, until: 50us, link: leaf0-spine0, do: {loss: 1%}}\n"
		"  - {at: 20us, until: 60us, link: leaf0-spine0, do: {gilbert: {enter: 1%, leave: 9%}}}\n"
		"  - {at: 30us, until: 70us, link: leaf0-spine0, do: {flaky: {every: 9us, last: 1us}}}\n"
		"  - {at: 40us, until: 80us, link: leaf0-spine0, do: {errors: 1e-9}}\n",
		NULL, 0, NULL);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		char buf[5];

		advance(&s, looks[i].us + 1);
		for (int upper = 0; upper < 2; upper++) {
			assert_string_equal(
				on_cable(fault_of(&s, "leaf0-spine0", upper), buf), looks[i].on);
			assert_string_equal(on_cable(fault_of(&s, "leaf0-spine1", upper), buf), "");
		}
	}
	small_session_close(&s);
}

/* Each loses under its own reason, and no other; while it is on, and not after. */
static void faults_have_their_reasons(void **state)
{
	static const struct {
		const char *set;
		enum drop_reason reason;
	} cases[] = {
		{"faults.0.do={loss: 5%}", DROP_LOSS},
		{"faults.0.do={gilbert: {enter: 5%, leave: 20%}}", DROP_GILBERT},
		{"faults.0.do={flaky: {every: 20us, last: 2us}}", DROP_BURST},
		{"faults.0.do={errors: 1e-6}", DROP_FCS},
		{"faults.0.do=down", DROP_LINK_DOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_stats at_end, stats;
		struct small_session s;

		small_session_open(&s,
			"name: t\n"
			"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}}\n"
			"switch: {buffer: {per_port: 10MB}}\n"
			"workload:\n"
			"  - pairs: {from: [h0, h1, h2, h3], to: [h2, h3, h0, h1], message: 2MB}\n"
			"faults:\n"
			"  - {at: 20us, until: 120us, link: \"leaf*-spine0\", do: down}\n",
			&cases[i].set, 1, NULL);
		advance(&s, 20);
		stats = stats_of(&s);
		for (int r = 0; r < DROP_REASON_COUNT; r++)
			assert_int_equal(stats.dropped[r], 0);
		advance(&s, 125);
		at_end = stats_of(&s);
		small_session_run(&s);
		stats = stats_of(&s);
		for (int r = 0; r < DROP_REASON_COUNT; r++) {
			assert_int_equal(at_end.dropped[r], stats.dropped[r]);
			if ((stats.dropped[r] != 0) != (r == (int)cases[i].reason))
				fail_msg("%s: %llu dropped for reason %d", cases[i].set,
					(unsigned long long)stats.dropped[r], r);
		}
		assert_int_equal(stats.flows_done, 4);
		small_session_close(&s);
	}
}

/* A storm holds what is for the host, in its class, until it ends. */
static void storm_of_a_host(void **state)
{
	struct small_session s;
	uint64_t delivered;

	(void)state;
	small_session_open(&s,
		"name: t\n"
		"topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 2}}\n"
		"switch: {buffer: {per_port: 200KB}, pfc: on, classes: [{class: 0}, {class: 3, dscp: 26, lossless: yes}]}\n"
		"host: {transport: roce, dscp: {data: 26, control: 0, notify: 0}}\n"
		"workload:\n  - pairs: {from: [h0], to: [h1], message: 4MB}\n"
		"faults:\n  - {at: 50us, until: 1ms, host: h1, do: {pause: 3}}\n",
		NULL, 0, NULL);
	advance(&s, 60);
	delivered = stats_of(&s).delivered;
	assert_true(delivered > 100);
	/* whatever a pause lasts at most: it is told again in time */
	advance(&s, 1000);
	/* answers come in another class, and there are none but to data */
	assert_in_range(stats_of(&s).delivered, delivered, delivered + 1);
	small_session_run(&s);
	assert_int_equal(stats_of(&s).flows_done, 1);
	assert_int_equal(stats_of(&s).dropped[DROP_HEADROOM], 0);
	small_session_close(&s);
}

/* ---- events.jsonl ---------------------------------------------------------------------------- */

static void every_kind_to_the_byte(void **state)
{
	char directory[SMALL_PATH], *text;
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_session_open(&s,
		FABRIC LATE
		"switch: {reroute: 50us, pfc: on, classes: [{class: 0}, {class: 3, dscp: 26, lossless: yes}]}\n"
		"faults:\n"
		"  - {at: 1us, until: 101us, link: leaf0-spine0, do: down}\n"
		"  - {at: 2us, until: 102us, link: leaf1-spine0, do: {rate: 25%}}\n"
		"  - {at: 3us, until: 103us, link: leaf0-spine0, do: {delay: 2500ns}}\n"
		"  - {at: 4us, until: 104us, link: leaf0-spine0, do: {loss: 25%}}\n"
		"  - {at: 5us, until: 105us, link: leaf0-spine0, do: {gilbert: {enter: 1%, leave: 9%}}}\n"
		"  - {at: 6us, until: 106us, link: leaf0-spine0, do: {flaky: {every: 9us, last: 1us}}}\n"
		"  - {at: 7us, until: 107us, link: leaf0-spine0, do: {errors: 1e-9}}\n"
		"  - {at: 8us, until: 108us, switch: spine1, do: down}\n"
		"  - {at: 9us, until: 109us, host: h1, do: {pause: 3}}\n",
		NULL, 0, directory);
	small_session_run(&s);
	assert_int_equal(session_write(s.session, NULL, NULL, &why), 0);
	text = small_file(directory, "events.jsonl");
	assert_non_null(text);
	assert_string_equal(text,
		"{\"t_us\":1.0,\"event\":\"link_down\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":2.0,\"event\":\"link_rate\",\"link\":\"leaf1-spine0\",\"rate_bps\":10000000000}\n"
		"{\"t_us\":3.0,\"event\":\"link_delay\",\"link\":\"leaf0-spine0\",\"extra_us\":2.5}\n"
		"{\"t_us\":4.0,\"event\":\"loss\",\"link\":\"leaf0-spine0\",\"share\":0.25}\n"
		"{\"t_us\":5.0,\"event\":\"gilbert\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":6.0,\"event\":\"flaky\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":7.0,\"event\":\"bit_errors\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":8.0,\"event\":\"switch_down\",\"node\":\"spine1\"}\n"
		"{\"t_us\":9.0,\"event\":\"pause_storm\",\"node\":\"h1\",\"class\":3}\n"
		/* 84 byte times and the delay later, for 65535 quanta of 12.8 ns; not refreshed */
		"{\"t_us\":10.0168,\"event\":\"pauses\",\"port\":\"leaf1->h1\",\"class\":3,\"count\":1,"
		"\"paused_us\":838.848,\"until_us\":848.8648,\"lasts\":false}\n"
		/* leaf0 is cut off: both leaves and spine0 have lost one way, spine1 both of its */
		"{\"t_us\":51.0,\"event\":\"reroute\",\"routes_changed\":5}\n"
		"{\"t_us\":58.0,\"event\":\"reroute\",\"routes_changed\":0}\n"
		"{\"t_us\":101.0,\"event\":\"link_up\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":102.0,\"event\":\"link_rate\",\"link\":\"leaf1-spine0\",\"rate_bps\":40000000000}\n"
		"{\"t_us\":103.0,\"event\":\"link_delay\",\"link\":\"leaf0-spine0\",\"extra_us\":0.0}\n"
		"{\"t_us\":104.0,\"event\":\"loss_end\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":105.0,\"event\":\"gilbert_end\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":106.0,\"event\":\"flaky_end\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":107.0,\"event\":\"bit_errors_end\",\"link\":\"leaf0-spine0\"}\n"
		"{\"t_us\":108.0,\"event\":\"switch_up\",\"node\":\"spine1\"}\n"
		"{\"t_us\":109.0,\"event\":\"pause_storm_end\",\"node\":\"h1\",\"class\":3}\n"
		"{\"t_us\":151.0,\"event\":\"reroute\",\"routes_changed\":5}\n"
		"{\"t_us\":158.0,\"event\":\"reroute\",\"routes_changed\":0}\n");
	free(text);
	small_session_close(&s);
	small_directory_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_takes_its_links_with_it),
		cmocka_unit_test(two_cuts_on_one_link),
		cmocka_unit_test(cuts_that_meet),
		cmocka_unit_test(a_switch_dies_with_what_it_holds),
		cmocka_unit_test(rate_of_each_link),
		cmocka_unit_test(delay_of_a_link),
		cmocka_unit_test(shrinking_delay_does_not_reorder),
		cmocka_unit_test(faults_of_a_cable_share_it),
		cmocka_unit_test(faults_have_their_reasons),
		cmocka_unit_test(storm_of_a_host),
		cmocka_unit_test(every_kind_to_the_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
