/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Servers with several NICs: how they are wired and named, who reaches whom, who sends to whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/json.h"
#include "report/fabric_report.h"
#include "routing_world.h"
#include "workload/ideal.h"
#include "workload_fixture.h"

#define LEAF_SPINE(nics, to)                                                                       \
	NAMED "topology: {leaf_spine: {leaves: 4, spines: 2, hosts_per_leaf: 6}, nics: " #nics     \
	      ", nics_to: " to "}\n"
#define RAILS  LEAF_SPINE(2, "rails")
#define PLANES LEAF_SPINE(3, "planes") /* 24 servers, 72 hosts */
/* 24 servers either way */
#define ONE_LEAF                                                                                   \
	NAMED "topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 24}, nics: 3, nics_to: "
#define THREE_LEAVES                                                                               \
	NAMED "topology: {leaf_spine: {leaves: 3, spines: 1, hosts_per_leaf: 24}, nics: 3, nics_to: "
#define CUSTOM "custom: {hosts: [a, b, c, d], switches: [s, t], links: [a-s, b-t, c-s, d-t, s-t]}"

static struct fabric *fabric_of(const char *text)
{
	struct scenario *s = load(text);
	struct fabric *f = fixture_fabric(s);

	scenario_free(s);
	return f;
}

/* The switch that a host hangs on. */
static const char *leaf_of(const struct fabric *f, const char *host)
{
	const struct net *net = &f->net;
	const struct net_node *n = &net->nodes[fixture_node(f, host)];

	assert_int_equal(n->port_count, 1);
	return f->nodes[net->ports[net->ports[n->first_port].peer].node].name;
}

/* Hosts and the leaves that they must be at; the NICs of a server have consecutive numbers. */
static void assert_wired(const char *text, uint32_t nics, const char *const (*at)[2], size_t count)
{
	struct fabric *f = fabric_of(text);
	char name[NODE_NAME];

	for (size_t i = 0; i < count; i++)
		assert_string_equal(leaf_of(f, at[i][0]), at[i][1]);
	assert_int_equal(f->nics, nics);
	for (uint32_t h = 0; h < f->net.host_count; h++) {
		snprintf(name, sizeof(name), "h%un%u", h / nics, h % nics);
		assert_string_equal(f->nodes[h].name, name);
		assert_int_equal(fabric_server(f, h), h / nics);
	}
	fabric_free(f);
}

static void a_servers_nics_are_at_one_leaf(void **state)
{
	static const char *const at[][2] = {{"h0n0", "leaf0"}, {"h0n2", "leaf0"}, {"h1n0", "leaf0"},
		{"h1n2", "leaf0"}, {"h2n0", "leaf1"}, {"h7n2", "leaf3"}};

	(void)state;
	assert_wired(LEAF_SPINE(3, "leaf"), 3, at, COUNT(at));
}

static void each_rail_has_its_leaf(void **state)
{
	static const char *const at[][2] = {{"h0n0", "leaf0"}, {"h0n1", "leaf1"}, {"h5n0", "leaf0"},
		{"h5n1", "leaf1"}, {"h6n0", "leaf2"}, {"h6n1", "leaf3"}, {"h11n1", "leaf3"}};
	static const char *const of_pods[][2] = {{"h0n0", "tor0.0"}, {"h0n1", "tor0.1"},
		{"h1n0", "tor0.0"}, {"h2n0", "tor1.0"}, {"h7n1", "tor3.1"}};

	(void)state;
	assert_wired(RAILS, 2, at, COUNT(at));
	assert_wired(NAMED "topology: {fat_tree: {k: 4}, nics: 2, nics_to: rails}\n", 2, of_pods,
		COUNT(of_pods));
}

