/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/targets.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/hop.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "scenario/scenario.h"
#include "transport/kind.h"
#include "workload/kind.h"

/* Whether that is a host; says why not. */
static bool find_host(const struct fabric *f, const char *key, const char *name, const char *only,
	struct diag_pos pos, struct diags *diags, uint32_t *ret_host)
{
	uint32_t hosts = f->net.host_count, node;
	char hint[DIAG_HINT], all[DIAG_HINT];
	const char **words;

	if (fabric_find_node(f, name, &node)) {
		*ret_host = node;
		if (node < hosts)
			return true;
		diags_add(diags, pos, "%s: '%s' is a switch; only hosts %s", key, name, only);
		return false;
	}
	words = calloc(hosts, sizeof(*words));
	for (uint32_t h = 0; words && h < hosts; h++)
		words[h] = f->nodes[h].name;
	snprintf(all, sizeof(all), "; the %u hosts are %s to %s", hosts, f->nodes[0].name,
		f->nodes[hosts - 1].name);
	diags_add(diags, pos, "%s: there is no host '%s'%s", key, name,
		diag_hint(hint, name, words, words ? hosts : 0, all));
	free(words);
	return false;
}

#define KEY_TEXT 64

static uint32_t host_number(const void *fabric, const char *name)
{
	const struct fabric *f = fabric;
	uint32_t node;

	return fabric_find_node(f, name, &node) && node < f->net.host_count ? node : UINT32_MAX;
}

static bool host_matches(const void *fabric, uint32_t host, const char *glob)
{
	return fabric_node_matches(fabric, host, glob);
}

static uint64_t host_rate(const void *fabric, uint32_t host)
{
	const struct net *net = &((const struct fabric *)fabric)->net;

	return net->ports[net->nodes[host].first_port].rate_bps;
}

static const char *refuse_dscp(const void *fabric, uint32_t dscp, char buf[WORKLOAD_REFUSAL])
{
	const struct switching *sw = &((const struct fabric *)fabric)->switching;
	uint32_t class = sw->config.class_of[dscp];

	if (!sw->classes[class].headers && !sw->classes[class].answers)
		return NULL;
	snprintf(buf, WORKLOAD_REFUSAL, "DSCP %u goes by class %u, that of %s", dscp, class,
		sw->classes[class].headers
			? "trimmed headers; take another"
			: "answers alone; take another, or list the classes in switch.classes");
	return buf;
}

struct workload_hosts fabric_workload_hosts(const struct fabric *f)
{
	return (struct workload_hosts){
		.nics = f->nics,
		.planes = f->planes,
		.count = f->net.host_count,
		.message_max = MESSAGE_PACKETS * f->mtu,
		.mtu = f->mtu,
		.packet_ps = serialise_ps(f->packet_bytes, f->host_rate_bps),
		.fabric = f,
		.number = host_number,
		.matches = host_matches,
		.rate_bps = host_rate,
		.refuse_dscp = refuse_dscp,
	};
}

/* Whoever visits the hosts that a workload names. */
struct named_hosts {
	const struct fabric *f;
	const struct workload_spec *workload;
	size_t index;
	struct diags *diags;
};

static void check_named_host(void *arg, const char *path, const char *name)
{
	const struct named_hosts *n = arg;
	char key[KEY_TEXT];
	uint32_t host;

	snprintf(key, sizeof(key), "workload.%zu.%s", n->index, path);
	find_host(n->f, key, name, "send and receive", n->workload->pos, n->diags, &host);
}

/*
 * Of separate planes, the first message that has no path. Whatever the seed: what is drawn is drawn
 * within a plane, and open loops keep to planes.
 */
static void check_planes(
	const struct fabric *f, const struct workload_spec *w, size_t index, struct diags *diags)
{
	const struct workload_kind *kind = workload_kinds[w->kind];
	const struct workload_hosts hosts = fabric_workload_hosts(f);
	struct operations m = OPERATIONS_INIT;

	if (f->planes > 1 && kind->operations)
		diags->out_of_memory |= kind->operations(&m, &(struct workload_params){0},
						w->options, &hosts) == -ENOMEM;
	for (size_t i = 0; i < m.count; i++) {
		uint32_t src = m.items[i].src_host, dst = m.items[i].dst_host;
		uint32_t from = src % f->planes, to = dst % f->planes;

		if (!operation_is_message(&m.items[i]) || from == to)
			continue;
		diags_add(diags, w->pos,
			"workload.%zu.%s: no path joins %s and %s, which are in planes %u and %u; send within a plane, among *n%u or among *n%u",
			index, kind->name, f->nodes[src].name, f->nodes[dst].name, from, to, from,
			to);
		break;
	}
	operations_release(&m);
}

