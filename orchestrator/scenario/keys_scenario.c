/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The keys of the top level, and what sections have to do with each other. */
#include <string.h>
#include "scenario/check.h"
#include "transport/kind.h"

bool is_valid(const struct map *map, uint64_t valid, const char *name)
{
	return valid >> (map_key(map, name) - map->keys) & 1;
}

bool has_none(struct check *c, const struct tree *n, const char *const *keys, const char *why)
{
	bool none = true;

	for (; *keys; keys++)
		if (tree_get(n, *keys))
			none = explain_path(c, n, *keys, "%s", why);
	return none;
}

bool is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	return text[0] != '-' && strspn(text, letters) == strlen(text);
}

static void check_holds_packet(
	struct check *c, const struct tree *n, double bytes, const struct scenario *s)
{
	if (n && bytes < s->topology.mtu)
		explain_value(c->diags, n, "%s is too small; it holds not even one packet (mtu %u)",
			n->text, s->topology.mtu);
}

/* In which roce's senders raise their rates; for others DCQCN's default. */
static uint64_t raise_period(const struct scenario *s)
{
	const struct transport_choice *t;
	uint64_t period = 0;

	for (uint32_t i = 0; !period && (t = scenario_transport(s, i)); i++)
		period = transport_facts(t).raise_ps;
	return period ? period : 55 * PS_PER_US;
}

/* Sections against each other; without a topology nothing can be said. */
static bool check_sections(struct check *c, const struct tree *root, void *scenario, uint64_t valid)
{
#define VALID(key) is_valid(&scenario_map, valid, key)
	struct scenario *s = scenario;
	const struct quantity *buffer = &s->sw.buffer.per_port;
	bool host = VALID("host"), clock = VALID("clock");

	if (VALID("compare"))
		check_variants(c, tree_get(root, "compare"), s);
	if (VALID("compare") && VALID("sweep"))
		check_sweep(c, tree_get(root, "sweep"), s);
	if (!VALID("topology"))
		return false;
	if (VALID("workload"))
		check_messages(c, tree_get(root, "workload"), s);
	if (VALID("workload") && host) /* those of entries are compared with the hosts' */
		check_transports(c, tree_get(root, "workload"), s);
	if (s->sw.cnp_ps == EVERY_AUTO)
		s->sw.cnp_ps = raise_period(s);
	if (s->sw.valid && buffer->unit == QUANTITY_BYTES)
		check_holds_packet(c, tree_get(root, "switch.buffer.per_port"), buffer->value, s);
	if (host)
		check_holds_packet(c, tree_get(root, "host.stack.queue"),
			(double)s->host.stack.queue_bytes, s);
	if (s->sw.valid && host && check_answers(c, root, s)) {
		check_host_classes(c, root, s);
		check_stack_switch(c, root, s);
		if (VALID("workload"))
			check_trimming(c, root, s);
	}
	if (clock && host)
		check_stack_clock(c, root, s);
	if (clock && VALID("expect"))
		check_expects_clock(c, root, s);
	if (s->sw.valid)
		check_storms(c, root, s);
	return true;
#undef VALID
}

/* A scenario that is written is that of one run. */
static bool never(const void *base)
{
	(void)base;
	return false;
}

#define OF(member) offsetof(struct scenario, member)

#define GLOB_MAX 200
#define PERIOD   .min = PS_PER_NS, .max = TIME_MAX
#define EVERY                                                                                      \
	KEY("every", TIME, struct series_spec, every_ps, .required = true, PERIOD,                 \
		.help = "the time from one sample to the next")
#define MATCH                                                                                      \
	KEY("match", LABEL, struct series_spec, match, .fallback = "*", .max = GLOB_MAX,           \
		.help = "of ports with such names alone, a glob: leaf*->spine0")

/* Off, or a period alone, or that and more. */
#define SERIES_MAP(keys_)                                                                          \
	{                                                                                          \
		KEYS(keys_), .on = FIELD(struct series_spec, every_ps), .lone = &(keys_)[0],       \
			     .pos = offsetof(struct series_spec, pos)                              \
	}

static const struct key ports_keys[] = {EVERY, MATCH};
static const struct key flows_keys[] = {EVERY};
static const struct key queues_keys[] = {
	EVERY,
	MATCH,
	KEY("above", QUANTITY, struct series_spec, above, .fallback = "off", .word = "off",
		.times = true, .max = QUEUE_MAX,
		.help = "only queues deeper than that: bytes, or a time at the port's rate"),
};

