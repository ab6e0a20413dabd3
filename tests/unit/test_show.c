/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables that show what a fabric is doing, beside what the engine and closed forms say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "abi/policies.h"
#include "base/units.h"
#include "lib/small_session.h"
#include "session/show.h"

/* Three senders, one receiver, queues of 20 KB: something is dropped, something is queued. */
static const char incast[] = "name: t\n"
			     "topology:\n"
			     "  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
			     "  rate: 100Gbps\n"
			     "  delay: 2us\n"
			     "switch: {buffer: {per_port: 20KB}, ecn: {kmin: 5KB, kmax: 15KB}}\n"
			     "workload:\n"
			     "  - incast: {senders: 3, to: h0, message: 1MB}\n"
			     "faults:\n"
			     "  - {at: 5us, link: h3-leaf1, do: {rate: 25%}}\n"
			     "  - {at: 5us, link: h2-leaf1, do: {delay: 3us}}\n"
			     "  - {at: 5us, link: leaf0-spine1, do: down}\n";
static const char lossless[] =
	"name: t\n"
	"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}, rate: 100Gbps}\n"
	"switch:\n"
	"  buffer: {per_port: 50KB}\n"
	"  classes: [{class: 3, dscp: 26, lossless: yes}, {class: 0}]\n"
	"  pfc: on\n"
	"  lldp: {every: 20us}\n"
	"host: {transport: roce, dscp: {data: 26}}\n"
	"workload:\n"
	"  - incast: {senders: 3, to: h0, message: 1MB}\n";

struct bench {
	struct small_session s;
	struct show_view view;
};

static void bench_open(struct bench *b, const char *text, uint64_t until_us)
{
	struct error why = ERROR_INIT;

	small_session_open(&b->s, text, NULL, 0, NULL);
	if (session_advance(b->s.session, until_us * PS_PER_US, NULL, &why) < 0)
		fail_msg("%s", why.text);
	b->view = (struct show_view){
		.fabric = b->s.fabric,
		.engine = session_engine(b->s.session),
		.agents = session_agents(b->s.session),
	};
}

static void bench_close(struct bench *b)
{
	small_session_close(&b->s);
}

static json_t *rows_of(const struct bench *b, const char *what, const char *match)
{
	struct show_page page = {0};
	struct error why = ERROR_INIT;
	json_t *rows = show_rows(&b->view, what, match, &page, &why);

	if (!rows)
		fail_msg("%s", why.text);
	return rows;
}

/* The only row that fits. */
static json_t *row_of(const struct bench *b, const char *what, const char *match)
{
	json_t *rows = rows_of(b, what, match), *row;

	assert_int_equal(json_array_size(rows), 1);
	row = json_incref(json_array_get(rows, 0));
	json_decref(rows);
	return row;
}

/* A row, or a list of them, as text; takes the reference. */
static void assert_text(json_t *value, const char *want)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));

	assert_string_equal(text, want);
	free(text);
	json_decref(value);
}

