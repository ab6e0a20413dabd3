/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/show.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "abi/wire.h"
#include "base/balance_name.h"
#include "base/json.h"
#include "base/drop_name.h"
#include "base/units.h"
#include "session/names.h"
#include "telemetry/port_counts.h"
#include "topology/fabric.h"

static double in_us(uint64_t ps)
{
	return (double)ps / PS_PER_US;
}

static json_t *count_json(uint64_t count)
{
	return json_integer((json_int_t)count);
}

static const struct net *net_of(const struct show_view *v)
{
	return &v->fabric->net;
}

/* ---- nodes */

static void set_addresses(json_t *row, uint32_t host)
{
	struct host_address a = host_address(host);
	char text[INET6_ADDRSTRLEN];

	json_object_set_new(
		row, "ip4", json_string(inet_ntop(AF_INET, &a.ip4, text, sizeof(text))));
	json_object_set_new(
		row, "ip6", json_string(inet_ntop(AF_INET6, a.ip6, text, sizeof(text))));
}

static void set_stack(json_t *row, const struct show_view *v, uint32_t host)
{
	json_t *dropped = json_object();

	if (v->stack_lost[host])
		json_object_set_new(
			dropped, drop_name(DROP_HOST_QUEUE), count_json(v->stack_lost[host]));
	json_object_set_new(row, "sent", count_json(v->stack_sent[host]));
	json_object_set_new(row, "delivered", count_json(v->stack_delivered[host]));
	json_object_set_new(row, "dropped", dropped);
}

static int add_node(const struct show_view *v, uint32_t index, json_t *rows)
{
	const struct net_node *n = &net_of(v)->nodes[index];
	const char *name = v->fabric->nodes[index].name;
	json_t *row = json_pack("{s:s, s:s, s:I, s:n, s:n, s:n, s:n, s:n, s:n}", "node", name,
		"kind", n->kind == NODE_HOST ? "host" : "switch", "ports",
		(json_int_t)n->port_count, "ip4", "ip6", "netns", "sent", "delivered", "dropped");

	if (v->name)
		json_object_set_new(row, "netns", json_sprintf("%s-%s", v->name, name));
	if (n->kind == NODE_HOST) {
		set_addresses(row, n->number);
		if (v->stack_sent)
			set_stack(row, v, n->number);
	}
	return json_array_append_new(rows, row);
}

/* ---- ports */

static json_t *port_drops(const struct show_view *v, uint32_t port)
{
	json_t *dropped = json_object();

	for (unsigned i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++) {
		uint64_t frames = port_dropped(engine_tables(v->engine), port, (enum drop_reason)i);

		if (frames)
			json_object_set_new(dropped, drop_name(i), count_json(frames));
	}
	return dropped;
}

static int add_port(const struct show_view *v, uint32_t index, json_t *rows)
{
	uint32_t port = PORT_FIRST + index;
	const struct port_counts c = port_counts(v->engine, port);
	char name[RECORDER_NAME], link[LINK_NAME];

	return json_array_append_new(rows,
		json_pack("{s:s, s:s, s:b, s:f, s:f, s:I, s:I, s:f, s:I, s:I, s:I, s:o, s:I, s:I,"
			  " s:I, s:I, s:f, s:s}",
			"port", port_name(v->fabric, port, name), "link",
			fabric_link_name(v->fabric, net_of(v)->ports[port].link, link), "up",
			engine_tables(v->engine)->ports[port].up, "rate_gbps",
			(double)engine_link_rate(v->engine, port) / 1e9, "delay_us",
			in_us(engine_link_delay(v->engine, port)), "tx_frames",
			(json_int_t)c.tx_frames, "tx_bytes", (json_int_t)c.tx_bytes, "utilisation",
			port_utilisation(v->engine, &c), "rx_frames", (json_int_t)c.rx_frames,
			"marked", (json_int_t)c.marked, "trimmed", (json_int_t)c.trimmed, "dropped",
			port_drops(v, port), "depth_bytes", (json_int_t)c.depth_bytes,
			"max_depth_bytes", (json_int_t)c.max_depth_bytes, "pauses_sent",
			(json_int_t)c.pauses_sent, "pauses_received", (json_int_t)c.pauses_received,
			"paused_us", in_us(c.paused_ps), "faults",
			v->port_faults ? v->port_faults(v->faults_arg, port) : ""));
}

/* ---- queues */

