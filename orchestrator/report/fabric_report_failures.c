/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Whether what fails between pods and the switches of the top tier bottlenecks the workload ("Load
 * Balancing for AI Training Workloads", appendix A, "Bottleneck Under Failures"): with N hosts that
 * all send to all a host's link carries N - 1 flows, and H (N - H) of them leave a pod of H hosts;
 * spread evenly over what is left of its uplinks, U links' worth with a share p lost of f of them,
 * no link but the hosts' is overloaded as long as
 *
 *	N - 1 >= H (N - H) / (U - f p)
 *
 * A permutation puts one flow on a host's link, and at most H leave the pod. The counts are the
 * fabric's own, uplinks being counted in rates of a host's link; a pod is what is still connected
 * without the top tier.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "base/array.h"
#include "base/numbers.h"
#include "base/units.h"
#include "report/fabric_report_parts.h"
#include "topology/topology_kind.h"
#include "workload/kind.h"

#define NO_POD UINT32_MAX

/* Shares are no binary fractions: what equals the other side but for this equals it. */
#define ROUNDING 1e-9

struct pod {
	uint32_t hosts, first_switch;
	double uplinks, left;
};

/* The links of the top tier that a fault takes something from. */
struct reach {
	uint32_t fault;
	double left; /* of their rate */
	uint32_t *links;
	uint32_t link_count;
};

struct survey {
	const struct fabric *f;
	uint32_t *pod_of; /* by node */
	uint32_t *stack;
	double *left; /* by link, 0..1 */
	struct pod *pods;
	uint32_t pod_count;
	struct reach *reaches;
	uint32_t reach_count;
	bool permutation; /* else all-to-all */
};

static void survey_release(struct survey *v)
{
	for (uint32_t i = 0; i < v->reach_count; i++)
		free(v->reaches[i].links);
	free(v->reaches);
	free(v->pod_of);
	free(v->stack);
	free(v->left);
	free(v->pods);
}

static int survey_init(struct survey *v, const struct fabric *f, size_t faults)
{
	v->f = f;
	v->pod_of = malloc(f->net.node_count * sizeof(*v->pod_of));
	v->stack = calloc(f->net.node_count, sizeof(*v->stack));
	v->left = calloc((size_t)f->net.link_count + 1, sizeof(*v->left));
	v->pods = calloc(f->net.host_count, sizeof(*v->pods));
	v->reaches = calloc(faults + 1, sizeof(*v->reaches));
	if (!v->pod_of || !v->stack || !v->left || !v->pods || !v->reaches)
		return -ENOMEM;
	memset(v->pod_of, 0xff, f->net.node_count * sizeof(*v->pod_of));
	for (uint32_t l = 0; l < f->net.link_count; l++)
		v->left[l] = 1;
	return 0;
}

static bool is_top(const struct fabric *f, uint32_t node)
{
	return f->nodes[node].tier + 1 == f->tier_count;
}

static uint32_t node_at(const struct fabric *f, uint32_t port)
{
	return f->net.ports[port].node;
}

/* The pod that the link joins to the top tier, or NO_POD. A link's end b is at the higher tier. */
static uint32_t pod_below(const struct survey *v, uint32_t link)
{
	const struct fabric_link *l = &v->f->links[link];

	if (!is_top(v->f, node_at(v->f, l->b)) || is_top(v->f, node_at(v->f, l->a)))
		return NO_POD;
	return v->pod_of[node_at(v->f, l->a)];
}

/* All that hangs together with a host without the top tier is its pod. */
static void walk_pod(struct survey *v, uint32_t host)
{
	const struct net *net = &v->f->net;
	struct pod *pod = &v->pods[v->pod_count];
	uint32_t depth = 0;

	v->stack[depth++] = host;
	v->pod_of[host] = v->pod_count++;
	pod->first_switch = NO_POD;
	while (depth) {
		uint32_t node = v->stack[--depth];

		if (node < net->host_count)
			pod->hosts++;
		else if (node < pod->first_switch)
			pod->first_switch = node;
		for (uint32_t i = 0; i < net->nodes[node].port_count; i++) {
			const struct net_port *port = &net->ports[net->nodes[node].first_port + i];
			uint32_t next = node_at(v->f, port->peer);

			if (v->pod_of[next] != NO_POD || is_top(v->f, next))
				continue;
			v->pod_of[next] = v->pod_of[node];
			v->stack[depth++] = next;
		}
	}
}

/* A link's rate, counted in those of hosts. */
static double link_weight(const struct fabric *f, uint32_t link)
{
	return (double)f->net.ports[f->links[link].a].rate_bps / (double)f->host_rate_bps;
}

static void find_pods(struct survey *v)
{
	for (uint32_t h = 0; h < v->f->net.host_count; h++)
		if (v->pod_of[h] == NO_POD)
			walk_pod(v, h);
	for (uint32_t l = 0; l < v->f->net.link_count; l++) {
		uint32_t pod = pod_below(v, l);

		if (pod != NO_POD)
			v->pods[pod].uplinks += link_weight(v->f, l);
	}
}

static bool hits_link(const struct fabric *f, const struct fault_spec *fault, uint32_t link)
{
	if (fault->on == TARGET_LINK)
		return fabric_link_matches(f, link, fault->target);
	return fabric_node_matches(f, node_at(f, f->links[link].a), fault->target) ||
	       fabric_node_matches(f, node_at(f, f->links[link].b), fault->target);
}

static int find_reach(struct survey *v, uint32_t index, const struct fault_spec *fault)
{
	struct reach r = {
		.fault = index, .left = fault_cost(&fault->effect, v->f->packet_bytes).left};

	for (uint32_t l = 0; l < v->f->net.link_count; l++) {
		if (pod_below(v, l) == NO_POD || !hits_link(v->f, fault, l))
			continue;
		if (ARRAY_ADD(r.links, r.link_count, l) < 0) {
			free(r.links);
			return -ENOMEM;
		}
	}
	if (r.link_count)
		v->reaches[v->reach_count++] = r;
	return 0;
}

static int find_reaches(struct survey *v, const struct scenario *s)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->fault_count; i++)
		if (fault_kinds[s->faults[i].effect.kind].steady)
			err = find_reach(v, i, &s->faults[i]);
	return err;
}

