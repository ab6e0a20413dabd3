/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/fair_share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "workload/divisions.h"

void fair_shares_release(struct fair_shares *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		free(s->divisions[i].part);
		free(s->divisions[i].leaving_bps);
		free(s->divisions[i].entering_bps);
	}
	free(s->divisions);
	*s = (struct fair_shares){0};
}

/* What is under way at a time at the links that lead out of a part, or into it. */
struct part_load {
	uint64_t messages; /* that cross them */
	uint64_t bps;      /* of those, at their shares of the hosts' links */
	uint64_t most_bps; /* the same if all messages of the part's hosts crossed them */
};

struct counting {
	const struct operations *m;
	struct divisions divisions;
	struct part_load *leaving, *entering; /* of the parts of the present division */
	uint8_t *seen;                        /* a bit a stream */
};

static void counting_release(struct counting *c)
{
	free(c->leaving);
	free(c->entering);
	free(c->seen);
	divisions_release(&c->divisions);
}

/* The hosts are the division with the most parts. */
static int counting_init(struct counting *c, const struct operations *m, const struct net *net)
{
	int r = divisions_init(&c->divisions, net, NULL);

	c->m = m;
	if (r < 0)
		return r;
	c->leaving = calloc(net->host_count, sizeof(*c->leaving));
	c->entering = calloc(net->host_count, sizeof(*c->entering));
	c->seen = calloc(m->stream_count / 8 + 1, 1);
	return c->leaving && c->entering && c->seen ? 0 : -ENOMEM;
}

/* The messages of a stream follow each other on one connection: they count once. */
static bool is_first(struct counting *c, const struct operation *o)
{
	uint8_t *byte = &c->seen[o->stream / 8], bit = (uint8_t)(1u << o->stream % 8);
	bool first = !o->stream || !(*byte & bit);

	*byte |= bit;
	return first;
}

/* What waits for nothing is under way at first. */
static bool is_counted(struct counting *c, const struct operation *o)
{
	return operation_is_message(o) && !o->waits && is_first(c, o);
}

static void load_add(struct part_load *l, bool crosses, uint64_t share_bps)
{
	l->messages += crosses;
	l->bps += crosses ? share_bps : 0;
	l->most_bps += share_bps;
}

/* hosts: the shares of the hosts' links; none yet, as these are counted. */
static void count_division(
	struct counting *c, const struct division *d, const struct fair_shares *hosts)
{
	memset(c->seen, 0, c->m->stream_count / 8 + 1);
	memset(c->leaving, 0, d->parts * sizeof(*c->leaving));
	memset(c->entering, 0, d->parts * sizeof(*c->entering));
	for (size_t i = 0; i < c->m->count; i++) {
		const struct operation *o = &c->m->items[i];
		uint32_t from, to;
		uint64_t share;

		if (!is_counted(c, o))
			continue;
		from = division_part(&c->divisions, d, o->src_host);
		to = division_part(&c->divisions, d, o->dst_host);
		share = fair_share(hosts, o->src_host, o->dst_host);
		load_add(&c->leaving[from], from != to, share);
		load_add(&c->entering[to], from != to, share);
	}
}

/* Links of racks and pods that carry what hosts send are no limit. */
static uint64_t share_of(const struct division *d, uint32_t part, const struct part_load *l)
{
	bool limits = !d->part || l->bps > d->out_bps[part];

	return !limits ? UINT64_MAX : d->out_bps[part] / (l->messages ? l->messages : 1);
}

/* One more division of the result. 0 or -ENOMEM. */
static int add_division(struct fair_shares *ret, const struct counting *c, const struct division *d)
{
	uint32_t hosts = c->divisions.net->host_count;
	struct share_division *to = &ret->divisions[ret->count++];

	to->leaving_bps = malloc(d->parts * sizeof(*to->leaving_bps));
	to->entering_bps = malloc(d->parts * sizeof(*to->entering_bps));
	to->part = d->part ? malloc(hosts * sizeof(*to->part)) : NULL;
	if (!to->leaving_bps || !to->entering_bps || (d->part && !to->part))
		return -ENOMEM;
	for (uint32_t p = 0; p < d->parts; p++) {
		to->leaving_bps[p] = share_of(d, p, &c->leaving[p]);
		to->entering_bps[p] = share_of(d, p, &c->entering[p]);
	}
	for (uint32_t h = 0; d->part && h < hosts; h++)
		to->part[h] = division_part(&c->divisions, d, h);
	return 0;
}

/* Whether some part's links can't carry all; turns: now, or as messages of hosts take turns. */
static bool narrows(const struct counting *c, const struct division *d, enum workload_turns turns)
{
	bool found = false;

	for (uint32_t p = 0; p < d->parts; p++) {
		const struct part_load *out = &c->leaving[p], *in = &c->entering[p];

		found |= turns == TURNS_OF_PAIRS
				 ? max_u64(out->bps, in->bps) > d->out_bps[p]
				 : max_u64(out->most_bps, in->most_bps) > d->out_bps[p];
	}
	return found;
}

