/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a scenario to everything that a session runs on, and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/wire.h"
#include "base/array.h"
#include "base/units.h"
#include "control/ports.h"
#include "policy/verify.h"
#include "session/ending.h"
#include "session/names.h"
#include "session/session_internal.h"
#include "session/stack_egress.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

static bool is_stopped(const struct session *s)
{
	return s->params.stop && *s->params.stop;
}

/*
 * The user's policy, before anything else is made: built, unless it was before. -ENOEXEC: it is
 * refused; -ENOPKG: the machine lacks what it takes.
 */
static int open_policy(struct session *s, struct error *why)
{
	const struct file_text *file = balance_file(&s->params.scenario->sw.balance);
	int r;

	if (!file)
		return 0;
	r = policy_open(&s->policy,
		&(struct policy_source){file_text_name(file), file->text, file->length},
		s->params.kernel, why);
	if (r == -EINVAL)
		return -ENOEXEC;
	return r < 0 ? -ENOPKG : 0;
}

/* Sizes of all tables, and what the program does. */
static struct sw_sizes table_sizes(const struct session *s)
{
	const struct net *net = &s->params.fabric->net;
	struct sw_sizes sizes = {
		.ports = PORT_FIRST + net->port_count,
		.switches = net->switch_count,
	};

	ports_config(&sizes.config, &s->params.fabric->switching);
	/* everything may befall a fabric that stays */
	for (unsigned i = 0; s->params.lasting && i < FAULT_KINDS; i++)
		sizes.config.features |= fault_kinds[i].features;
	if (s->params.stacks)
		sizes.config.features |= SW_STACK;
	sizes.config.flow_sets = setup_flow_sets(s->params.fabric, s->params.lasting);
	routing_table_sizes(s->routing, &sizes.routes, &sizes.groups);
	return sizes;
}

static int open_kernel(
	struct session *s, const struct sw_sizes *sizes, uint32_t capacity, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	const struct fabric *f = s->params.fabric;
	const struct stack_spec *stack = &sc->host.stack;
	struct egress_config egress;
	struct build_params params = {
		.fabric = f,
		.name = s->params.name ? s->params.name : sc->name,
		.exact = s->params.name != NULL,
		.sizes = sizes,
		.frame_capacity = capacity,
		.policy = s->policy ? &s->policy->code : NULL,
		.stacks = s->params.stacks,
		.stack_mtu = f->packet_bytes - (uint32_t)sizeof(struct eth_hdr),
		.ecn = stack->ecn,
		.gso_off = stack->entropy == ENTROPY_PACKET,
		.gateway = f->switching.config.gateway,
		.wait = s->params.wait,
		.external = s->params.stacks && sc->external.node ? &sc->external : NULL,
	};
	int r = 0;

	if (s->params.stacks && stack_has_egress(stack)) {
		r = stack_egress(&egress, stack, sc->clock.wall ? sc->clock.slowdown : 1, why);
		params.egress = &egress;
	}
	if (r == 0)
		r = build_up(&s->built, &params, why);
	if (r == 0)
		s->dp = build_dataplane(s->built);
	else if (s->policy && policy_explain(&s->policy->source, r, why) == -EINVAL)
		r = -ENOEXEC;
	return r;
}

static int open_dataplane(struct session *s, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	uint32_t capacity = setup_frame_capacity(sc, s->params.fabric);
	struct sw_sizes sizes = table_sizes(s);
	int r;

	if (s->params.kernel)
		return open_kernel(s, &sizes, capacity, why);
	r = dataplane_inline_open(&s->dp, &sizes, capacity);
	if (r < 0)
		return error_set(why, r, "out of memory for the switches' tables");
	s->dp->tables.policy = s->policy ? s->policy->code.function : NULL;
	return 0;
}

static int open_control(struct session *s, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	const struct fabric *f = s->params.fabric;
	int r = routing_new(&s->routing, &f->net, s->params.stop);

	if (r == -E2BIG)
		return error_set(why, r, "a switch has more than %d equal-cost ports", GROUP_PORTS);
	if (r == -EINTR)
		return r;
	if (r == 0)
		r = changes_init(&s->changes, sc, f);
	if (r == 0 && sc->sw.lldp_ps)
		r = agents_new(&s->agents, f, sc->sw.lldp_ps, port_name);
	if (r < 0)
		return error_set(why, r, "out of memory for the switches' control");
	s->changes.routing = s->routing;
	return 0;
}