static const char *word_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static double number_of(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static void nodes_have_addresses(void **state)
{
	static const uint64_t sent[] = {1, 2, 3, 4}, delivered[] = {5, 6, 7, 8},
			      lost[] = {0, 0, 9, 0};
	struct bench b;

	(void)state;
	bench_open(&b, incast, 0);
	assert_text(row_of(&b, "nodes", "h2"),
		"{\"node\":\"h2\",\"kind\":\"host\",\"ports\":1,\"ip4\":\"10.0.0.3\",\"ip6\":\"fd00:fab::3\","
		"\"netns\":null,\"sent\":null,\"delivered\":null,\"dropped\":null}");
	b.view.name = "t-2";
	b.view.stack_sent = sent;
	b.view.stack_delivered = delivered;
	b.view.stack_lost = lost;
	assert_text(rows_of(&b, "nodes", "[hl]*[23]"),
		"[{\"node\":\"h2\",\"kind\":\"host\",\"ports\":1,\"ip4\":\"10.0.0.3\",\"ip6\":\"fd00:fab::3\","
		"\"netns\":\"t-2-h2\",\"sent\":3,\"delivered\":7,\"dropped\":{\"host_queue\":9}},"
		"{\"node\":\"h3\",\"kind\":\"host\",\"ports\":1,\"ip4\":\"10.0.0.4\",\"ip6\":\"fd00:fab::4\","
		"\"netns\":\"t-2-h3\",\"sent\":4,\"delivered\":8,\"dropped\":{}}]");
	assert_text(row_of(&b, "nodes", "leaf1"),
		"{\"node\":\"leaf1\",\"kind\":\"switch\",\"ports\":4,\"ip4\":null,\"ip6\":null,"
		"\"netns\":\"t-2-leaf1\",\"sent\":null,\"delivered\":null,\"dropped\":null}");
	bench_close(&b);
}

/* The 300th host is 10.0.1.44. */
static void addresses_have_all_their_bytes(void **state)
{
	static const char many[] =
		"name: t\n"
		"topology: {leaf_spine: {leaves: 8, spines: 1, hosts_per_leaf: 40}}\n"
		"workload:\n  - pairs: {from: [h0], to: [h1], message: 1}\n";
	struct bench b;
	json_t *row;

	(void)state;
	bench_open(&b, many, 0);
	row = row_of(&b, "nodes", "h299");
	assert_string_equal(word_of(row, "ip4"), "10.0.1.44");
	assert_string_equal(word_of(row, "ip6"), "fd00:fab::12c");
	json_decref(row);
	bench_close(&b);
}

static const char *faults_of(void *arg, uint32_t port)
{
	return port == *(uint32_t *)arg ? "rate" : "";
}

static void ports_are_as_faults_left_them(void **state)
{
	uint32_t faulty;
	struct bench b;

	(void)state;
	bench_open(&b, incast, 0);
	faulty = b.s.fabric->net.nodes[3].first_port;
	assert_text(row_of(&b, "ports", "h3->*"),
		"{\"port\":\"h3->leaf1\",\"link\":\"h3-leaf1\",\"up\":true,\"rate_gbps\":100.0,"
		"\"delay_us\":2.0,\"tx_frames\":0,\"tx_bytes\":0,\"utilisation\":0.0,"
		"\"rx_frames\":0,\"marked\":0,\"trimmed\":0,\"dropped\":{},\"depth_bytes\":0,"
		"\"max_depth_bytes\":0,\"pauses_sent\":0,\"pauses_received\":0,\"paused_us\":0.0,\"faults\":\"\"}");
	bench_close(&b);
	bench_open(&b, incast, 6);
	b.view.port_faults = faults_of;
	b.view.faults_arg = &faulty;
	for (int end = 0; end < 2; end++) {
		json_t *row = row_of(&b, "ports", end ? "leaf1->h3" : "h3->leaf1");

		assert_true(number_of(row, "rate_gbps") == 25 && number_of(row, "delay_us") == 2);
		assert_true(json_is_true(json_object_get(row, "up")));
		assert_string_equal(word_of(row, "faults"), end ? "" : "rate");
		json_decref(row);
		row = row_of(&b, "ports", end ? "leaf1->h2" : "h2->leaf1");
		assert_true(number_of(row, "rate_gbps") == 100 && number_of(row, "delay_us") == 5);
		json_decref(row);
		row = row_of(&b, "ports", end ? "spine1->leaf0" : "leaf0->spine1");
		assert_true(json_is_false(json_object_get(row, "up")));
		json_decref(row);
	}
	bench_close(&b);
}

/* What all ports say together is what the engine counted: frames, marks, drops by reason. */
static void ports_add_up(void **state)
{
	double hops = 0, marked = 0, dropped[DROP_REASON_COUNT] = {0};
	struct engine_stats stats;
	json_t *rows, *row, *value;
	struct bench b;
	const char *reason;
	size_t i;

	(void)state;
	bench_open(&b, incast, 100);
	engine_stats(b.view.engine, &stats);
	rows = rows_of(&b, "ports", NULL);
	assert_int_equal(json_array_size(rows), b.s.fabric->net.port_count);
	json_array_foreach(rows, i, row)
	{
		hops += number_of(row, "rx_frames");
		marked += number_of(row, "marked");
		json_object_foreach(json_object_get(row, "dropped"), reason, value)
		{
			if (!strcmp(reason, "buffer"))
				dropped[DROP_BUFFER] += json_number_value(value);
			else if (!strcmp(reason, "link_down"))
				dropped[DROP_LINK_DOWN] += json_number_value(value);
			else
				fail_msg("%s", reason);
		}
	}
	json_decref(rows);
	assert_true(stats.dropped[DROP_BUFFER] > 0 && stats.marked > 0);
	assert_true(hops == (double)stats.hops);
	assert_true(marked == (double)stats.marked);
	assert_true(dropped[DROP_BUFFER] == (double)stats.dropped[DROP_BUFFER]);
	assert_true(dropped[DROP_LINK_DOWN] == (double)stats.dropped[DROP_LINK_DOWN]);
	bench_close(&b);
}

/* The receiver's port is full, marks and drops: it is the leaf's queue towards it. */
static void the_full_port_is_told(void **state)
{
	json_t *row, *queue;
	struct bench b;

	(void)state;
	bench_open(&b, incast, 40);
	row = row_of(&b, "ports", "leaf0->h0");
	queue = row_of(&b, "queues", "leaf0->h0");
	assert_true(number_of(json_object_get(row, "dropped"), "buffer") > 0);
	assert_true(number_of(row, "marked") > 0);
	assert_true(number_of(row, "max_depth_bytes") > 10000 &&
		    number_of(row, "max_depth_bytes") <= 20480);
	assert_true(number_of(queue, "max_depth_bytes") == number_of(row, "max_depth_bytes"));
	assert_true(number_of(queue, "depth_bytes") == number_of(row, "depth_bytes"));
	assert_true(number_of(queue, "depth_bytes") > 0 && number_of(queue, "depth_frames") > 0);
	assert_true(number_of(queue, "limit_bytes") == 20480);
	assert_true(json_is_false(json_object_get(queue, "paused")));
	json_decref(row);
	json_decref(queue);
	row = row_of(&b, "ports", "h0->leaf0");
	assert_int_equal(json_object_size(json_object_get(row, "dropped")), 0);
	assert_true(number_of(row, "marked") == 0);
	json_decref(row);
	bench_close(&b);
}

/* Frames on a cable that died are shown at the port that had sent them. */
static void losses_on_a_cable_are_the_senders(void **state)
{
	static const char down[] =
		"name: t\n"
		"topology:\n"
		"  custom: {hosts: [h0, h1], switches: [s], links: [h0-s, h1-s]}\n"
		"  delay: 2us\n"
		"host: {transport: {strack: {sack_packets: 64}}}\n" /* no answer gets under way */
		"workload:\n  - pairs: {from: [h0], to: [h1], message: 1MB}\n"
		"faults:\n  - {at: 3us, link: h0-s, do: down}\n";
	json_t *row;
	struct bench b;

	(void)state;
	bench_open(&b, down, 20);
	row = row_of(&b, "ports", "h0->s");
	assert_true(number_of(json_object_get(row, "dropped"), "link_down") > 0);
	json_decref(row);
	row = row_of(&b, "ports", "s->h0");
	assert_int_equal(json_object_size(json_object_get(row, "dropped")), 0);
	json_decref(row);
	bench_close(&b);
}

/* Those that never held anything are left out; what is lossless has no limit. */
static void queues_in_use_are_shown(void **state)
{
	bool seen_paused = false, seen_paused_us = false;
	json_t *rows, *row;
	struct bench b;
	size_t i;

	(void)state;
	bench_open(&b, lossless, 0);
	assert_text(rows_of(&b, "queues", NULL), "[]");
	assert_text(rows_of(&b, "queues", "leaf0->h0"), "[]");
	bench_close(&b);
	for (uint64_t us = 10; us < 100; us += 10) {
		bench_open(&b, lossless, us);
		rows = rows_of(&b, "queues", NULL);
		json_array_foreach(rows, i, row)
		{
			bool is_lossless = number_of(row, "class") == 3;

			seen_paused |= json_is_true(json_object_get(row, "paused"));
			seen_paused_us |= number_of(row, "paused_us") > 0;
			assert_true(
				number_of(row, "depth_bytes") <= number_of(row, "max_depth_bytes"));
			if (is_lossless || word_of(row, "port")[0] == 'h')
				assert_true(json_is_null(json_object_get(row, "limit_bytes")));
			else
				assert_true(number_of(row, "limit_bytes") > 0);
		}
		json_decref(rows);
		bench_close(&b);
	}
	assert_true(seen_paused && seen_paused_us);
}

/* With alpha 1/2: half of the pool but for what the only queue holds, and less as it fills. */
static void limits_follow_the_pool(void **state)
{
	static const char pooled[] =
		"name: t\n"
		"topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 4}, rate: 100Gbps}\n"
		"switch: {buffer: {shared: 1MB, alpha: 0.5, reserve: 0}}\n"
		"workload:\n"
		"  - incast: {senders: 3, to: h0, message: 1MB}\n";
	uint64_t pool;
	struct bench b;
	json_t *row;

	(void)state;
	bench_open(&b, pooled, 15);
	pool = switching_pool_left(
		&b.s.fabric->switching, &b.s.fabric->net, b.s.fabric->net.host_count);
	row = row_of(&b, "queues", "leaf0->h0");
	assert_true(number_of(row, "depth_bytes") > 50000);
	assert_true(number_of(row, "limit_bytes") ==
		    floor(((double)pool - number_of(row, "depth_bytes")) / 2));
	json_decref(row);
	bench_close(&b);
}

static void flows_begin_and_end(void **state)
{
	struct engine_flow_result f;
	struct bench b;
	json_t *row;
	bool met;

	(void)state;
	bench_open(&b,
		"name: t\n"
		"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1}}\n"
		"workload:\n"
		"  - pairs: {from: [h0], to: [h1], message: 40KB}\n"
		"  - pairs: {from: [h1], to: [h0], message: 7, start: 900us}\n",
		500);
	engine_flow_result(b.view.engine, 0, &f);
	row = row_of(&b, "flows", "0");
	assert_true(number_of(row, "fct_us") * PS_PER_US == (double)(f.finish_ps - f.start_ps));
	assert_true(number_of(row, "packets") == 10 && number_of(row, "bytes") == 40960);
	assert_true(number_of(row, "start_us") == 0);
	assert_true(number_of(row, "retransmitted") == 0 && number_of(row, "timeouts") == 0);
	json_decref(row);
	assert_text(row_of(&b, "flows", "1"),
		"{\"flow\":1,\"src\":\"h1\",\"dst\":\"h0\",\"bytes\":7,\"start_us\":null,\"fct_us\":null,"
		"\"packets\":0,\"retransmitted\":0,\"timeouts\":0,\"fct_slowdown\":null,\"delivered_bytes\":0,"
		"\"marks\":0,\"spurious\":0,\"qp\":5,\"entry\":1}");
	small_session_run(&b.s);
	row = row_of(&b, "flows", "1");
	assert_true(number_of(row, "start_us") == 900 && number_of(row, "fct_us") > 0);
	json_decref(row);
	json_decref(small_session_summary(&b.s, &met));
	bench_close(&b);
}

static void routes_name_ports(void **state)
{
	struct bench b;
	json_t *rows;

	(void)state;
	bench_open(&b, incast, 0);
	assert_text(rows_of(&b, "routes", "leaf0"),
		"[{\"node\":\"leaf0\",\"to\":\"h0\",\"ports\":\"leaf0->h0\"},"
		"{\"node\":\"leaf0\",\"to\":\"h1\",\"ports\":\"leaf0->h1\"},"
		"{\"node\":\"leaf0\",\"to\":\"h2\",\"ports\":\"leaf0->spine0 leaf0->spine1\"},"
		"{\"node\":\"leaf0\",\"to\":\"h3\",\"ports\":\"leaf0->spine0 leaf0->spine1\"}]");
	rows = rows_of(&b, "routes", NULL);
	assert_int_equal(json_array_size(rows), 4 * 4);
	json_decref(rows);
	bench_close(&b);
}

/* When the only way is cut and routes have followed, there is none. */
static void routes_may_lead_nowhere(void **state)
{
	static const char cut[] =
		"name: t\n"
		"topology:\n"
		"  custom: {hosts: [h0, h1], switches: [a, b], links: [h0-a, h1-b, a-b]}\n"
		"switch: {reroute: {after: 10us}}\n"
		"workload:\n  - pairs: {from: [h0], to: [h1], message: 1MB}\n"
		"faults:\n  - {at: 3us, link: a-b, do: down}\n";
	struct bench b;

	(void)state;
	bench_open(&b, cut, 30);
	assert_text(rows_of(&b, "routes", "a"),
		"[{\"node\":\"a\",\"to\":\"h0\",\"ports\":\"a->h0\"},"
		"{\"node\":\"a\",\"to\":\"h1\",\"ports\":\"\"}]");
	bench_close(&b);
}

static void roles_are_what_lldp_learnt(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, lossless, 0);
	assert_text(row_of(&b, "roles", "leaf1->spine0"),
		"{\"port\":\"leaf1->spine0\",\"level\":null,\"role\":\"unknown\",\"neighbour\":\"\","
		"\"neighbour_port\":\"\",\"neighbour_level\":null}");
	bench_close(&b);
	bench_open(&b, lossless, 70);
	assert_text(row_of(&b, "roles", "leaf1->spine0"),
		"{\"port\":\"leaf1->spine0\",\"level\":1,\"role\":\"up\",\"neighbour\":\"spine0\","
		"\"neighbour_port\":\"spine0->leaf1\",\"neighbour_level\":2}");
	assert_text(row_of(&b, "roles", "leaf1->h3"),
		"{\"port\":\"leaf1->h3\",\"level\":1,\"role\":\"down\",\"neighbour\":\"h3\","
		"\"neighbour_port\":\"h3->leaf1\",\"neighbour_level\":0}");
	bench_close(&b);
}

