/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/headroom.h"
#include "fabric_fixture.h"
#include "scenario_fixture.h"

#define KB 1024ull
#define MB (1024 * KB)

#define SWITCH(text) SMALL "switch: {" text "}\n"

/* Of a k=4 fat-tree at 100 Gbps and 1 us: a full packet, and a link's need without LLDP. */
#define PACKET   4170ull
#define HEADROOM 37535ull

static struct fabric *fabric_of(const char *text)
{
	struct scenario *s = load(text);
	struct fabric *f = fixture_fabric(s);

	scenario_free(s);
	return f;
}

/* Good as a file, but not for its fabric: compares the messages. */
static void expect_fabric(const char *text, const char *messages)
{
	struct scenario *s = load(text);
	struct diags diags = DIAGS_INIT;
	struct fabric *f = NULL;
	char found[2048] = "";

	assert_int_equal(fabric_new(&f, s, &diags), -EINVAL);
	assert_null(f);
	for (size_t i = 0; i < diags.count; i++)
		snprintf(strchr(found, 0), sizeof(found) - strlen(found), "%u:%u: %s\n",
			diags.items[i].pos.line, diags.items[i].pos.column, diags.items[i].text);
	assert_string_equal(found, messages);
	diags_release(&diags);
	scenario_free(s);
}

static void classes_are_resolved(void **state)
{
	struct fabric *f = fabric_of(SWITCH(
		"pfc: on, trim: receiver, ecn: {kmin: 1us, kmax: 100KB, average: 4},\n"
		"  classes: [{class: 1, schedule: 25%}, {class: 3, dscp: [26, 27], lossless: yes,\n"
		"    ecn: off, buffer: 1MB}]"));
	const struct switching *g = &f->switching;

	(void)state;
	for (uint32_t d = 0; d < 64; d++)
		assert_int_equal(g->config.class_of[d], d == 26 || d == 27   ? 3
							: d == 49 || d == 50 ? 6
									     : 1);
	assert_false(g->shared || g->classes[0].used);
	assert_true(g->classes[1].used && !g->classes[1].lossless && g->classes[1].share == 0.25);
	assert_int_equal(g->classes[1].limit_bytes, 5 * f->bdp_bytes);
	assert_int_equal(g->classes[1].kmin.ps, 1000000);
	assert_int_equal(g->classes[1].kmin.bytes, 0);
	assert_int_equal(g->classes[1].kmax.bytes, 100 * KB);
	assert_int_equal(g->classes[1].average, 4);
	assert_int_equal(switching_depth_bytes(&g->classes[1].kmin, 100000000000ull), 12500);
	assert_int_equal(switching_depth_bytes(&g->classes[1].kmin, 1000), 1);
	assert_int_equal(switching_depth_bytes(&g->classes[1].kmax, 1000), 100 * KB);
	assert_true(g->classes[3].lossless);
	assert_int_equal(g->classes[3].limit_bytes, MB);
	assert_int_equal(g->classes[3].kmax.bytes, 0);
	assert_true(g->classes[3].xoff_bytes == UINT64_MAX);
	assert_true(g->classes[3].headroom_bytes == UINT64_MAX);
	assert_int_equal(g->classes[3].xon_bytes, 2 * PACKET);
	assert_int_equal(g->classes[6].limit_bytes, 64 * KB);
	fabric_free(f);
}

static uint64_t headroom(const struct fabric *f, const struct switching_class *c, uint32_t port)
{
	return switching_headroom(&f->switching, c, &f->net.ports[port]);
}

static void pauses_are_resolved(void **state)
{
	struct fabric *f = fabric_of(SWITCH(
		"pfc: {response: 5ns}, lldp: on, classes: [{class: 1, lossless: yes, xoff: 100KB,\n"
		"  xon: 30KB, headroom: 50KB}, {class: 2, lossless: yes, xoff: 5KB},\n"
		"  {class: 3, lossless: yes, xoff: 50KB}]"));
	const struct switching_class *c = f->switching.classes;

	(void)state;
	assert_int_equal(c[1].xoff_bytes, 100 * KB);
	assert_int_equal(c[1].xon_bytes, 70 * KB);
	assert_int_equal(c[1].headroom_bytes, 50 * KB);
	assert_int_equal(headroom(f, &c[1], f->links[0].a), 50 * KB);
	assert_int_equal(c[2].xon_bytes, 5 * KB); /* two packets below would be nowhere */
	assert_int_equal(c[3].xon_bytes, 2 * PACKET);
	assert_int_equal(f->switching.config.response_ps, 5000);
	assert_int_equal(f->switching.control_bytes, 2 * wire_bytes(192) + 3 * wire_bytes(60));
	fabric_free(f);
}