/* Each leaf has as many hosts, all of one rail. */
static void no_leaf_has_two_rails(void **state)
{
	struct fabric *f = fabric_of(LEAF_SPINE(4, "rails"));
	const struct net *net = &f->net;

	(void)state;
	for (uint32_t i = net->host_count; i < net->node_count; i++) {
		const struct net_node *n = &net->nodes[i];
		uint32_t hosts = 0, rail = UINT32_MAX;

		for (uint32_t p = n->first_port; p < n->first_port + n->port_count; p++) {
			uint32_t host = net->ports[net->ports[p].peer].node;

			if (host >= net->host_count)
				continue;
			assert_true(!hosts++ || host % 4 == rail);
			rail = host % 4;
		}
		assert_int_equal(hosts, f->nodes[i].tier == 1 ? 6 : 0);
	}
	fabric_free(f);
}

static void planes_are_copies(void **state)
{
	static const char *const at[][2] = {{"h0n0", "leaf0p0"}, {"h0n2", "leaf0p2"},
		{"h5n1", "leaf0p1"}, {"h6n1", "leaf1p1"}, {"h23n2", "leaf3p2"}};
	struct fabric *f = fabric_of(PLANES);

	(void)state;
	assert_wired(PLANES, 3, at, COUNT(at));
	assert_int_equal(f->planes, 3);
	assert_int_equal(f->net.switch_count, 3 * 6);
	assert_int_equal(f->net.link_count, 3 * (24 + 8));
	for (uint32_t l = 0; l < f->net.link_count; l++) {
		uint32_t a = f->net.ports[f->links[l].a].node;
		uint32_t b = f->net.ports[f->links[l].b].node;

		assert_int_equal(a % 3, (b - f->net.host_count) % 3 + (f->net.host_count % 3));
	}
	assert_true(fixture_link(f, "leaf3p1-spine1p1") < f->net.link_count);
	assert_int_equal(fixture_link(f, "leaf3p1-spine1p0"), UINT32_MAX);
	fabric_free(f);
}

/* What follows from the shape is that of one copy. */
static void a_plane_is_as_the_fabric_alone(void **state)
{
	static const char *const texts[] = {"leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 2}",
		"leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}", "fat_tree: {k: 4}", CUSTOM,
		"custom: {hosts: [a, b], switches: [s], links: [{a: a, b: s, rate: 1Gbps}, b-s]}"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct fabric *f[2];
		char text[256];

		for (int planes = 1; planes <= 2; planes++) {
			snprintf(text, sizeof(text),
				NAMED "topology: {%s, nics: %d, nics_to: planes}\n", texts[i],
				planes);
			f[planes - 1] = fabric_of(text);
		}
		assert_int_equal(f[0]->base_rtt_ps, f[1]->base_rtt_ps);
		assert_int_equal(f[0]->bdp_bytes, f[1]->bdp_bytes);
		assert_int_equal(2 * f[0]->net.link_count, f[1]->net.link_count);
		/* with one NIC nothing is another name */
		assert_int_equal(f[0]->planes, 1);
		assert_null(strpbrk(f[0]->nodes[0].name, "n"));
		fabric_free(f[0]);
		fabric_free(f[1]);
	}
}

static void listed_hosts_keep_their_names(void **state)
{
	struct fabric *f = fabric_of(NAMED "topology: {" CUSTOM ", nics: 2}\n");

	(void)state;
	assert_int_equal(fixture_node(f, "c"), 2);
	assert_string_equal(leaf_of(f, "d"), "t");
	assert_int_equal(fabric_server(f, 1), 0);
	assert_int_equal(fabric_server(f, 2), 1);
	fabric_free(f);
	f = fabric_of(NAMED "topology: {" CUSTOM ", nics: 2, nics_to: planes}\n");
	assert_int_equal(fixture_node(f, "cn1"), 5);
	assert_string_equal(leaf_of(f, "dn1"), "tp1");
	fabric_free(f);
}

static void no_route_leaves_a_plane(void **state)
{
	struct scenario *s = load(PLANES);
	struct world w = world_new(s);

	(void)state;
	routing_compute(w.r, w.up, &w.t);
	for (uint32_t sw = 0; sw < w.net->switch_count; sw++)
		for (uint32_t h = 0; h < w.net->host_count; h++)
			assert_int_equal(group_of(&w, sw, h) != NULL, sw % 3 == h % 3);
	world_free(&w);
	scenario_free(s);
}

