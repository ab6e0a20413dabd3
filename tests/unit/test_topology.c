/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "abi/shared_state.h"
#include "base/diag.h"
#include "base/rng_stream.h"
#include "base/wiretime.h"
#include "fabric_fixture.h"
#include "scenario/scenario.h"

#define GBPS 1000000000ull

/* Fails unless the scenario is refused with exactly one message, which has `part` in it. */
static void assert_refused(const struct scenario *s, const char *part, unsigned line)
{
	struct diags diags = DIAGS_INIT;
	struct fabric *f = NULL;
	int err = fabric_new(&f, s, &diags);
	bool found = false, placed = false;

	for (size_t i = 0; i < diags.count; i++)
		if (strstr(diags.items[i].text, part)) {
			found = true;
			placed = diags.items[i].pos.line == line;
		}
	if (!found || diags.count != 1)
		for (size_t i = 0; i < diags.count; i++)
			print_error("got: %s\n", diags.items[i].text);
	assert_int_equal(err, -EINVAL);
	assert_null(f);
	assert_true(found);
	assert_true(placed);
	assert_int_equal(diags.count, 1);
	diags_release(&diags);
}

/* Ports are consecutive by node and point at each other; down ports come before up ports. */
static void assert_sound(const struct fabric *f)
{
	uint32_t next = PORT_FIRST;

	for (uint32_t i = 0; i < f->net.node_count; i++) {
		const struct net_node *node = &f->net.nodes[i];
		uint32_t tier = 0, peer = 0;

		assert_int_equal(node->kind, i < f->net.host_count ? NODE_HOST : NODE_SWITCH);
		assert_int_equal(node->number, i < f->net.host_count ? i : i - f->net.host_count);
		assert_int_equal(node->first_port, next);
		for (uint32_t p = next; p < next + node->port_count; p++) {
			const struct net_port *port = &f->net.ports[p];
			const struct net_port *other = &f->net.ports[port->peer];
			const struct fabric_link *link = &f->links[port->link];

			assert_int_equal(port->node, i);
			assert_int_equal(other->peer, p);
			assert_int_equal(other->link, port->link);
			assert_int_equal(other->rate_bps, port->rate_bps);
			assert_true(link->a == p || link->b == p);
			assert_true(f->nodes[f->net.ports[link->a].node].tier <=
				    f->nodes[f->net.ports[link->b].node].tier);
			if (p > next && f->nodes[other->node].tier == tier)
				assert_true(other->node >= peer);
			assert_true(f->nodes[other->node].tier >= tier);
			tier = f->nodes[other->node].tier;
			peer = other->node;
		}
		next += node->port_count;
	}
	assert_int_equal(next, PORT_FIRST + f->net.port_count);
	assert_int_equal(f->net.port_count, 2 * f->net.link_count);
}

static void fat_tree_has_its_counts(void **state)
{
	(void)state;
	for (uint32_t k = 2; k <= 16; k += 2) {
		struct scenario s = fixture_fat_tree(k);
		struct fabric *f = fixture_fabric(&s);

		assert_int_equal(f->net.host_count, k * k * k / 4);
		assert_int_equal(f->net.switch_count, 5 * k * k / 4);
		assert_int_equal(f->net.link_count, 3 * k * k * k / 4);
		assert_int_equal(f->tier_count, 4);
		for (uint32_t i = f->net.host_count; i < f->net.node_count; i++)
			assert_int_equal(f->net.nodes[i].port_count, k);
		assert_sound(f);
		fabric_free(f);
	}
}

static void fat_tree_is_wired_as_published(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f = fixture_fabric(&s);
	static const char *const there[] = {"h0-tor0.0", "h15-tor3.1", "tor0.0-agg0.1",
		"agg0.1-core2", "agg0.1-core3", "agg3.0-core0", "core2-agg0.1", "tor0.0-h1"};
	static const char *const absent[] = {"agg0.1-core0", "agg0.0-core2", "h2-tor0.0",
		"tor0.0-agg1.0", "tor0.0-core0", "h0-h1"};
	static const char *const order[] = {"h0", "h1", "agg0.0", "agg0.1"};
	const struct net_node *tor = &f->net.nodes[fixture_node(f, "tor0.0")];
	char name[LINK_NAME];

	(void)state;
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		assert_int_not_equal(fixture_link(f, there[i]), UINT32_MAX);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_int_equal(fixture_link(f, absent[i]), UINT32_MAX);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t peer = f->net.ports[f->net.ports[tor->first_port + i].peer].node;

		assert_string_equal(f->nodes[peer].name, order[i]);
	}
	fabric_link_name(f, fixture_link(f, "core2-agg0.1"), name);
	assert_string_equal(name, "agg0.1-core2");
	fabric_free(f);
}