static int configure(struct session *s, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	int r;

	s->changes.tables = &s->dp->tables;
	r = ports_configure(&s->dp->tables, &f->net, &f->switching, s->params.scenario->seed);
	if (r < 0)
		return error_set(why, r,
			"switch.buffer: what is guaranteed to queues and headroom leaves nothing to share");
	change_routes(&s->changes);
	if (is_stopped(s))
		return -EINTR;
	routing_go_on(s->routing);
	return 0;
}

static void on_dropped(void *arg, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	const uint8_t *bytes, uint32_t captured, uint32_t length)
{
	struct session *s = arg;

	s->tally.drops[reason]++;
	s->tally.drop[reason] = (struct session_place){port, now_ps};
	if (s->captures && captures_any(s->captures))
		capture_order_add(&s->order, &(struct capture_frame){now_ps, port, true, reason,
						     bytes, captured, length});
	recorder_dropped(s->recorder, now_ps, port, reason, length);
}

static void on_paused(void *arg, uint64_t now_ps, uint32_t port, uint8_t before, uint8_t after)
{
	struct session *s = arg;

	if (after & ~before) {
		s->tally.pauses++;
		s->tally.pause = (struct session_place){port, now_ps};
	}
	recorder_paused(s->recorder, now_ps, port, before, after);
}

static void on_sent(void *arg, uint64_t now_ps, uint32_t port, const uint8_t *bytes,
	uint32_t captured, uint32_t length)
{
	struct session *s = arg;

	if (s->capture || captures_any(s->captures))
		capture_order_add(&s->order, &(struct capture_frame){.at_ps = now_ps,
						     .port = port,
						     .bytes = bytes,
						     .captured = captured,
						     .length = length});
}

static void on_settled(void *arg)
{
	struct session *s = arg;

	capture_order_flush(&s->order);
	recorder_settled(s->recorder, s->engine);
}

static void on_ended(void *arg, uint64_t now_ps, uint32_t flow)
{
	struct session *s = arg;

	recorder_ended(s->recorder, now_ps, flow);
}

/* Frames for captures, in the order of time. */
static void on_ordered(void *arg, const struct capture_frame *f)
{
	struct session *s = arg;

	if (f->dropped) {
		capture_dropped(s->captures, f->at_ps, f->port, f->reason, f->bytes, f->captured,
			f->length);
		return;
	}
	if (s->captures)
		capture_sent(s->captures, f->at_ps, f->port, f->bytes, f->captured, f->length);
	if (s->capture)
		capture_write(s->capture,
			&(struct pcapng_packet){f->port - PORT_FIRST, f->at_ps, f->bytes,
				f->captured, f->length, PCAPNG_OUTBOUND, NULL});
}

static void on_control(
	void *arg, uint64_t now_ps, uint32_t port, const uint8_t *bytes, uint32_t captured)
{
	struct session *s = arg;
	uint32_t node = s->params.fabric->net.ports[port].node;

	if (s->agents)
		agents_receive(s->agents, s->engine, now_ps, port, bytes, captured);
	/* a program on the host may want to hear of its neighbours too */
	if (s->stacks && s->params.fabric->net.nodes[node].kind == NODE_HOST)
		stacks_give(s->stacks, node, bytes, captured);
}

static void on_stack(
	void *arg, uint64_t now_ps, uint32_t host, const uint8_t *bytes, uint32_t captured)
{
	struct session *s = arg;

	(void)now_ps;
	stacks_give(s->stacks, host, bytes, captured);
}

static int open_engine(struct session *s, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	struct engine_params p = {
		.net = &f->net,
		.dataplane = s->dp,
		.seed = s->params.scenario->seed,
		.observer = {.dropped = on_dropped,
			.paused = on_paused,
			.sent = s->capture || s->captures ? on_sent : NULL,
			.ended = on_ended,
			.settled = on_settled,
			.control = on_control,
			.stack = s->params.stacks ? on_stack : NULL,
			.arg = s},
		.stack_frame = s->params.stacks ? f->packet_bytes : 0,
		.stack_queue = s->params.scenario->host.stack.queue_bytes,
		.lasting = s->params.lasting,
	};
	int r;

	setup_transports(p.transports, s->params.scenario, f);
	setup_schedule(&p.schedule, f);
	r = engine_new(&s->engine, &p);
	s->changes.engine = s->engine;
	return r < 0 ? error_set(why, r, "out of memory for the engine") : 0;
}

