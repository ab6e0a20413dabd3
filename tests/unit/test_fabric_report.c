/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fabric_fixture.h"
#include "report/fabric_report.h"
#include "base/json.h"
#include "scenario_fixture.h"

/* A scenario with its fabric and the report on it. */
struct told {
	struct scenario *s;
	struct fabric *f;
	json_t *r;
};

static struct told tell(const char *text)
{
	struct report_load load_of_one = {.flows = 1,
		.bytes = 1,
		.packets = 1,
		.ideal_ps = 1,
		.kernel = {2, 1},
		.in_process = {1, 1}};
	struct told t = {.s = load(text)};

	/* its workloads' own, and the hosts' */
	load_of_one.dscps[0] = 1ull << t.s->host.data_dscp;
	for (size_t i = 0; i < t.s->workload_count; i++)
		if (t.s->workloads[i].dscp != DSCP_OF_HOSTS)
			load_of_one.dscps[0] |= 1ull << t.s->workloads[i].dscp;
	t.f = fixture_fabric(t.s);
	t.r = fabric_report(t.f, t.s, &load_of_one);
	assert_non_null(t.r);
	return t;
}

static void told_free(struct told *t)
{
	json_decref(t->r);
	fabric_free(t->f);
	scenario_free(t->s);
}

/* What a text of people has. */
static void assert_says(const json_t *report, const char *const *parts, size_t count)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fabric_report_print(report, out);
	fclose(out);
	for (size_t i = 0; i < count; i++)
		if (!strstr(text, parts[i]))
			fail_msg("no '%s' in:\n%s", parts[i], text);
	free(text);
}

#define ALL_TO_ALL "workload: [{incast: {senders: 3, message: 1}}]\n"

static size_t failure_count(const struct told *t)
{
	return json_array_size(look(t->r, "failures"));
}

static const json_t *failure(const struct told *t, size_t i)
{
	return json_array_get(look(t->r, "failures"), i);
}

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-9 * fabs(b));
}

/* 16 hosts in 4 pods with 4 uplinks each: 48 flows leave a pod. */
static void failures_follow_the_inequality(void **state)
{
	static const struct {
		const char *fault;
		double left, flows;
		bool bottleneck;
	} cases[] = {
		{"link: agg2.1-core2, do: down", 3, 48 / 3.0, true},
		{"link: core2-agg2.1, do: {rate: 50%}", 3.5, 48 / 3.5, false},
		{"link: 'agg2*-core*', do: {rate: 80%}", 3.2, 48 / 3.2, false},
		{"link: 'agg2*-core*', do: {rate: 79%}", 3.16, 48 / 3.16, true},
		{"switch: agg2.0, do: down", 2, 48 / 2.0, true},
		{"link: 'agg2*-core*', do: down", 0, INFINITY, true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[256];
		struct told t;
		const json_t *r;

		snprintf(text, sizeof(text), SMALL ALL_TO_ALL "faults: [{at: 3us, %s}]\n",
			cases[i].fault);
		t = tell(text);
		assert_int_equal(failure_count(&t), 1);
		r = failure(&t, 0);
		assert_string_equal(look_text(r, "traffic"), "all-to-all");
		assert_true(look_number(r, "at_us") == 3);
		assert_string_equal(look_text(r, "pod"), "pod 2");
		assert_int_equal(look_count(r, "hosts"), 4);
		assert_near(look_number(r, "uplinks"), 4);
		assert_near(look_number(r, "uplinks_left"), cases[i].left);
		assert_near(look_number(r, "flows_per_host_link"), 15);
		if (isfinite(cases[i].flows))
			assert_near(look_number(r, "flows_per_uplink"), cases[i].flows);
		else
			assert_true(json_is_null(look(r, "flows_per_uplink")));
		assert_int_equal(json_is_true(look(r, "bottleneck")), cases[i].bottleneck);
		assert_true(json_is_false(look(r, "bottleneck_without")));
		told_free(&t);
	}
}

static void a_permutation_has_a_flow_a_host(void **state)
{
	struct told t = tell(NAMED
		"topology: {leaf_spine: {leaves: 4, spines: 4, hosts_per_leaf: 4}, host_rate: 50Gbps}\n"
		"workload: [{permutation: {message: 1}}]\n"
		"faults: [{at: 1us, link: leaf1-spine3, do: down}]\n");
	const json_t *r = failure(&t, 0);

	(void)state;
	assert_string_equal(look_text(r, "traffic"), "permutation");
	assert_string_equal(look_text(r, "pod"), "leaf1");
	assert_near(look_number(r, "uplinks"), 8); /* counted in links of hosts, half as fast */
	assert_near(look_number(r, "uplinks_left"), 6);
	assert_near(look_number(r, "flows_per_host_link"), 1);
	assert_near(look_number(r, "flows_per_uplink"), 4 / 6.0);
	assert_true(json_is_false(look(r, "bottleneck")));
	told_free(&t);
}

static void assert_faults(const struct told *t, size_t i, size_t count, const int *faults)
{
	const json_t *list = look(failure(t, i), "faults");

	assert_int_equal(json_array_size(list), count);
	for (size_t n = 0; n < count; n++)
		assert_int_equal(json_integer_value(json_array_get(list, n)), faults[n]);
}

/* Faults in sequence, the later ones first: the first hundred moments are listed in order. */
static void the_first_moments_are_told(void **state)
{
	size_t room = 1 << 16, used;
	char *text = malloc(room);
	struct told t;

	(void)state;
	used = (size_t)snprintf(text, room, SMALL "faults:\n");
	for (int i = 0; i < 300; i++)
		used += (size_t)snprintf(text + used, room - used,
			"  - {at: %dus, until: %dus, link: agg0.0-core0, do: down}\n", 300 - i,
			301 - i);
	t = tell(text);
	assert_int_equal(failure_count(&t), REPORT_FAILURES);
	assert_int_equal(look_count(t.r, "failures_more"), 200);
	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		assert_true(look_number(failure(&t, i), "at_us") == (double)(i + 1));
		assert_faults(&t, i, 1, (int[]){299 - (int)i});
	}
	told_free(&t);
	free(text);
}

