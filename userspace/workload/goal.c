/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Operations of ranks that a file lists. It is read when it is asked for, as a flow list is. */
#include <errno.h>
#include <stdlib.h>
#include "base/rng_stream.h"
#include "workload/goal.h"

struct goal_options {
	struct workload_common common;
	struct file_text file;
	struct placement placement;
	uint64_t calc_ps; /* of a calc of 1 */
};

static const struct map inside_map = PLACEMENT_INSIDE(struct goal_options, placement);

static const struct key keys[] = {
	KEY("file", FILE, struct goal_options, file, .required = true,
		.expected = "the name of a GOAL file",
		.help = "what ranks send, receive and compute, as GOAL has it"),
	KEY("start", TIME, struct goal_options, common.start_ps, .fallback = "0", .max = MOMENT_MAX,
		.help = "when what waits for nothing begins"),
	PLACEMENT_KEYS(struct goal_options, placement, &inside_map, ", from rank 0 on"),
	KEY("calc_unit", TIME, struct goal_options, calc_ps, .fallback = "1ns", .max = TIME_MAX,
		.help = "the time that a calc of 1 takes; 0: none takes any"),
};

static bool check_goal(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	(void)good;
	return placement_check(c, n, &((const struct goal_options *)options)->placement);
}

/* 0, or -EINVAL with why. */
static int check_ranks(const struct goal *g, const struct goal_options *o, uint32_t hosts)
{
	size_t listed = o->placement.host_count;

	if (listed && listed != g->ranks)
		snprintf(g->why, WORKLOAD_REFUSAL, "hosts: %zu for the %u ranks of %.60s", listed,
			g->ranks, file_text_name(&o->file));
	else if (g->ranks > (uint64_t)hosts * o->placement.ranks_per_host)
		snprintf(g->why, WORKLOAD_REFUSAL,
			"file: %.60s has %u ranks; ranks_per_host is %u, and the fabric has %u hosts",
			file_text_name(&o->file), g->ranks, o->placement.ranks_per_host, hosts);
	else
		return 0;
	return -EINVAL;
}

/* Appends to m, or leaves it as it was. 0; -EINVAL with why; or an error of goal_build(). */
static int read_graph(struct operations *m, const struct workload_params *p,
	const struct goal_options *o, const struct workload_hosts *hosts,
	char why[WORKLOAD_REFUSAL])
{
	struct goal_setting s = {p, hosts, &o->placement, NULL, o->common.start_ps, o->calc_ps};
	uint32_t *placed = NULL;
	struct goal g;
	int err = goal_read(&g, &o->file, why);

	if (err == 0)
		err = check_ranks(&g, o, hosts->count);
	if (err == 0) {
		s.placed = placed = calloc((size_t)hosts->count + g.ranks, sizeof(*placed));
		err = placed ? 0 : -ENOMEM;
	}
	if (err == 0) {
		placement_hosts(
			placed, &o->placement, g.ranks, rng_stream(p->seed, "goal", 0), hosts);
		err = goal_build(m, &g, &s);
	}
	free(placed);
	goal_release(&g);
	return err;
}

/* Operations, each of which is one at least. 0 where the file is refused. */
static double count(const void *options, const struct workload_hosts *hosts)
{
	char why[WORKLOAD_REFUSAL];
	struct goal g;
	double count = 0;

	(void)hosts;
	if (goal_read(&g, &((const struct goal_options *)options)->file, why) == 0)
		count = g.op_count;
	goal_release(&g);
	return count;
}

static const char *refuse(
	const void *options, const struct workload_hosts *hosts, char buf[WORKLOAD_REFUSAL])
{
	struct operations m = OPERATIONS_INIT;
	int r = read_graph(&m, &(struct workload_params){0}, options, hosts, buf);

	operations_release(&m);
	if (r < 0 && r != -EINVAL)
		snprintf(buf, WORKLOAD_REFUSAL, "file: %s",
			r == -ENOMEM ? "out of memory" : "it has too many operations");
	return r < 0 ? buf : NULL;
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	char why[WORKLOAD_REFUSAL];

	return read_graph(m, p, options, hosts, why);
}

const struct workload_kind workload_kind_goal = {
	.name = "goal",
	.map = {KEYS(keys), .size = sizeof(struct goal_options), .check = check_goal,
		.help = "operations of ranks that a GOAL file lists: send, receive, compute"},
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
};

const char *goal_file(const struct workload_kind *kind, const void *options)
{
	return kind == &workload_kind_goal
		       ? file_text_name(&((const struct goal_options *)options)->file)
		       : NULL;
}
