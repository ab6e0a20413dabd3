/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Assembled transports in a scenario: what they need of the fabric, and what is said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/json.h"
#include "engine/internal.h"
#include "lib/small_session.h"
#include "report/fabric_report.h"
#include "scenario_fixture.h"
#include "session/traffic.h"
#include "topology/make_fabric.h"

#define LEAVES "topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}, mtu: 1024}\n"

/* ---- frames ---- */

/* Their headers are longer than strack's; of the entries' transports the longest counts. */
static void frames_have_room(void **state)
{
	static const char text[] = NAMED LEAVES
		"workload:\n"
		"  - {permutation: {message: 20KB}}\n"
		"  - {permutation: {message: 20KB}, transport: {assembled: {recovery: dupack}}}\n";
	static const char *const sets[] = {"host.ip=6", "host.payload=full"};

	(void)state;
	for (size_t count = 0; count <= COUNT(sets); count++) {
		struct small_session s;
		struct engine_stats stats;

		small_session_open(&s, text, sets, count, NULL);
		assert_int_equal(s.fabric->packet_bytes,
			14 + (count ? 40 : 20) + 8 + 12 + sizeof(struct assembled_data) + 1024 + 4);
		small_session_run(&s);
		engine_stats(session_engine(s.session), &stats);
		assert_int_equal(stats.corrupt, 0);
		small_session_close(&s);
	}
}

/* The class with the least share sends one of them in each round. */
static void a_round_has_room_for_a_frame(void **state)
{
	static const char text[] = NAMED LEAVES
		"switch: {classes: [{class: 0, schedule: 30%}, {class: 1, dscp: 1, schedule: 70%}]}\n"
		"host: {transport: assembled}\n"
		"workload: [{permutation: {message: 20KB}}]\n";
	struct small_session s;

	(void)state;
	small_session_open(&s, text, NULL, 0, NULL);
	assert_int_equal(session_engine(s.session)->quantum[0], wire_bytes(s.fabric->packet_bytes));
	small_session_close(&s);
}

/* ---- times ---- */

/*
 * A code's symbols are all as long, and so are the first and the last packet: two of half the
 * message are sooner through two switches than a full one and one byte.
 */
static void no_message_beats_its_ideal_time(void **state)
{
	static const char text[] = NAMED LEAVES
		"host: {transport: {assembled: {control: {window: 1GB}, recovery: coding}}}\n"
		"workload: [{pairs: {from: [h0], to: [h3], message: 1025B}}]\n";
	struct engine_flow_result is;
	struct small_session s;

	(void)state;
	small_session_open(&s, text, NULL, 0, NULL);
	small_session_run(&s);
	engine_flow_result(session_engine(s.session), 0, &is);
	assert_true(is.finish_ps);
	assert_int_equal(is.finish_ps - is.flow.start_ps, is.flow.ideal_ps);
	small_session_close(&s);
}

/* ---- what parts need ---- */

#define HOST(parts) "host: {dscp: {control: 48}, transport: {assembled: {" parts "}}}\n"
#define LISTED                                                                                     \
	"pfc: on, classes: [{class: 0}, {class: 3, dscp: 26, lossless: yes}, {class: 7, dscp: 48}]"
#define OFF      NAMED LEAVES "switch: {" LISTED "}\n"
#define TRIM(to) NAMED LEAVES "switch: {trim: " to ", " LISTED "}\n"
#define SEND     "workload: [{permutation: {message: 1}"

#define LOSSLESS(what)                                                                             \
	what ": its data has DSCP 26 and goes by class 3, which is lossless, and no packet is cut there; give its data a DSCP of a lossy class, or another recovery\n"

