/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scenario_fixture.h"
#include "transport/kind.h"
#include "transport/roce.h"
#include "transport/strack.h"

#define US 1000000ull
#define KB 1024ull
#define MB (1024 * KB)

static const char full[] = SMALL
	"switch:\n"
	"  buffer: {per_port: 1MB}\n"
	"  ecn: {kmin: 2us, kmax: 8us, pmax: 0.5, average: 7}\n"
	"  classes:\n"
	"    - {class: 0, schedule: 12.5%}\n"
	"    - {class: 3, dscp: [26, 27], lossless: yes, schedule: 50%, buffer: 200% BDP, ecn: off,\n"
	"       xoff: 300KB, xon: 100KB, headroom: 60KB}\n"
	"    - {class: 4, dscp: 28, lossless: true, ecn: {kmax: 500KB}}\n"
	"    - {class: 5, dscp: [], lossless: false, schedule: strict}\n"
	"    - {class: 7, dscp: [63, 0]}\n"
	"  trim: {to: receiver, overflow: return, class: 6, dscp: 11, return_dscp: 12, queue: 20% BDP}\n"
	"  pfc: {quanta: 1000, response: 2us, watchdog: 200us}\n"
	"  roles: {remap: {3: 4}}\n"
	"  lldp: {every: 1ms}\n"
	"  cnp: {every: 3us}\n"
	"  reroute: {after: 7us, mode: local}\n";

static bool is_quantity(const struct quantity *q, double value, enum quantity_unit unit)
{
	return q->value == value && q->unit == unit;
}

static void check_class_3(const struct class_spec *c)
{
	assert_true(c->used && c->lossless);
	assert_true(c->dscp == (1ull << 26 | 1ull << 27));
	assert_true(c->share == 0.5);
	assert_true(is_quantity(&c->buffer, 2, QUANTITY_BDP));
	assert_true(c->ecn.kmax.value == 0 && c->ecn.kmin.value == 0);
	assert_true(is_quantity(&c->xoff, 300 * KB, QUANTITY_BYTES));
	assert_true(is_quantity(&c->xon, 100 * KB, QUANTITY_BYTES));
	assert_true(is_quantity(&c->headroom, 60 * KB, QUANTITY_BYTES));
}

/* Of the classes that leave things to the switch. */
static void check_other_classes(const struct switch_spec *sw)
{
	const struct class_spec *c = sw->classes;

	assert_true(c[0].used && !c[0].lossless && c[0].dscp == 0 && c[0].share == 0.125);
	assert_true(is_quantity(&c[0].buffer, MB, QUANTITY_BYTES));
	assert_true(is_quantity(&c[0].ecn.kmin, 2 * US, QUANTITY_TIME));
	assert_true(is_quantity(&c[0].ecn.kmax, 8 * US, QUANTITY_TIME));
	assert_true(c[0].ecn.pmax == 0.5 && c[0].ecn.average == 7);
	assert_false(c[1].used || c[2].used);
	assert_true(c[4].lossless && c[4].share == 0);
	assert_true(is_quantity(&c[4].ecn.kmin, 2 * US, QUANTITY_TIME));
	assert_true(is_quantity(&c[4].ecn.kmax, 500 * KB, QUANTITY_BYTES));
	assert_int_equal(c[4].xoff.unit, QUANTITY_AUTO);
	assert_int_equal(c[4].xon.unit, QUANTITY_AUTO);
	assert_int_equal(c[4].headroom.unit, QUANTITY_AUTO);
	assert_true(c[5].used && !c[5].lossless && c[5].dscp == 0);
	assert_true(c[7].dscp == (1ull << 63 | 1));
	/* added for the headers */
	assert_true(c[6].used && !c[6].lossless && c[6].share == 0 && c[6].ecn.kmax.value == 0);
	assert_true(c[6].dscp == (1ull << 11 | 1ull << 12));
	assert_true(is_quantity(&c[6].buffer, 0.2, QUANTITY_BDP));
}