static void every_name_is_found(void **state)
{
	struct scenario s = fixture_fat_tree(8);
	struct fabric *f = fixture_fabric(&s);
	uint32_t node = 7;

	(void)state;
	for (uint32_t i = 0; i < f->net.node_count; i++)
		assert_int_equal(fixture_node(f, f->nodes[i].name), i);
	assert_false(fabric_find_node(f, "h128", &node));
	assert_false(fabric_find_node(f, "", &node));
	assert_int_equal(node, 7);
	fabric_free(f);
}

static void leaf_spine_has_its_counts_and_names(void **state)
{
	struct scenario s = fixture_leaf_spine(3, 2, 5, 2);
	struct fabric *f = fixture_fabric(&s);
	char name[LINK_NAME];
	uint32_t link;

	(void)state;
	assert_int_equal(f->net.host_count, 15);
	assert_int_equal(f->net.switch_count, 5);
	assert_int_equal(f->net.link_count, 15 + 3 * 2 * 2);
	assert_sound(f);
	assert_int_not_equal(fixture_link(f, "h14-leaf2"), UINT32_MAX);
	assert_int_equal(fixture_link(f, "leaf0-spine1"), UINT32_MAX);
	link = fixture_link(f, "leaf0-spine1#1");
	assert_int_not_equal(link, UINT32_MAX);
	assert_int_equal(fixture_link(f, "spine1-leaf0#1"), link);
	assert_string_equal(fabric_link_name(f, link, name), "leaf0-spine1#1");
	assert_true(fabric_link_matches(f, link, "leaf?-spine1*"));
	assert_true(fabric_link_matches(f, link, "spine*"));
	assert_false(fabric_link_matches(f, link, "leaf1*"));
	fabric_free(f);
}

/* Full packet of 4,170 and SACK of 98 bytes, so 4,194 and 122 byte times of 80 ps at 100 Gbps. */
#define FULL_PS (4194 * 80ull)
#define SACK_PS (122 * 80ull)
#define DELAY   1000000ull

static void base_rtt_is_the_closed_form(void **state)
{
	struct scenario tree = fixture_fat_tree(4);
	struct scenario leaves = fixture_leaf_spine(2, 2, 2, 1);
	struct scenario single = fixture_leaf_spine(1, 1, 2, 1);
	struct fabric *f = fixture_fabric(&tree);

	(void)state;
	assert_int_equal(f->packet_bytes, 4170);
	assert_int_equal(f->base_rtt_ps, 6 * (FULL_PS + SACK_PS + 2 * DELAY));
	assert_int_equal(f->bdp_bytes, f->base_rtt_ps / 80);
	assert_int_equal(f->switching.classes[0].kmin.bytes, f->bdp_bytes / 4);
	assert_int_equal(f->switching.classes[0].limit_bytes, 409600);
	fabric_free(f);
	f = fixture_fabric(&leaves);
	assert_int_equal(f->base_rtt_ps, 4 * (FULL_PS + SACK_PS + 2 * DELAY));
	fabric_free(f);
	f = fixture_fabric(&single);
	assert_int_equal(f->base_rtt_ps, 2 * (FULL_PS + SACK_PS + 2 * DELAY));
	fabric_free(f);
	tree.host.ip6 = true;
	f = fixture_fabric(&tree);
	assert_int_equal(f->base_rtt_ps, 6 * (FULL_PS + SACK_PS + 40 * 80 + 2 * DELAY));
	fabric_free(f);
}