static void switches_have_policies(void **state)
{
	static const char *const sets[] = {"switch.balance={leaf: flowlet, flows: 16}"};
	struct switch_balance *leaf1;
	struct bench b;

	(void)state;
	bench_open(&b, incast, 0);
	assert_text(row_of(&b, "balance", "leaf1"),
		"{\"switch\":\"leaf1\",\"policy\":\"ecmp\",\"flows\":null,\"forgotten\":null}");
	bench_close(&b);
	small_session_open(&b.s, incast, sets, 1, NULL);
	b.view = (struct show_view){
		.fabric = b.s.fabric, .engine = session_engine(b.s.session), .policy_file = "my.c"};
	leaf1 = &engine_tables(b.view.engine)->balances[1];
	leaf1->flows = 7;
	leaf1->forgotten = 3;
	engine_tables(b.view.engine)->switches[2].balance = BALANCE_FILE;
	assert_text(rows_of(&b, "balance", "*[fe]0"),
		"[{\"switch\":\"leaf0\",\"policy\":\"flowlet\",\"flows\":0,\"forgotten\":0},"
		"{\"switch\":\"spine0\",\"policy\":\"my.c\",\"flows\":0,\"forgotten\":0}]");
	assert_text(row_of(&b, "balance", "leaf1"),
		"{\"switch\":\"leaf1\",\"policy\":\"flowlet\",\"flows\":7,\"forgotten\":3}");
	bench_close(&b);
}

