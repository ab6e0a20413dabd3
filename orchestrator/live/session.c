/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/wire.h"
#include "base/units.h"
#include "build/build.h"
#include "control/ports.h"
#include "control/routing.h"
#include "io/pcapng.h"
#include "live/agents.h"
#include "live/change.h"
#include "live/deadlock.h"
#include "live/expect.h"
#include "live/setup.h"
#include "live/traffic.h"
#include "telemetry/recorder.h"
#include "telemetry/summary.h"

struct session {
	struct session_params params;
	struct dataplane *dp; /* owned by built, if that is set */
	struct built *built;
	struct routing *routing;
	struct changes changes;
	struct agents *agents; /* NULL: no LLDP */
	struct engine *engine;
	struct recorder *recorder;
	struct pcapng *capture;
	struct timeline timeline;
	struct setup_options options;
	struct ports_params ports;
	uint64_t next_sample_ps, next_lldp_ps, next_search_ps;
	uint64_t end_ps, ideal_ps;
	uint64_t packets; /* of the workload, none sent twice */
	struct deadlock deadlock;
};

static const char *port_name(const void *arg, uint32_t port, char *buf)
{
	const struct fabric *f = arg;
	const struct net_port *p = &f->net.ports[port];
	const struct fabric_link *link = &f->links[p->link];
	int used = snprintf(buf, RECORDER_NAME, "%s->%s", f->nodes[p->node].name,
		f->nodes[f->net.ports[p->peer].node].name);

	if (link->is_parallel)
		snprintf(buf + used, RECORDER_NAME - (size_t)used, "#%u", link->parallel);
	return buf;
}

static const char *host_name(const void *arg, uint32_t host, char *buf)
{
	const struct fabric *f = arg;

	snprintf(buf, RECORDER_NAME, "%s", f->nodes[host].name);
	return buf;
}

/* Sizes of all tables, and what the program does. */
static struct sw_tables table_sizes(const struct session *s)
{
	const struct net *net = &s->params.fabric->net;
	struct sw_tables sizes = {
		.port_count = PORT_FIRST + net->port_count,
		.queue_count = CLASSES * (PORT_FIRST + net->port_count),
		.switch_count = net->switch_count,
	};

	ports_config(&sizes.config, &s->ports);
	if (sizes.config.features & SW_FAULTS)
		sizes.fault_count = sizes.port_count;
	if (sizes.config.features & SW_CNP)
		sizes.flow_count = FLOW_SLOTS * net->switch_count;
	routing_table_sizes(s->routing, &sizes.route_count, &sizes.group_count);
	return sizes;
}

static int open_dataplane(struct session *s, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	uint32_t capacity = setup_frame_capacity(sc, s->params.fabric);
	struct sw_tables sizes = table_sizes(s);
	int r;

	if (s->params.kernel) {
		r = build_up(&s->built, s->params.fabric, sc->name, &sizes, capacity, why);
		if (r == 0)
			s->dp = build_dataplane(s->built);
		return r;
	}
	r = dataplane_inline_open(&s->dp, &sizes, capacity);
	return r < 0 ? error_set(why, r, "out of memory for the switches' tables") : 0;
}

static int open_control(struct session *s, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	const struct fabric *f = s->params.fabric;
	int r = routing_new(&s->routing, &f->net);

	if (r == -E2BIG)
		return error_set(why, r, "a switch has more than %d equal-cost ports", GROUP_PORTS);
	if (r == 0)
		r = changes_init(&s->changes, sc, f);
	if (r == 0 && sc->sw.lldp_ps)
		r = agents_new(&s->agents, f, sc->sw.lldp_ps, port_name);
	if (r < 0)
		return error_set(why, r, "out of memory for the switches' control");
	s->changes.routing = s->routing;
	setup_ports(&s->ports, sc, f);
	return 0;
}

static int configure(struct session *s, struct error *why)
{
	int r;

	s->changes.tables = &s->dp->tables;
	change_routes(&s->changes);
	r = ports_configure(&s->dp->tables, &s->params.fabric->net, &s->ports);
	return r < 0 ? error_set(why, r,
			       "switch.buffer: what is guaranteed to queues and headroom leaves nothing to share")
		     : 0;
}