static void what_is_uneven_is_refused(void **state)
{
	static const char long_name[] =
		NAMED "topology: {custom: {hosts: [a12345678901234567890123456789, b],"
		      " switches: [s], links: [a12345678901234567890123456789-s, b-s]},"
		      " nics: 2, nics_to: planes}\n";

	(void)state;
	refuses(LEAF_SPINE(4, "leaf"),
		"topology.nics: 6 hosts at each leaf are no whole number of servers with 4 NICs; take a multiple of 4, or nics_to: rails");
	refuses(LEAF_SPINE(3, "rails"),
		"topology.nics: 4 leaves are no whole number of groups of 3, a leaf for each rail; take a multiple of 3");
	refuses(NAMED "topology: {" CUSTOM ", nics: 3}\n",
		"topology.nics: 4 hosts are no whole number of servers with 3 NICs; list NICs of a server one after the other");
	refuses(NAMED "topology: {" CUSTOM ", nics: 2, nics_to: rails}\n",
		"topology.nics_to: rails: the links of a custom topology say where NICs are; link NIC r of each server to the leaf of rail r, and take nics_to: leaf");
	refuses(NAMED "topology: {fat_tree: {k: 60}, nics: 8, nics_to: planes}\n",
		"topology.nics: too large; the 1296000 links of 8 planes have 2592000 ports, and the limit is 1048576");
	refuses(long_name,
		"topology.nics: 'a12345678901234567890123456789' is too long to have 'n0' behind it; a name has at most 31 letters");
	/* a glob has to match the names that there are */
	refuses(NAMED
		"topology: {fat_tree: {k: 4}, nics: 2, nics_to: planes, links: [{match: h0-*, delay: 2us}]}\n",
		"topology.links.match: 'h0-*' matches no link; links are called h0n0-tor0.0p0, tor0.0p0-agg0.0p0, agg0.0p0-core0p0");
}

/* ---- workloads */

/* Of 3 NICs to a server each sends to those with its own number; returns the operations. */
static struct operations within(const char *topology, const char *workload)
{
	char text[512];
	struct operations m;

	snprintf(text, sizeof(text), "%sworkload: [%s]\n", topology, workload);
	m = operations_of(text, 1);
	assert_true(m.count > 0);
	for (size_t i = 0; i < m.count; i++)
		if (operation_is_message(&m.items[i])) {
			assert_int_equal(m.items[i].src_host % 3, m.items[i].dst_host % 3);
			assert_int_not_equal(m.items[i].src_host, m.items[i].dst_host);
		}
	return m;
}

/* Servers are permuted: NIC p of one sends to NIC p of another, whatever p. */
static void a_permutation_is_of_servers(void **state)
{
	struct operations m = within(PLANES, "permutation: {message: 1KB, count: 2, repeat: 2}");
	bool received[72] = {false};

	(void)state;
	assert_int_equal(m.count, 4 * 72);
	for (uint32_t h = 0; h < 72; h++) {
		assert_int_equal(m.items[h].src_host, h);
		assert_int_equal(m.items[h].dst_host / 3, m.items[h / 3 * 3].dst_host / 3);
		assert_false(received[m.items[h].dst_host]);
		received[m.items[h].dst_host] = true;
	}
	operations_release(&m);
}