/* They are numbered on from those that there are. */
static int add_operations(struct session *s, struct operations *m)
{
	uint32_t earlier = engine_flow_count(s->engine);

	for (size_t i = 0; earlier && i < m->wait_count; i++) {
		m->waits[i].from += earlier;
		m->waits[i].to += earlier;
	}
	return engine_add_flows(s->engine, m->items, m->count, m->waits, m->wait_count);
}

/*
 * The last message of a part has not begun when the next part comes, so that the engine never runs
 * out of them before its time.
 */
static int add_part(struct session *s, struct session_arrivals *a)
{
	struct operations part = OPERATIONS_INIT;
	int r = arrivals_next(&a->next, &part);

	if (r == 0)
		r = measure_take(s->measure, &part);
	if (r == 0)
		r = add_operations(s, &part);
	a->due_ps = part.count ? part.items[part.count - 1].start_ps : UINT64_MAX;
	operations_release(&part);
	return r;
}

int session_add_arrivals(struct session *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->arrivals_count; i++)
		if (s->arrivals[i].due_ps <= engine_now(s->engine))
			r = add_part(s, &s->arrivals[i]);
	return r;
}

uint64_t session_next_arrivals(const struct session *s)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->arrivals_count; i++)
		next = min_u64(next, s->arrivals[i].due_ps);
	return next;
}

static int open_arrivals(struct session *s, size_t first)
{
	const struct scenario *sc = s->params.scenario;
	const struct fabric *f = s->params.fabric;
	struct workload_frames frames;
	int r = 0;

	for (size_t i = first; r == 0 && arrivals_find(sc, &i); i++) {
		struct session_arrivals a = {.due_ps = engine_now(s->engine)};

		setup_frames(&frames, sc, f);
		if (!s->measure)
			r = measure_new(&s->measure, &f->net, &frames);
		if (r == 0)
			r = arrivals_open(&a.next, sc, f, i);
		if (r == 0 && ARRAY_ADD(s->arrivals, s->arrivals_count, a) < 0) {
			arrivals_close(&a.next);
			r = -ENOMEM;
		}
	}
	return r == 0 ? session_add_arrivals(s) : r;
}

static void close_arrivals(struct session *s)
{
	for (size_t i = 0; i < s->arrivals_count; i++)
		arrivals_close(&s->arrivals[i].next);
	free(s->arrivals);
	measure_free(s->measure);
}

/* Of what is added to messages that are under way they are not known; these keep theirs. */
static int set_shares(struct session *s, size_t first, const struct operations *m)
{
	char why[FAIR_SHARE_WHY];

	if (!engine_done(s->engine))
		return 0;
	fair_shares_release(&s->shares);
	engine_set_shares(s->engine, &s->shares);
	if (!traffic_uses_shares(s->params.scenario, first))
		return 0;
	return traffic_fair_shares(&s->shares, why, s->params.scenario, s->params.fabric, first, m);
}

int session_add_traffic(struct session *s, size_t first)
{
	const struct scenario *sc = s->params.scenario;
	const struct ending_params p = {.scenario = sc,
		.fabric = s->params.fabric,
		.first = first,
		.timeline = s->params.lasting ? NULL : &s->timeline};
	struct operations m = OPERATIONS_INIT;
	struct ending ending = {.limit_ps = UINT64_MAX};
	int r = traffic_list(&m, sc, p.fabric, first);

	if (r == 0)
		r = ending_foresee(&ending, &p, &m);
	s->ideal_ps = max_u64(s->ideal_ps, ending.size.ideal_ps);
	s->fabric_ps = max_u64(s->fabric_ps, max_u64(s->ideal_ps, ending.fabric_ps));
	/* what is added to others does not start with them, and some lists do not start at once */
	if (!first && ending.size.starts_ps <= ending.size.payload_ps / 100)
		s->payload_ps = ending.size.payload_ps;
	else
		s->payload_ps = 0;
	s->bytes += ending.size.bytes;
	s->messages += ending.size.messages;
	s->end_ps = !s->params.lasting && sc->until_ps ? sc->until_ps : ending.limit_ps;
	if (r == 0)
		r = set_shares(s, first, &m);
	if (r == 0)
		r = add_operations(s, &m);
	operations_release(&m);
	return r == 0 ? open_arrivals(s, first) : r;
}