/* It is or was in use. */
static bool queue_was_used(const struct show_view *v, uint32_t port, uint32_t class)
{
	const struct queue *q = &engine_tables(v->engine)->queues[port * CLASSES + class];

	return q->max_depth_bytes || q->paused_ps || engine_is_paused(v->engine, port, class);
}

static int add_queues(const struct show_view *v, uint32_t index, json_t *rows)
{
	const struct sw_tables *t = engine_tables(v->engine);
	uint32_t port = PORT_FIRST + index;
	char name[RECORDER_NAME];
	int r = 0;

	port_name(v->fabric, port, name);
	for (uint32_t c = 0; c < CLASSES; c++) {
		const struct queue *q = &t->queues[port * CLASSES + c];
		bool paused = engine_is_paused(v->engine, port, c);
		uint64_t limit = engine_queue_limit(v->engine, port, c);

		if (!queue_was_used(v, port, c))
			continue;
		r |= json_array_append_new(rows,
			json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:b, s:f}", "port", name, "class",
				(json_int_t)c, "depth_bytes", (json_int_t)q->depth_bytes,
				"max_depth_bytes", (json_int_t)q->max_depth_bytes, "depth_frames",
				(json_int_t)q->depth_frames, "limit_bytes",
				limit == UINT64_MAX ? json_null() : count_json(limit), "paused",
				paused, "paused_us", in_us(engine_paused(v->engine, port, c))));
	}
	return r;
}

/* ---- flows */

static int add_flow(const struct show_view *v, uint32_t flow, json_t *rows)
{
	char src[RECORDER_NAME], dst[RECORDER_NAME];
	struct engine_flow_result f;
	struct engine_flow_wire wire;
	double slowdown;

	engine_flow_result(v->engine, flow, &f);
	if (!engine_flow_counts(&f))
		return 0;
	engine_flow_wire(v->engine, flow, &wire);
	slowdown = engine_flow_slowdown(&f);
	return json_array_append_new(rows,
		json_pack(
			"{s:I, s:s, s:s, s:I, s:o, s:o, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I}",
			"flow", (json_int_t)flow, "src", node_name(v->fabric, f.flow.src_host, src),
			"dst", node_name(v->fabric, f.flow.dst_host, dst), "bytes",
			(json_int_t)f.flow.bytes, "start_us",
			real_or_null(f.start_ps != UINT64_MAX, in_us(f.start_ps)), "fct_us",
			real_or_null(f.finish_ps, in_us(f.finish_ps - f.start_ps)), "packets",
			(json_int_t)f.sender.packets_sent, "retransmitted",
			(json_int_t)f.sender.retransmitted, "timeouts",
			(json_int_t)f.sender.timeouts, "fct_slowdown",
			real_or_null(slowdown > 0, slowdown), "delivered_bytes",
			(json_int_t)f.received, "marks", (json_int_t)f.sender.marks, "spurious",
			(json_int_t)f.receiver.duplicates, "qp", (json_int_t)wire.qp, "entry",
			(json_int_t)f.flow.entry));
}

/* ---- routes */

/* The ports towards a host, separated by blanks; "" if unreachable. NULL: no memory. */
static char *route_text(const struct show_view *v, const struct switch_state *sw, uint32_t host)
{
	const struct sw_tables *t = engine_tables(v->engine);
	uint16_t group = t->routes[sw->first_route + host / ROUTE_BLOCK].group[host % ROUTE_BLOCK];
	const struct group *g = &t->groups[sw->first_group + group];
	uint32_t count = group == ROUTE_NONE ? 0 : g->count;
	char *text = calloc(count + 1, RECORDER_NAME), *at = text;

	for (uint32_t i = 0; text && i < count; i++) {
		if (i)
			*at++ = ' ';
		at += strlen(port_name(v->fabric, sw->first_port + g->port[i], at));
	}
	return text;
}

static int add_routes(const struct show_view *v, uint32_t number, json_t *rows)
{
	const struct switch_state *sw = &engine_tables(v->engine)->switches[number];
	const struct net *net = net_of(v);
	int r = 0;

	for (uint32_t host = 0; host < net->host_count; host++) {
		char *ports = route_text(v, sw, host);

		r |= json_array_append_new(
			rows, json_pack("{s:s, s:s, s:s}", "node",
				      v->fabric->nodes[net->host_count + number].name, "to",
				      v->fabric->nodes[host].name, "ports", ports));
		free(ports);
	}
	return r;
}

/* ---- roles */