static void all_to_all_is_of_a_plane(void **state)
{
	struct operations m = within(PLANES, "all_to_all: {message: 1KB}");
	static bool sent[72][72];

	(void)state;
	assert_int_equal(m.count, 72 * 23);
	for (size_t i = 0; i < m.count; i++) {
		assert_false(sent[m.items[i].src_host][m.items[i].dst_host]);
		sent[m.items[i].src_host][m.items[i].dst_host] = true;
	}
	operations_release(&m);
	/* a message waits for one from its sender, and its barrier for one to its receiver */
	m = within(PLANES, "all_to_all: {message: 1KB, window: 3}");
	assert_int_equal(m.count, 72 * (23 + 20));
	for (size_t i = 0; i < m.wait_count; i++) {
		const struct operation *from = &m.items[m.waits[i].from];
		const struct operation *to = &m.items[m.waits[i].to];

		if (!operation_is_message(to))
			assert_int_equal(from->dst_host, to[1].dst_host);
		else if (operation_is_message(from))
			assert_int_equal(from->src_host, to->src_host);
		else
			assert_ptr_equal(from, to - 1);
	}
	operations_release(&m);
}

static void an_incast_is_of_a_plane(void **state)
{
	struct operations m = within(PLANES, "incast: {message: 1KB, senders: 23, to: h5n1}");
	bool sends[72] = {false};

	(void)state;
	assert_int_equal(m.count, 23);
	for (size_t i = 0; i < m.count; i++) {
		assert_int_equal(m.items[i].dst_host, 5 * 3 + 1);
		assert_false(sends[m.items[i].src_host]);
		sends[m.items[i].src_host] = true;
	}
	operations_release(&m);
	refuses(PLANES "workload: [incast: {message: 1KB, senders: 24, to: h5n1}]\n",
		"workload.0.incast.senders: 24; of the fabric's 24 hosts with the same NIC number one receives, so at most 23");
}

static void loads_are_of_planes(void **state)
{
	struct operations m = within(PLANES,
		"load: {sizes: alistorage, load: 90%, until: 1ms, incast: {senders: 9, message: 9999, share: 30%}}");
	uint32_t of_plane[3] = {0};

	(void)state;
	for (size_t i = 0; i < m.count; i++)
		of_plane[m.items[i].dst_host % 3] += m.items[i].bytes == 9999;
	assert_true(of_plane[0] && of_plane[1] && of_plane[2]);
	operations_release(&m);
	m = within(PLANES, "load: {sizes: alistorage, load: 90%, until: 1ms, hosts: '*n1'}");
	for (size_t i = 0; i < m.count; i++)
		assert_int_equal(m.items[i].dst_host % 3, 1);
	operations_release(&m);
	refuses(PLANES "workload: [load: {sizes: hadoop, load: 9%, until: 1ms, hosts: 'h0n*'}]\n",
		"workload.0.load.hosts: 'h0n*' matches one host with a NIC number, which has none to send to; expected at least 2 with each, or none");
	refuses(PLANES
		"workload: [load: {sizes: hadoop, load: 9%, until: 1ms, incast: {senders: 24}}]\n",
		"workload.0.load.incast.senders: 24; of 24 hosts with the same NIC number one receives, so at most 23");
}

/* Ranks are placed plane by plane. */
static void jobs_are_of_planes(void **state)
{
	static const char *const placements[] = {"in_order", "random"};

	(void)state;
	for (size_t p = 0; p < COUNT(placements); p++) {
		char text[128];
		struct operations m;
		bool used[72] = {false};
		uint32_t hosts = 0;

		snprintf(text, sizeof(text),
			"collective: {op: all_reduce, size: 4KB, jobs: 4, ranks: 12, placement: %s}",
			placements[p]);
		m = within(PLANES, text);
		for (size_t i = 0; i < m.count; i++)
			if (operation_is_message(&m.items[i]))
				used[m.items[i].src_host] = true;
		for (uint32_t h = 0; h < 72; h++) {
			hosts += used[h];
			if (p == 0)
				assert_int_equal(used[h], h % 3 < 2);
		}
		assert_int_equal(hosts, 4 * 12);
		operations_release(&m);
	}
	refuses(PLANES "workload: [collective: {op: all_reduce, size: 4KB}]\n",
		"workload.0.collective.ranks: 72 of a job; no path joins the 3 planes, which have 24 hosts each; take jobs: 3, one in each plane, or a number of ranks that divides 24");
	refuses(PLANES "workload: [collective: {op: all_reduce, size: 4KB, jobs: 4, ranks: 13}]\n",
		"workload.0.collective.ranks: 13 of a job; no path joins the 3 planes, which have 24 hosts each; take jobs: 3, one in each plane, or a number of ranks that divides 24");
}