static void check_full(const struct switch_spec *sw)
{
	assert_true(sw->valid);
	assert_false(sw->buffer.shared);
	assert_true(is_quantity(&sw->buffer.per_port, MB, QUANTITY_BYTES));
	check_class_3(&sw->classes[3]);
	check_other_classes(sw);
	assert_int_equal(sw->trim.to, TRIM_RECEIVER);
	assert_true(sw->trim.or_return);
	assert_int_equal(sw->trim.class, 6);
	assert_int_equal(sw->trim.dscp, 11);
	assert_int_equal(sw->trim.return_dscp, 12);
	assert_true(is_quantity(&sw->trim.queue, 0.2, QUANTITY_BDP));
	assert_true(sw->pfc.on);
	assert_int_equal(sw->pfc.quanta, 1000);
	assert_int_equal(sw->pfc.response_ps, 2 * US);
	assert_int_equal(sw->pfc.watchdog_ps, 200 * US);
	assert_true(sw->roles.on);
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++)
		assert_int_equal(sw->roles.to[i], i == 3 ? 4 : i);
	assert_int_equal(sw->lldp_ps, 1000 * US);
	assert_int_equal(sw->cnp_ps, 3 * US);
	assert_int_equal(sw->reroute_ps, 7 * US);
	assert_int_equal(sw->reroute_mode, REROUTE_LOCAL);
}

static void every_field_is_read_and_written(void **state)
{
	struct scenario *s = load(full), *again;
	char *written = write_text(s);

	(void)state;
	check_full(&s->sw);
	assert_int_equal(s->sw.classes[3].pos.line, 8);
	assert_int_equal(s->sw.classes[3].pos.column, 7);
	again = load(written);
	check_full(&again->sw);
	scenario_free(s);
	scenario_free(again);
	free(written);
}

/* What a scenario without switch.classes gets for answers. */
static void check_answers_class(const struct switch_spec *sw, uint32_t class, uint64_t dscps)
{
	const struct class_spec *c = &sw->classes[class];

	assert_true(c->used && !c->lossless && c->dscp == dscps && c->share == 0);
	assert_true(c->ecn.kmax.value == 0);
	assert_true(c->buffer.value == sw->buffer.per_port.value &&
		    c->buffer.unit == sw->buffer.per_port.unit);
}

static void defaults_are_as_documented(void **state)
{
	struct scenario *s = load(SMALL);
	const struct switch_spec *sw = &s->sw;

	(void)state;
	assert_false(sw->buffer.shared);
	assert_true(sw->classes[0].used && !sw->classes[0].lossless && !sw->classes[0].dscp);
	assert_true(is_quantity(&sw->classes[0].buffer, 5, QUANTITY_BDP));
	assert_int_equal(sw->classes[0].ecn.average, 0);
	for (uint32_t i = 1; i < SCENARIO_CLASSES - 1; i++)
		assert_false(sw->classes[i].used);
	check_answers_class(sw, 7, 1ull << 48);
	assert_int_equal(sw->trim.to, TRIM_OFF);
	assert_false(sw->pfc.on || sw->roles.on);
	assert_int_equal(sw->roles.to[5], 5);
	assert_int_equal(sw->lldp_ps, 0);
	assert_int_equal(sw->cnp_ps, 0);
	assert_int_equal(sw->reroute_mode, REROUTE_GLOBAL);
	scenario_free(s);
}

static void one_word_turns_on_what_is_usual(void **state)
{
	struct scenario *s = load(SMALL "switch: {pfc: on, lldp: on, cnp: yes, reroute: 5us}\n");
	const struct switch_spec *sw = &s->sw;

	(void)state;
	assert_true(sw->pfc.on);
	assert_int_equal(sw->pfc.quanta, 65535);
	assert_int_equal(sw->pfc.response_ps, 0);
	assert_int_equal(sw->pfc.watchdog_ps, 0);
	assert_true(sw->classes[0].lossless);
	assert_int_equal(sw->lldp_ps, 100 * US);
	assert_int_equal(sw->cnp_ps, 55 * US); /* DCQCN's timer */
	assert_int_equal(sw->reroute_ps, 5 * US);
	assert_int_equal(sw->reroute_mode, REROUTE_GLOBAL);
	scenario_free(s);
	s = load(SMALL "switch: {trim: sender}\n");
	assert_int_equal(s->sw.trim.to, TRIM_SENDER);
	assert_false(s->sw.trim.or_return);
	assert_int_equal(s->sw.trim.class, 6);
	assert_true(is_quantity(&s->sw.trim.queue, 64 * KB, QUANTITY_BYTES));
	assert_true(s->sw.classes[6].used);
	assert_true(s->sw.classes[6].dscp == (1ull << 49 | 1ull << 50));
	scenario_free(s);
}