static json_t *level_json(uint32_t level)
{
	return level == LLDP_LEVEL_UNKNOWN ? json_null() : count_json(level);
}

static int add_role(const struct show_view *v, uint32_t index, json_t *rows)
{
	static const char *const roles[] = {[ROLE_UNKNOWN] = "unknown",
		[ROLE_UP] = "up",
		[ROLE_DOWN] = "down",
		[ROLE_CROSS] = "cross"};
	struct lldp_neighbour n = {.level = LLDP_LEVEL_UNKNOWN};
	const struct lldp *l = agents_lldp(v->agents);
	uint32_t port = PORT_FIRST + index;
	char name[RECORDER_NAME];

	lldp_neighbour(l, port, &n);
	return json_array_append_new(
		rows, json_pack("{s:s, s:o, s:s, s:s, s:s, s:o}", "port",
			      port_name(v->fabric, port, name), "level",
			      level_json(lldp_level(l, net_of(v)->ports[port].node)), "role",
			      roles[lldp_role(l, port)], "neighbour", n.system, "neighbour_port",
			      n.port, "neighbour_level", level_json(n.level)));
}

/* ---- balance */

static int add_balance(const struct show_view *v, uint32_t number, json_t *rows)
{
	const struct sw_tables *t = engine_tables(v->engine);
	const struct switch_balance *b = number < t->count.balances ? &t->balances[number] : NULL;
	uint32_t policy = t->switches[number].balance;
	const char *name = policy < BALANCE_FILE ? balance_names[policy] : v->policy_file;
	bool counts = b && b->flow_sets;

	return json_array_append_new(
		rows, json_pack("{s:s, s:s, s:o, s:o}", "switch",
			      v->fabric->nodes[net_of(v)->host_count + number].name, "policy",
			      name ? name : "a file", "flows",
			      counts ? count_json(b->flows) : json_null(), "forgotten",
			      counts ? count_json(b->forgotten) : json_null()));
}

/* ---- tables */

/* What the first column names. */
enum subject { SUBJECT_NODE, SUBJECT_SWITCH, SUBJECT_PORT, SUBJECT_FLOW };