static void overrides_change_what_they_match(void **state)
{
	struct link_override o[] = {
		{.match = (char *)"agg*-core*", .rate_bps = 50 * GBPS, .delay_ps = UINT64_MAX},
		{.match = (char *)"tor0.0-h1", .delay_ps = 5 * DELAY}};
	struct scenario s = fixture_fat_tree(4);
	struct fabric *f;

	(void)state;
	s.topology.overrides = o;
	s.topology.override_count = 2;
	s.topology.host_rate_bps = 25 * GBPS;
	f = fixture_fabric(&s);
	for (uint32_t l = 0; l < f->net.link_count; l++) {
		const struct net_port *port = &f->net.ports[f->links[l].a];
		uint32_t tier = f->nodes[port->node].tier;

		assert_int_equal(port->rate_bps, (tier == 0 ? 25 : tier == 1 ? 100 : 50) * GBPS);
		assert_int_equal(
			port->delay_ps, l == fixture_link(f, "h1-tor0.0") ? 5 * DELAY : DELAY);
	}
	assert_int_equal(f->host_rate_bps, 25 * GBPS);
	assert_int_equal(
		f->base_rtt_ps, (FULL_PS + SACK_PS) * (4 * 2 + 2 + 2 * 2) + 2 * DELAY * (5 + 5));
	assert_int_equal(f->bdp_bytes, f->base_rtt_ps / (4 * 80));
	fabric_free(f);
}

/* Longest idle way of a frame between two switches over any shortest path, by trying all. */
static uint64_t longest_way(const struct fabric *f, uint32_t from, uint32_t to, uint32_t hops,
	uint32_t frame, bool *ret_found)
{
	const struct net_node *node = &f->net.nodes[from];
	uint64_t longest = 0;

	*ret_found = from == to && !hops;
	if (!hops)
		return 0;
	for (uint32_t i = 0; i < node->port_count; i++) {
		const struct net_port *port = &f->net.ports[node->first_port + i];
		uint32_t next = f->net.ports[port->peer].node;
		uint64_t way;
		bool found;

		if (next < f->net.host_count && next != to)
			continue;
		way = longest_way(f, next, to, hops - 1, frame, &found) +
		      serialise_ps(frame, port->rate_bps) + port->delay_ps;
		if (found && way > longest)
			longest = way;
		*ret_found |= found;
	}
	return longest;
}

static uint64_t longest_between(const struct fabric *f, uint32_t from, uint32_t to, uint32_t frame)
{
	for (uint32_t hops = 1; hops < 10; hops++) {
		bool found;
		uint64_t way = longest_way(f, from, to, hops, frame, &found);

		if (found)
			return way;
	}
	fail();
	return 0;
}

static uint64_t rtt_by_trying_all(const struct fabric *f)
{
	uint64_t rtt = 0;

	for (uint32_t a = 0; a < f->net.host_count; a++)
		for (uint32_t b = 0; b < f->net.host_count; b++) {
			uint64_t t;

			if (a == b)
				continue;
			t = longest_between(f, a, b, f->packet_bytes) +
			    longest_between(f, b, a, sack_frame_bytes(f->ip6));
			rtt = t > rtt ? t : rtt;
		}
	return rtt;
}

static void base_rtt_is_the_longest_of_all_pairs_and_paths(void **state)
{
	static const char *const globs[] = {"h3-*", "tor1.0-agg1.1", "agg0.1-core2", "agg*.0-core1",
		"h1?-*", "core3-agg*", "tor3*-agg*", "h*"};
	uint64_t rng = 11;

	(void)state;
	for (int round = 0; round < 12; round++) {
		struct link_override o[3];
		struct scenario s = fixture_fat_tree(4);
		struct fabric *f;

		for (int i = 0; i < 3; i++)
			o[i] = (struct link_override){.match = (char *)globs[rng_below(&rng, 8)],
				.rate_bps = round % 2 ? 0 : (1 + rng_below(&rng, 200)) * GBPS,
				.delay_ps = rng_below(&rng, 4000000)};
		s.topology.overrides = o;
		s.topology.override_count = 3;
		f = fixture_fabric(&s);
		assert_int_equal(f->base_rtt_ps, rtt_by_trying_all(f));
		fabric_free(f);
	}
}

