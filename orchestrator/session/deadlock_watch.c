/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/deadlock_watch.h"

#include "base/units.h"

int deadlock_search(struct deadlock *d, const struct engine *e)
{
	d->length = engine_find_deadlock(e, d->cycle, DEADLOCK_CYCLE);
	d->at_ps = engine_now(e);
	return d->length > 0 ? 1 : d->length;
}

json_t *deadlock_cycle(const struct deadlock *d, recorder_port_name port_name, const void *arg)
{
	json_t *cycle = json_array();
	char name[RECORDER_NAME];

	for (int i = 0; i < d->length && i < DEADLOCK_CYCLE; i++)
		json_array_append_new(cycle,
			json_pack("{s:s, s:i}", "port", port_name(arg, d->cycle[i].port, name),
				"class", d->cycle[i].class));
	return cycle;
}

void deadlock_summarise(
	const struct deadlock *d, json_t *pfc, recorder_port_name port_name, const void *arg)
{
	json_object_set_new(pfc, "deadlocks", json_integer(d->length > 0));
	if (d->length > 0)
		json_object_set_new(pfc, "deadlock",
			json_pack("{s:f, s:i, s:o}", "at_us", (double)d->at_ps / PS_PER_US,
				"queues", d->length, "circle", deadlock_cycle(d, port_name, arg)));
}