static void headroom_is_the_formula_of_each_link(void **state)
{
	struct fabric *f = fabric_of(NAMED
		"topology: {fat_tree: {k: 4}, links: [{match: 'agg*-core*', rate: 400Gbps, delay: 7us}]}\n"
		"switch: {pfc: {response: 100ns}, buffer: {per_port: 2MB}}\n");
	const struct switching_class *c = &f->switching.classes[0];

	(void)state;
	for (int fast = 0; fast < 2; fast++) {
		uint32_t link = fixture_link(f, fast ? "agg0.0-core0" : "h0-tor0.0");
		struct headroom_params p = {
			.rate_bps = fast ? 400000000000ull : 100000000000ull,
			.delay_ps = fast ? 7000000 : 1000000,
			.response_ps = 100000,
			.frame_bytes = PACKET,
			.control_bytes = 84,
		};

		assert_int_equal(headroom(f, c, f->links[link].a), headroom_bytes(&p));
		assert_int_equal(headroom(f, c, f->links[link].b), headroom_bytes(&p));
	}
	fabric_free(f);
}

static void thresholds_that_cross_on_a_link_are_named(void **state)
{
	(void)state;
	expect_fabric(SWITCH("ecn: {kmin: 20us, kmax: 100KB}"),
		"0:0: switch.ecn.kmin: 250000 bytes on link h0-tor0.0, above kmax, which comes to 102400 "
		"bytes\n");
	/* only the fast links are too fast for it */
	expect_fabric(NAMED
		"topology: {fat_tree: {k: 4}, links: [{match: agg1.1-core3, rate: 400Gbps}]}\n"
		"switch: {ecn: {kmin: 8us, kmax: 100KB}}\n",
		"0:0: switch.ecn.kmin: 400000 bytes on link agg1.1-core3, above kmax, which comes to "
		"102400 bytes\n");
	expect_fabric(SWITCH("ecn: {kmin: 1us, kmax: 1s}"),
		"0:0: switch.ecn.kmax: 12500000000 bytes on link h0-tor0.0; at most 4294967295, as "
		"counters have 32 bits\n");
	/* classes with the switch's settings share a message, one of its own has another */
	expect_fabric(SWITCH("ecn: {kmin: 200KB, kmax: 50% BDP},\n"
			     "  classes: [{class: 1}, {class: 2}, {class: 4, ecn: {kmin: 300KB}}]"),
		"4:13: switch.classes: class 1: ecn.kmin: 204800 bytes, above kmax, which comes to 87948 "
		"bytes\n"
		"4:37: switch.classes: class 4: ecn.kmin: 307200 bytes, above kmax, which comes to 87948 "
		"bytes\n");
}