static bool in_force(const struct fault_spec *fault, uint64_t now_ps)
{
	return fault->at_ps <= now_ps && now_ps < fault->until_ps;
}

/*
 * Takes from every pod what the faults of that moment take, the worst of those on the same link
 * counting. Lists the faults.
 */
static json_t *apply_faults(struct survey *v, const struct scenario *s, uint64_t now_ps)
{
	json_t *faults = json_array();

	for (uint32_t i = 0; i < v->pod_count; i++)
		v->pods[i].left = v->pods[i].uplinks;
	for (uint32_t i = 0; i < v->reach_count; i++) {
		const struct reach *r = &v->reaches[i];

		if (!in_force(&s->faults[r->fault], now_ps))
			continue;
		json_array_append_new(faults, json_integer(r->fault));
		for (uint32_t n = 0; n < r->link_count; n++) {
			uint32_t l = r->links[n];
			double lost = v->left[l] - r->left;

			if (lost <= 0)
				continue;
			v->left[l] = r->left;
			v->pods[pod_below(v, l)].left -= lost * link_weight(v->f, l);
		}
	}
	for (uint32_t i = 0; i < v->reach_count; i++)
		for (uint32_t n = 0; n < v->reaches[i].link_count; n++)
			v->left[v->reaches[i].links[n]] = 1;
	return faults;
}

/* All that a host sends to, and itself. */
static double plane_hosts(const struct fabric *f)
{
	return f->net.host_count / f->planes;
}

/* Flows that leave a pod, on each of so many links. */
static double flows_per_uplink(const struct survey *v, const struct pod *pod, double links)
{
	double hosts = pod->hosts, others = plane_hosts(v->f) - hosts;
	double flows = !v->permutation ? hosts * others : hosts < others ? hosts : others;

	if (flows == 0)
		return 0;
	return links > ROUNDING ? flows / links : INFINITY;
}

#define POD_NAME (NODE_NAME + 12)