static void find_extremes(struct fair_shares *ret, const struct operations *m)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct operation *o = &m->items[i];
		uint64_t share;

		if (!operation_is_message(o))
			continue;
		share = fair_share(ret, o->src_host, o->dst_host);
		ret->least_bps = ret->most_bps ? min_u64(ret->least_bps, share) : share;
		ret->most_bps = max_u64(ret->most_bps, share);
	}
}

/*
 * How the messages of all entries follow each other, the least orderly of them: TURNS_* of those
 * that have some that wait. *ret_why: why it is TURNS_UNKNOWN.
 */
static enum workload_turns find_turns(char why[FAIR_SHARE_WHY],
	const struct fair_share_entry *entries, const struct operations *m)
{
	enum workload_turns least = TURNS_OF_PAIRS, turns = least;
	const char *words =
		"messages that wait for others need not take their places; how many are under way at a time is not known";
	uint32_t entry = UINT32_MAX;

	for (size_t i = 0; i < m->count; i++) {
		const struct operation *o = &m->items[i];
		const struct fair_share_entry *e = &entries[o->entry];

		if (!operation_is_message(o) || !o->waits || o->entry == entry)
			continue;
		entry = o->entry;
		turns = e->kind->turns ? e->kind->turns(e->options, &words) : TURNS_UNKNOWN;
		least = turns < least ? turns : least;
		if (least == TURNS_UNKNOWN) {
			snprintf(why, FAIR_SHARE_WHY, "workload.%u.%s: %s", entry, e->kind->name,
				words);
			break;
		}
	}
	return least;
}

/*
 * Senders may start at different moments of the interval between two packets, as the paper's do
 * (docs/papers/load-balancing.md): later than that, others may have done already. Else why has the
 * words.
 */
static void check_starts(char why[FAIR_SHARE_WHY], const struct fair_share_entry *entries,
	const struct operations *m, uint64_t interval_ps)
{
	const struct operation *first = NULL, *last = NULL;
	char text[UNITS_TEXT];

	for (size_t i = 0; i < m->count; i++) {
		const struct operation *o = &m->items[i];

		if (!operation_is_message(o) || o->waits)
			continue;
		first = !first || o->start_ps < first->start_ps ? o : first;
		last = !last || o->start_ps > last->start_ps ? o : last;
	}
	if (first && last->start_ps - first->start_ps > interval_ps)
		snprintf(why, FAIR_SHARE_WHY,
			"workload.%u.%s: messages begin up to %s apart; how many are under way at a time is not known",
			last->entry, entries[last->entry].kind->name,
			format_time(text, last->start_ps - first->start_ps));
}

/* The hosts come first: what their links leave is what others may be too narrow for. */
static int make_shares(struct fair_shares *ret, char why[FAIR_SHARE_WHY], struct counting *c,
	enum workload_turns turns)
{
	int r = 0;

	ret->divisions = calloc(c->divisions.count, sizeof(*ret->divisions));
	if (!ret->divisions)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < c->divisions.count; i++) {
		const struct division *d = &c->divisions.items[i];

		count_division(c, d, ret);
		if (i && !narrows(c, d, turns))
			continue;
		if (i && turns != TURNS_OF_PAIRS) {
			snprintf(why, FAIR_SHARE_WHY,
				"the fabric is oversubscribed, and as messages take turns, the number of them that cross its uplinks changes");
			break;
		}
		r = add_division(ret, c, d);
	}
	return r;
}

int fair_shares_init(struct fair_shares *ret, char why[FAIR_SHARE_WHY], const struct net *net,
	const struct fair_share_entry *entries, size_t first, size_t count,
	const struct operations *m, uint32_t packet_bytes)
{
	struct counting c = {0};
	enum workload_turns turns;
	int r;

	*ret = (struct fair_shares){.entries = (uint32_t)count};
	why[0] = '\0';
	for (size_t i = first; i < count; i++)
		if (entries[i].kind->arrivals) {
			snprintf(why, FAIR_SHARE_WHY,
				"workload.%zu.%s: flows arrive at random; how many are under way at a time is not known",
				i, entries[i].kind->name);
			return 0;
		}
	turns = find_turns(why, entries, m);
	if (turns == TURNS_UNKNOWN)
		return 0;
	r = counting_init(&c, m, net);
	if (r == 0)
		r = make_shares(ret, why, &c, turns);
	if (r == 0)
		find_extremes(ret, m);
	if (r == 0 && !why[0])
		check_starts(why, entries, m, bytes_ps(wire_bytes(packet_bytes), ret->least_bps));
	if (r < 0 || why[0])
		fair_shares_release(ret);
	counting_release(&c);
	return r;
}
