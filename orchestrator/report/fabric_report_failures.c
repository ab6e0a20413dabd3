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
#include "topology/pick.h"
#include "topology/pods.h"
#include "workload/kind.h"

/* Shares are no binary fractions: what equals the other side but for this equals it. */
#define ROUNDING 1e-9

struct pod {
	uint32_t hosts;
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
	struct pods found;
	double *left;     /* by link, 0..1 */
	struct pod *pods; /* those found */
	struct reach *reaches;
	uint32_t reach_count;
	bool permutation; /* else all-to-all */
};

static void survey_release(struct survey *v)
{
	for (uint32_t i = 0; i < v->reach_count; i++)
		free(v->reaches[i].links);
	free(v->reaches);
	pods_release(&v->found);
	free(v->left);
	free(v->pods);
}

static int survey_init(struct survey *v, const struct fabric *f, size_t faults)
{
	v->f = f;
	v->left = calloc((size_t)f->net.link_count + 1, sizeof(*v->left));
	v->reaches = calloc(faults + 1, sizeof(*v->reaches));
	if (!v->left || !v->reaches || pods_init(&v->found, f) < 0)
		return -ENOMEM;
	v->pods = calloc((size_t)v->found.count + 1, sizeof(*v->pods));
	if (!v->pods)
		return -ENOMEM;
	for (uint32_t l = 0; l < f->net.link_count; l++)
		v->left[l] = 1;
	return 0;
}

static uint32_t node_at(const struct fabric *f, uint32_t port)
{
	return f->net.ports[port].node;
}

/* The pod that the link joins to the top tier, or NO_POD. A link's end b is at the higher tier. */
static uint32_t pod_below(const struct survey *v, uint32_t link)
{
	const struct fabric_link *l = &v->f->links[link];

	if (!fabric_is_top(v->f, node_at(v->f, l->b)))
		return NO_POD;
	return v->found.of[node_at(v->f, l->a)];
}

/* A link's rate, counted in those of hosts. */
static double link_weight(const struct fabric *f, uint32_t link)
{
	return (double)f->net.ports[f->links[link].a].rate_bps / (double)f->host_rate_bps;
}

static void measure_pods(struct survey *v)
{
	for (uint32_t h = 0; h < v->f->net.host_count; h++)
		v->pods[v->found.of[h]].hosts++;
	for (uint32_t l = 0; l < v->f->net.link_count; l++) {
		uint32_t pod = pod_below(v, l);

		if (pod != NO_POD)
			v->pods[pod].uplinks += link_weight(v->f, l);
	}
}

/* A link twice is as good as once: what a fault leaves of it does not depend on that. */
static int reach_link(const struct survey *v, struct reach *r, uint32_t link)
{
	return pod_below(v, link) == NO_POD ? 0 : ARRAY_ADD(r->links, r->link_count, link);
}

/* A fault of a link concerns that link, one of a switch all of its links. */
static int reach_target(
	const struct survey *v, struct reach *r, const struct fault_spec *fault, uint32_t target)
{
	const struct net *net = &v->f->net;
	int err = 0;

	if (fault->on == TARGET_LINK)
		return reach_link(v, r, target);
	for (uint32_t i = 0; !err && i < net->nodes[target].port_count; i++)
		err = reach_link(v, r, net->ports[net->nodes[target].first_port + i].link);
	return err;
}

static int find_reach(struct survey *v, const struct scenario *s, uint32_t index)
{
	const struct fault_spec *fault = &s->faults[index];
	struct reach *r = &v->reaches[v->reach_count];
	uint32_t *targets = NULL;
	size_t count = 0;
	int err = fault_targets(v->f, s->seed, fault, &targets, &count);

	*r = (struct reach){
		.fault = index, .left = fault_cost(&fault->effect, v->f->packet_bytes).left};
	for (size_t i = 0; !err && i < count; i++)
		err = reach_target(v, r, fault, targets[i]);
	free(targets);
	if (r->link_count)
		v->reach_count++;
	return err;
}

static int find_reaches(struct survey *v, const struct scenario *s)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->fault_count; i++)
		if (fault_kinds[s->faults[i].effect.kind].steady)
			err = find_reach(v, s, i);
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

	for (uint32_t i = 0; i < v->found.count; i++)
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

/* Of the rate of a pod's uplinks: what is nothing but rounding is nothing. */
static double links_left(const struct pod *pod)
{
	return pod->left > ROUNDING ? pod->left : 0;
}

static json_t *flows_or_null(const struct survey *v, const struct pod *pod)
{
	double links = links_left(pod);

	return links > 0 ? json_real(flows_per_uplink(v, pod, links)) : json_null();
}

/* Each pod that has lost something; a link carries no more than so many flows, or is slower. */
static json_t *judge_pods(const struct survey *v, double most)
{
	json_t *array = json_array();
	char name[POD_NAME];

	for (uint32_t i = 0; i < v->found.count; i++) {
		const struct pod *pod = &v->pods[i];

		if (pod->left >= pod->uplinks)
			continue;
		json_array_append_new(
			array, json_pack("{s:s, s:f, s:o, s:b}", "pod",
				       pod_name(v->f, &v->found, i, name), "uplinks_left",
				       links_left(pod), "flows_per_uplink", flows_or_null(v, pod),
				       "bottleneck", flows_per_uplink(v, pod, pod->left) > most));
	}
	return array;
}

/* Whether one of those faults picks what it befalls: pods need not lose the same then. */
static bool any_picks(const struct scenario *s, const json_t *faults)
{
	const json_t *fault;
	size_t i;

	json_array_foreach((json_t *)faults, i,
		fault) if (s->faults[json_integer_value(fault)].pick.per != PICK_ALL) return true;
	return false;
}

/*
 * One moment at which faults begin; of the pod that has the most flows on what is left of its
 * uplinks.
 */
static json_t *judge(struct survey *v, const struct scenario *s, uint64_t at_ps)
{
	json_t *faults = apply_faults(v, s, at_ps);
	double host_flows = v->permutation ? 1 : plane_hosts(v->f) - 1, uplink_flows = 0;
	double most = host_flows * (1 + ROUNDING);
	uint32_t worst = 0;
	bool without = false;
	char name[POD_NAME];
	json_t *verdict;

	for (uint32_t i = 0; i < v->found.count; i++) {
		const struct pod *pod = &v->pods[i];
		double now = flows_per_uplink(v, pod, pod->left);

		if (now > uplink_flows) {
			uplink_flows = now;
			worst = i;
		}
		without |= flows_per_uplink(v, pod, pod->uplinks) > most;
	}
	pod_name(v->f, &v->found, worst, name);
	verdict = json_pack("{s:f, s:o, s:s, s:s, s:I, s:f, s:f, s:f, s:o, s:b, s:b}", "at_us",
		(double)at_ps / PS_PER_US, "faults", faults, "traffic",
		v->permutation ? "permutation" : "all-to-all", "pod", name, "hosts",
		(json_int_t)v->pods[worst].hosts, "uplinks", v->pods[worst].uplinks, "uplinks_left",
		links_left(&v->pods[worst]), "flows_per_host_link", host_flows, "flows_per_uplink",
		flows_or_null(v, &v->pods[worst]), "bottleneck", uplink_flows > most,
		"bottleneck_without", without);
	if (any_picks(s, faults))
		json_object_set_new(verdict, "pods", judge_pods(v, most));
	return verdict;
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
		measure_pods(&v);
		if (find_reaches(&v, s) == 0)
			array = report_moments(&v, s, ret_more);
	}
	survey_release(&v);
	return array;
}