static void faults_at_once_add_up(void **state)
{
	struct told t =
		tell(SMALL ALL_TO_ALL "faults:\n"
				      "  - {at: 9us, link: agg0.0-core0, do: {rate: 50%}}\n"
				      "  - {at: 1us, until: 9us, link: agg0.0-core1, do: down}\n"
				      "  - {at: 1us, until: 3us, link: agg1.0-core1, do: down}\n"
				      "  - {at: 4us, link: agg0.0-core1, do: {rate: 25%}}\n"
				      "  - {at: 4us, link: h0-tor0.0, do: down}\n"
				      "  - {at: 2us, link: agg0.0-core0, do: {loss: 1%}}\n");

	(void)state;
	assert_int_equal(failure_count(&t), 3);
	assert_true(look_number(failure(&t, 0), "at_us") == 1);
	assert_faults(&t, 0, 2, (int[]){1, 2});
	assert_near(look_number(failure(&t, 0), "uplinks_left"), 3);
	/* down and slow at once is down */
	assert_true(look_number(failure(&t, 1), "at_us") == 4);
	assert_faults(&t, 1, 2, (int[]){1, 3});
	assert_near(look_number(failure(&t, 1), "uplinks_left"), 3);
	/* and slow alone later; a fault is over in the moment in which it ends */
	assert_true(look_number(failure(&t, 2), "at_us") == 9);
	assert_faults(&t, 2, 2, (int[]){0, 3});
	assert_near(look_number(failure(&t, 2), "uplinks_left"), 2.75);
	told_free(&t);
}

static void uplinks_may_be_the_bottleneck_anyway(void **state)
{
	static const char *const parts[] = {
		"at 1us, fault 0: leaf0 of 8 hosts has 1.9 of 2 uplinks left; all-to-all: 15 flows on a host's link < 8 x 8 / 1.9 = 33.6842 on an uplink: a bottleneck (without failures too)\n"};
	struct told t = tell(NAMED
		"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 8}}\n" ALL_TO_ALL
		"faults: [{at: 1us, link: leaf0-spine1, do: {rate: 90%}}]\n");

	(void)state;
	assert_true(json_is_true(look(failure(&t, 0), "bottleneck_without")));
	assert_says(t.r, parts, COUNT(parts));
	told_free(&t);
}