static void assert_refused(
	const struct bench *b, const char *what, const char *match, const char *want)
{
	struct show_page page = {0};
	struct error why = ERROR_INIT;

	assert_null(show_rows(&b->view, what, match, &page, &why));
	assert_string_equal(why.text, want);
}

/* 30,000 flows: more than one answer may have, and no more of it is made than is told. */
static void large_tables_come_by_pages(void **state)
{
	static const char many[] =
		"name: many\n"
		"topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 3}}\n"
		"workload: [{permutation: {message: 1KB, count: 10000}}]\n";
	struct show_page page = {.wanted = true};
	struct error why = ERROR_INIT;
	json_int_t next = 0;
	struct bench b;
	json_t *rows;

	(void)state;
	bench_open(&b, many, 0);
	assert_refused(&b, "flows", NULL,
		"flows: more than 8192 rows; `match` picks some of them, and with `from` they come by pages");
	assert_refused(&b, "flows", "1*",
		"flows: more than 8192 rows; `match` picks some of them, and with `from` they come by pages");
	rows = row_of(&b, "flows", "29999");
	assert_int_equal(number_of(rows, "flow"), 29999);
	json_decref(rows);
	rows = rows_of(&b, "flows", "2999?");
	assert_int_equal(json_array_size(rows), 10);
	json_decref(rows);
	do {
		page.from = page.next;
		rows = show_rows(&b.view, "flows", NULL, &page, &why);
		assert_in_range(json_array_size(rows), 1, SHOW_PAGE);
		for (size_t i = 0; i < json_array_size(rows); i++)
			assert_int_equal(json_integer_value(
						 json_object_get(json_array_get(rows, i), "flow")),
				next++);
		json_decref(rows);
	} while (page.next);
	assert_int_equal(next, 30000);
	bench_close(&b);
}