static void buffers_hold_a_packet_and_the_headroom(void **state)
{
	char text[512], messages[512];

	(void)state;
	snprintf(text, sizeof(text), SWITCH("pfc: on, buffer: {per_port: %llu}"), HEADROOM - 1);
	snprintf(messages, sizeof(messages),
		"0:0: switch.buffer.per_port: headroom of %llu bytes, as link h0-tor0.0 has it, is larger "
		"than the buffer of %llu; give the buffer at least %llu\n",
		HEADROOM, HEADROOM - 1, HEADROOM + PACKET);
	expect_fabric(text, messages);
	snprintf(text, sizeof(text), SWITCH("pfc: on, buffer: {per_port: %llu}"),
		HEADROOM + PACKET - 1);
	snprintf(messages, sizeof(messages),
		"0:0: switch.buffer.per_port: %llu bytes have no room for a packet of 4170 beside %llu "
		"bytes of headroom, as link h0-tor0.0 has it; give the buffer at least %llu\n",
		HEADROOM + PACKET - 1, HEADROOM, HEADROOM + PACKET);
	expect_fabric(text, messages);
	snprintf(
		text, sizeof(text), SWITCH("pfc: on, buffer: {per_port: %llu}"), HEADROOM + PACKET);
	fabric_free(fabric_of(text));
	expect_fabric(
		SWITCH("pfc: on, classes: [{class: 3, lossless: yes, buffer: 40KB, xoff: 10KB}]"),
		"3:29: switch.classes: class 3: buffer: XOFF at 10240 bytes and 37535 bytes of headroom, as "
		"link h0-tor0.0 has it, do not fit into 40960; give the buffer at least 47775, or lower "
		"xoff\n");
	expect_fabric(
		SWITCH("pfc: on, classes: [{class: 3, lossless: yes, buffer: 40KB, headroom: 41KB}]"),
		"3:29: switch.classes: class 3: buffer: headroom of 41984 bytes, as link h0-tor0.0 has it, "
		"is larger than the buffer of 40960; give the buffer at least 46154, or take less headroom\n");
	expect_fabric(
		SWITCH("pfc: on, classes: [{class: 3, lossless: yes, xoff: 10KB, xon: 50% BDP}]"),
		"3:29: switch.classes: class 3: xon: 87948 bytes, above XOFF, which comes to 10240 bytes; a "
		"queue that was paused must drain first\n");
	expect_fabric(SWITCH("trim: {queue: 73}"),
		"0:0: switch.trim.queue: 73 bytes hold not even one trimmed packet, which has 74\n");
	/* the link that asks for most is named */
	expect_fabric(NAMED
		"topology: {fat_tree: {k: 4}, links: [{match: agg1.1-core3, delay: 100us}]}\n"
		"switch: {pfc: on, buffer: {per_port: 1MB}}\n",
		"0:0: switch.buffer.per_port: headroom of 2498372 bytes, as link agg1.1-core3 has it, is "
		"larger than the buffer of 1048576; give the buffer at least 2502542\n");
}

#define HEADROOM_SUM                                                                                \
	"0:0: switch.pfc: headroom of class 0 at the 7 ports of switch \"leaf0\" comes to "         \
	"4350052987 bytes, and a switch counts up to 4294967295; give the class less headroom, or " \
	"shorter or slower links\n"

static void headroom_of_a_switch_can_be_counted(void **state)
{
	static const char text[] = NAMED
		"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: %u}, rate: 25Gbps,\n"
		"  delay: 100ms}\nswitch: {pfc: on, buffer: {%s}}\n";
	char scenario[512];

	(void)state;
	/* 2 x 100 ms at 25 Gbps are 625 MB on the wire, 4,170 of 4,194 bytes of which are frames:
	 * those of six ports are below 2^32 */
	snprintf(scenario, sizeof(scenario), text, 4, "per_port: 1GB");
	fabric_free(fabric_of(scenario));
	snprintf(scenario, sizeof(scenario), text, 5, "per_port: 1GB");
	expect_fabric(scenario, HEADROOM_SUM);
	snprintf(scenario, sizeof(scenario), text, 5, "shared: 100GB");
	expect_fabric(scenario, HEADROOM_SUM);
}

/* The longest frame with its headers that a veth passes: 3,400 bytes. */
static void payload_fits_a_frame(void **state)
{
	static const char text[] =
		NAMED "topology: {fat_tree: {k: 4}, mtu: %u}\nhost: {payload: %s, ip: %d}\n";
	char scenario[256];

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint32_t most = i ? 3306 : 3326;
		struct fabric *f;

		snprintf(scenario, sizeof(scenario), text, most, "full", i ? 6 : 4);
		f = fabric_of(scenario);
		assert_int_equal(f->packet_bytes, 3400);
		assert_true(fabric_holds_payload(f));
		fabric_free(f);
		snprintf(scenario, sizeof(scenario), text, most + 1, "auto", i ? 6 : 4);
		f = fabric_of(scenario);
		assert_false(fabric_holds_payload(f));
		fabric_free(f);
	}
	expect_fabric(NAMED "topology: {fat_tree: {k: 4}, mtu: 3327}\nhost: {payload: full}\n",
		"0:0: host.payload: a packet with its payload has 3401 bytes, and a frame on a veth with "
		"XDP at most 3400; give topology.mtu at most 3326, or payload: headers\n");
}

