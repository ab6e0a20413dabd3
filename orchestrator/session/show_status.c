/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/drop_name.h"
#include "base/units.h"
#include "session/show.h"
#include "topology/fabric.h"

static json_t *packets_json(const struct engine_stats *s)
{
	json_t *dropped = json_object();

	for (unsigned i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++)
		if (s->dropped[i])
			json_object_set_new(
				dropped, drop_name(i), json_integer((json_int_t)s->dropped[i]));
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "sent", (json_int_t)s->sent,
		"delivered", (json_int_t)s->delivered, "made", (json_int_t)s->made, "consumed",
		(json_int_t)s->consumed, "dropped", dropped, "marked", (json_int_t)s->marked,
		"trimmed", (json_int_t)s->trimmed, "in_flight", (json_int_t)s->in_flight);
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