/* Returns how many operations it comes to. */
static double check_workload(
	const struct fabric *f, const struct workload_spec *w, size_t index, struct diags *diags)
{
	const struct workload_kind *kind = workload_kinds[w->kind];
	const struct workload_hosts hosts = fabric_workload_hosts(f);
	struct named_hosts named = {f, w, index, diags};
	char text[WORKLOAD_REFUSAL];
	const char *refusal = kind->refuse ? kind->refuse(w->options, &hosts, text) : NULL;

	scenario_workload_hosts(w, check_named_host, &named);
	if (refusal)
		diags_add(diags, w->pos, "workload.%zu.%s.%s", index, kind->name, refusal);
	if (w->dscp != DSCP_OF_HOSTS && refuse_dscp(f, w->dscp, text))
		diags_add(diags, w->pos, "workload.%zu.dscp: %s", index, text);
	return kind->count(w->options, &hosts);
}

/* reason: why there can't be more. */
static void check_workloads(const struct fabric *f, const struct workload_spec *workloads,
	size_t count, uint32_t most, const char *reason, struct diags *diags)
{
	double flows = 0;

	for (size_t i = 0; i < count; i++) {
		const struct workload_spec *w = &workloads[i];
		size_t before = diags->count;
		double at_once;

		if (!w->valid)
			continue;
		at_once = check_workload(f, w, i, diags);
		if (flows <= most && flows + at_once > most)
			diags_add(diags, w->pos,
				"workload: %.0f operations up to here; at most %u (%s)",
				flows + at_once, most, reason);
		flows += at_once;
		if (flows <= most && diags->count == before)
			check_planes(f, w, i, diags);
	}
}

static void check_external(
	const struct fabric *f, const struct external_spec *e, struct diags *diags)
{
	uint32_t host;

	if (e->node)
		find_host(f, "external.node", e->node, "join a bridge", e->pos, diags, &host);
}

/* Whatever the dataplane: a scenario means the same on both. */
static void check_payload(const struct fabric *f, const struct scenario *s, struct diags *diags)
{
	if (s->host.payload == PAYLOAD_FULL && f->packet_bytes && !fabric_holds_payload(f))
		diags_add(diags, (struct diag_pos){0},
			"host.payload: a packet with its payload has %u bytes, and a frame on a veth with XDP at most %u; give topology.mtu at most %u, or payload: headers",
			f->packet_bytes, VETH_FRAME_MAX,
			VETH_FRAME_MAX - (f->packet_bytes - f->mtu));
}

/* Series of ports that do not exist would be empty files. */
static void check_series(const struct fabric *f, const struct scenario *s, struct diags *diags)
{
	static const char *const keys[SERIES_KINDS] = {
#define X(symbol, key, file) #key,
		SERIES(X)
#undef X
	};
	uint32_t end = PORT_FIRST + f->net.port_count;

	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		/* queues are those of switches, whose ports come behind the hosts' */
		uint32_t first = PORT_FIRST + (i == SERIES_QUEUES ? f->net.host_count : 0);
		char name[PORT_NAME], last[PORT_NAME];
		uint32_t port = first;

		while (s->series[i].match && port < end &&
			fnmatch(s->series[i].match, fabric_port_name(f, port, name), 0))
			port++;
		if (port == end)
			diags_add(diags, s->series[i].pos,
				"telemetry.%s.match: '%s' matches no port%s; they are called %s to %s",
				keys[i], s->series[i].match,
				i == SERIES_QUEUES ? " of a switch" : "",
				fabric_port_name(f, first, name),
				fabric_port_name(f, end - 1, last));
	}
}

int check_scenario(const struct fabric *f, const struct scenario *s, struct diags *diags)
{
	check_workloads(f, s->workloads, s->workload_count, OPERATIONS_MAX - 1,
		"they are numbered, and so many have a number", diags);
	check_external(f, &s->external, diags);
	check_payload(f, s, diags);
	check_series(f, s, diags);
	return check_fault_targets(f, s, diags);
}

int fabric_check_workloads(const struct fabric *f, const struct workload_spec *workloads,
	size_t count, struct diags *diags)
{
	uint64_t max = MESSAGE_PACKETS * f->mtu;
	size_t before = diags->count;
	char text[UNITS_TEXT];

	for (size_t i = 0; i < count; i++)
		if (workloads[i].options->bytes > max)
			diags_add(diags, workloads[i].pos,
				"workload.%zu: message is too large; it has at most 2^24 packets, %s at an mtu of %u",
				i, format_bytes(text, max), f->mtu);
	check_workloads(f, workloads, count, FABRIC_START_MAX,
		"a live fabric stands still while it takes them in: start them by parts", diags);
	if (diags->out_of_memory)
		return -ENOMEM;
	return diags->count == before ? 0 : -EINVAL;
}