static void wrong_words_are_told(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, incast, 0);
	assert_refused(&b, "prots", NULL, "there is no table 'prots'; did you mean 'ports'?");
	assert_refused(&b, "sumary", NULL, "there is no table 'sumary'; did you mean 'summary'?");
	assert_refused(&b, "", NULL, "there is no table ''");
	assert_refused(
		&b, "roles", NULL, "no roles are learnt here: the scenario has no switch.lldp");
	assert_refused(&b, "nodes", "laef0", "there is no node 'laef0'; did you mean 'leaf0'?");
	assert_refused(&b, "routes", "h0", "there is no switch 'h0'");
	assert_refused(&b, "queues", "leaf0->h9",
		"there is no port 'leaf0->h9'; did you mean 'leaf0->h0'?");
	assert_refused(&b, "ports", "core*", "there is no port 'core*'");
	assert_refused(&b, "flows", "3", "there is no flow '3'");
	bench_close(&b);
}

/* All rows of a table have the same keys in the same order. */
static void rows_are_alike(void **state)
{
	static const char *const tables[] = {
		"nodes", "ports", "queues", "flows", "routes", "roles", "balance"};
	struct bench b;

	(void)state;
	bench_open(&b, lossless, 70);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		json_t *rows = rows_of(&b, tables[i], NULL), *first = json_array_get(rows, 0), *row;
		size_t n;

		assert_true(json_array_size(rows) > 1);
		json_array_foreach(rows, n, row)
		{
			void *x = json_object_iter(first), *y = json_object_iter(row);

			assert_int_equal(json_object_size(first), json_object_size(row));
			while (x) {
				assert_string_equal(
					json_object_iter_key(x), json_object_iter_key(y));
				x = json_object_iter_next(first, x);
				y = json_object_iter_next(row, y);
			}
		}
		json_decref(rows);
	}
	bench_close(&b);
}