/* The same fabric, spelt out as a custom one, comes to the same numbers. */
static void custom_equals_the_fat_tree_it_spells_out(void **state)
{
	static struct fixture_custom c;
	struct scenario tree = fixture_fat_tree(4), s;
	struct fabric *f = fixture_fabric(&tree), *g;
	char hosts[512] = "", switches[512] = "", links[2048] = "", name[LINK_NAME];

	(void)state;
	for (uint32_t i = 0; i < f->net.node_count; i++)
		sprintf(strchr(i < f->net.host_count ? hosts : switches, 0), "%s ",
			f->nodes[i].name);
	for (uint32_t l = 0; l < f->net.link_count; l++)
		sprintf(strchr(links, 0), "%s ", fabric_link_name(f, l, name));
	s = fixture_custom(&c, hosts, switches, links);
	g = fixture_fabric(&s);
	assert_sound(g);
	assert_int_equal(g->base_rtt_ps, f->base_rtt_ps);
	assert_int_equal(g->tier_count, f->tier_count);
	assert_memory_equal(g->nodes, f->nodes, f->net.node_count * sizeof(*f->nodes));
	assert_memory_equal(g->links, f->links, f->net.link_count * sizeof(*f->links));
	assert_memory_equal(&g->net.ports[PORT_FIRST], &f->net.ports[PORT_FIRST],
		f->net.port_count * sizeof(*f->net.ports));
	fabric_free(f);
	fabric_free(g);
}

static void custom_has_tiers_and_parallel_links(void **state)
{
	static struct fixture_custom c;
	struct scenario s = fixture_custom(&c, "a b", "x y top", "x-a y-b x-y y-x top-x y-top x-y");
	struct fabric *f;

	(void)state;
	c.links[2].rate_bps = 10 * GBPS;
	c.links[4].delay_ps = 0;
	f = fixture_fabric(&s);
	assert_sound(f);
	assert_int_equal(f->nodes[fixture_node(f, "top")].tier, 2);
	assert_int_equal(fixture_link(f, "a-x"), 0);
	assert_int_equal(fixture_link(f, "x-top"), 4);
	assert_int_equal(f->net.ports[f->links[4].a].delay_ps, 0);
	/* Between the same two nodes, however written; numbered in the order of the list. */
	assert_int_equal(fixture_link(f, "x-y#0"), 2);
	assert_int_equal(f->net.ports[f->links[2].a].rate_bps, 10 * GBPS);
	assert_true(f->links[2].is_parallel && f->links[3].is_parallel && f->links[6].is_parallel);
	assert_false(f->links[4].is_parallel);
	fabric_free(f);
}

/* Whichever way each was written: a fault on one of them is on that one. */
static void parallel_links_have_names_of_their_own(void **state)
{
	static struct fixture_custom c;
	struct scenario s = fixture_custom(&c, "a b", "x y", "x-a y-b x-y y-x y-x x-y y-x");
	struct fabric *f;

	(void)state;
	f = fixture_fabric(&s);
	for (uint32_t n = 0; n < 5; n++) {
		char one[LINK_NAME], other[LINK_NAME];
		uint32_t matching = 0;

		snprintf(one, sizeof(one), "x-y#%u", n);
		snprintf(other, sizeof(other), "y-x#%u", n);
		assert_int_equal(fixture_link(f, one), 2 + n);
		assert_int_equal(fixture_link(f, other), 2 + n);
		for (uint32_t l = 0; l < f->net.link_count; l++)
			matching += fabric_link_matches(f, l, one);
		assert_int_equal(matching, 1);
	}
	assert_int_equal(fixture_link(f, "x-y#5"), UINT32_MAX);
	fabric_free(f);
}