static const struct table {
	const char *what;
	enum subject subject;
	/* 0, or -1: memory is short */
	int (*add)(const struct show_view *v, uint32_t index, json_t *rows);
} tables[] = {
	{"nodes", SUBJECT_NODE, add_node},
	{"ports", SUBJECT_PORT, add_port},
	{"queues", SUBJECT_PORT, add_queues},
	{"flows", SUBJECT_FLOW, add_flow},
	{"routes", SUBJECT_SWITCH, add_routes},
	{"roles", SUBJECT_PORT, add_role},
	{"balance", SUBJECT_SWITCH, add_balance},
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

static const struct table *find_table(const char *what, struct error *why)
{
	const char *names[TABLES + 2] = {"faults", "summary"};

	for (size_t i = 0; i < TABLES; i++) {
		names[i + 2] = tables[i].what;
		if (!strcmp(tables[i].what, what))
			return &tables[i];
	}
	names_unknown(why, "table", what, names, TABLES + 2);
	return NULL;
}

static uint32_t subject_count(const struct show_view *v, enum subject subject)
{
	switch (subject) {
	case SUBJECT_NODE:
		return net_of(v)->node_count;
	case SUBJECT_SWITCH:
		return net_of(v)->switch_count;
	case SUBJECT_PORT:
		return net_of(v)->port_count;
	default:
		return engine_flow_count(v->engine);
	}
}

static const char *subject_name(
	const struct show_view *v, enum subject subject, uint32_t index, char buf[RECORDER_NAME])
{
	switch (subject) {
	case SUBJECT_NODE:
		return v->fabric->nodes[index].name;
	case SUBJECT_SWITCH:
		return v->fabric->nodes[net_of(v)->host_count + index].name;
	case SUBJECT_PORT:
		return port_name(v->fabric, PORT_FIRST + index, buf);
	default:
		snprintf(buf, RECORDER_NAME, "%u", index);
		return buf;
	}
}

static void nothing_fits(
	const struct show_view *v, enum subject subject, const char *match, struct error *why)
{
	static const char *const kinds[] = {[SUBJECT_NODE] = "node",
		[SUBJECT_SWITCH] = "switch",
		[SUBJECT_PORT] = "port",
		[SUBJECT_FLOW] = "flow"};
	/* flows have numbers, of which none is like another */
	uint32_t count = subject == SUBJECT_FLOW ? 0 : subject_count(v, subject);
	char(*names)[RECORDER_NAME] = calloc(count + 1, sizeof(*names));
	const char **words = calloc(count + 1, sizeof(*words));

	for (uint32_t i = 0; names && words && i < count; i++)
		words[i] = subject_name(v, subject, i, names[i]);
	names_unknown(why, kinds[subject], match, words, names && words ? count : 0);
	free(names);
	free(words);
}

/* ---- pages */

#define SCAN_MAX 65536u /* names that are looked at for one answer */

/* The rows of those subjects from `from` to `end` that fit. */
struct extent {
	uint32_t from, end;
	const char *match;
	bool fits; /* one does */
};

/* Flows have numbers: one that is named needs no search. */
static void find_extent(const struct show_view *v, const struct table *t, const char *match,
	uint32_t from, struct extent *ret)
{
	uint32_t count = subject_count(v, t->subject);
	unsigned long number;
	char *end;

	*ret = (struct extent){from < count ? from : count, count, match, false};
	if (!match || t->subject != SUBJECT_FLOW || match[strspn(match, "0123456789")])
		return;
	number = strtoul(match, &end, 10);
	ret->from = number < count ? (uint32_t)number : count;
	ret->end = number < count ? ret->from + 1 : count;
}

static bool subject_fits(
	const struct show_view *v, const struct table *t, const char *match, uint32_t index)
{
	char name[RECORDER_NAME];

	return !match || !fnmatch(match, subject_name(v, t->subject, index, name), 0);
}

static uint32_t row_count(const struct show_view *v, const struct table *t, uint32_t index)
{
	uint32_t count = 0;

	if (t->add == add_routes)
		return net_of(v)->host_count;
	if (t->add != add_queues)
		return 1;
	for (uint32_t c = 0; c < CLASSES; c++)
		count += queue_was_used(v, PORT_FIRST + index, c);
	return count;
}

/* Whether all of it fits one reply. */
static bool is_small(const struct show_view *v, const struct table *t, const struct extent *x)
{
	uint64_t rows = 0;

	if (x->end - x->from > SCAN_MAX)
		return false;
	for (uint32_t i = x->from; i < x->end && rows <= SHOW_ROWS; i++)
		rows += subject_fits(v, t, x->match, i) ? row_count(v, t, i) : 0;
	return rows <= SHOW_ROWS;
}

/* Up to the page's end, or all of it. Where it ended; *ret_error: 0, or -1 for want of memory. */
static uint32_t add_rows(const struct show_view *v, const struct table *t, struct extent *x,
	bool all, json_t *rows, int *ret_error)
{
	uint32_t i;

	*ret_error = 0;
	for (i = x->from; i < x->end && *ret_error == 0; i++) {
		if (!all && (json_array_size(rows) >= SHOW_PAGE || i - x->from >= SCAN_MAX))
			break;
		if (!subject_fits(v, t, x->match, i))
			continue;
		*ret_error = t->add(v, i, rows);
		x->fits = true;
	}
	return i;
}

static bool is_refused(const struct show_view *v, const struct table *t, struct error *why)
{
	if (t->add != add_role || v->agents)
		return false;
	error_set(why, -EINVAL, "no roles are learnt here: the scenario has no switch.lldp");
	return true;
}

json_t *show_rows(const struct show_view *v, const char *what, const char *match,
	struct show_page *page, struct error *why)
{
	const struct table *t = find_table(what, why);
	struct extent x;
	uint32_t next;
	json_t *rows;
	bool all;
	int r;

	if (!t || is_refused(v, t, why))
		return NULL;
	find_extent(v, t, match, page->from, &x);
	all = !page->from && is_small(v, t, &x);
	if (!all && !page->wanted) {
		error_set(why, -E2BIG,
			"%s: more than %d rows; `match` picks some of them, and with `from` they come by pages",
			what, SHOW_ROWS);
		return NULL;
	}
	rows = json_array();
	next = add_rows(v, t, &x, all, rows, &r);
	page->next = next < x.end ? next : 0;
	/* of a page nothing need fit */
	if (r == 0 && (x.fits || !all || !subject_count(v, t->subject)))
		return rows;
	if (r < 0)
		error_set(why, -ENOMEM, "out of memory for the rows");
	else
		nothing_fits(v, t->subject, match, why);
	json_decref(rows);
	return NULL;
}
