/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/fault_apply.h"

#include <errno.h>
#include <stdlib.h>
#include "scenario/scenario.h"
#include "topology/targets.h"

int changes_init(struct changes *c, const struct scenario *s, const struct fabric *f)
{
	*c = (struct changes){.scenario = s, .fabric = f};
	c->link_up = malloc((f->net.link_count + 1) * sizeof(*c->link_up));
	c->link_cuts = calloc(f->net.link_count + 1, sizeof(*c->link_cuts));
	if (!c->link_up || !c->link_cuts)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->net.link_count; i++)
		c->link_up[i] = true;
	return 0;
}

void changes_release(struct changes *c)
{
	free(c->link_up);
	free(c->link_cuts);
	c->link_up = NULL;
	c->link_cuts = NULL;
}

/* A link is up when nothing holds it down any more. */
static void cut(struct changes *c, uint32_t link, bool begins)
{
	uint32_t *cuts = &c->link_cuts[link];
	bool was_up = !*cuts;

	*cuts += begins ? 1 : -1u;
	c->link_up[link] = !*cuts;
	if (c->link_up[link] != was_up)
		engine_set_link_up(c->engine, c->fabric->links[link].a, c->link_up[link]);
}

static void cut_switch(struct changes *c, uint32_t node, bool begins)
{
	const struct net_node *n = &c->fabric->net.nodes[node];

	if (begins)
		engine_empty_switch(c->engine, node);
	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++)
		cut(c, c->fabric->net.ports[id].link, begins);
}

json_t *change_apply(struct changes *c, const struct action *a)
{
	const struct fault_kind_info *kind;
	const struct fault_spec *f;
	struct fault_change change;
	char name[LINK_NAME];
	json_t *line;

	if (a->kind == ACTION_REROUTE)
		return json_pack("{s:s, s:I}", "event", "reroute", "routes_changed",
			(json_int_t)change_routes(c));
	f = &c->scenario->faults[a->fault];
	kind = &fault_kinds[f->effect.kind];
	change = (struct fault_change){
		.engine = c->engine,
		.tables = c->tables,
		.net = &c->fabric->net,
		.seed = c->scenario->seed,
		.effect = &f->effect,
		.at = f->on == TARGET_LINK ? c->fabric->links[a->target].a : a->target,
		.begins = a->kind == ACTION_BEGIN,
	};
	if (!kind->cuts)
		fault_set(&change);
	else if (f->on == TARGET_LINK)
		cut(c, a->target, change.begins);
	else
		cut_switch(c, a->target, change.begins);
	line = json_pack("{s:s, s:s}", "event", kind->events[f->on][change.begins],
		f->on == TARGET_LINK ? "link" : "node",
		fault_target_name(c->fabric, f->on, a->target, name));
	if (kind->note)
		kind->note(line, &change);
	return line;
}

uint32_t change_routes(struct changes *c)
{
	if (c->scenario->sw.reroute_mode == REROUTE_LOCAL)
		return routing_repair(c->routing, c->link_up, c->tables);
	return routing_compute(c->routing, c->link_up, c->tables);
}
