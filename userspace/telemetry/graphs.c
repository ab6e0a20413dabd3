/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/graphs.h"

#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/goal_group.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/units.h"

/* While the operations of an entry are looked at. */
struct graph {
	uint64_t messages, calcs, unfinished; /* of either, what is not over */
	uint64_t start_ps, end_ps;
	uint32_t last_host;
};

struct report {
	const struct graphs_params *p;
	uint64_t *computed_ps; /* by rank, of the present graph */
	uint32_t rank_count;
	bool failed; /* there was no memory */
	json_t *entries;
	uint64_t unfinished, longest_ps; /* graphs, and the time of one */
};

static json_t *us(bool exists, uint64_t ps)
{
	return real_or_null(exists, (double)ps / PS_PER_US);
}

static void add_calc(struct report *r, uint32_t rank, uint64_t lasts_ps)
{
	while (rank >= r->rank_count && !r->failed)
		r->failed = ARRAY_ADD(r->computed_ps, r->rank_count, 0) < 0;
	if (!r->failed)
		r->computed_ps[rank] = lasts_ps > UINT64_MAX - r->computed_ps[rank]
					       ? UINT64_MAX
					       : r->computed_ps[rank] + lasts_ps;
}

static void add_operation(struct report *r, struct graph *g, const struct engine_flow_result *f)
{
	bool far = operation_is_message(&f->flow);
	bool sent = far || f->flow.group & GOAL_SENDS_INSIDE;
	uint64_t end_ps = far ? f->delivered_ps : f->finish_ps;
	/* what takes no time, such as the end of a receive, may end at 0 */
	bool takes = far || f->flow.lasts_ps || f->flow.after_ps;
	bool ended = takes ? end_ps != 0 : f->start_ps != UINT64_MAX;

	g->messages += sent;
	if (!sent && f->flow.lasts_ps) {
		g->calcs++;
		add_calc(r, f->flow.group, f->flow.lasts_ps);
	}
	g->unfinished += !ended;
	g->start_ps = min_u64(g->start_ps, f->start_ps);
	if (end_ps >= g->end_ps) {
		g->end_ps = end_ps;
		g->last_host = f->flow.dst_host;
	}
}

static void end_graph(struct report *r, const struct graph *g, const char *file)
{
	char name[RECORDER_NAME];
	uint64_t computed_ps = 0, took_ps = g->unfinished ? 0 : g->end_ps - g->start_ps;
	bool whole = !g->unfinished;

	for (uint32_t i = 0; i < r->rank_count; i++)
		computed_ps = max_u64(computed_ps, r->computed_ps[i]);
	json_array_append_new(r->entries,
		json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:s?}", "file", file, "messages",
			(json_int_t)g->messages, "calcs", (json_int_t)g->calcs, "unfinished",
			(json_int_t)g->unfinished, "compute_us", us(true, computed_ps), "time_us",
			us(whole, took_ps), "last",
			whole ? r->p->host_name(r->p->name_arg, g->last_host, name) : NULL));
	r->unfinished += !whole;
	r->longest_ps = max_u64(r->longest_ps, took_ps);
}

/* Operations of an entry stand one after the other. Returns where those of the next one do. */
static uint32_t add_entry(struct report *r, const struct engine *e, uint32_t flow)
{
	struct graph g = {.start_ps = UINT64_MAX};
	struct engine_flow_result f;
	const char *file;
	uint32_t entry;

	engine_flow_result(e, flow, &f);
	entry = f.flow.entry;
	file = entry < r->p->count ? r->p->files[entry] : NULL;
	if (r->rank_count)
		memset(r->computed_ps, 0, r->rank_count * sizeof(*r->computed_ps));
	for (; flow < engine_flow_count(e); flow++) {
		engine_flow_result(e, flow, &f);
		if (f.flow.entry != entry)
			break;
		if (file)
			add_operation(r, &g, &f);
	}
	if (file)
		end_graph(r, &g, file);
	return flow;
}

json_t *graphs_report(const struct engine *e, const struct graphs_params *p)
{
	struct report r = {.p = p, .entries = json_array()};

	for (uint32_t flow = 0; flow < engine_flow_count(e);)
		flow = add_entry(&r, e, flow);
	free(r.computed_ps);
	if (r.failed) {
		json_decref(r.entries);
		return NULL;
	}
	return json_pack("{s:I, s:I, s:o, s:o}", "count", (json_int_t)json_array_size(r.entries),
		"unfinished", (json_int_t)r.unfinished, "time_us",
		us(json_array_size(r.entries) && !r.unfinished, r.longest_ps), "entries",
		r.entries);
}
