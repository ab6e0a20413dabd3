/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/series_rows.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/outstream.h"

struct series_set {
	struct series_params params;
	struct series of[SERIES_KINDS];
};

/* Calls a function of each that is on and has one. */
#define EACH(set, s)                                                                               \
	for (struct series *s = (set)->of; s < (set)->of + SERIES_KINDS; s++)                      \
		if (s->spool.fd >= 0)

static int open_one(struct series *s, const struct series_params *p)
{
	int r = spool_open(&s->spool, p->directory, s->ops->spool_name);

	if (r == 0)
		spool_put(&s->spool, s->ops->titles, strlen(s->ops->titles));
	if (r == 0 && s->ops->open)
		r = s->ops->open(s);
	return r;
}

int series_open(struct series_set **ret, const struct series_params *params)
{
	static const struct series_ops *const ops[] = {
#define X(symbol, key, file) [symbol] = &series_##key,
		SERIES(X)
#undef X
	};
	struct series_set *set = calloc(1, sizeof(*set));
	int r = 0;

	if (!set)
		return -ENOMEM;
	set->params = *params;
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		set->of[i] = (struct series){
			.ops = ops[i],
			.spec = params->specs ? params->specs[i] : (struct series_spec){0},
			.params = &set->params,
			.spool = SPOOL_NONE,
			.next_ps = UINT64_MAX,
		};
	for (unsigned i = 0; r == 0 && i < SERIES_KINDS; i++) {
		struct series *s = &set->of[i];

		if (!s->spec.every_ps || params->directory < 0)
			continue;
		s->next_ps = s->spec.every_ps;
		r = open_one(s, params);
	}
	if (r < 0) {
		series_free(set);
		return r;
	}
	*ret = set;
	return 0;
}

uint64_t series_next(const struct series_set *set)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < SERIES_KINDS; i++)
		next = min_u64(next, set->of[i].next_ps);
	return next;
}

static void take(struct series *s, const struct engine *e, uint64_t now_ps)
{
	s->ops->sample(s, e, now_ps);
	s->last_ps = now_ps;
}

void series_sample(
	struct series_set *set, const struct engine *e, uint64_t now_ps, uint64_t least_ps)
{
	EACH(set, s)
	{
		if (s->next_ps > now_ps)
			continue;
		take(s, e, now_ps);
		s->next_ps = now_ps + max_u64(s->spec.every_ps, least_ps);
	}
}

void series_dropped(struct series_set *set, uint32_t port, enum drop_reason reason, uint32_t bytes)
{
	EACH(set, s)
	if (s->ops->dropped)
		s->ops->dropped(s, port, reason, bytes);
}

void series_ended(struct series_set *set, uint32_t flow)
{
	EACH(set, s)
	if (s->ops->ended)
		s->ops->ended(s, flow);
}

void series_settled(struct series_set *set, const struct engine *e)
{
	EACH(set, s)
	if (s->ops->settled)
		s->ops->settled(s, e);
}

void series_end(struct series_set *set, const struct engine *e, uint64_t now_ps)
{
	EACH(set, s)
	{
		if (s->last_ps < now_ps)
			take(s, e, now_ps);
		s->next_ps = UINT64_MAX;
	}
}

int series_flush(struct series_set *set)
{
	int r = 0;

	EACH(set, s)
	{
		int flushed = spool_flush(&s->spool);

		r = r ? r : flushed;
	}
	return r;
}

uint64_t series_lost(const struct series_set *set, int *ret_why)
{
	uint64_t lost = 0;

	for (const struct series *s = set->of; s < set->of + SERIES_KINDS; s++) {
		lost += s->spool.lost;
		if (s->spool.lost)
			*ret_why = s->spool.why_lost;
	}
	return lost;
}

int series_write(struct series_set *set, int directory)
{
	int r = 0;

	EACH(set, s)
	{
		char name[64];

		snprintf(name, sizeof(name), "%s" OUTSTREAM_NEW, s->ops->file);
		r = r ? r : spool_copy(&s->spool, directory, name);
	}
	return r;
}

void series_remove(struct series_set *set)
{
	EACH(set, s)
	spool_remove(&s->spool);
}

void series_free(struct series_set *set)
{
	if (!set)
		return;
	for (struct series *s = set->of; s < set->of + SERIES_KINDS; s++) {
		if (s->state)
			s->ops->release(s);
		spool_remove(&s->spool);
	}
	free(set);
}

int series_match_ports(
	const struct series *s, bool of_switches, struct series_port **ret, uint32_t *ret_count)
{
	const struct net *net = s->params->net;
	struct series_port *found = NULL;
	uint32_t count = 0;
	char name[RECORDER_NAME];

	for (uint32_t p = PORT_FIRST; p < PORT_FIRST + net->port_count; p++) {
		struct series_port one = {.port = p};

		if (of_switches && net->nodes[net->ports[p].node].kind == NODE_HOST)
			continue;
		s->params->port_name(s->params->name_arg, p, name);
		if (s->spec.match && fnmatch(s->spec.match, name, 0))
			continue;
		one.name = strdup(name);
		if (!one.name || ARRAY_ADD(found, count, one) < 0) {
			free(one.name);
			series_release_ports(found, count);
			return -ENOMEM;
		}
	}
	*ret = found;
	*ret_count = count;
	return 0;
}

void series_release_ports(struct series_port *ports, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(ports[i].name);
	free(ports);
}
