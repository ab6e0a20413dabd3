/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sessions to which things are done by hand, at random but seeded: the scenario that session_save()
 * writes, run as it is, comes to the very same trace, counts and flows. FABRICBED_LONG: ten times
 * as many sequences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/numbers.h"
#include "base/rng_stream.h"
#include "base/units.h"
#include "lib/small_session.h"
#include "topology/targets.h"

/* ---- a session that lasts, and what can be done to it */

struct hand {
	struct small_session s;
	uint64_t dice;
};

static void hand_open(struct hand *h, const char *text, uint64_t seed)
{
	struct session_params p = {.lasting = true};
	struct error why = ERROR_INIT;

	*h = (struct hand){.dice = rng_mix(seed)};
	small_session_load(&h->s, text, NULL, 0);
	/* a live fabric's workload starts on command */
	for (size_t i = 0; i < h->s.scenario->workload_count; i++)
		workload_spec_release(&h->s.scenario->workloads[i]);
	h->s.scenario->workload_count = 0;
	p.scenario = h->s.scenario;
	p.fabric = h->s.fabric;
	if (session_open(&h->s.session, &p, &why) < 0)
		fail_msg("%s", why.text);
}

static uint64_t now_ps(const struct hand *h)
{
	return engine_now(session_engine(h->s.session));
}

static void hand_step(struct hand *h, uint64_t span_ps)
{
	struct error why = ERROR_INIT;

	if (session_advance(h->s.session, now_ps(h) + span_ps, NULL, &why) < 0)
		fail_msg("%s", why.text);
}

/* To the very moment of the next event, if there is one: commands come before it. */
static void hand_step_to_event(struct hand *h)
{
	uint64_t next = session_next(h->s.session);

	if (next != UINT64_MAX && next > now_ps(h))
		hand_step(h, next - now_ps(h));
}

/* A fault's words, separated by blanks. NULL: invalid, or no such thing in the fabric. */
static json_t *inject(struct hand *h, const char *line)
{
	char copy[256], *rest = copy, *word;
	struct diags diags = DIAGS_INIT;
	struct error why = ERROR_INIT;
	const char *words[32];
	struct fault_spec f;
	size_t count = 0;
	json_t *result;
	int r;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " ")))
		words[count++] = word;
	r = scenario_fault_words(&f, words, count, &diags);
	if (r == 0) {
		r = fabric_check_fault(h->s.fabric, &f, &diags);
		if (r < 0)
			fault_spec_release(&f);
	}
	diags_release(&diags);
	if (r < 0)
		return NULL;
	result = session_inject(h->s.session, &f, &why);
	if (!result)
		fail_msg("%s: %s", line, why.text);
	return result;
}

static void hand_inject(struct hand *h, const char *line)
{
	json_t *result = inject(h, line);

	if (!result)
		fail_msg("%s: refused", line);
	json_decref(result);
}

static size_t hand_heal(struct hand *h, const struct session_heal *heal)
{
	struct error why = ERROR_INIT;
	json_t *result = session_heal(h->s.session, heal, &why);
	size_t count = json_array_size(json_object_get(result, "healed"));

	if (!result)
		fail_msg("%s", why.text);
	json_decref(result);
	return count;
}

static size_t heal_links(struct hand *h, const char *glob)
{
	return hand_heal(
		h, &(struct session_heal){.what = HEAL_TARGETS, .kind = TARGET_LINK, .glob = glob});
}

static void hand_start(struct hand *h, const char *text)
{
	struct workload_spec *workloads = NULL;
	struct diags diags = DIAGS_INIT;
	struct error why = ERROR_INIT;
	size_t count = 0;
	json_t *result;

	assert_int_equal(
		scenario_workloads(&workloads, &count, NULL, text, strlen(text), &diags), 0);
	assert_int_equal(fabric_check_workloads(h->s.fabric, workloads, count, &diags), 0);
	diags_release(&diags);
	result = session_start(h->s.session, workloads, count, &why);
	if (!result)
		fail_msg("%s", why.text);
	json_decref(result);
	free(workloads);
}