static const struct map ports_map = SERIES_MAP(ports_keys);
static const struct map flows_map = SERIES_MAP(flows_keys);
static const struct map queues_map = SERIES_MAP(queues_keys);

static const struct key telemetry_keys[] = {
	KEY("ports", MAP, struct scenario, series[SERIES_PORTS], .fallback = "off",
		.map = &ports_map,
		.help = "samples throughput, arrivals, marks, drops and pauses of each port"),
	KEY("flows", MAP, struct scenario, series[SERIES_FLOWS], .fallback = "off",
		.map = &flows_map,
		.help = "samples throughput, rate or window, RTT and bytes in flight of each flow"),
	KEY("queues", MAP, struct scenario, series[SERIES_QUEUES], .fallback = "off",
		.map = &queues_map, .help = "samples the depth of each queue of switches"),
	KEY("imbalance", TIME, struct scenario, series[SERIES_IMBALANCE].every_ps,
		.fallback = "off", .word = "off", PERIOD,
		.help = "samples with this period how unevenly switches use their uplinks"),
};

static const struct map telemetry_map = {KEYS(telemetry_keys)};

static const struct list workload_list = {.item = ITEM(&workload_map),
	.size = sizeof(struct workload_spec),
	.count = OF(workload_count)};
static const struct list fault_list = {
	.item = ITEM(&fault_map), .size = sizeof(struct fault_spec), .count = OF(fault_count)};
static const struct list expect_list = {
	.item = ITEM(&expect_map), .size = sizeof(struct expect_spec), .count = OF(expect_count)};
static const struct list variant_list = {.item = ITEM(&variant_map),
	.size = sizeof(struct variant_spec),
	.count = OF(variant_count),
	.many = "variants",
	.limit = VARIANTS_LIMIT};

static const struct key keys[] = {
	KEY("name", LABEL, struct scenario, name, .required = true, NAME,
		.help = "namespaces and result folders carry it"),
	KEY("about", TEXT, struct scenario, about, .fallback = "", .usual = "empty",
		.help = "what the scenario shows; where overrides change the run, results name those instead"),
	KEY("seed", SEED, struct scenario, seed, .fallback = "1", .max = UINT64_MAX,
		.help = "seeds each random choice of the run"),
	KEY("clock", MAP, struct scenario, clock, .fallback = "stepped", .map = &clock_map,
		.help = "what model time follows"),
	KEY("topology", MAP, struct scenario, topology, .required = true, .map = &topology_map,
		.help = "hosts, switches and links"),
	KEY("switch", MAP, struct scenario, sw, .usual = "all defaults", .map = &switch_map,
		.help = "what all switches do"),
	KEY("host", MAP, struct scenario, host, .usual = "all defaults", .map = &host_map,
		.help = "what all hosts do"),
	KEY("external", MAP, struct scenario, external, .fallback = "off", .map = &external_map,
		.help = "a host that joins the fabric to an Open vSwitch bridge outside of it"),
	KEY("workload", LIST, struct scenario, workloads, .usual = "nothing is sent",
		.list = &workload_list,
		.expected = "a list of workloads such as {permutation: {message: 2MB}}",
		.help = "messages that hosts send"),
	KEY("faults", LIST, struct scenario, faults, .usual = "none", .list = &fault_list,
		.expected = "a list of {at, until, pick, skip, link | switch | host, do}",
		.help = "faults that are injected at set times"),
	SECTION("telemetry", &telemetry_map,
		.usual = "{ports: off, flows: off, queues: off, imbalance: off}",
		.help = "what is sampled during the run"),
	KEY("until", TIME, struct scenario, until_ps, AUTO, .min = 1, .max = MOMENT_MAX,
		.help = "model time at which the run ends at the latest; auto: when all flows should long have finished"),
	KEY("expect", LIST, struct scenario, expects, .usual = "none", .list = &expect_list,
		.expected = "a list of {metric, at_most | at_least | equals, of}",
		.help = "what must come out; else the exit status is 1"),
	KEY("compare", LIST, struct scenario, variants, .usual = "one run", .list = &variant_list,
		.expected = "a list of {name, set}", .applies = never,
		.help = "variants of the scenario that are run and shown side by side"),
	KEY("sweep", MAP, struct scenario, sweep, .fallback = "off", .map = &sweep_map,
		.applies = never, .help = "many runs of the scenario, by 'fabricbed sweep'"),
};

const struct map scenario_map = {KEYS(keys), .check = check_sections, .partial = true};