static void one_switch_has_no_uplinks(void **state)
{
	struct told t =
		tell(NAMED "topology: {custom: {hosts: [a, b], switches: [s], links: [a-s, b-s]}}\n"
			   "faults: [{at: 1us, link: a-s, do: down}]\n");

	(void)state;
	assert_int_equal(failure_count(&t), 0);
	told_free(&t);
}

static const char rich[] = NAMED
	"topology: {fat_tree: {k: 4}, links: [{match: 'agg*-core*', rate: 400Gbps}]}\n"
	"switch:\n"
	"  pfc: {response: 100ns}\n"
	"  lldp: on\n"
	"  trim: {to: receiver, overflow: return}\n"
	"  roles: {remap: {3: 4}}\n"
	"  classes:\n"
	"    - {class: 1, schedule: 40%, ecn: {kmin: 2us, kmax: 100KB, average: 4}}\n"
	"    - {class: 3, dscp: [26, 27], lossless: yes, buffer: 400KB}\n"
	"    - {class: 4, dscp: 28, lossless: yes, buffer: 1MB, headroom: 200KB, xoff: 300KB}\n"
	"host: {dscp: {data: 26, control: 27, notify: 9}}\n";

static void all_settings_are_told(void **state)
{
	static const char *const parts[] = {
		"class 6           DSCP 49, 50; lossy; strict; ECN off\n",
		"class 1           every other DSCP; lossy; share 40%; ECN from 2us at the port's rate to 102400 bytes, up to 100%, by the average with weight 1/16\n",
		"class 3           DSCP 26, 27; lossless; strict; ECN from ",
		"buffer            class 3: 409600 bytes of an ingress, its headroom included\n",
		"trimming          headers to the receiver by class 6, DSCP 49; a queue holds 65536 bytes of them, and then they are returned\n",
		"PFC               65535 quanta, response 100ns, watchdog off\n",
		"headroom          class 3, 32 links of 100Gbps and 1us such as h0-tor0.0: 39291 bytes = 2 x 4170 + 4170/4194 x (4194 frame ahead + 84 PFC + 600 control + 25000 in flight + 1250 response); XOFF at 370309, XON at 361969\n",
		"headroom          class 3, 16 links of 400Gbps and 1us such as agg0.0-core0: ",
		"headroom          class 4, 16 links of 400Gbps and 1us such as agg0.0-core0: 204800 bytes; XOFF at 307200, XON at 298860\n",
		"roles             class 3 moves to class 4 from uplink to uplink\n",
		"answers           DSCP 27, class 3, among the data\n",
		"CNPs              DSCP 9, class 1\n",
	};
	struct told t = tell(rich);

	(void)state;
	assert_int_equal(json_array_size(look(t.r, "switch.headroom")), 4);
	assert_says(t.r, parts, COUNT(parts));
	told_free(&t);
}

/* 80 ns of 100 Gbps are 1000 bytes of what is in flight. */
static void a_latency_is_told(void **state)
{
	static const char *const parts[] = {
		"switch latency    80ns from a frame's arrival to its place in a queue\n",
		" + 26000 in flight + ",
	};
	struct told t = tell(NAMED
		"topology: {fat_tree: {k: 4}}\nswitch: {pfc: on, latency: 80ns, buffer: {per_port: 400KB}}\n");

	(void)state;
	assert_says(t.r, parts, COUNT(parts));
	assert_near(look_number(t.r, "switch.latency_us"), 0.08);
	told_free(&t);
	t = tell(rich);
	assert_near(look_number(t.r, "switch.latency_us"), 0);
	told_free(&t);
}