static void pools_are_read_and_written(void **state)
{
	static const char *const texts[] = {
		"switch: {buffer: {shared: auto}}\n",
		"switch: {buffer: {shared: 64MB, alpha: 0.125, reserve: 0}}\n",
		"switch: {buffer: {shared: 64MB}, pfc: on, trim: receiver,\n"
		"  classes: [{class: 1}, {class: 2, lossless: yes, xoff: auto, headroom: 1KB}]}\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char text[512];
		struct scenario *s, *again;
		char *one, *two;

		snprintf(text, sizeof(text), SMALL "%s", texts[i]);
		s = load(text);
		assert_true(s->sw.buffer.shared);
		assert_true(is_quantity(
			&s->sw.buffer.pool, i ? 64 * MB : 0, i ? QUANTITY_BYTES : QUANTITY_AUTO));
		assert_true(s->sw.buffer.alpha == (i == 1 ? 0.125 : 1));
		assert_int_equal(
			s->sw.buffer.reserve.unit, i == 1 ? QUANTITY_BYTES : QUANTITY_AUTO);
		one = write_text(s);
		again = load(one);
		two = write_text(again);
		assert_string_equal(one, two);
		assert_memory_equal(&again->sw.buffer, &s->sw.buffer, sizeof(s->sw.buffer));
		assert_memory_equal(&again->sw.trim, &s->sw.trim, sizeof(s->sw.trim));
		scenario_free(s);
		scenario_free(again);
		free(one);
		free(two);
	}
}

/* A class of headers that the file describes itself keeps what it says. */
static void headers_may_have_a_class_of_the_file(void **state)
{
	struct scenario *s = load(
		SMALL "switch: {trim: {class: 2, dscp: 7}, classes: [{class: 1, dscp: 1},\n"
		      "  {class: 2, dscp: [7, 9], schedule: 20%, ecn: {kmax: 9KB, kmin: 0}}]}\n");
	const struct class_spec *c = &s->sw.classes[2];

	(void)state;
	assert_true(c->dscp == (1ull << 7 | 1ull << 9 | 1ull << 50));
	assert_true(c->share == 0.2);
	assert_true(is_quantity(&c->ecn.kmax, 9 * KB, QUANTITY_BYTES));
	assert_false(s->sw.classes[6].used);
	scenario_free(s);
}

static void classes_follow_from_the_dscp(void **state)
{
	struct scenario *s = load(SMALL "switch: {classes: [{class: 2, dscp: 5}, {class: 1},\n"
					"  {class: 7, dscp: [63, 0]}], trim: receiver}\n");

	(void)state;
	for (uint32_t d = 0; d < 64; d++)
		assert_int_equal(scenario_class_of(&s->sw, d), d == 5               ? 2
							       : d == 63 || d == 0  ? 7
							       : d == 49 || d == 50 ? 6
										    : 1);
	scenario_free(s);
}

/* What a class says of ECN is put upon the switch's, or upon the defaults where that is off. */
static void ecn_of_a_class_starts_from_the_switch(void **state)
{
	static const struct {
		const char *ecn;
		double kmin, pmax;
	} cases[] = {{"off", 0.25, 1}, {"{kmin: 10% BDP, pmax: 0.3}", 0.1, 0.3}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[256];
		struct scenario *s;

		snprintf(text, sizeof(text),
			SMALL
			"switch: {ecn: %s, classes: [{class: 1, ecn: {kmax: 50%% BDP}}, {class: 2}]}\n",
			cases[i].ecn);
		s = load(text);
		assert_true(is_quantity(&s->sw.classes[1].ecn.kmin, cases[i].kmin, QUANTITY_BDP));
		assert_true(is_quantity(&s->sw.classes[1].ecn.kmax, 0.5, QUANTITY_BDP));
		assert_true(s->sw.classes[1].ecn.pmax == cases[i].pmax);
		assert_true(s->sw.classes[2].ecn.kmax.value == (i ? 0.75 : 0));
		scenario_free(s);
	}
}

