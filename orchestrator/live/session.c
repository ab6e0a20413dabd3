/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "build/build.h"
#include "control/ports.h"
#include "control/routing.h"
#include "live/expect.h"
#include "live/timeline.h"
#include "live/traffic.h"
#include "telemetry/recorder.h"
#include "telemetry/summary.h"
#include "transport/strack.h"
#include "workload/ideal.h"

struct session {
	struct session_params params;
	struct dataplane *dp; /* owned by built, if that is set */
	struct built *built;
	struct routing *routing;
	bool *link_up; /* by link */
	struct engine *engine;
	struct recorder *recorder;
	struct timeline timeline;
	struct strack_options strack;
	uint64_t next_sample_ps;
	uint64_t end_ps, ideal_ps;
	uint64_t packets; /* of the workload, none sent twice */
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

static bool payload_is_full(const struct session *s)
{
	enum payload_kind kind = s->params.scenario->host.payload;

	/* what a page-sized veth buffer holds without fragments */
	if (kind == PAYLOAD_AUTO)
		return s->params.fabric->mtu <= 3400;
	return kind == PAYLOAD_FULL;
}

static int open_dataplane(struct session *s, struct error *why)
{
	const struct net *net = &s->params.fabric->net;
	uint32_t capacity = headers_capacity(s->params.scenario->host.ip6);
	struct sw_tables sizes = {
		.port_count = PORT_FIRST + net->port_count,
		.switch_count = net->switch_count,
	};
	int r;

	if (payload_is_full(s) && s->params.fabric->packet_bytes > capacity)
		capacity = s->params.fabric->packet_bytes;
	routing_table_sizes(s->routing, &sizes.route_count, &sizes.group_count);
	if (s->params.kernel) {
		r = build_up(&s->built, s->params.fabric, s->params.scenario->name, &sizes,
			capacity, why);
		if (r == 0)
			s->dp = build_dataplane(s->built);
		return r;
	}
	r = dataplane_inline_open(&s->dp, &sizes, capacity);
	return r < 0 ? error_set(why, r, "out of memory for the switches' tables") : 0;
}

static int open_control(struct session *s, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	int r = routing_new(&s->routing, &f->net);

	if (r == -E2BIG)
		return error_set(why, r, "a switch has more than %d equal-cost ports", GROUP_PORTS);
	s->link_up = malloc(f->net.link_count + 1);
	if (r < 0 || !s->link_up)
		return error_set(why, -ENOMEM, "out of memory for the routes");
	memset(s->link_up, 1, f->net.link_count);
	return 0;
}

static void configure(struct session *s)
{
	const struct scenario *sc = s->params.scenario;
	const struct fabric *f = s->params.fabric;
	struct ports_params ports = {
		.seed = sc->seed,
		.buffer_bytes =
			f->buffer_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)f->buffer_bytes,
		.kmin_bytes = (uint32_t)f->kmin_bytes,
		.kmax_bytes = (uint32_t)f->kmax_bytes,
		.pmax = sc->sw.pmax,
	};

	routing_compute(s->routing, s->link_up, &s->dp->tables);
	ports_configure(&s->dp->tables, &f->net, &ports);
}

static struct strack_options strack_options(const struct scenario *sc, const struct fabric *f)
{
	const struct quantity *window = &sc->host.strack.window;
	static const enum strack_spray spray[] = {
		[SPRAY_ADAPTIVE] = STRACK_ADAPTIVE,
		[SPRAY_OBLIVIOUS] = STRACK_OBLIVIOUS,
		[SPRAY_SINGLE] = STRACK_SINGLE,
	};

	return (struct strack_options){
		.paths = sc->host.strack.paths,
		.spray = spray[sc->host.strack.spray],
		.sack_packets = sc->host.strack.sack_packets,
		.rto_ps = sc->host.strack.rto_ps,
		.window_share =
			window->of_bdp ? window->value : window->value / (double)f->bdp_bytes,
		.bitmap_rtts = sc->host.strack.bitmap_rtts,
		.target_delay_ps = sc->host.strack.target_delay_ps,
	};
}