static void on_dropped(
	void *arg, uint64_t now_ps, uint32_t port, enum drop_reason reason, const uint8_t *bytes,
	uint32_t captured, uint32_t length)
{
	struct session *s = arg;

	(void)bytes;
	(void)captured;
	recorder_dropped(s->recorder, now_ps, port, reason, length);
}

static void on_paused(void *arg, uint64_t now_ps, uint32_t port, uint8_t before, uint8_t after)
{
	struct session *s = arg;

	recorder_paused(s->recorder, now_ps, port, before, after);
}

static void on_sent(void *arg, uint64_t now_ps, uint32_t port, const uint8_t *bytes,
	uint32_t captured, uint32_t length)
{
	uint8_t whole[HEADERS_MAX + ICRC_BYTES];
	struct session *s = arg;

	/* frames without payload lack but the ICRC, which is zero */
	if (length == captured + ICRC_BYTES && length <= sizeof(whole)) {
		memcpy(whole, bytes, captured);
		memset(whole + captured, 0, ICRC_BYTES);
		bytes = whole;
		captured = length;
	}
	pcapng_write(s->capture, port - PORT_FIRST, now_ps, bytes, captured, length);
}

static void on_control(
	void *arg, uint64_t now_ps, uint32_t port, const uint8_t *bytes, uint32_t captured)
{
	struct session *s = arg;

	if (s->agents)
		agents_receive(s->agents, s->engine, now_ps, port, bytes, captured);
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
			.sent = s->capture ? on_sent : NULL,
			.control = on_control,
			.arg = s},
	};
	int r;

	p.transport = setup_transport(&p.env, &s->options, s->params.scenario, f);
	setup_schedule(&p.schedule, f);
	r = engine_new(&s->engine, &p);
	s->changes.engine = s->engine;
	return r < 0 ? error_set(why, r, "out of memory for the engine") : 0;
}

/* No run lasts so long, and sums of a few such times fit. */
#define END_MAX  (UINT64_MAX / 8)
#define PATIENCE 100 /* times the ideal that a message may take */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * When the run is given up: long after everything should have come through, messages that wait
 * for others included. Leaves in each message's start the time by which it should be done.
 */
static uint64_t default_end(const struct session *s, struct messages *m)
{
	uint64_t patience = PATIENCE * least(s->ideal_ps, END_MAX / PATIENCE), last = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct message *msg = &m->items[i];

		if (msg->after != MESSAGE_NONE)
			msg->start_ps = m->items[msg->after].start_ps + msg->gap_ps;
		msg->start_ps = least(msg->start_ps + patience, END_MAX);
		if (msg->start_ps > last)
			last = msg->start_ps;
	}
	for (size_t i = 0; i < s->timeline.count; i++)
		if (s->timeline.items[i].at_ps + patience > last)
			last = s->timeline.items[i].at_ps + patience;
	return last + 10 * PS_PER_MS;
}

static int add_messages(struct session *s, const struct messages *m)
{
	struct engine_flow *flows = calloc(m->count + 1, sizeof(*flows));
	int r;

	if (!flows)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		const struct message *from = &m->items[i];
		bool first = from->after == MESSAGE_NONE;

		flows[i] = (struct engine_flow){
			.src_host = from->src_host,
			.dst_host = from->dst_host,
			.bytes = from->bytes,
			.start_ps = first ? from->start_ps : from->gap_ps,
			.after = first ? ENGINE_NO_FLOW : from->after,
		};
	}
	r = engine_add_flows(s->engine, flows, m->count);
	free(flows);
	return r;
}