static void recovery_needs_headers(void **state)
{
	static const char *const good[] = {
		TRIM("receiver") HOST("recovery: trim"),
		TRIM("receiver") HOST("recovery: trim") SEND "}]\n",
		TRIM("sender") HOST("recovery: return") SEND "}]\n",
		TRIM("{overflow: return}") HOST("recovery: trim") SEND
		", transport: {assembled: {recovery: return}}}]\n",
		/* nobody has that of hosts */
		OFF HOST("recovery: trim") SEND ", transport: strack}]\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		scenario_free(load(good[i]));
	expect(OFF HOST("recovery: trim"),
		"4:63: host.transport.assembled.recovery: trim: switches drop whole packets, and it needs their headers at the receiver; give switch.trim: receiver, or another recovery\n");
	expect(TRIM("sender") HOST("recovery: trim") SEND "}, {permutation: {message: 1}}]\n",
		"4:63: host.transport.assembled.recovery: trim: switches return headers to the sender (switch.trim), and it needs them at the receiver; give to: receiver, or recovery: return\n");
	expect(OFF SEND ", transport: {assembled: {recovery: {return: {rto: 1ms}}}}}]\n",
		"4:74: workload.0.transport.assembled.recovery: return: switches drop whole packets, and it needs their headers back at the sender; give switch.trim: sender or {to: receiver, overflow: return}, or another recovery\n");
	expect(TRIM("receiver") SEND ", transport: {assembled: {recovery: return}}}]\n",
		"4:74: workload.0.transport.assembled.recovery: return: switches send headers to the receiver alone (switch.trim), and it needs them back at the sender; give to: sender or overflow: return, or recovery: trim\n");
	expect(TRIM("receiver") HOST("recovery: trim") SEND
		"}, {permutation: {message: 1}, dscp: 26}]\n",
		"4:63: host.transport.assembled.recovery: " LOSSLESS("trim"));
	expect(TRIM("sender") SEND ", dscp: 26, transport: {assembled: {recovery: return}}}]\n",
		"4:84: workload.0.transport.assembled.recovery: " LOSSLESS("return"));
}

/* Those that are started later too. */
static void what_is_started_needs_them_too(void **state)
{
	static const char text[] = "- {permutation: {message: 1}, dscp: 26}\n";
	struct scenario *s = load(TRIM("receiver") HOST("recovery: trim"));
	struct workload_spec *w = NULL;
	struct diags d = DIAGS_INIT;
	size_t count = 0;

	(void)state;
	assert_int_equal(scenario_workloads(&w, &count, NULL, text, strlen(text), &d), 0);
	assert_int_equal(scenario_find_transports(s, w, count, &d), -EINVAL);
	assert_int_equal(d.count, 1);
	assert_non_null(
		strstr(d.items[0].text, "workload.0.transport: trim: its data has DSCP 26"));
	w[0].dscp = 0;
	assert_int_equal(scenario_find_transports(s, w, count, &d), 0);
	for (size_t i = 0; i < count; i++)
		workload_spec_release(&w[i]);
	free(w);
	diags_release(&d);
	scenario_free(s);
}

/* What is said of entries from number `first` on; "": nothing. */
static void expect_traffic(const char *text, size_t first, const char *busy, const char *message)
{
	struct diags d = DIAGS_INIT;
	struct small_session s;
	int r;

	small_session_load(&s, text, NULL, 0);
	r = traffic_check(s.scenario, s.fabric, first, busy, &d);
	assert_int_equal(r, *message ? -EINVAL : 0);
	assert_int_equal(d.count, *message ? 1 : 0);
	if (*message) {
		char said[1024];

		snprintf(said, sizeof(said), "%u:%u: %s", d.items[0].pos.line,
			d.items[0].pos.column, d.items[0].text);
		assert_string_equal(said, message);
	}
	diags_release(&d);
	small_session_close(&s);
}

#define RATE   NAMED LEAVES HOST("control: {rate: 0.5}, recovery: coding")
#define RANDOM "load: {sizes: hadoop, load: 10%, until: 10us}"
#define WHY                                                                                        \
	"flows arrive at random; how many are under way at a time is not known; take another control, such as window"

static void rates_need_fair_shares(void **state)
{
	(void)state;
	expect_traffic(RATE, 0, NULL, "");
	expect_traffic(RATE SEND "}, {permutation: {message: 1}}]\n", 0, NULL, "");
	expect_traffic(RATE "workload: [{" RANDOM "}]\n", 0, NULL,
		"3:62: host.transport.assembled.control: rate paces by the fair share of each message, which is not known: workload.0.load: " WHY);
	/* another entry's flows are in the way, once for all that have the hosts' transport */
	expect_traffic(RATE SEND "}, {permutation: {message: 1}}, {" RANDOM
				 ", transport: strack}]\n",
		0, NULL,
		"3:62: host.transport.assembled.control: rate paces by the fair share of each message, which is not known: workload.2.load: " WHY);
	expect_traffic(NAMED LEAVES
		"workload:\n  - {" RANDOM "}\n"
		"  - {permutation: {message: 1}, transport: {assembled: {control: rate}}}\n",
		0, NULL,
		"5:66: workload.1.transport.assembled.control: rate paces by the fair share of each message, which is not known: workload.0.load: " WHY);
	/* nobody has that of hosts */
	expect_traffic(RATE "workload: [{" RANDOM ", transport: roce}]\n", 0, NULL, "");
	/* what is added later counts from there on, and alone if nothing else is under way */
	expect_traffic(RATE "workload: [{" RANDOM "}, {permutation: {message: 1}}]\n", 1, NULL, "");
	expect_traffic(RATE "workload: [{permutation: {message: 1, start: 1ms}}, "
			    "{permutation: {message: 1}}]\n",
		1, NULL, "");
	expect_traffic(RATE SEND "}]\n", 0, "wait",
		"3:62: host.transport.assembled.control: rate paces by the fair share of each message, which is not known: wait; take another control, such as window");
}

/* Refused, it leaves no trace. */
static void a_start_is_refused(void **state)
{
	static const char text[] = "- {" RANDOM "}\n";
	struct workload_spec *w = NULL;
	struct error why = ERROR_INIT;
	struct diags d = DIAGS_INIT;
	struct small_session s;
	size_t count = 0;

	(void)state;
	small_session_open(&s, RATE SEND "}]\n", NULL, 0, NULL);
	assert_int_equal(scenario_workloads(&w, &count, NULL, text, strlen(text), &d), 0);
	assert_null(session_start(s.session, w, count, &why));
	assert_non_null(strstr(why.text, "other messages are under way"));
	assert_int_equal(s.scenario->workload_count, 1);
	free(w);
	w = NULL;
	small_session_run(&s);
	assert_int_equal(scenario_workloads(&w, &count, NULL, text, strlen(text), &d), 0);
	assert_null(session_start(s.session, w, count, &why));
	assert_non_null(strstr(why.text, WHY));
	free(w);
	diags_release(&d);
	small_session_close(&s);
}

static uint64_t lasted(const struct small_session *s, uint32_t flow)
{
	struct engine_flow_result r;

	engine_flow_result(session_engine(s->session), flow, &r);
	assert_true(r.finish_ps != 0);
	return r.finish_ps - r.start_ps;
}

/* Messages that begin after another workload was started have the rate of those before. */
static void a_start_changes_no_rate(void **state)
{
	static const char text[] =
		"- {pairs: {from: [h3], to: [h0], message: 1}, transport: strack}\n";
	struct workload_spec *w = NULL;
	struct error why = ERROR_INIT;
	struct diags d = DIAGS_INIT;
	struct small_session s;
	size_t count = 0;

	(void)state;
	small_session_open(&s,
		RATE
		"workload: [{pairs: {from: [h0, h0], to: [h1, h2], message: 100KB, repeat: 3}}, "
		"{pairs: {from: [h3], to: [h0], message: 1}, transport: strack}]\n",
		NULL, 0, NULL);
	assert_int_equal(session_advance(s.session, 5 * PS_PER_US, NULL, &why), 0);
	assert_int_equal(scenario_workloads(&w, &count, NULL, text, strlen(text), &d), 0);
	assert_int_equal(scenario_find_transports(s.scenario, w, count, &d), 0);
	json_decref(session_start(s.session, w, count, &why));
	assert_int_equal(s.scenario->workload_count, 3);
	small_session_run(&s);
	for (uint32_t i = 2; i < 6; i++) {
		uint64_t first = lasted(&s, i % 2);

		assert_in_range(lasted(&s, i), first - 2 * PS_PER_US, first + 2 * PS_PER_US);
	}
	free(w);
	diags_release(&d);
	small_session_close(&s);
}

/* ---- what is said of it ---- */

static json_t *report_of(const char *text)
{
	struct report_load load = {.dscps = {1, 1}, .flows = 1};
	struct small_session s;
	json_t *report;

	small_session_load(&s, text, NULL, 0);
	report = fabric_report(s.fabric, s.scenario, &load);
	assert_non_null(report);
	small_session_close(&s);
	return report;
}

static bool has_note(const char *text, const char *words)
{
	json_t *report = report_of(text);
	const json_t *note;
	bool found = false;
	size_t i;

	json_array_foreach(look(report, "notes"), i, note) found |=
		strstr(json_string_value(note), words) != NULL;
	json_decref(report);
	return found;
}

#define PARTS(sw, parts) NAMED LEAVES "switch: {" sw "}\n" HOST(parts)

static void what_hardly_was_meant_is_noted(void **state)
{
	static const struct {
		const char *parts, *words;
	} notes[] = {
		{"control: dctcp",
			"control dctcp goes by marks, and without them it is TCP NewReno"},
		{"control: dcqcn", "control dcqcn goes by marks"},
		{"control: nscc", "control nscc goes by marks"},
		{"paths: plb, control: swift", "paths plb goes by marks"},
		{"paths: reps", "paths reps goes by marks"},
		{"paths: adaptive", "paths adaptive goes by marks"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(notes); i++) {
		char off[512], on[512];

		snprintf(off, sizeof(off), PARTS("ecn: off", "%s"), notes[i].parts);
		snprintf(on, sizeof(on), PARTS("", "%s"), notes[i].parts);
		assert_true(has_note(off, notes[i].words));
		assert_false(has_note(on, "goes by marks"));
	}
	assert_false(has_note(PARTS("ecn: off", "paths: spray, control: swift"), "goes by marks"));
	assert_true(has_note(PARTS("", "recovery: go-back-n"), "which is lossy: after each loss"));
	assert_true(has_note(PARTS("", "paths: spray, recovery: go-back-n"),
		"paths spray sends packets of a flow by several paths, and for recovery go-back-n a packet that overtakes"));
	assert_true(has_note(PARTS("", "paths: {subflows: 2}, recovery: dupack"), "overtake"));
	assert_false(has_note(PARTS("", "paths: {subflows: 1}, recovery: dupack"), "overtake"));
	assert_false(has_note(PARTS("", "paths: spray, recovery: coding"), "overtake"));
	assert_false(has_note(PARTS("", "paths: single, recovery: dupack"), "overtake"));
	/* DSCP 0 goes by a lossless class beside that of the entry, as flows of a file may */
	assert_true(has_note(PARTS("trim: receiver, pfc: on, classes: [{class: 0, lossless: yes}, "
				   "{class: 3, dscp: 26}, {class: 7, dscp: 48}]",
				     "recovery: trim") SEND ", dscp: 26}]\n",
		"class 0 too, which is lossless: no packet is cut there, and recovery trim waits"));
	assert_false(has_note(TRIM("receiver") HOST("recovery: trim"), "waits for timeouts"));
	assert_true(has_note(RATE, "control rate needs the fair share of each message"));
	assert_false(has_note(RATE SEND "}]\n", "needs the fair share"));
}

/* The text of what `validate` says of a transport with those parts, with that fair share. */
static void expect_text(const char *text, uint64_t least, uint64_t most, const char *lines)
{
	struct report_load load = {
		.dscps = {1, 1}, .flows = 1, .least_share_bps = least, .most_share_bps = most};
	struct small_session s;
	char *said = NULL;
	size_t length;
	FILE *out = open_memstream(&said, &length);
	json_t *report;

	small_session_load(&s, text, NULL, 0);
	report = fabric_report(s.fabric, s.scenario, &load);
	assert_non_null(report);
	fabric_report_print(report, out);
	fclose(out);
	if (!strstr(said, lines))
		fail_msg("no \"%s\" in %s", lines, said);
	free(said);
	json_decref(report);
	small_session_close(&s);
}

#define QUEUE "topology: {fat_tree: {k: 4}, rate: 40Gbps}\nswitch: {buffer: {per_port: 32KB}}\n"

static void parts_are_told(void **state)
{
	(void)state;
	expect_text(NAMED QUEUE HOST("control: {rate: 1}, recovery: {coding: 5%}"), 40000000000,
		40000000000,
		"  transport         assembled: paths spray, control rate 1, recovery coding 5%; DSCP 0, class 0\n"
		"  rate              1 of the fair share: 40Gbps of each message\n");
	/* in the mean a gap is longer by half of the jitter */
	expect_text(NAMED QUEUE HOST("control: {rate: {coefficient: 0.5, jitter: 50%}}"),
		10000000000, 20000000000,
		"control rate 0.5 jitter 50%, recovery coding 0; DSCP 0, class 0\n"
		"  rate              0.4 of the fair share: from 4Gbps to 8Gbps of each message\n");
	expect_text(
		PARTS("trim: receiver", "paths: {plb: {packets: 7}}, control: {swift: {ai: 10}}, "
					"recovery: {trim: {rto: 1ms}}"),
		0, 0,
		"assembled: paths plb packets 7, control swift ai 10, recovery trim rto 1ms; DSCP 0");
}

/* Load Balancing for AI Training Workloads, section 7: 11 with 3 duplicate ACKs, and 6 with 6. */
static void subflows_are_told(void **state)
{
	static const char *const terms[] = {"least", "most", "queue_bytes", "threshold",
		"payload_bytes", "flows_most", "flows_least"};
	static const double paper[] = {11, 11, 32768, 3, 4096, 1, 1};
	json_t *report = report_of(NAMED QUEUE HOST("recovery: subflow-dupack"));
	const json_t *said = json_array_get(look(report, "transports"), 0);

	(void)state;
	for (size_t i = 0; i < COUNT(terms); i++)
		assert_true(look_number(look(said, "subflows"), terms[i]) == paper[i]);
	assert_string_equal(look_text(said, "parts.recovery"), "subflow-dupack");
	assert_null(look(said, "rate"));
	json_decref(report);
	expect_text(NAMED QUEUE HOST("recovery: {subflow-dupack: {threshold: 6}}"), 10000000000,
		40000000000,
		"  subflows          2 to 6 = 4 x 32768 / (4 to 1 x 6 x 4096), rounded up: 4 x a queue's bytes / (flows of a host x threshold x payload of a packet); a message of fewer packets has one for each\n");
	report = report_of(NAMED QUEUE HOST("recovery: {subflow-dupack: {subflows: 4}}"));
	said = json_array_get(look(report, "transports"), 0);
	assert_null(look(said, "subflows"));
	assert_string_equal(look_text(said, "parts.recovery"), "subflow-dupack subflows 4");
	json_decref(report);
	expect_text(PARTS("pfc: on", "recovery: subflow-dupack"), 0, 0,
		"  subflows          1: no data is lossy\n");
	report = report_of(NAMED QUEUE);
	assert_null(look(report, "transports"));
	json_decref(report);
}

/* By which memory is estimated. */
static void windows_are_known(void **state)
{
	static const struct {
		const char *control;
		struct quantity window;
	} cases[] = {
		{"{window: 64KB}", {65536, QUANTITY_BYTES}},
		{"{window: 300% BDP}", {3, QUANTITY_BDP}},
		{"{swift: {window: 50% BDP}}", {2, QUANTITY_BDP}},
		{"{swift: {max_window: 1MB}}", {1 << 20, QUANTITY_BYTES}},
		{"nscc", {1.5, QUANTITY_BDP}},
		{"strack", {1.4, QUANTITY_BDP}},
		{"rate", {1, QUANTITY_BDP}},
		{"dctcp", {1, QUANTITY_BDP}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct small_session s;
		struct quantity window;
		char text[256];

		snprintf(text, sizeof(text), NAMED LEAVES HOST("control: %s"), cases[i].control);
		small_session_load(&s, text, NULL, 0);
		window = transport_facts(&s.scenario->host.transport).window;
		assert_true(window.value == cases[i].window.value);
		assert_int_equal(window.unit, cases[i].window.unit);
		small_session_close(&s);
	}
}

/* What can't be read of the hosts' transport is told; nobody asks for the rest of it. */
static void wrong_parts_are_told_alone(void **state)
{
	static const char *const wrong[] = {"assem*led: {recovery: sack}",
		"assembled: {paths: {subflows: 0}}", "assembled: {control: {rate: 7}}",
		"assembled: {recovery: {sack: {threshold: no}}}"};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct diags d = DIAGS_INIT;
		struct scenario *s = NULL;
		char text[1024];

		snprintf(text, sizeof(text),
			NAMED LEAVES
			"switch: {cnp: on}\nhost: {transport: {%s}}\n" SEND
			", transport: strack}, {permutation: {message: 1}, transport: roce}]\n",
			wrong[i]);
		assert_int_not_equal(
			scenario_load_text(&s, "t", text, strlen(text), NULL, 0, &d), 0);
		assert_int_equal(d.count, 1);
		scenario_free(s);
		diags_release(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_parts_are_told_alone),
		cmocka_unit_test(frames_have_room),
		cmocka_unit_test(a_round_has_room_for_a_frame),
		cmocka_unit_test(no_message_beats_its_ideal_time),
		cmocka_unit_test(recovery_needs_headers),
		cmocka_unit_test(what_is_started_needs_them_too),
		cmocka_unit_test(rates_need_fair_shares),
		cmocka_unit_test(a_start_is_refused),
		cmocka_unit_test(a_start_changes_no_rate),
		cmocka_unit_test(what_hardly_was_meant_is_noted),
		cmocka_unit_test(parts_are_told),
		cmocka_unit_test(subflows_are_told),
		cmocka_unit_test(windows_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