/* What planes force can be asked for on rails: the same is sent. */
static void rails_can_be_kept_to(void **state)
{
	static const char *const kinds[][2] = {
		{"permutation: {message: 1KB}", "permutation: {message: 1KB, same_nic: yes}"},
		{"all_to_all: {message: 1KB, window: 2}",
			"all_to_all: {message: 1KB, window: 2, same_nic: yes}"},
		{"incast: {message: 1KB, senders: 9, to: h3n2}",
			"incast: {message: 1KB, senders: 9, to: h3n2, same_nic: yes}"},
		{"load: {sizes: hadoop, load: 60%, until: 100us}",
			"load: {sizes: hadoop, load: 60%, until: 100us, same_nic: yes}"},
		{"collective: {op: all_gather, size: 1KB, jobs: 3}",
			"collective: {op: all_gather, size: 1KB, jobs: 3, placement: by_nic}"}};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct operations planes = within(ONE_LEAF "planes}\n", kinds[i][0]);
		struct operations rails = within(THREE_LEAVES "rails}\n", kinds[i][1]);

		assert_int_equal(planes.count, rails.count);
		for (size_t k = 0; k < planes.count; k++) {
			assert_int_equal(planes.items[k].src_host, rails.items[k].src_host);
			assert_int_equal(planes.items[k].dst_host, rails.items[k].dst_host);
			assert_int_equal(planes.items[k].bytes, rails.items[k].bytes);
			assert_int_equal(planes.items[k].start_ps, rails.items[k].start_ps);
		}
		operations_release(&planes);
		operations_release(&rails);
	}
	refuses(NAMED "topology: {leaf_spine: {leaves: 3, spines: 1, hosts_per_leaf: 1}, nics: 3,"
		      " nics_to: rails}\nworkload: [permutation: {message: 1KB, same_nic: yes}]\n",
		"workload.0.permutation.same_nic: the fabric has one server; expected at least 2");
}

/* Of hosts that are named, and of any kind. */
static void a_pair_without_a_path_is_named(void **state)
{
	(void)state;
	refuses(PLANES "workload: [pairs: {from: [h0n0, h1n1], to: [h1n0, h2n0], message: 1}]\n",
		"workload.0.pairs: no path joins h1n1 and h2n0, which are in planes 1 and 0; send within a plane, among *n1 or among *n0");
	refuses(PLANES
		"workload: [collective: {op: all_gather, size: 1KB, hosts: [h3n0, h3n2, h4n0]}]\n",
		"workload.0.collective: no path joins h3n0 and h3n2, which are in planes 0 and 2; send within a plane, among *n0 or among *n2");
	/* rails are joined by the spines */
	struct operations m =
		operations_of(RAILS "workload: [pairs: {from: h0n0, to: h0n1, message: 1}]\n", 1);

	assert_int_equal(m.count, 1);
	operations_release(&m);
}

/* The bounds of a message in a plane are those in the fabric alone. */
static void planes_have_the_same_ideal(void **state)
{
	static const char *const texts[] = {
		LEAF_SPINE(1, "leaf") "workload: [pairs: {from: h0, to: h9, message: 1MB}]\n",
		PLANES "workload: [pairs: {from: h0n2, to: h9n2, message: 1MB}]\n"};
	const struct workload_frames frames = {.mtu = 4096};
	struct workload_size size[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fabric *f = fabric_of(texts[i]);
		struct operations m = operations_of(texts[i], 1);

		assert_int_equal(workload_measure(&m, &f->net, &frames, &size[i]), 0);
		operations_release(&m);
		fabric_free(f);
	}
	assert_true(size[0].ideal_ps > 0);
	assert_memory_equal(&size[0], &size[1], sizeof(size[0]));
}

/* ---- reports */