/* ---- the same again, out of the file */

static char *saved(const struct hand *h)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(session_save(h->s.session, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_same_flows(const struct engine *a, const struct engine *b)
{
	for (uint32_t i = 0; i < engine_counts(a)->flows; i++) {
		struct engine_flow_result x, y;

		/* their padding too */
		memset(&x, 0, sizeof(x));
		memset(&y, 0, sizeof(y));
		engine_flow_result(a, i, &x);
		engine_flow_result(b, i, &y);
		assert_int_equal(x.flow.src_host, y.flow.src_host);
		assert_int_equal(x.flow.dst_host, y.flow.dst_host);
		assert_int_equal(x.flow.bytes, y.flow.bytes);
		assert_int_equal(x.start_ps, y.start_ps);
		assert_int_equal(x.finish_ps, y.finish_ps);
		assert_int_equal(x.delivered_ps, y.delivered_ps);
		assert_memory_equal(&x.sender, &y.sender, sizeof(x.sender));
		assert_memory_equal(&x.receiver, &y.receiver, sizeof(x.receiver));
	}
}

/* The scenario is on standard error if the test fails. */
static void assert_replays(const struct hand *h)
{
	struct engine_stats by_hand, again;
	char *text = saved(h);
	struct small_session s;

	small_session_open(&s, text, NULL, 0, NULL);
	small_session_run(&s);
	engine_stats(session_engine(h->s.session), &by_hand);
	engine_stats(session_engine(s.session), &again);
	if (memcmp(&by_hand, &again, sizeof(again)))
		fprintf(stderr, "# the scenario that was saved:\n%s\n", text);
	assert_int_equal(engine_now(session_engine(s.session)), now_ps(h));
	assert_int_equal(by_hand.sent, again.sent);
	assert_int_equal(by_hand.delivered, again.delivered);
	assert_int_equal(by_hand.in_flight, again.in_flight);
	assert_memory_equal(by_hand.dropped, again.dropped, sizeof(again.dropped));
	assert_int_equal(by_hand.trace_hash, again.trace_hash);
	assert_memory_equal(&by_hand, &again, sizeof(again));
	assert_same_flows(session_engine(h->s.session), session_engine(s.session));
	assert_int_equal(engine_check_balance(session_engine(h->s.session)), 0);
	small_session_close(&s);
	free(text);
}

/* ---- worlds */

#define CLASSES_3_4                                                                                \
	"host: {transport: {roce: {congestion: off}}, dscp: {data: 26, control: 0, notify: 0}}\n"  \
	"switch:\n"                                                                                \
	"  ecn: off\n"                                                                             \
	"  buffer: {shared: 2MB, alpha: 1}\n"                                                      \
	"  classes: [{class: 0}, {class: 3, dscp: 26, lossless: yes}, {class: 4, dscp: 28, lossless: yes}]\n"

struct world {
	const char *text;
	const char *more; /* another file whose workload can be started; goes on for long */
};

#define MORE(senders, to)                                                                          \
	"workload: [{incast: {senders: " senders ", to: " to                                       \
	", message: 4MB}}, {permutation: {message: 100KB, start: 7us, repeat: 200}}]\n"

static const struct world worlds[] = {
	/* routes that follow later */
	{"name: w\ntopology: {fat_tree: {k: 4}}\n"
	 "switch: {buffer: {per_port: 100KB}, reroute: 9us}\n"
	 "workload: [{permutation: {message: 150KB}}]\n",
		MORE("4", "h3")},
	/* faults of its own, in the way of what comes by hand */
	{"name: w\nseed: 7\ntopology: {leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 2}}\n"
	 "switch: {buffer: {per_port: 100KB}, reroute: {after: 3us, mode: local}}\n"
	 "workload: [{permutation: {message: 200KB}}]\n"
	 "faults:\n"
	 "  - {at: 10us, until: 60us, link: \"leaf*-spine0\", do: {loss: 2%}}\n"
	 "  - {at: 20us, until: 50us, link: leaf1-spine1, do: down}\n"
	 "  - {at: 30us, link: leaf2-spine1, do: {flaky: {every: 20us, last: 3us}}}\n"
	 "  - {at: 40us, until: 70us, switch: spine1, do: down}\n"
	 "  - {at: 70us, until: 90us, switch: \"spine*\", do: down}\n",
		MORE("3", "h5")},
	/* headers, to the receiver or back */
	{"name: w\ntopology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}}\n"
	 "switch: {buffer: {per_port: 40KB}, trim: receiver}\n"
	 "host: {transport: {strack: {congestion: off, window: 100% BDP}}}\n"
	 "workload: [{incast: {senders: 6, to: h0, message: 100KB}}]\n",
		MORE("7", "h1")},
	{"name: w\ntopology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}}\n"
	 "switch: {buffer: {per_port: 40KB}, trim: sender, reroute: 0us}\n"
	 "host: {transport: {strack: {congestion: off, window: 100% BDP}}}\n"
	 "workload: [{incast: {senders: 6, to: h0, message: 100KB}}]\n",
		MORE("5", "h6")},
	/* pauses, port roles, and hosts that never let go */
	{"name: w\ntopology: {leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 2}}\n"
	 "workload: [{pairs: {from: [h0, h1, h2], to: [h4, h4, h4], message: 300KB}}]\n" CLASSES_3_4
	 "  pfc: {watchdog: 200us}\n"
	 "  lldp: {every: 10us}\n"
	 "  roles: {remap: {3: 4}}\n"
	 "  reroute: {after: 5us, mode: local}\n",
		MORE("5", "h2")},
};

/* ---- random sequences */

static uint32_t below(struct hand *h, uint32_t n)
{
	return rng_below(&h->dice, n);
}

static const char *pick(struct hand *h, const char *const *from, uint32_t count)
{
	return from[below(h, count)];
}

/* Names and globs of either topology; what a fabric does not have is refused. */
static const char *const links[] = {"agg0.1-core2", "tor0.0-agg0.1", "agg*-core0", "h1-*", "*",
	"leaf0-spine1", "leaf*-spine0", "leaf1-*", "h0-leaf0", "h*-leaf*", "agg*-core[23]",
	"spine0-leaf1"};
static const char *const deeds[] = {"down", "rate 25%", "rate 60%", "delay 2us", "delay 300ns",
	"loss 1%", "loss 30%", "gilbert enter 1% leave 10%", "flaky every 30us last 5us",
	"errors 1e-6"};
static const char *const picks[] = {
	"", "", "", " pick 1", " pick 3 skip 1", " pick 1 per switch", " pick 2 per pod"};
static const char *const switches[] = {
	"core1", "agg*.0", "tor1.1", "spine1", "spine*", "leaf0", "*"};
static const char *const hosts[] = {"h0", "h4", "h[12]", "*"};

static void random_inject(struct hand *h)
{
	char line[256], span[32] = "";
	json_t *result;

	if (below(h, 2))
		snprintf(span, sizeof(span), " for %ups", 1 + below(h, 30000000));
	switch (below(h, 6)) {
	case 0:
		snprintf(line, sizeof(line), "switch %s down%s", pick(h, switches, COUNT(switches)),
			span);
		break;
	case 1:
		snprintf(line, sizeof(line), "host %s pause %d%s", pick(h, hosts, COUNT(hosts)),
			below(h, 4) ? 3 : 4, span);
		break;
	default:
		snprintf(line, sizeof(line), "link %s%s %s%s", pick(h, links, COUNT(links)),
			pick(h, picks, COUNT(picks)), pick(h, deeds, COUNT(deeds)), span);
	}
	result = inject(h, line);
	json_decref(result);
}

static void random_heal(struct hand *h)
{
	struct session_heal heal = {.what = HEAL_ALL};

	switch (below(h, 6)) {
	case 0:
		break;
	case 1:
		heal.what = HEAL_FAULT;
		heal.fault = below(h, (uint32_t)h->s.scenario->fault_count + 1);
		break;
	case 2:
		heal.what = HEAL_TARGETS;
		heal.kind = TARGET_SWITCH;
		heal.glob = pick(h, switches, COUNT(switches));
		break;
	case 3:
		heal.what = HEAL_TARGETS;
		heal.kind = TARGET_HOST;
		heal.glob = pick(h, hosts, COUNT(hosts));
		break;
	default:
		heal.what = HEAL_TARGETS;
		heal.kind = TARGET_LINK;
		heal.glob = pick(h, links, COUNT(links));
	}
	hand_heal(h, &heal);
}

static void random_deed(struct hand *h, const struct world *w)
{
	uint32_t dice = below(h, 20);

	if (dice < 8)
		random_inject(h);
	else if (dice < 12)
		random_heal(h);
	else if (dice < 13)
		hand_start(h, w->text);
	else if (dice < 15)
		hand_step_to_event(h);
	else
		hand_step(h, 1 + below(h, 20000000));
}

#define DEEDS 24

static void random_sequence(const struct world *w, uint64_t seed)
{
	struct hand h;

	hand_open(&h, w->text, seed);
	hand_step(&h, below(&h, 2) * below(&h, 10000000));
	hand_start(&h, w->more); /* so much that it is not done in the end */
	for (int i = 0; i < DEEDS; i++)
		random_deed(&h, w);
	hand_step(&h, 1 + below(&h, 20000000));
	assert_true(engine_counts(session_engine(h.s.session))->flows_done <
		    engine_counts(session_engine(h.s.session))->flows);
	assert_replays(&h);
	small_session_close(&h.s);
}

static void random_sequences(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 400 : 40;

	(void)state;
	for (uint64_t seed = 0; seed < seeds; seed++)
		for (size_t i = 0; i < COUNT(worlds); i++) {
			print_message("# world %zu, seed %llu\n", i, (unsigned long long)seed);
			random_sequence(&worlds[i], seed * COUNT(worlds) + i);
		}
}

/* ---- single cases */

/* Links: h0-leaf0, h1-leaf1, leaf0-spine0, ... */
#define SMALL                                                                                      \
	"name: s\n"                                                                                \
	"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}}\n"                      \
	"switch: {reroute: 10us}\n"
#define LONG_WAY "workload: [{pairs: {from: [h0], to: [h1], message: 64MB}}]\n"

/* A row of `show faults` that is to be "state since until". */
static void assert_fault(const struct hand *h, size_t fault, const char *want)
{
	json_t *rows = session_faults(h->s.session, NULL), *row = json_array_get(rows, fault);
	const json_t *until = json_object_get(row, "until_us");
	char seen[128], end[32] = "never";

	assert_non_null(row);
	if (json_is_number(until))
		snprintf(end, sizeof(end), "%.6f", json_number_value(until));
	snprintf(seen, sizeof(seen), "%s %.6f %s", json_string_value(json_object_get(row, "state")),
		json_number_value(json_object_get(row, "since_us")), end);
	assert_string_equal(seen, want);
	json_decref(rows);
}

static void assert_saved(const struct hand *h, const char *line)
{
	char *text = saved(h);

	if (!strstr(text, line))
		fail_msg("no \"%s\" in\n%s", line, strstr(text, "faults:"));
	free(text);
}

static void heal_all(struct hand *h)
{
	hand_heal(h, &(struct session_heal){.what = HEAL_ALL});
}

/* Spans as long as a scenario allows, from a moment that is not 0. */
static void the_longest_spans_can_be_saved(void **state)
{
	struct hand h;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	hand_step(&h, 10 * PS_PER_US);
	hand_start(
		&h, "workload: [{pairs: {from: [h0], to: [h1], message: 1MB, start: 864000s}}]\n");
	hand_inject(&h, "link leaf0-spine0 loss 1% for 864000s");
	hand_step(&h, 10 * PS_PER_US);
	assert_saved(&h, "at: 10us, until: 864000.00001s,");
	assert_replays(&h);
	small_session_close(&h.s);
}

/* A glob of which one link is healed becomes a fault for each. */
static void heals_a_part(void **state)
{
	struct hand h;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	hand_start(&h, LONG_WAY);
	hand_step(&h, 10 * PS_PER_US);
	hand_inject(&h, "link leaf*-spine* rate 50%");
	hand_step(&h, 10 * PS_PER_US);
	assert_int_equal(heal_links(&h, "leaf1-spine0"), 1);
	assert_int_equal(heal_links(&h, "leaf1-spine0"), 0);
	assert_fault(&h, 0, "in force 10.000000 never");
	hand_step(&h, 10 * PS_PER_US);
	assert_saved(&h, "{at: 10us, until: never, link: \"leaf0-spine0\", do: {rate: 50%}}");
	assert_saved(&h, "{at: 10us, until: 20us, link: \"leaf1-spine0\", do: {rate: 50%}}");
	heal_all(&h);
	assert_fault(&h, 0, "over 10.000000 30.000000");
	hand_step(&h, 10 * PS_PER_US);
	assert_replays(&h);
	small_session_close(&h.s);
}

/* One of the same kind takes its place, one of another kind does not. */
static void replaces_its_kind(void **state)
{
	struct hand h;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	hand_start(&h, LONG_WAY);
	hand_inject(&h, "link leaf*-spine* loss 50%");
	hand_step(&h, 5 * PS_PER_US);
	hand_inject(&h, "link leaf0-* delay 3us");
	hand_inject(&h, "link leaf*-spine* loss 1% for 7us");
	assert_fault(&h, 0, "over 0.000000 5.000001");
	assert_fault(&h, 1, "in force 5.000000 never");
	assert_fault(&h, 2, "in force 5.000001 12.000001");
	hand_step(&h, 20 * PS_PER_US);
	assert_fault(&h, 2, "over 5.000001 12.000001");
	assert_replays(&h);
	small_session_close(&h.s);
}

/* What begins and ends at one moment has lasted a picosecond: it has cut what was on the wire. */
static void lasts_at_least_a_picosecond(void **state)
{
	uint64_t lost;
	struct hand h;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	hand_start(&h, LONG_WAY);
	hand_step(&h, 50 * PS_PER_US);
	lost = engine_counts(session_engine(h.s.session))->dropped[DROP_LINK_DOWN];
	hand_inject(&h, "link h0-leaf0 down");
	heal_all(&h);
	assert_fault(&h, 0, "over 50.000000 50.000001");
	heal_all(&h); /* there is nothing, and so no time passes */
	assert_int_equal(now_ps(&h), 50 * PS_PER_US + 1);
	hand_step(&h, 5 * PS_PER_US);
	assert_true(engine_counts(session_engine(h.s.session))->dropped[DROP_LINK_DOWN] > lost);
	assert_replays(&h);
	small_session_close(&h.s);
}

/* A fault of the timetable ends one of its kind that was injected before; both are told apart. */
static void timetable_takes_over(void **state)
{
	struct hand h;

	(void)state;
	hand_open(&h,
		SMALL LONG_WAY
		"faults: [{at: 30us, until: 40us, link: \"leaf0-*\", do: {delay: 2us}}]\n",
		0);
	hand_start(&h, LONG_WAY);
	hand_step(&h, 10 * PS_PER_US);
	hand_inject(&h, "link leaf*-spine* delay 1us");
	/* its end is known before it comes */
	assert_saved(&h, "{at: 10us, until: 30us, link: \"leaf0-spine0\", do: {delay: 1us}}");
	assert_saved(&h, "{at: 10us, until: never, link: \"leaf1-spine0\", do: {delay: 1us}}");
	assert_fault(&h, 0, "pending 30.000000 40.000000");
	assert_replays(&h);
	hand_step(&h, 25 * PS_PER_US);
	assert_fault(&h, 0, "in force 30.000000 40.000000");
	assert_string_equal(session_port_faults(h.s.session, h.s.fabric->links[1].a), "");
	assert_string_equal(session_port_faults(h.s.session, h.s.fabric->links[2].a), "delay");
	hand_step(&h, 25 * PS_PER_US);
	assert_fault(&h, 0, "over 30.000000 40.000000");
	assert_fault(&h, 1, "in force 10.000000 never");
	assert_replays(&h);
	small_session_close(&h.s);
}

/* Routes that would have followed an end that came sooner follow that one, and not once more. */
static void no_reroute_for_what_was_healed(void **state)
{
	struct hand h;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	hand_inject(&h, "link leaf0-spine0 down for 30us");
	hand_step(&h, 20 * PS_PER_US);
	assert_int_equal(session_tally(h.s.session)->reroutes, 1);
	heal_all(&h);
	hand_step(&h, 15 * PS_PER_US);
	assert_int_equal(session_tally(h.s.session)->reroutes, 2);
	hand_step(&h, 15 * PS_PER_US);
	assert_int_equal(session_tally(h.s.session)->reroutes, 2);
	assert_int_equal(session_tally(h.s.session)->faults, 2);
	small_session_close(&h.s);
}

/* Routes that change at this very moment do so before the command, and the save says so. */
static void after_the_routes_of_that_moment(void **state)
{
	struct hand h;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	hand_start(&h, LONG_WAY);
	hand_inject(&h, "link leaf0-spine0 down for 5us");
	hand_step(&h, 10 * PS_PER_US);
	hand_inject(&h, "link leaf0-spine1 down for 3us");
	assert_fault(&h, 1, "in force 10.000001 13.000001");
	hand_step(&h, 30 * PS_PER_US);
	assert_replays(&h);
	small_session_close(&h.s);
}

/* When all flows have ended a run does, too: a fabric may go on, but that changes none of them. */
static void to_the_end(void **state)
{
	struct small_session s;
	struct hand h;
	char *text;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	hand_step(&h, 3 * PS_PER_US);
	hand_inject(&h, "link h0-leaf0 loss 2%");
	hand_start(&h, "workload: [{pairs: {from: [h0, h1], to: [h1, h0], message: 1MB}}]\n");
	while (session_tally(h.s.session)->flows < 2)
		hand_step(&h, PS_PER_US);
	hand_step(&h, 500 * PS_PER_US);
	assert_true(engine_counts(session_engine(h.s.session))->dropped[DROP_LOSS] > 0);
	text = saved(&h);
	small_session_open(&s, text, NULL, 0, NULL);
	small_session_run(&s);
	assert_same_flows(session_engine(h.s.session), session_engine(s.session));
	small_session_close(&s);
	small_session_close(&h.s);
	free(text);
}

/* Before anything has been done, and before anything has been started. */
static void of_nothing(void **state)
{
	struct small_session s;
	struct hand h;
	char *text;

	(void)state;
	hand_open(&h, SMALL LONG_WAY, 0);
	text = saved(&h);
	small_session_open(&s, text, NULL, 0, NULL);
	assert_int_equal(s.scenario->workload_count, 0);
	small_session_close(&s);
	free(text);
	hand_step(&h, 5 * PS_PER_US);
	hand_inject(&h, "switch leaf0 down");
	hand_step(&h, 5 * PS_PER_US);
	text = saved(&h);
	small_session_open(&s, text, NULL, 0, NULL);
	assert_int_equal(s.scenario->fault_count, 1);
	small_session_run(&s);
	small_session_close(&s);
	free(text);
	small_session_close(&h.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sequences),
		cmocka_unit_test(the_longest_spans_can_be_saved),
		cmocka_unit_test(heals_a_part),
		cmocka_unit_test(replaces_its_kind),
		cmocka_unit_test(lasts_at_least_a_picosecond),
		cmocka_unit_test(timetable_takes_over),
		cmocka_unit_test(no_reroute_for_what_was_healed),
		cmocka_unit_test(after_the_routes_of_that_moment),
		cmocka_unit_test(to_the_end),
		cmocka_unit_test(of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