static void name_pod(const struct survey *v, const struct scenario *s, uint32_t pod, char *name)
{
	const struct fabric *f = v->f;

	if (topology_kinds[s->topology.kind]->pods && f->planes == 1)
		snprintf(name, POD_NAME, "pod %u", pod);
	else if (topology_kinds[s->topology.kind]->pods)
		snprintf(name, POD_NAME, "the pod of %s", f->nodes[v->pods[pod].first_switch].name);
	else
		strcpy(name, v->f->nodes[v->pods[pod].first_switch].name);
}

/*
 * One moment at which faults begin; of the pod that has the most flows on what is left of its
 * uplinks.
 */
static json_t *judge(struct survey *v, const struct scenario *s, uint64_t at_ps)
{
	json_t *faults = apply_faults(v, s, at_ps);
	double host_flows = v->permutation ? 1 : plane_hosts(v->f) - 1, uplink_flows = 0;
	double most = host_flows * (1 + ROUNDING), left;
	uint32_t worst = 0;
	bool without = false;
	char name[POD_NAME];

	for (uint32_t i = 0; i < v->pod_count; i++) {
		const struct pod *pod = &v->pods[i];
		double now = flows_per_uplink(v, pod, pod->left);

		if (now > uplink_flows) {
			uplink_flows = now;
			worst = i;
		}
		without |= flows_per_uplink(v, pod, pod->uplinks) > most;
	}
	left = v->pods[worst].left > ROUNDING ? v->pods[worst].left : 0;
	name_pod(v, s, worst, name);
	return json_pack("{s:f, s:o, s:s, s:s, s:I, s:f, s:f, s:f, s:o, s:b, s:b}", "at_us",
		(double)at_ps / PS_PER_US, "faults", faults, "traffic",
		v->permutation ? "permutation" : "all-to-all", "pod", name, "hosts",
		(json_int_t)v->pods[worst].hosts, "uplinks", v->pods[worst].uplinks, "uplinks_left",
		left, "flows_per_host_link", host_flows, "flows_per_uplink",
		left > 0 ? json_real(uplink_flows) : json_null(), "bottleneck", uplink_flows > most,
		"bottleneck_without", without);
}

/* The moments at which faults begin, each once, in order. Returns how many there are. */
static size_t list_moments(const struct survey *v, const struct scenario *s, uint64_t *moments)
{
	size_t count = 0;

	for (uint32_t i = 0; i < v->reach_count; i++)
		moments[i] = s->faults[v->reaches[i].fault].at_ps;
	qsort(moments, v->reach_count, sizeof(*moments), compare_u64);
	for (uint32_t i = 0; i < v->reach_count; i++)
		if (!count || moments[i] != moments[count - 1])
			moments[count++] = moments[i];
	return count;
}

/* All of them would take a time that grows with their square, and nobody reads so many. */
static json_t *report_moments(struct survey *v, const struct scenario *s, size_t *ret_more)
{
	uint64_t *moments = calloc((size_t)v->reach_count + 1, sizeof(*moments));
	size_t count = moments ? list_moments(v, s, moments) : 0;
	size_t shown = count < REPORT_FAILURES ? count : REPORT_FAILURES;
	json_t *array = moments ? json_array() : NULL;

	for (size_t i = 0; array && i < shown; i++)
		json_array_append_new(array, judge(v, s, moments[i]));
	*ret_more = count - shown;
	free(moments);
	return array;
}

static bool all_permutations(const struct scenario *s)
{
	for (size_t i = 0; i < s->workload_count; i++)
		if (!workload_kinds[s->workloads[i].kind]->balanced)
			return false;
	return s->workload_count;
}

json_t *report_failures(const struct fabric *f, const struct scenario *s, size_t *ret_more)
{
	struct survey v = {.permutation = all_permutations(s)};
	json_t *array = NULL;

	if (f->tier_count < 3) /* hosts and one tier of switches: no uplinks */
		return json_array();
	if (survey_init(&v, f, s->fault_count) == 0) {
		find_pods(&v);
		if (find_reaches(&v, s) == 0)
			array = report_moments(&v, s, ret_more);
	}
	survey_release(&v);
	return array;
}