static void custom_mistakes_are_named(void **state)
{
	static const struct {
		const char *hosts, *switches, *links, *part;
		unsigned line;
	} cases[] = {
		{"h0 h1", "s", "h0-s", "hosts: \"h1\" has 0 links", 10},
		{"h0 h1", "s t", "h0-s h1-s h1-t", "hosts: \"h1\" has 2 links", 10},
		{"h0 h1", "s", "h0-h1", "both hosts", 30},
		{"h0 h1", "spam", "h0-spam h1-spma", "no node 'spma'; did you mean 'spam'", 30},
		{"h0 h1", "s", "h0-s h1-quux", "no node 'quux'", 30},
		{"h0 h1", "s t", "h0-s h1-s", "switches: \"t\" has no link", 20},
		{"h0 h1", "s t", "h0-s h1-t", "no path joins", 10},
		{"h0 h1", "s t u", "h0-s h1-s t-u", "no path joins", 20},
		{"h0", "s", "h0-s", "at least two", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct fixture_custom c;
		struct scenario s =
			fixture_custom(&c, cases[i].hosts, cases[i].switches, cases[i].links);

		assert_refused(&s, cases[i].part, cases[i].line);
	}
}

static void custom_line_is_as_long_as_packets_live(void **state)
{
	static struct fixture_custom c;

	(void)state;
	for (int switches = 63; switches <= 64; switches++) {
		char names[512] = "", links[2048] = "";
		struct scenario s;

		for (int i = 0; i < switches; i++)
			sprintf(strchr(names, 0), "s%d ", i);
		for (int i = 1; i < switches; i++)
			sprintf(strchr(links, 0), "s%d-s%d ", i - 1, i);
		sprintf(strchr(links, 0), "a-s0 b-s%d", switches - 1);
		s = fixture_custom(&c, "a b", names, links);
		if (switches == 63)
			fabric_free(fixture_fabric(&s));
		else
			assert_refused(&s, "more than 63 switches", 2);
	}
}

static void wide_groups_are_refused(void **state)
{
	static struct fixture_custom c;
	char links[4096] = "a-s b-t ";
	struct scenario s;

	(void)state;
	for (int i = 0; i < 254; i++)
		strcat(links, "s-t ");
	s = fixture_custom(&c, "a b", "s t", links);
	fabric_free(fixture_fabric(&s));
	strcat(links, "s-t");
	s = fixture_custom(&c, "a b", "s t", links);
	assert_refused(&s, "255 equal ways", 2);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
	static const struct {
		uint32_t leaves, spines, hosts, parallel;
		const char *part;
	} cases[] = {
		{2, 255, 2, 1, "255 uplinks"},
		{2, UINT32_MAX, 2, UINT32_MAX, "equal ports"},
		{UINT32_MAX, 2, 2, 1, "a switch has at most 4096"},
		{2, 2, UINT32_MAX, 1, "a switch has at most 4096"},
		{1, 1, 1, 1, "at least two"},
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = fixture_leaf_spine(
			cases[i].leaves, cases[i].spines, cases[i].hosts, cases[i].parallel);
		assert_refused(&s, cases[i].part, 2);
	}
}

static void switch_settings_are_checked(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct class_spec *c = &s.sw.classes[0];
	struct fabric *f;

	(void)state;
	c->buffer = s.sw.buffer.per_port = (struct quantity){4169, QUANTITY_BYTES};
	assert_refused(&s, "switch.buffer.per_port: 4169 bytes hold no full packet", 0);
	c->buffer = (struct quantity){1e18, QUANTITY_BYTES};
	assert_refused(&s, "at most 4294967295", 0);
	c->buffer = (struct quantity){5, QUANTITY_BDP};
	c->ecn.kmin = (struct quantity){0.76, QUANTITY_BDP};
	assert_refused(&s, "switch.ecn.kmin: ", 0);
	assert_refused(&s, "above kmax", 0);
	/* A share that is not zero stays on, however small the BDP. */
	c->ecn.kmin = c->ecn.kmax = (struct quantity){1e-9, QUANTITY_BDP};
	f = fixture_fabric(&s);
	assert_int_equal(f->switching.classes[0].kmin.bytes, 1);
	assert_int_equal(f->switching.classes[0].kmax.bytes, 1);
	assert_int_equal(f->switching.classes[0].limit_bytes, 5 * f->bdp_bytes);
	fabric_free(f);
	c->ecn.kmin = c->ecn.kmax = (struct quantity){0, QUANTITY_BYTES};
	f = fixture_fabric(&s);
	assert_int_equal(f->switching.classes[0].kmax.bytes, 0);
	fabric_free(f);
}

/* Faults without end in their number are told before anything is made of them. */
static void faults_befall_so_many_targets(void **state)
{
	struct scenario s = fixture_fat_tree(64); /* 196,608 links */
	struct fault_spec faults[22] = {{0}};
	struct diags diags = DIAGS_INIT;
	struct fabric *f = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		faults[i] = (struct fault_spec){.valid = true,
			.effect = {.kind = FAULT_LOSS, .loss = 0.5},
			.target = (char *)"*",
			.at_ps = i,
			.until_ps = i + 1};
	s.faults = faults;
	s.fault_count = sizeof(faults) / sizeof(faults[0]);
	assert_int_equal(fabric_new(&f, &s, &diags), -EINVAL);
	assert_int_equal(diags.count, 1);
	assert_string_equal(diags.items[0].text,
		"faults.21: up to here faults befall 4325376 links and nodes; expected at most 4194304 in "
		"all");
	diags_release(&diags);
}

static void overrides_that_match_nothing_are_named(void **state)
{
	struct link_override o = {.match = (char *)"agg0.1-core1", .rate_bps = GBPS, .pos = {7, 5}};
	struct scenario s = fixture_fat_tree(4);

	(void)state;
	s.topology.overrides = &o;
	s.topology.override_count = 1;
	assert_refused(&s, "no link 'agg0.1-core1'; did you mean 'agg0.", 7);
	o.match = (char *)"spine*";
	assert_refused(
		&s, "matches no link; links are called h0-tor0.0, tor0.0-agg0.0, agg0.0-core0", 7);
}

/* A series of no port would be an empty file; that of queues is of switches. */
static void series_that_match_nothing_are_named(void **state)
{
	struct scenario s = fixture_fat_tree(4);

	(void)state;
	s.series[SERIES_PORTS] =
		(struct series_spec){.every_ps = 1, .match = (char *)"leaf*", .pos = {4, 2}};
	assert_refused(&s,
		"telemetry.ports.match: 'leaf*' matches no port; they are called h0->tor0.0 to core3->agg3.1",
		4);
	s.series[SERIES_PORTS].match = NULL;
	s.series[SERIES_QUEUES] =
		(struct series_spec){.every_ps = 1, .match = (char *)"h*", .pos = {5, 2}};
	assert_refused(&s,
		"telemetry.queues.match: 'h*' matches no port of a switch; they are called tor0.0->h0 to core3->agg3.1",
		5);
}

/* A fabric of k = 4 with that workload. message NULL: it is fine; else what is said of it. */
static void check_workload(const char *text, bool valid, const char *message)
{
	struct scenario s = fixture_fat_tree(4);
	struct diags d = DIAGS_INIT;

	assert_int_equal(
		scenario_workloads(&s.workloads, &s.workload_count, NULL, text, strlen(text), &d),
		0);
	s.workloads[0].valid = valid;
	if (message)
		assert_refused(&s, message, 1);
	else
		fabric_free(fixture_fabric(&s));
	workload_spec_release(&s.workloads[0]);
	free(s.workloads);
	diags_release(&d);
}

static void workloads_are_checked(void **state)
{
	(void)state;
	check_workload("[{incast: {message: 1, senders: 15}}]", true, NULL);
	check_workload("[{incast: {message: 1, senders: 16}}]", true,
		"workload.0.incast.senders: 16; of the fabric's 16 hosts one receives, so at most 15");
	check_workload("[{incast: {message: 1, senders: 3, to: h16}}]", true,
		"no host 'h16'; did you mean 'h1");
	check_workload("[{incast: {message: 1, senders: 3, to: elephant}}]", true,
		"the 16 hosts are h0 to h15");
	check_workload("[{incast: {message: 1, senders: 3, to: tor0.0}}]", true, "is a switch");
	check_workload("[{pairs: {message: 1, from: [h0, h3], to: [h1, h4]}}]", true, NULL);
	check_workload("[{pairs: {message: 1, from: [h0, h3], to: [h1, core0]}}]", true,
		"workload.0.pairs.to: 'core0' is a switch");
	/* named by whoever read it: ignored here */
	check_workload("[{pairs: {message: 1, from: [h0, h3], to: [h1, core0]}}]", false, NULL);
	/* of 16 messages each */
	check_workload("[{permutation: {message: 1, count: 33554, repeat: 1000}}]", true, NULL);
	check_workload("[{permutation: {message: 1, count: 33555, repeat: 1000}}]", true,
		"at most 536870911");
	check_workload("[{permutation: {message: 1, count: 1000000, repeat: 1000000}}]", true,
		"at most 536870911");
}

static void faults_are_checked(void **state)
{
	struct fault_spec faults[] = {
		{.valid = true,
			.effect = {.kind = FAULT_DOWN},
			.target = (char *)"agg0.1-core2",
			.at_ps = 20,
			.until_ps = 80,
			.pos = {11, 5}},
		{.valid = true,
			.effect = {.kind = FAULT_DOWN},
			.target = (char *)"core2-*",
			.at_ps = 80,
			.until_ps = UINT64_MAX,
			.pos = {12, 5}},
		{.valid = true,
			.effect = {.kind = FAULT_RATE, .share = 0.5},
			.target = (char *)"agg*",
			.at_ps = 0,
			.until_ps = 90,
			.pos = {13, 5}},
	};
	struct scenario s = fixture_fat_tree(4);

	(void)state;
	s.faults = faults;
	s.fault_count = 3;
	/* They touch, or are of different kinds: fine. */
	fabric_free(fixture_fabric(&s));
	faults[1].at_ps = 79;
	assert_refused(&s, "overlaps the one in line 11 on link agg0.1-core2", 12);
	faults[1].at_ps = 100;
	faults[0].until_ps = UINT64_MAX;
	assert_refused(&s, "overlaps the one in line 11", 12);
	faults[0].pos.line = 0; /* given by --set */
	assert_refused(&s, "overlaps faults.0 on link agg0.1-core2", 12);
	faults[0].target = (char *)"agg0.1-core3";
	fabric_free(fixture_fabric(&s));
	faults[2].target = (char *)"agg0.1-core4x";
	assert_refused(&s,
		"faults.2.link: there is no link 'agg0.1-core4x'; did you mean 'agg0.1-core", 13);
}

/* The middle one ends first: the third overlaps the first, which is no neighbour in time. */
static void a_long_fault_overlaps_later_ones(void **state)
{
	struct fault_spec faults[] = {
		{.valid = true,
			.target = (char *)"h0-*",
			.at_ps = 0,
			.until_ps = 100,
			.pos = {11, 5}},
		{.valid = true,
			.target = (char *)"h0-*",
			.at_ps = 10,
			.until_ps = 20,
			.pos = {12, 5}},
		{.valid = true,
			.target = (char *)"h0-*",
			.at_ps = 50,
			.until_ps = 60,
			.pos = {13, 5}},
	};
	struct scenario s = fixture_fat_tree(4);
	struct diags diags = DIAGS_INIT;
	struct fabric *f;

	(void)state;
	s.faults = faults;
	s.fault_count = 3;
	assert_int_equal(fabric_new(&f, &s, &diags), -EINVAL);
	assert_int_equal(diags.count, 2);
	assert_int_equal(diags.items[0].pos.line, 12);
	assert_int_equal(diags.items[1].pos.line, 13);
	assert_non_null(strstr(diags.items[1].text, "line 11"));
	diags_release(&diags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fat_tree_has_its_counts),
		cmocka_unit_test(fat_tree_is_wired_as_published),
		cmocka_unit_test(every_name_is_found),
		cmocka_unit_test(leaf_spine_has_its_counts_and_names),
		cmocka_unit_test(base_rtt_is_the_closed_form),
		cmocka_unit_test(overrides_change_what_they_match),
		cmocka_unit_test(base_rtt_is_the_longest_of_all_pairs_and_paths),
		cmocka_unit_test(custom_equals_the_fat_tree_it_spells_out),
		cmocka_unit_test(custom_has_tiers_and_parallel_links),
		cmocka_unit_test(parallel_links_have_names_of_their_own),
		cmocka_unit_test(custom_mistakes_are_named),
		cmocka_unit_test(custom_line_is_as_long_as_packets_live),
		cmocka_unit_test(wide_groups_are_refused),
		cmocka_unit_test(sizes_that_cannot_be_are_refused),
		cmocka_unit_test(switch_settings_are_checked),
		cmocka_unit_test(faults_befall_so_many_targets),
		cmocka_unit_test(overrides_that_match_nothing_are_named),
		cmocka_unit_test(series_that_match_nothing_are_named),
		cmocka_unit_test(workloads_are_checked),
		cmocka_unit_test(faults_are_checked),
		cmocka_unit_test(a_long_fault_overlaps_later_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