static void pools_are_told(void **state)
{
	static const char *const parts[] = {
		"buffer            shared, alpha 0.5: 4194304 bytes of core0, of which queues share 4127584\n",
		"the smallest: 2097152 bytes of tor0.0, of which queues share 2030432\n",
		"reserve           class 0: 8340 bytes of an egress queue\n",
		"class 7           DSCP 48; lossy; strict; ECN off\n",
		"answers           DSCP 48, class 7\n",
	};
	struct told t = tell(NAMED
		"topology: {fat_tree: {k: 4}, links: [{match: 'agg*-core*', rate: 200Gbps}]}\n"
		"switch: {buffer: {shared: auto, alpha: 0.5}}\n");

	(void)state;
	assert_says(t.r, parts, COUNT(parts));
	told_free(&t);
}

/* A value under a path of keys and indices, as in summary.json. */
static const json_t *at(const json_t *j, const char *path)
{
	char copy[128], *save = NULL;

	strcpy(copy, path);
	for (char *w = strtok_r(copy, ".", &save); w && j; w = strtok_r(NULL, ".", &save))
		j = json_is_array(j) ? json_array_get(j, (size_t)atoi(w)) : json_object_get(j, w);
	if (!j)
		fail_msg("no %s", path);
	return j;
}

static void json_says_the_same(void **state)
{
	char text[1024];
	struct told t;
	const json_t *j;

	(void)state;
	snprintf(text, sizeof(text),
		"%s" ALL_TO_ALL "faults: [{at: 3us, link: 'agg1*-core*', do: down}]\n", rich);
	t = tell(text);
	j = t.r;
	assert_int_equal(json_array_size(at(j, "switch.classes")), 4);
	assert_int_equal(json_integer_value(at(j, "switch.classes.1.class")), 3);
	assert_int_equal(json_integer_value(at(j, "switch.classes.1.dscp.1")), 27);
	assert_true(json_is_true(at(j, "switch.classes.1.lossless")));
	assert_int_equal(json_integer_value(at(j, "switch.classes.1.buffer_bytes")), 409600);
	assert_true(json_real_value(at(j, "switch.classes.0.share")) == 0.4);
	assert_true(json_real_value(at(j, "switch.classes.0.ecn.kmin.us")) == 2);
	assert_int_equal(json_integer_value(at(j, "switch.classes.0.ecn.kmax.bytes")), 102400);
	assert_int_equal(json_integer_value(at(j, "switch.headroom.0.headroom_bytes")), 39291);
	assert_int_equal(json_integer_value(at(j, "switch.headroom.0.xoff_bytes")), 370309);
	assert_true(json_is_null(at(j, "switch.pool")));
	assert_int_equal(json_integer_value(at(j, "transport_dscps.notify.dscp")), 9);
	assert_int_equal(json_integer_value(at(j, "transport_dscps.data.class")), 3);
	assert_int_equal(json_integer_value(at(j, "failures.0.faults.0")), 0);
	assert_true(json_is_true(at(j, "failures.0.bottleneck")));
	assert_true(json_is_null(at(j, "failures.0.flows_per_uplink")));
	assert_string_equal(json_string_value(at(j, "failures.0.pod")), "pod 1");
	assert_int_equal(json_integer_value(at(j, "switch.headroom.0.links")), 32);
	assert_int_equal(json_integer_value(at(j, "switch.headroom.1.links")), 16);
	assert_int_equal(json_integer_value(at(j, "switch.headroom.0.terms.flight_bytes")), 25000);
	assert_true(json_is_null(at(j, "switch.headroom.3.terms")));
	assert_int_equal(json_integer_value(at(j, "switch.trimming.class")), 6);
	assert_true(json_is_null(at(j, "switch.pauses.watchdog_us")));
	assert_int_equal(json_integer_value(at(j, "switch.roles.0.to")), 4);
	told_free(&t);
}

/* That many notes, and the first of them. */
static void assert_notes(const char *scenario, size_t count, const char *first)
{
	struct told t = tell(scenario);
	const json_t *notes = look(t.r, "notes");

	assert_int_equal(json_array_size(notes), count);
	if (count) {
		assert_string_equal(json_string_value(json_array_get(notes, 0)), first);
		assert_says(t.r, &first, 1);
	}
	told_free(&t);
}