static void pools_are_shared_out(void **state)
{
	struct fabric *f =
		fabric_of(SWITCH("pfc: on, trim: {queue: 10KB}, buffer: {shared: auto, alpha: 2},\n"
				 "  classes: [{class: 1}, {class: 3, lossless: yes}]"));
	uint32_t core = fixture_node(f, "core0");

	(void)state;
	assert_true(f->switching.shared && f->switching.alpha == 2);
	assert_int_equal(f->switching.pool_bytes, 0);
	assert_int_equal(f->switching.classes[1].limit_bytes, 2 * PACKET);
	assert_int_equal(f->switching.classes[3].limit_bytes, 2 * PACKET);
	assert_int_equal(f->switching.classes[6].limit_bytes, 10 * KB);
	/* 0.4 Tbps of 5 MB a Tbps */
	assert_int_equal(switching_pool(&f->switching, &f->net, core), 2 * MB);
	assert_int_equal(switching_pool_left(&f->switching, &f->net, core),
		2 * MB - 4 * (2 * PACKET + 2 * PACKET + 10 * KB + HEADROOM));
	fabric_free(f);
	f = fabric_of(SWITCH("buffer: {shared: 1MB, reserve: 3KB}"));
	assert_int_equal(switching_pool(&f->switching, &f->net, fixture_node(f, "tor0.0")), MB);
	assert_int_equal(switching_pool_left(&f->switching, &f->net, fixture_node(f, "tor0.0")),
		MB - 4 * (3 + 3) * KB);
	fabric_free(f);
}

static uint64_t queue_of(const char *text, uint32_t transport)
{
	struct scenario *s = load(text);
	struct fabric *f = fabric_of(text);
	uint64_t bytes = fabric_data_queue(f, s, transport);

	fabric_free(f);
	scenario_free(s);
	return bytes;
}

static uint64_t data_queue(const char *text)
{
	return queue_of(text, 0);
}

#define THREE_CLASSES                                                                                    \
	SWITCH("buffer: {per_port: 32KB}, classes: [{class: 0}, {class: 1, dscp: [10], buffer: 64KB},\n" \
	       "    {class: 2, dscp: [18], buffer: 128KB}]")
#define LIST        "queue_list.csv"
#define HOSTS_DATA  "{permutation: {message: 1MB}}"
#define OTHERS_DATA ", {permutation: {message: 1MB}, transport: roce, dscp: 10}"

/* Each transport has the queues of its own data, if it is known. */
static void queues_of_a_transport(void **state)
{
	FILE *list = fopen(LIST, "we");

	(void)state;
	assert_int_equal(data_queue(THREE_CLASSES), 128 * KB);
	assert_int_equal(data_queue(THREE_CLASSES "workload: [" HOSTS_DATA "]\n"), 32 * KB);
	assert_int_equal(
		data_queue(THREE_CLASSES "workload: [" HOSTS_DATA OTHERS_DATA "]\n"), 32 * KB);
	assert_int_equal(
		queue_of(THREE_CLASSES "workload: [" HOSTS_DATA OTHERS_DATA "]\n", 1), 64 * KB);
	assert_int_equal(data_queue(THREE_CLASSES "workload: [" HOSTS_DATA
						  ", {permutation: {message: 1MB}, dscp: 18}]\n"),
		128 * KB);
	/* flows of a file may be of any class */
	assert_non_null(list);
	fputs("src,dst,bytes,start_us\nh0,h1,1000,0\n", list);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(
		data_queue(THREE_CLASSES "workload: [{flows: {file: " LIST "}}]\n"), 128 * KB);
	assert_int_equal(remove(LIST), 0);
}

/* What the number of subflows follows from: headers and pauses don't count. */
static void queues_of_lossy_data(void **state)
{
	struct fabric *f = fabric_of(SWITCH("buffer: {shared: 4MB, reserve: 8KB, alpha: 0.5}"));
	uint64_t left = 0;

	(void)state;
	assert_int_equal(data_queue(SWITCH("buffer: {per_port: 32KB}")), 32 * KB);
	assert_int_equal(
		data_queue(SWITCH("buffer: {per_port: 32KB}, trim: {to: receiver, queue: 1MB}")),
		32 * KB);
	assert_int_equal(data_queue(SWITCH("pfc: on, buffer: {per_port: 400KB},\n"
					   "  classes: [{class: 1, buffer: 50KB},\n"
					   "    {class: 3, dscp: [26], lossless: yes}]")),
		50 * KB);
	/* class 7 is that of answers, whether the file names it or not */
	assert_int_equal(data_queue(SWITCH("pfc: on, buffer: {per_port: 400KB}")), 0);
	assert_int_equal(data_queue(SWITCH("pfc: on, buffer: {per_port: 400KB},\n"
					   "  classes: [{class: 0, lossless: yes},\n"
					   "    {class: 7, dscp: 48}]}\n"
					   "host: {dscp: {control: 48}")),
		0);
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		uint64_t n = switching_pool_left(&f->switching, &f->net, i);

		left = n > left ? n : left;
	}
	assert_int_equal(switching_data_queue(&f->switching, &f->net, 0), 8 * KB + left / 3);
	fabric_free(f);
}