static int open_traffic(struct session *s, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	const struct fabric *f = s->params.fabric;
	struct messages m = MESSAGES_INIT;
	struct workload_size size = {0};
	struct workload_frames frames;
	int r = traffic_messages(&m, sc, f);

	setup_frames(&frames, sc, f);
	if (r == 0)
		r = workload_measure(&m, &f->net, &frames, &size);
	s->ideal_ps = size.ideal_ps;
	s->packets = size.packets;
	if (r == 0)
		r = timeline_init(&s->timeline, sc, f);
	if (r == 0)
		r = add_messages(s, &m);
	s->end_ps = sc->until_ps ? sc->until_ps : default_end(s, &m);
	messages_release(&m);
	return r < 0 ? error_set(why, r, "out of memory for the flows") : 0;
}

static int open_recorder(struct session *s, struct error *why)
{
	struct recorder_params p = {
		.directory = s->params.directory,
		.queues = s->params.scenario->sample_ps != 0,
		.net = &s->params.fabric->net,
		.port_name = port_name,
		.name_arg = s->params.fabric,
	};
	int r = recorder_new(&s->recorder, &p);

	return r < 0 ? error_set(why, r, "can't write results in %s: %s", p.directory, strerror(-r))
		     : 0;
}

static int open_capture(struct session *s, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	char name[RECORDER_NAME];
	int r;

	if (!s->params.capture)
		return 0;
	r = pcapng_open(&s->capture, s->params.capture);
	if (r < 0)
		return error_set(why, r, "can't write %s: %s", s->params.capture, strerror(-r));
	for (uint32_t i = 0; i < f->net.port_count; i++)
		pcapng_add_interface(s->capture, port_name(f, PORT_FIRST + i, name));
	return 0;
}

int session_open(struct session **ret, const struct session_params *params, struct error *why)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(why, -ENOMEM, "out of memory");
	s->params = *params;
	s->next_sample_ps = params->scenario->sample_ps ? 0 : UINT64_MAX;
	s->next_lldp_ps = params->scenario->sw.lldp_ps ? 0 : UINT64_MAX;
	s->next_search_ps = params->scenario->sw.pfc.on ? 0 : UINT64_MAX;
	r = open_capture(s, why);
	if (r == 0)
		r = open_control(s, why);
	if (r == 0)
		r = open_dataplane(s, why);
	if (r == 0)
		r = open_recorder(s, why);
	if (r == 0)
		r = configure(s, why);
	if (r == 0)
		r = open_engine(s, why);
	if (r == 0)
		r = open_traffic(s, why);
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
	engine_free(s->engine);
	recorder_close(s->recorder);
	pcapng_close(s->capture);
	timeline_release(&s->timeline);
	if (s->built)
		build_down(s->built);
	else if (s->dp)
		s->dp->ops->close(s->dp);
	agents_free(s->agents);
	changes_release(&s->changes);
	routing_free(s->routing);
	free(s);
}

/* All ports send LLDP; what they have heard takes effect. */
static void tell_neighbours(struct session *s, uint64_t now)
{
	uint32_t changed = agents_tick(s->agents, s->engine, &s->dp->tables);

	if (changed)
		recorder_event(s->recorder, now,
			json_pack("{s:s, s:I}", "event", "roles", "ports_changed",
				(json_int_t)changed));
	s->next_lldp_ps = now + s->params.scenario->sw.lldp_ps;
}

/* A deadlock is looked for once in a base RTT: it does not go away, so none is missed. */
static int search_deadlock(struct session *s, uint64_t now)
{
	int found = deadlock_search(&s->deadlock, s->engine);

	s->next_search_ps = found ? UINT64_MAX : now + s->params.fabric->base_rtt_ps;
	if (found <= 0)
		return found;
	recorder_event(s->recorder, now,
		json_pack("{s:s, s:o}", "event", "deadlock", "circle",
			deadlock_circle(&s->deadlock, port_name, s->params.fabric)));
	return 0;
}

/* All that is due at the engine's present time. */
static int act_due(struct session *s)
{
	uint64_t now = engine_now(s->engine);

	while (timeline_next(&s->timeline) <= now) {
		const struct action *a = &s->timeline.items[s->timeline.next++];

		recorder_event(s->recorder, now, change_apply(&s->changes, a));
	}
	if (s->next_lldp_ps <= now)
		tell_neighbours(s, now);
	if (s->next_sample_ps <= now) {
		recorder_sample(s->recorder, s->engine, now);
		s->next_sample_ps = now + s->params.scenario->sample_ps;
	}
	return s->next_search_ps <= now ? search_deadlock(s, now) : 0;
}