static void roce_on_a_lossy_class_is_noted(void **state)
{
	static const char note[] =
		"RoCEv2's data goes by class 0, which is lossy: after each loss a queue pair goes back and starts "
		"again at its lowest rate; for a lossless class: switch.pfc, and lossless: yes of the class";

	(void)state;
	assert_notes(SMALL "host: {transport: strack}\n", 0, NULL);
	assert_notes(SMALL "host: {transport: roce}\n", 1, note);
	assert_notes(SMALL "host: {transport: roce}\nswitch: {pfc: on}\n", 0, NULL);
	/* data by another class than the lossless one */
	assert_notes(SMALL
		"host: {transport: roce, dscp: {data: 0}}\n"
		"switch: {pfc: on, classes: [{class: 3, dscp: 26, lossless: yes}, {class: 0}]}\n",
		1, note);
	assert_notes(SMALL
		"host: {transport: roce, dscp: {data: 26}}\n"
		"switch: {pfc: on, classes: [{class: 3, dscp: 26, lossless: yes}, {class: 0}]}\n",
		0, NULL);
	/* the data of a workload alone */
	assert_notes(SMALL
		"host: {transport: roce, dscp: {data: 26}}\n"
		"workload: [{incast: {senders: 3, message: 1}, dscp: 27}]\n"
		"switch: {pfc: on, classes: [{class: 3, dscp: 26, lossless: yes}, {class: 0}]}\n",
		1, note);
}

/* Each once, and what waits among them. */
static void dscps_of_flows_are_told(void **state)
{
	static const char *const parts[] = {"flows             DSCP 9, class 0\n",
		"flows             DSCP 40, class 5\n",
		"answers           DSCP 41, class 5, among the data\n"};
	struct told t = tell(SMALL
		"host: {dscp: {data: 26, control: 41}}\n"
		"workload:\n"
		"  - {incast: {senders: 3, message: 1}, dscp: 40}\n"
		"  - {incast: {senders: 3, message: 1}, dscp: 9}\n"
		"  - {incast: {senders: 3, message: 1}, dscp: 26}\n"
		"  - {incast: {senders: 3, message: 1}, dscp: 40}\n"
		"switch: {classes: [{class: 5, dscp: [40, 41]}, {class: 3, dscp: 26}, {class: 0}]}\n");

	(void)state;
	assert_int_equal(json_array_size(at(t.r, "transport_dscps.flows")), 2);
	assert_int_equal(json_integer_value(at(t.r, "transport_dscps.flows.1.dscp")), 40);
	assert_int_equal(json_integer_value(at(t.r, "transport_dscps.flows.1.class")), 5);
	assert_says(t.r, parts, COUNT(parts));
	told_free(&t);
	t = tell(SMALL ALL_TO_ALL);
	assert_null(look(t.r, "transport_dscps.flows"));
	told_free(&t);
}

/* Of what each transport sends, and where two of them meet. */
static void transports_of_entries_are_told(void **state)
{
	static const char *const parts[] = {
		"transport         STrack: DSCP 0, class 0\n",
		"transport         RoCEv2: DSCP 0, class 0; DSCP 26, class 3\n",
		"note              RoCEv2's data goes by class 0, which is lossy: ",
		"note              data of 2 transports goes by class 0 and shares its queues: STrack, RoCEv2; for queues of their own: dscp of an entry, and a class with that DSCP in switch.classes\n",
	};
	struct report_load load_of_two = {.flows = 2, .dscps = {1, 1 | 1 << 26}};
	struct told t = {
		.s = load(SMALL
			"workload:\n"
			"  - {incast: {senders: 3, message: 1}}\n"
			"  - {incast: {senders: 3, message: 1}, transport: roce}\n"
			"switch: {pfc: on, classes: [{class: 3, dscp: 26, lossless: yes}, {class: 0}]}\n"),
	};

	(void)state;
	t.f = fixture_fabric(t.s);
	t.r = fabric_report(t.f, t.s, &load_of_two);
	assert_says(t.r, parts, COUNT(parts));
	assert_int_equal(json_array_size(look(t.r, "notes")), 2);
	json_decref(t.r);
	/* each by a class that suits it */
	load_of_two.dscps[1] = 1 << 26;
	t.r = fabric_report(t.f, t.s, &load_of_two);
	assert_int_equal(json_array_size(look(t.r, "notes")), 0);
	assert_string_equal(json_string_value(at(t.r, "transports.1.transport")), "roce");
	assert_int_equal(json_integer_value(at(t.r, "transports.1.data.0.class")), 3);
	told_free(&t);
	t = tell(SMALL ALL_TO_ALL);
	assert_null(look(t.r, "transports"));
	told_free(&t);
}