/* A fabric that stays has its workload start on command. */
static int open_traffic(struct session *s, struct error *why)
{
	int r = timeline_init(&s->timeline, s->params.scenario, s->params.fabric);

	s->end_ps = UINT64_MAX;
	if (r == 0 && !s->params.lasting)
		r = session_add_traffic(s, 0);
	return r < 0 ? error_set(why, r, "out of memory for the flows") : 0;
}

static int open_stacks(struct session *s, struct error *why)
{
	if (!s->params.stacks)
		return 0;
	return stacks_new(&s->stacks, s->built, s->engine, &s->params.fabric->net, why);
}

/* What is asked for, but shares of the BDP in bytes. */
static void resolve_series(struct session *s)
{
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		struct quantity *above = &s->series[i].above;

		s->series[i] = s->params.scenario->series[i];
		if (above->unit == QUANTITY_BDP)
			*above = (struct quantity){
				above->value * (double)s->params.fabric->bdp_bytes, QUANTITY_BYTES};
	}
}

static int open_recorder(struct session *s, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	struct series_params p = {
		.directory = folder_fd(s->params.folder),
		.specs = s->series,
		.net = &f->net,
		.port_name = port_name,
		.node_name = node_name,
		.node_level = node_level,
		.name_arg = f,
	};
	int r;

	resolve_series(s);
	for (uint32_t c = 0; c < CLASSES; c++)
		p.classes |= (uint8_t)(f->switching.classes[c].used << c);
	r = recorder_new(&s->recorder, &p);

	return r < 0 ? error_set(why, r, "can't write results in %s: %s",
			       s->params.folder ? folder_path(s->params.folder) : "memory",
			       strerror(-r))
		     : 0;
}

static int open_capture(struct session *s, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	char name[RECORDER_NAME];
	int r;

	if (s->params.lasting && captures_new(&s->captures, f) < 0)
		return error_set(why, -ENOMEM, "out of memory for captures");
	if (!s->params.capture)
		return 0;
	r = pcapng_open(&s->capture, s->params.capture);
	if (r < 0)
		return error_set(why, r, "can't write %s: %s", s->params.capture, strerror(-r));
	for (uint32_t i = 0; i < f->net.port_count; i++)
		pcapng_add_interface(s->capture, port_name(f, PORT_FIRST + i, name), NULL);
	return 0;
}

static int open_results(struct session *s, struct error *why)
{
	/* nothing can be refused any more */
	return s->params.folder ? folder_begin(s->params.folder, why) : 0;
}

int session_open(struct session **ret, const struct session_params *params, struct error *why)
{
	static int (*const steps[])(struct session * s, struct error * why) = {open_policy,
		open_capture, open_control, open_dataplane, open_recorder, configure, open_engine,
		open_traffic, open_stacks, open_results};
	struct session *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return error_set(why, -ENOMEM, "out of memory");
	s->params = *params;
	s->order = (struct capture_order){.take = on_ordered, .arg = s};
	s->own_faults = params->scenario->fault_count;
	s->next_lldp_ps = params->scenario->sw.lldp_ps ? 0 : UINT64_MAX;
	s->next_search_ps = params->scenario->sw.pfc.on ? 0 : UINT64_MAX;
	for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		r = is_stopped(s) ? -EINTR : steps[i](s, why);
	if (r == -EINTR && why && !*why->text)
		error_set(why, r, "interrupted while it was set up");
	if (r < 0) {
		session_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	stacks_free(s->stacks);
	engine_free(s->engine);
	fair_shares_release(&s->shares);
	active_faults_release(&s->active_faults);
	recorder_free(s->recorder);
	capture_order_flush(&s->order);
	capture_order_release(&s->order);
	pcapng_close(s->capture);
	captures_free(s->captures);
	timeline_release(&s->timeline);
	close_arrivals(s);
	if (s->built)
		build_down(s->built);
	else if (s->dp)
		s->dp->ops->close(s->dp);
	policy_close(s->swapped);
	policy_close(s->policy);
	agents_free(s->agents);
	changes_release(&s->changes);
	routing_free(s->routing);
	free(s);
}