/* When the session itself has to act next. */
static uint64_t next_act(const struct session *s)
{
	return least(least(timeline_next(&s->timeline), s->next_sample_ps),
		least(s->next_lldp_ps, s->next_search_ps));
}

bool session_done(const struct session *s)
{
	return engine_done(s->engine) || engine_now(s->engine) >= s->end_ps;
}

int session_advance(
	struct session *s, uint64_t until_ps, const volatile bool *stop, struct error *why)
{
	until_ps = least(until_ps, s->end_ps);
	while (engine_now(s->engine) < until_ps && !(stop && *stop) && !session_done(s)) {
		int r = act_due(s);

		if (r == 0)
			r = engine_run(s->engine, least(next_act(s), until_ps), stop);
		if (r < 0)
			return error_set(why, r,
				"the %s dataplane failed at %.3f us of model time: %s",
				s->dp->ops->name, (double)engine_now(s->engine) / PS_PER_US,
				strerror(-r));
	}
	return 0;
}

double session_progress(const struct session *s)
{
	struct engine_stats stats;
	uint64_t sent = 0;

	engine_stats(s->engine, &stats);
	for (uint32_t i = 0; i < stats.flows; i++) {
		struct engine_flow_result f;

		engine_flow_result(s->engine, i, &f);
		sent += f.sender.packets_sent - f.sender.retransmitted;
	}
	return s->packets ? (double)sent / (double)s->packets : 1;
}

uint64_t session_end(const struct session *s)
{
	return s->end_ps;
}

const struct engine *session_engine(const struct session *s)
{
	return s->engine;
}

const char *session_name(const struct session *s)
{
	return s->built ? build_name(s->built) : "";
}

json_t *session_summary(
	struct session *s, const struct session_times *times, bool *ret_met, struct error *why)
{
	const struct scenario *sc = s->params.scenario;
	struct summary_info info = {
		.scenario = sc->name,
		.dataplane = s->dp->ops->name,
		.clock = "stepped",
		.version = FABRICBED_VERSION,
		.seed = sc->seed,
		.ideal_ps = s->ideal_ps,
		.setup_s = times->setup,
		.wall_s = times->run,
	};
	json_t *summary;

	if (engine_check_balance(s->engine) < 0) {
		error_set(why, -EIO,
			"packets sent, delivered, dropped and in flight do not add up: "
			"a fault in fabricbed, please report it");
		return NULL;
	}
	summary = summary_new(&info, s->engine);
	deadlock_summarise(
		&s->deadlock, json_object_get(summary, "pfc"), port_name, s->params.fabric);
	if (!summary || expect_check(sc, summary, ret_met) < 0) {
		json_decref(summary);
		error_set(why, -ENOMEM, "out of memory for the summary");
		return NULL;
	}
	return summary;
}

int session_write(struct session *s, struct error *why)
{
	const char *directory = s->params.directory;
	int r, captured;

	recorder_end(s->recorder, engine_now(s->engine));
	r = recorder_close(s->recorder);
	captured = pcapng_close(s->capture);
	s->recorder = NULL;
	s->capture = NULL;
	if (captured < 0)
		return error_set(why, captured, "can't write %s: %s", s->params.capture,
			strerror(-captured));
	if (r == 0 && directory)
		r = recorder_write_flows(directory, s->engine, host_name, s->params.fabric);
	if (r == 0 && directory && s->dp->tables.config.features & SW_CONTROL)
		r = recorder_write_pauses(directory, s->engine, port_name, s->params.fabric);
	if (r == 0 && directory && s->agents)
		r = agents_write(s->agents, directory);
	return r < 0 ? error_set(why, r, "can't write results in %s: %s", directory, strerror(-r))
		     : 0;
}