/* A switch with 4 ports of 100 Gbps. */
#define STAR                                                                                       \
	NAMED "topology: {custom: {hosts: [a, b, c, d], switches: [s], links: [a-s, b-s, c-s, d-s]}}\n"

static void thresholds_beyond_the_buffer_are_noted(void **state)
{
	static const struct {
		const char *sw;
		const char *note;
	} cases[] = {
		{"buffer: {per_port: 32KB}, ecn: {kmin: 32767B, kmax: 1MB}", NULL},
		{"buffer: {per_port: 32KB}, ecn: {kmin: 32KB, kmax: 1MB}",
			"class 0: nothing is ever marked at 4 ports of switches, such as that of a-s: kmin is 32768 "
			"bytes there, and no queue holds more than 32768"},
		{"buffer: {per_port: 32KB}, ecn: off", NULL},
		/* a time at the port's rate: 12,500 bytes a microsecond */
		{"buffer: {per_port: 12500}, ecn: {kmin: 1us, kmax: 1us}",
			"class 0: nothing is ever marked at 4 ports of switches, such as that of a-s: kmin is 12500 "
			"bytes there, and no queue holds more than 12500"},
		{"buffer: {per_port: 12501}, ecn: {kmin: 1us, kmax: 1us}", NULL},
		/* lossless: three ingresses' worth */
		{"pfc: on, buffer: {per_port: 100KB}, ecn: {kmin: 307199B, kmax: 1MB}", NULL},
		{"pfc: on, buffer: {per_port: 100KB}, ecn: {kmin: 300KB, kmax: 1MB}",
			"class 0: nothing is ever marked at 4 ports of switches, such as that of a-s: kmin is 307200 "
			"bytes there, and no queue holds more than 307200"},
		/* a pool: half of what is free with alpha 1, and a reserve; ACKs have a class */
		{"buffer: {shared: 108000, reserve: 1000}, ecn: {kmin: 50999B, kmax: 1MB}", NULL},
		{"buffer: {shared: 108000, reserve: 1000}, ecn: {kmin: 51000B, kmax: 1MB}",
			"class 0: nothing is ever marked at 4 ports of switches, such as that of a-s: kmin is 51000 "
			"bytes there, and no queue holds more than 51000"},
		{"pfc: on, buffer: {shared: 1MB}, ecn: {kmin: 900KB, kmax: 1MB}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[512];

		snprintf(text, sizeof(text), STAR "switch: {%s}\n", cases[i].sw);
		assert_notes(text, cases[i].note != NULL, cases[i].note);
	}
}

static const struct report_load load_of_16 = {.flows = 16,
	.bytes = 16 * 2097152ull,
	.packets = 8192,
	.ideal_ps = 180000000,
	.kernel = {50, 2},
	.in_process = {3, 1},
	.least_share_bps = 12903225806,
	.most_share_bps = 100000000000};

/* A scenario that is no text, its fabric and the report. */
static struct told tell_made(struct scenario *s, const struct report_load *l)
{
	struct told t = {.f = fixture_fabric(s)};

	t.r = fabric_report(t.f, s, l);
	assert_non_null(t.r);
	return t;
}

static void paths_and_oversubscription_are_counted(void **state)
{
	struct scenario s = fixture_fat_tree(8);
	struct told t;
	const json_t *kernel, *in_process;

	(void)state;
	s.topology.host_rate_bps = 200000000000ull;
	t = tell_made(&s, &load_of_16);
	assert_int_equal(json_array_size(at(t.r, "tiers")), 3);
	assert_int_equal(json_integer_value(at(t.r, "tiers.0.switches")), 32);
	assert_int_equal(json_integer_value(at(t.r, "tiers.2.switches")), 16);
	assert_true(json_real_value(at(t.r, "tiers.0.oversubscription")) == 2);
	assert_true(json_real_value(at(t.r, "tiers.1.oversubscription")) == 1);
	assert_true(json_is_null(at(t.r, "tiers.2.oversubscription")));
	assert_int_equal(json_array_size(at(t.r, "paths")), 3);
	for (json_int_t i = 0; i < 3; i++) {
		const json_t *p = json_array_get(at(t.r, "paths"), (size_t)i);

		assert_int_equal(look_count(p, "links"), 2 * i + 2);
		assert_int_equal(look_count(p, "least"), i == 2 ? 16 : i ? 4 : 1);
		assert_int_equal(look_count(p, "most"), look_count(p, "least"));
	}
	kernel = at(t.r, "estimate.kernel");
	in_process = at(t.r, "estimate.inline");
	assert_true(look_number(in_process, "memory_mb") == 3);
	assert_true(look_number(in_process, "wall_s") == 1);
	assert_true(look_number(kernel, "memory_mb") == 50);
	assert_true(look_number(kernel, "wall_s") == 2);
	told_free(&t);
}

static void paths_are_a_range_where_pairs_differ(void **state)
{
	static struct fixture_custom c;
	struct scenario s =
		fixture_custom(&c, "a b c", "x y z m n", "a-x b-y c-z x-m y-m x-n y-n z-m");
	struct told t = tell_made(&s, &load_of_16);

	(void)state;
	/* No two hosts share a switch; a and b have two ways, c one to each. */
	assert_int_equal(json_array_size(at(t.r, "paths")), 1);
	assert_int_equal(json_integer_value(at(t.r, "paths.0.links")), 4);
	assert_int_equal(json_integer_value(at(t.r, "paths.0.least")), 1);
	assert_int_equal(json_integer_value(at(t.r, "paths.0.most")), 2);
	told_free(&t);
}

static void text_says_what_json_says(void **state)
{
	static const char *const parts[] = {
		"leaf-spine of 32 hosts, 6 switches, 48 links\n",
		"  tier 1            4 switches, oversubscribed 2:1\n",
		"  tier 2            2 switches\n",
		"across leaves: 8, each of 4 links\n",
		"  workload          16 messages, 33554432 bytes, 8192 packets\n",
		"  ideal             180.000 us for the slowest message",
		"  fair share        from 12.9Gbps to 100Gbps of each message\n",
		"  inline dataplane  about 3 MB, ",
	};
	struct scenario s = fixture_leaf_spine(4, 2, 8, 2);
	struct told t = tell_made(&s, &load_of_16);

	(void)state;
	assert_says(t.r, parts, COUNT(parts));
	assert_int_equal(look_count(t.r, "links"), 48);
	assert_int_equal(look_count(t.r, "bdp_bytes"), t.f->bdp_bytes);
	assert_int_equal(json_integer_value(at(t.r, "paths.1.most")), 8);
	assert_true(json_real_value(at(t.r, "workload.ideal_us")) == 180);
	told_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roce_on_a_lossy_class_is_noted),
		cmocka_unit_test(dscps_of_flows_are_told),
		cmocka_unit_test(transports_of_entries_are_told),
		cmocka_unit_test(thresholds_beyond_the_buffer_are_noted),
		cmocka_unit_test(failures_follow_the_inequality),
		cmocka_unit_test(a_permutation_has_a_flow_a_host),
		cmocka_unit_test(the_first_moments_are_told),
		cmocka_unit_test(faults_at_once_add_up),
		cmocka_unit_test(uplinks_may_be_the_bottleneck_anyway),
		cmocka_unit_test(one_switch_has_no_uplinks),
		cmocka_unit_test(all_settings_are_told),
		cmocka_unit_test(a_latency_is_told),
		cmocka_unit_test(pools_are_told),
		cmocka_unit_test(json_says_the_same),
		cmocka_unit_test(paths_and_oversubscription_are_counted),
		cmocka_unit_test(paths_are_a_range_where_pairs_differ),
		cmocka_unit_test(text_says_what_json_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