static int open_engine(struct session *s, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	struct engine_params p = {
		.net = &f->net,
		.dataplane = s->dp,
		.transport = &strack_transport,
		.env =
			{
				.mtu = f->mtu,
				.host_rate_bps = f->host_rate_bps,
				.base_rtt_ps = f->base_rtt_ps,
				.ip6 = s->params.scenario->host.ip6,
				.payload_full = payload_is_full(s),
				.options = &s->strack,
			},
		.seed = s->params.scenario->seed,
		.observer = recorder_observer(s->recorder),
	};
	int r;

	s->strack = strack_options(s->params.scenario, f);
	r = engine_new(&s->engine, &p);
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
	int r = traffic_messages(&m, sc, f);

	if (r == 0)
		r = workload_measure(&m, &f->net, f->mtu, sc->host.ip6, &size);
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

int session_open(struct session **ret, const struct session_params *params, struct error *why)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(why, -ENOMEM, "out of memory");
	s->params = *params;
	s->next_sample_ps = params->scenario->sample_ps ? 0 : UINT64_MAX;
	r = open_control(s, why);
	if (r == 0)
		r = open_dataplane(s, why);
	if (r == 0)
		r = open_recorder(s, why);
	if (r == 0) {
		configure(s);
		r = open_engine(s, why);
	}
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
	timeline_release(&s->timeline);
	if (s->built)
		build_down(s->built);
	else if (s->dp)
		s->dp->ops->close(s->dp);
	routing_free(s->routing);
	free(s->link_up);
	free(s);
}

static void record_link(struct session *s, const struct action *a, const char *event)
{
	char name[LINK_NAME];
	json_t *line = json_pack("{s:s, s:s}", "event", event, "link",
		fabric_link_name(s->params.fabric, a->link, name));

	if (a->kind == ACTION_LINK_RATE)
		json_object_set_new(line, "rate_bps", json_integer((json_int_t)a->rate_bps));
	recorder_event(s->recorder, a->at_ps, line);
}

static void act(struct session *s, const struct action *a)
{
	uint32_t port = s->params.fabric->links[a->link].a, changed;

	switch (a->kind) {
	case ACTION_LINK_DOWN:
	case ACTION_LINK_UP:
		s->link_up[a->link] = a->kind == ACTION_LINK_UP;
		engine_set_link_up(s->engine, port, s->link_up[a->link]);
		record_link(s, a, s->link_up[a->link] ? "link_up" : "link_down");
		break;
	case ACTION_LINK_RATE:
		engine_set_link_rate(s->engine, port, a->rate_bps);
		record_link(s, a, "link_rate");
		break;
	case ACTION_REROUTE:
		changed = routing_compute(s->routing, s->link_up, &s->dp->tables);
		recorder_event(s->recorder, a->at_ps,
			json_pack("{s:s, s:I}", "event", "reroute", "routes_changed",
				(json_int_t)changed));
		break;
	}
}

/* All that is due at the engine's present time. */
static void act_due(struct session *s)
{
	uint64_t now = engine_now(s->engine);

	while (timeline_next(&s->timeline) <= now)
		act(s, &s->timeline.items[s->timeline.next++]);
	if (s->next_sample_ps <= now) {
		recorder_sample(s->recorder, s->engine, now);
		s->next_sample_ps = now + s->params.scenario->sample_ps;
	}
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
		uint64_t next;
		int r;

		act_due(s);
		next = least(timeline_next(&s->timeline), least(s->next_sample_ps, until_ps));
		r = engine_run(s->engine, next, stop);
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
	int r = recorder_close(s->recorder);

	s->recorder = NULL;
	if (r == 0 && directory)
		r = recorder_write_flows(directory, s->engine, host_name, s->params.fabric);
	return r < 0 ? error_set(why, r, "can't write results in %s: %s", directory, strerror(-r))
		     : 0;
}