static void status_is_the_engines(void **state)
{
	struct engine_stats s;
	struct bench b;
	json_t *status, *packets;

	(void)state;
	bench_open(&b, incast, 50);
	engine_stats(b.view.engine, &s);
	status = show_status(&b.view);
	packets = json_object_get(status, "packets");
	assert_true(number_of(packets, "sent") == (double)s.sent && s.sent > 0);
	assert_true(number_of(packets, "in_flight") == (double)s.in_flight);
	assert_true(number_of(packets, "made") == 0 && number_of(packets, "consumed") == 0);
	assert_true(number_of(packets, "marked") == (double)s.marked);
	assert_true(number_of(packets, "delivered") == (double)s.delivered && s.delivered > 0);
	packets = json_object_get(packets, "dropped");
	assert_true(number_of(packets, "buffer") == (double)s.dropped[DROP_BUFFER]);
	assert_null(json_object_get(packets, "ttl"));
	json_object_del(status, "packets");
	json_object_set_new(status, "hops",
		json_integer((json_int_t)s.hops - (json_int_t)number_of(status, "hops")));
	assert_text(status,
		"{\"nodes\":{\"hosts\":4,\"switches\":4},\"links\":8,"
		"\"flows\":{\"count\":3,\"done\":0},\"hops\":0,\"model_time_us\":50.0}");
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_have_addresses),
		cmocka_unit_test(addresses_have_all_their_bytes),
		cmocka_unit_test(ports_are_as_faults_left_them),
		cmocka_unit_test(ports_add_up),
		cmocka_unit_test(the_full_port_is_told),
		cmocka_unit_test(losses_on_a_cable_are_the_senders),
		cmocka_unit_test(queues_in_use_are_shown),
		cmocka_unit_test(limits_follow_the_pool),
		cmocka_unit_test(flows_begin_and_end),
		cmocka_unit_test(routes_name_ports),
		cmocka_unit_test(routes_may_lead_nowhere),
		cmocka_unit_test(roles_are_what_lldp_learnt),
		cmocka_unit_test(switches_have_policies),
		cmocka_unit_test(large_tables_come_by_pages),
		cmocka_unit_test(wrong_words_are_told),
		cmocka_unit_test(rows_are_alike),
		cmocka_unit_test(status_is_the_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