static void pools_must_leave_room(void **state)
{
	/* of data and of answers */
	unsigned long long own = 4 * (2 * 2 * PACKET + HEADROOM), least = own + 4 * PACKET;
	char text[256], messages[512];

	(void)state;
	snprintf(text, sizeof(text), SWITCH("pfc: on, buffer: {shared: %llu}"), least);
	fabric_free(fabric_of(text));
	snprintf(text, sizeof(text), SWITCH("pfc: on, buffer: {shared: %llu}"), least - 1);
	snprintf(messages, sizeof(messages),
		"0:0: switch.buffer.shared: of %llu bytes of switch \"tor0.0\" the reserves and headroom of "
		"its 4 ports take %llu, and the rest holds not a packet for each; give at least %llu, or "
		"reserve less\n",
		least - 1, own, least);
	expect_fabric(text, messages);
}

static void faults_of_nodes_are_checked(void **state)
{
	(void)state;
	expect_fabric(SWITCH("pfc: on") "faults:\n"
					"  - {at: 1us, switch: core9, do: down}\n"
					"  - {at: 1us, switch: h0, do: down}\n"
					"  - {at: 1us, switch: 'spine*', do: down}\n"
					"  - {at: 1us, host: h99, do: {pause: 0}}\n"
					"  - {at: 1us, host: core0, do: {pause: 0}}\n"
					"  - {at: 1us, switch: core1, do: down}\n"
					"  - {at: 1us, link: '*-core1', do: down}\n"
					"  - {at: 2us, switch: 'core[12]', do: down}\n"
					"  - {at: 3us, host: 'h1?', do: {pause: 0}}\n"
					"  - {at: 4us, host: 'h*', do: {pause: 0}}\n",
		"5:5: faults.0.switch: there is no switch 'core9'; did you mean 'core0'?\n"
		"6:5: faults.1.switch: 'h0' is a host; expected a switch\n"
		"7:5: faults.2.switch: 'spine*' matches no switch; the 20 switches are tor0.0 to core3\n"
		"8:5: faults.3.host: there is no host 'h99'; did you mean 'h9'?\n"
		"9:5: faults.4.host: 'core0' is a switch; expected a host\n"
		"12:5: faults.7: this \"down\" overlaps the one in line 10 on switch core1 (that one: 1us, "
		"for good); keep their times apart, or merge them\n"
		"14:5: faults.9: this \"pause\" overlaps the one in line 13 on host h10 (that one: 3us, for "
		"good); keep their times apart, or merge them\n");
}

static void nodes_match_globs(void **state)
{
	struct fabric *f = fabric_of(SMALL);

	(void)state;
	assert_true(fabric_node_matches(f, fixture_node(f, "core0"), "core0"));
	assert_true(fabric_node_matches(f, fixture_node(f, "agg1.0"), "agg?.0"));
	assert_true(fabric_node_matches(f, fixture_node(f, "h3"), "h[0-3]"));
	assert_false(fabric_node_matches(f, fixture_node(f, "h13"), "h3"));
	assert_false(fabric_node_matches(f, fixture_node(f, "core0"), "core"));
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_resolved),
		cmocka_unit_test(pauses_are_resolved),
		cmocka_unit_test(headroom_is_the_formula_of_each_link),
		cmocka_unit_test(thresholds_that_cross_on_a_link_are_named),
		cmocka_unit_test(buffers_hold_a_packet_and_the_headroom),
		cmocka_unit_test(headroom_of_a_switch_can_be_counted),
		cmocka_unit_test(payload_fits_a_frame),
		cmocka_unit_test(pools_are_shared_out),
		cmocka_unit_test(queues_of_lossy_data),
		cmocka_unit_test(queues_of_a_transport),
		cmocka_unit_test(pools_must_leave_room),
		cmocka_unit_test(faults_of_nodes_are_checked),
		cmocka_unit_test(nodes_match_globs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