static json_t *report_of(const char *text)
{
	static const struct report_load load_of_one = {.flows = 1,
		.bytes = 1,
		.packets = 1,
		.ideal_ps = 1,
		.kernel = {2, 1},
		.in_process = {1, 1},
		.dscps = {1}};
	struct scenario *s = load(text);
	struct fabric *f = fixture_fabric(s);
	json_t *r = fabric_report(f, s, &load_of_one);

	assert_non_null(r);
	fabric_free(f);
	scenario_free(s);
	return r;
}

static void servers_are_told(void **state)
{
	json_t *r = report_of(RAILS);
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	fabric_report_print(r, out);
	fclose(out);
	assert_non_null(strstr(text,
		"\n  servers           12 with 2 NICs each (a host is a NIC): NIC r at leaf r of"));
	free(text);
	assert_int_equal(look_count(r, "servers.count"), 12);
	assert_int_equal(look_count(r, "servers.nics"), 2);
	assert_string_equal(look_text(r, "servers.nics_to"), "rails");
	json_decref(r);
	r = report_of(LEAF_SPINE(1, "leaf"));
	assert_null(look(r, "servers"));
	json_decref(r);
}

/* Paths and what a failure means, as in the fabric alone. */
static void planes_report_as_one(void **state)
{
#define DOWN(host, to)                                                                             \
	"workload: [incast: {to: " host ", senders: 3, message: 1}]\n"                             \
	"faults: [{at: 0, link: leaf0" to ", do: down}]\n"
	json_t *one = report_of(LEAF_SPINE(1, "leaf") DOWN("h0", "-spine1"));
	json_t *r = report_of(PLANES DOWN("h0n1", "p1-spine1p1"));
	const json_t *alone = json_array_get(look(one, "failures"), 0);
	const json_t *failure = json_array_get(look(r, "failures"), 0);

	(void)state;
	assert_true(json_equal(look(one, "paths"), look(r, "paths")));
	assert_string_equal(look_text(failure, "pod"), "leaf0p1");
	assert_true(
		look_number(alone, "flows_per_uplink") == look_number(failure, "flows_per_uplink"));
	assert_true(look_number(alone, "flows_per_host_link") ==
		    look_number(failure, "flows_per_host_link"));
	json_decref(one);
	json_decref(r);
}

static void a_gateway_is_of_one_plane(void **state)
{
#define OUT(host) "clock: wall\nexternal: {node: " host ", bridge: br0, address: 192.0.2.1/24}\n"
	json_t *r = report_of(PLANES OUT("h0n1"));

	(void)state;
	assert_string_equal(json_string_value(json_array_get(look(r, "notes"), 0)),
		"external.node: hosts of other planes than h0n1's have no way out of the fabric");
	json_decref(r);
	r = report_of(RAILS OUT("h0n1"));
	assert_int_equal(json_array_size(look(r, "notes")), 0);
	json_decref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_servers_nics_are_at_one_leaf),
		cmocka_unit_test(each_rail_has_its_leaf),
		cmocka_unit_test(no_leaf_has_two_rails),
		cmocka_unit_test(planes_are_copies),
		cmocka_unit_test(a_plane_is_as_the_fabric_alone),
		cmocka_unit_test(listed_hosts_keep_their_names),
		cmocka_unit_test(no_route_leaves_a_plane),
		cmocka_unit_test(what_is_uneven_is_refused),
		cmocka_unit_test(a_permutation_is_of_servers),
		cmocka_unit_test(all_to_all_is_of_a_plane),
		cmocka_unit_test(an_incast_is_of_a_plane),
		cmocka_unit_test(loads_are_of_planes),
		cmocka_unit_test(jobs_are_of_planes),
		cmocka_unit_test(rails_can_be_kept_to),
		cmocka_unit_test(a_pair_without_a_path_is_named),
		cmocka_unit_test(planes_have_the_same_ideal),
		cmocka_unit_test(servers_are_told),
		cmocka_unit_test(planes_report_as_one),
		cmocka_unit_test(a_gateway_is_of_one_plane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
