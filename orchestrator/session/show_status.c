/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/units.h"
#include "session/show.h"
#include "telemetry/summary.h"
#include "topology/fabric.h"

static json_t *packets_json(const struct engine_stats *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "sent", (json_int_t)s->sent,
		"delivered", (json_int_t)s->delivered, "made", (json_int_t)s->made, "consumed",
		(json_int_t)s->consumed, "dropped", summary_dropped(s), "marked",
		(json_int_t)s->marked, "trimmed", (json_int_t)s->trimmed, "in_flight",
		(json_int_t)s->in_flight);
}

json_t *show_status(const struct show_view *v)
{
	const struct net *net = &v->fabric->net;
	struct engine_stats s;

	engine_stats(v->engine, &s);
	return json_pack("{s:{s:I, s:I}, s:I, s:{s:I, s:I}, s:o, s:I, s:f}", "nodes", "hosts",
		(json_int_t)net->host_count, "switches", (json_int_t)net->switch_count, "links",
		(json_int_t)net->link_count, "flows", "count", (json_int_t)s.flows, "done",
		(json_int_t)s.flows_done, "packets", packets_json(&s), "hops", (json_int_t)s.hops,
		"model_time_us", (double)engine_now(v->engine) / PS_PER_US);
}