static void hosts_have_transports_and_dscps(void **state)
{
	struct scenario *s = load(SMALL
		"host:\n"
		"  transport: {roce: {qps_per_connection: 4, congestion: off, rto: 1ms, cnp_interval: 5us,\n"
		"    timer: 6us, byte_counter: 7KB, alpha_timer: 8us, additive: 9Mbps, hyper: 10Mbps,\n"
		"    min_rate: 11Mbps, initial_alpha: 50%, gain: 0.0625, fast_recovery: 3,\n"
		"    clamp_target: after_increase}}\n"
		"  dscp: {data: 26, notify: 50}\n");
	struct scenario *again;
	char *written = write_text(s);

	(void)state;
	again = load(written);
	for (int i = 0; i < 2; i++) {
		const struct host_spec *h = i ? &again->host : &s->host;
		const struct roce_options *o = h->transport.options;

		assert_ptr_equal(transport_kinds[h->transport.kind], &transport_kind_roce);
		assert_int_equal(o->qps, 4);
		assert_false(o->dcqcn);
		assert_int_equal(o->rto_ps, 1000 * US);
		assert_int_equal(o->reaction.cnp_ps, 5 * US);
		assert_int_equal(o->reaction.increase_ps, 6 * US);
		assert_int_equal(o->reaction.increase_bytes, 7 * KB);
		assert_int_equal(o->reaction.alpha_ps, 8 * US);
		assert_int_equal(o->reaction.additive_bps, 9000000);
		assert_int_equal(o->reaction.hyper_bps, 10000000);
		assert_int_equal(o->reaction.min_bps, 11000000);
		assert_true(o->reaction.alpha_start == 0.5);
		assert_true(o->reaction.gain == 0.0625);
		assert_int_equal(o->reaction.rounds, 3);
		assert_int_equal(o->reaction.clamp, DCQCN_CLAMP_AFTER_INCREASE);
		assert_int_equal(h->data_dscp, 26);
		assert_int_equal(h->control_dscp, 48);
		assert_int_equal(h->notify_dscp, 50);
	}
	scenario_free(s);
	scenario_free(again);
	free(written);
}

