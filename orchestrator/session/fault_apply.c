/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/fault_apply.h"

#include <errno.h>
#include <stdlib.h>
#include "base/units.h"
#include "control/faults.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

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

static void set_rate(struct changes *c, const struct fault_spec *f, uint32_t link, bool begins)
{
	uint32_t port = c->fabric->links[link].a;
	uint64_t full = c->fabric->net.ports[port].rate_bps;
	uint64_t left = (uint64_t)((double)full * f->share);

	engine_set_link_rate(c->engine, port, !begins ? full : left ? left : 1);
}

/* What acts on each direction of a cable by itself. */
static void set_cable(struct changes *c, const struct fault_spec *f, uint32_t port, bool begins)
{
	const struct faults_gilbert gilbert = {
		f->gilbert.enter, f->gilbert.leave, f->gilbert.lost_good, f->gilbert.lost_bad};
	uint64_t seed = c->scenario->seed, now = engine_now(c->engine);
	struct sw_tables *t = c->tables;

	switch (f->kind) {
	case FAULT_LINK_LOSS:
		begins ? faults_set_loss(t, port, f->loss, seed) : faults_clear_loss(t, port);
		break;
	case FAULT_LINK_GILBERT:
		begins ? faults_set_gilbert(t, port, &gilbert, seed)
		       : faults_clear_gilbert(t, port);
		break;
	case FAULT_LINK_FLAKY:
		begins ? faults_set_flaky(t, port, f->flaky.every_ps, f->flaky.last_ps, seed, now)
		       : faults_clear_flaky(t, port);
		break;
	case FAULT_LINK_ERRORS:
		begins ? faults_set_errors(t, port, f->bit_errors, seed)
		       : faults_clear_errors(t, port);
		break;
	default:
		break;
	}
}

static void set_fault(struct changes *c, const struct fault_spec *f, uint32_t target, bool begins)
{
	const struct fabric_link *link = &c->fabric->links[target];

	switch (f->kind) {
	case FAULT_LINK_DOWN:
		cut(c, target, begins);
		break;
	case FAULT_LINK_RATE:
		set_rate(c, f, target, begins);
		break;
	case FAULT_LINK_DELAY:
		engine_set_link_delay(c->engine, link->a, begins ? f->delay_ps : 0);
		break;
	case FAULT_SWITCH_DOWN:
		cut_switch(c, target, begins);
		break;
	case FAULT_HOST_STORM:
		engine_set_storm(c->engine, target, begins ? (uint8_t)(1u << f->class) : 0);
		break;
	default:
		set_cable(c, f, link->a, begins);
		set_cable(c, f, link->b, begins);
	}
}

/* The names of its beginning and its end in events.jsonl. */
static const char *event_name(enum fault_kind kind, bool begins)
{
	static const char *const names[][2] = {
		[FAULT_LINK_DOWN] = {"link_up", "link_down"},
		[FAULT_LINK_RATE] = {"link_rate", "link_rate"},
		[FAULT_LINK_DELAY] = {"link_delay", "link_delay"},
		[FAULT_LINK_LOSS] = {"loss_end", "loss"},
		[FAULT_LINK_GILBERT] = {"gilbert_end", "gilbert"},
		[FAULT_LINK_FLAKY] = {"flaky_end", "flaky"},
		[FAULT_LINK_ERRORS] = {"bit_errors_end", "bit_errors"},
		[FAULT_SWITCH_DOWN] = {"switch_up", "switch_down"},
		[FAULT_HOST_STORM] = {"pause_storm_end", "pause_storm"},
	};

	return names[kind][begins];
}

/* The figures of a fault that has any, as they are from now on. */
static void describe(json_t *line, const struct changes *c, const struct fault_spec *f,
	uint32_t target, bool begins)
{
	uint64_t full;

	switch (f->kind) {
	case FAULT_LINK_RATE:
		full = c->fabric->net.ports[c->fabric->links[target].a].rate_bps;
		json_object_set_new(line, "rate_bps",
			json_integer(
				(json_int_t)(begins ? (double)full * f->share : (double)full)));
		break;
	case FAULT_LINK_DELAY:
		json_object_set_new(
			line, "extra_us", json_real(begins ? (double)f->delay_ps / PS_PER_US : 0));
		break;
	case FAULT_LINK_LOSS:
		if (begins)
			json_object_set_new(line, "share", json_real(f->loss));
		break;
	case FAULT_HOST_STORM:
		json_object_set_new(line, "class", json_integer(f->class));
		break;
	default:
		break;
	}
}

json_t *change_apply(struct changes *c, const struct action *a)
{
	const struct fault_spec *f;
	char name[LINK_NAME];
	json_t *line;
	bool begins;

	if (a->kind == ACTION_REROUTE)
		return json_pack("{s:s, s:I}", "event", "reroute", "routes_changed",
			(json_int_t)change_routes(c));
	f = &c->scenario->faults[a->fault];
	begins = a->kind == ACTION_BEGIN;
	set_fault(c, f, a->target, begins);
	line = json_pack("{s:s}", "event", event_name(f->kind, begins));
	if (fault_target(f->kind) == TARGET_LINK)
		json_object_set_new(
			line, "link", json_string(fabric_link_name(c->fabric, a->target, name)));
	else
		json_object_set_new(line, "node", json_string(c->fabric->nodes[a->target].name));
	describe(line, c, f, a->target, begins);
	return line;
}

uint32_t change_routes(struct changes *c)
{
	if (c->scenario->sw.reroute_mode == REROUTE_LOCAL)
		return routing_repair(c->routing, c->link_up, c->tables);
	return routing_compute(c->routing, c->link_up, c->tables);
}