/* A name chooses the values of all options that are not given; it, and they, are written. */
static void dcqcn_has_settings_by_name(void **state)
{
	static const struct {
		const char *text;
		enum dcqcn_scale kind;
		uint64_t cnp_us, timer_us, alpha_us;
		uint32_t rounds;
		bool keep;
	} cases[] = {
		{"", DCQCN_PAPER, 50, 55, 55, 5, false},
		{"dcqcn: paper", DCQCN_PAPER, 50, 55, 55, 5, false},
		{"dcqcn: tuned", DCQCN_TUNED, 4, 300, 1, 1, true},
		{"dcqcn: Tuned", DCQCN_TUNED, 4, 300, 1, 1, true},
		{"dcqcn: strack-paper", DCQCN_STRACK_PAPER, 50, 25, 55, 5, false},
		{"timer: 7us, dcqcn: tuned, clamp_target: always", DCQCN_TUNED, 4, 7, 1, 1, false},
		{"dcqcn: strack-paper, cnp_interval: 9us, fast_recovery: 2", DCQCN_STRACK_PAPER, 9,
			25, 55, 2, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scenario *s[2];
		char text[256], *written;

		snprintf(text, sizeof(text), SMALL "host: {transport: {roce: {%s}}}\n",
			cases[i].text);
		s[0] = load(text);
		written = write_text(s[0]);
		s[1] = load(written);
		for (int j = 0; j < 2; j++) {
			const struct roce_options *o = s[j]->host.transport.options;

			assert_int_equal(o->reaction.scale, cases[i].kind);
			assert_int_equal(o->reaction.cnp_ps, cases[i].cnp_us * US);
			assert_int_equal(o->reaction.increase_ps, cases[i].timer_us * US);
			assert_int_equal(o->reaction.alpha_ps, cases[i].alpha_us * US);
			assert_int_equal(o->reaction.rounds, cases[i].rounds);
			assert_int_equal(
				o->reaction.clamp == DCQCN_CLAMP_AFTER_INCREASE, cases[i].keep);
			assert_true(o->reaction.alpha_start == 1);
			assert_true(o->reaction.gain == 1 / 256.0);
			assert_int_equal(o->reaction.increase_bytes, 0);
			assert_int_equal(o->reaction.additive_bps, 0);
			assert_int_equal(o->reaction.hyper_bps, 0);
			assert_int_equal(o->reaction.min_bps, 0);
			scenario_free(s[j]);
		}
		free(written);
	}
}

/* By default a switch that sends CNPs takes the senders' timer for its interval. */
static void switches_know_the_senders_timer(void **state)
{
	struct scenario *s =
		load(SMALL "switch: {cnp: {}}\nhost: {transport: {roce: {dcqcn: tuned}}}\n");

	(void)state;
	assert_int_equal(s->sw.cnp_ps, 300 * US);
	scenario_free(s);
}

static void check_strack_defaults(const struct host_spec *h, bool fixed)
{
	const struct strack_options *o = h->transport.options;

	assert_ptr_equal(transport_kinds[h->transport.kind], &transport_kind_strack);
	assert_int_equal(o->paths, 256);
	assert_int_equal(o->fixed, fixed);
}

static void check_roce_defaults(const struct host_spec *h)
{
	const struct roce_options *o = h->transport.options;

	assert_ptr_equal(transport_kinds[h->transport.kind], &transport_kind_roce);
	assert_int_equal(o->qps, 1);
	assert_true(o->dcqcn);
	assert_int_equal(o->rto_ps, 0);
	assert_int_equal(o->reaction.cnp_ps, 50 * US);
	assert_int_equal(o->reaction.increase_ps, 55 * US);
	assert_int_equal(o->reaction.increase_bytes, 0);
	assert_int_equal(o->reaction.alpha_ps, 55 * US);
	assert_int_equal(o->reaction.additive_bps, 0);
	assert_int_equal(o->reaction.hyper_bps, 0);
}

static void hosts_have_defaults(void **state)
{
	static const char *const texts[] = {"", "host: {transport: roce, dscp: 26}\n",
		"host: {transport: {strack: {congestion: off}}}\n"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char text[256];
		struct scenario *s;

		snprintf(text, sizeof(text), SMALL "%s", texts[i]);
		s = load(text);
		if (i == 1)
			check_roce_defaults(&s->host);
		else
			check_strack_defaults(&s->host, i == 2);
		assert_int_equal(s->host.data_dscp, i == 1 ? 26 : 0);
		assert_int_equal(s->host.control_dscp, i == 1 ? 26 : 48);
		assert_int_equal(s->host.notify_dscp, i == 1 ? 26 : 48);
		scenario_free(s);
	}
}

/* The DSCPs of ACKs and CNPs, and those of the class added for them, if any. */
struct answers_case {
	const char *text;
	uint32_t control, notify;
	uint32_t class; /* 0: none is added */
	uint64_t dscps;
};

static void check_answers_case(const struct scenario *s, const struct answers_case *a)
{
	assert_int_equal(s->host.control_dscp, a->control);
	assert_int_equal(s->host.notify_dscp, a->notify);
	if (a->class)
		check_answers_class(&s->sw, a->class, a->dscps);
	else
		assert_false(s->sw.classes[7].used);
}

static void answers_go_before_data(void **state)
{
	static const struct answers_case cases[] = {
		{"", 48, 48, 7, 1ull << 48},
		{"switch: {pfc: on}\n", 48, 48, 7, 1ull << 48},
		{"switch: {classes: null}\nhost: {dscp: null}\n", 48, 48, 7, 1ull << 48},
		{"switch: {buffer: {shared: auto}}\n", 48, 48, 7, 1ull << 48},
		{"switch: {trim: receiver}\n", 48, 48, 7, 1ull << 48},
		/* headers have the highest */
		{"switch: {trim: {class: 7}}\n", 48, 48, 6, 1ull << 48},
		{"host: {dscp: {data: 26, control: auto}}\n", 48, 48, 7, 1ull << 48},
		{"host: {dscp: {control: 9}}\n", 9, 9, 7, 1ull << 9},
		{"host: {dscp: {control: 9, notify: 63}}\n", 9, 63, 7, 1ull << 9 | 1ull << 63},
		{"host: {dscp: {notify: 63}}\n", 48, 63, 7, 1ull << 48 | 1ull << 63},
		/* what has data's goes with it */
		{"host: {dscp: {control: 0}}\n", 0, 0, 0, 0},
		{"host: {dscp: {control: 0, notify: 5}}\n", 0, 5, 7, 1ull << 5},
		{"host: {dscp: 0}\n", 0, 0, 0, 0},
		{"host: {dscp: 48}\n", 48, 48, 0, 0},
		/* a file that has classes is taken by its word */
		{"switch: {classes: [{class: 0}]}\n", 0, 0, 0, 0},
		{"switch: {classes: [{class: 0}]}\nhost: {dscp: {control: 48}}\n", 48, 48, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scenario *s, *again;
		char text[256], *written;

		snprintf(text, sizeof(text), SMALL "%s", cases[i].text);
		s = load(text);
		written = write_text(s);
		again = load(written);
		check_answers_case(s, &cases[i]);
		check_answers_case(again, &cases[i]);
		free(written);
		scenario_free(again);
		scenario_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_read_and_written),
		cmocka_unit_test(defaults_are_as_documented),
		cmocka_unit_test(one_word_turns_on_what_is_usual),
		cmocka_unit_test(pools_are_read_and_written),
		cmocka_unit_test(headers_may_have_a_class_of_the_file),
		cmocka_unit_test(classes_follow_from_the_dscp),
		cmocka_unit_test(ecn_of_a_class_starts_from_the_switch),
		cmocka_unit_test(hosts_have_transports_and_dscps),
		cmocka_unit_test(dcqcn_has_settings_by_name),
		cmocka_unit_test(switches_know_the_senders_timer),
		cmocka_unit_test(hosts_have_defaults),
		cmocka_unit_test(answers_go_before_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
