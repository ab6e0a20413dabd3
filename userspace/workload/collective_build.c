/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/collective_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/wiretime.h"

#define FEW 2 /* waits that are no more than those of a computation in their place */

static uint64_t share_of(uint64_t bytes, uint32_t parts, uint32_t i)
{
	return bytes / parts + (i < bytes % parts);
}

int build_layout(struct collective_build *b, uint32_t segments, uint32_t places)
{
	uint64_t longest, parts = 1;
	size_t total;

	b->bytes = share_of(b->c->bytes, b->c->channels, b->channel);
	b->segments = segments;
	b->places = places;
	longest = share_of(b->bytes, segments, 0);
	if (b->c->chunk && longest)
		parts = (longest - 1) / b->c->chunk + 1;
	if (parts > OPERATIONS_MAX)
		return -E2BIG;
	b->parts = (uint32_t)parts;
	total = (size_t)b->ranks * places * parts;
	free(b->written);
	b->written = malloc((total + 1) * sizeof(*b->written));
	if (!b->written)
		return -ENOMEM;
	memset(b->written, 0xff, total * sizeof(*b->written));
	return 0;
}

int build_note(
	struct collective_build *b, uint32_t *list, uint32_t operation, enum operation_event event)
{
	if (ARRAY_ADD(b->lists, b->list_count, (struct occurrence){operation, *list, event}) < 0)
		return -ENOMEM;
	*list = (uint32_t)b->list_count - 1;
	return 0;
}

/* An operation at a rank, and its waits, after those that are needed. */
static int add_operation(struct collective_build *b, struct operation o)
{
	int r = operations_reserve(b->m, 1, b->need_count);

	if (r < 0)
		return r;
	o.entry = b->p->entry;
	o.group = b->job * b->c->repeat + b->round;
	o.again = b->round > 0;
	operations_add(b->m, &o);
	for (size_t i = 0; i < b->need_count; i++)
		operations_wait(b->m, b->needs[i].operation, b->needs[i].event);
	b->need_count = 0;
	return 0;
}

static bool is_needed(const struct collective_build *b, const struct occurrence *o)
{
	for (size_t i = 0; i < b->need_count; i++)
		if (b->needs[i].operation == o->operation && b->needs[i].event == o->event)
			return true;
	return false;
}

static int need(struct collective_build *b, uint32_t list)
{
	for (uint32_t i = list; i != LIST_END; i = b->lists[i].next)
		if (!is_needed(b, &b->lists[i]) &&
			ARRAY_ADD(b->needs, b->need_count, b->lists[i]) < 0)
			return -ENOMEM;
	return 0;
}

int build_join(struct collective_build *b, uint32_t rank, uint32_t *list)
{
	uint32_t host = rank == OPERATION_BARRIER ? rank : b->hosts[rank];
	struct operation pause = {.src_host = host, .dst_host = host};
	size_t length = 0;
	int r;

	for (uint32_t i = *list; i != LIST_END; i = b->lists[i].next)
		length++;
	if (length <= (rank == OPERATION_BARRIER ? 0 : FEW))
		return 0;
	/* none of them is there twice */
	for (uint32_t i = *list; i != LIST_END; i = b->lists[i].next)
		if (ARRAY_ADD(b->needs, b->need_count, b->lists[i]) < 0)
			return -ENOMEM;
	r = add_operation(b, pause);
	*list = LIST_END;
	return r < 0 ? r : build_note(b, list, (uint32_t)b->m->count - 1, OPERATION_ENDED);
}

static const struct straggler *straggler(const struct collective_build *b, uint32_t rank)
{
	for (size_t i = 0; i < b->c->straggler_count; i++)
		if (b->c->stragglers[i].rank == rank)
			return &b->c->stragglers[i];
	return NULL;
}

/*
 * What a message waits for, a rank works on first; on what it sends to the same rank in its turn.
 * What is needed becomes the end of that.
 */
static int compute_first(struct collective_build *b, uint32_t from, uint32_t to)
{
	const struct straggler *s = straggler(b, from);
	struct operation work = {.src_host = b->hosts[from],
		.dst_host = b->hosts[from],
		.lasts_ps =
			s && s->compute_ps != COMPUTE_AS_OTHERS ? s->compute_ps : b->c->compute_ps};
	struct occurrence end = {LIST_END, LIST_END, OPERATION_ENDED};
	uint32_t *computed;
	int r = 0;

	if (!work.lasts_ps || !b->need_count)
		return 0;
	computed = &b->computed[(size_t)from * b->ranks + to];
	end.operation = *computed;
	if (*computed != LIST_END)
		r = ARRAY_ADD(b->needs, b->need_count, end);
	if (r == 0)
		r = add_operation(b, work);
	if (r < 0)
		return r;
	end.operation = *computed = (uint32_t)b->m->count - 1;
	return ARRAY_ADD(b->needs, b->need_count, end);
}

/* What has been written there from now on, once that has happened. */
static int write_cells(
	struct collective_build *b, bool reduces, uint32_t operation, enum operation_event event)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && b->places && i < b->cell_count; i++) {
		uint32_t *list = &b->written[b->cell_writes[i]];

		if (!reduces)
			*list = LIST_END;
		r = build_note(b, list, operation, event);
	}
	return r;
}

/* slots: of what the rank did, b->sent or b->received. */
static int note_for_others(struct collective_build *b, uint32_t *slots, uint32_t rank,
	uint32_t operation, enum operation_event event)
{
	int r = 0;

	if (b->round + 1 < b->c->repeat)
		r = build_note(b, &b->done[rank], operation, event);
	if (r == 0 && slots)
		r = build_note(b, &slots[b->slot * b->ranks + rank], operation, event);
	return r;
}

/* The stream of a message; 0: it is not as long as the others, or not of whole packets. */
static uint32_t stream_of(struct collective_build *b, uint32_t from, uint32_t to, uint64_t bytes)
{
	struct connection *c =
		&b->connections[((size_t)b->channel * b->ranks + from) * b->ranks + to];

	if (!b->mtu || bytes % b->mtu)
		return 0;
	if (c->job != b->job + 1 || c->bytes + bytes > (uint64_t)STREAM_PACKETS * b->mtu)
		*c = (struct connection){b->job + 1, ++b->m->stream_count, bytes, 0};
	if (bytes != c->message_bytes)
		return 0;
	c->bytes += bytes;
	return c->stream;
}

/* A message: a computation, where both are at a host. */
static struct operation message(struct collective_build *b, uint32_t from, uint32_t to)
{
	struct operation o = {.src_host = b->hosts[from], .dst_host = b->hosts[to]};

	if (o.src_host == o.dst_host) {
		o.lasts_ps = bytes_ps(b->message_bytes, b->c->placement.inside.rate_bps);
		o.after_ps = b->c->placement.inside.delay_ps;
		o.stream = b->first_port + b->job * b->ranks + from + 1;
	} else {
		o.bytes = b->message_bytes;
		o.stream = stream_of(b, from, to, o.bytes);
	}
	return o;
}

/* The cells so far become a message. */
static int send_message(struct collective_build *b, uint32_t from, uint32_t to, bool reduces)
{
	struct operation o = message(b, from, to);
	enum operation_event arrived =
		operation_is_message(&o) ? OPERATION_DELIVERED : OPERATION_ENDED;
	struct collective_move move = {
		0, b->job, b->round, b->channel, from, to, reduces, b->cells, b->cell_count};
	const struct occurrence gate = {b->gates[from], LIST_END, OPERATION_ENDED};
	int r = need(b, b->before[from]);

	if (r == 0)
		r = compute_first(b, from, to);
	if (r == 0 && b->gates[from] != LIST_END)
		r = ARRAY_ADD(b->needs, b->need_count, gate);
	if (!b->need_count)
		o.start_ps = b->c->common.start_ps;
	move.operation = (uint32_t)b->m->count;
	if (r == 0)
		r = add_operation(b, o);
	if (r == 0)
		r = write_cells(b, reduces, move.operation, arrived);
	if (r == 0)
		r = note_for_others(b, b->sent, from, move.operation, OPERATION_ENDED);
	if (r == 0)
		r = note_for_others(b, b->received, to, move.operation, arrived);
	if (r == 0 && b->watch)
		b->watch->moved(b->watch->arg, &move);
	b->cell_count = 0;
	b->message_bytes = 0;
	return r;
}

static uint64_t cell_bytes(const struct collective_build *b, uint32_t segment, uint32_t part)
{
	uint64_t length = share_of(b->bytes, b->segments, segment), before;

	if (!b->c->chunk)
		return length;
	before = part * b->c->chunk;
	if (before >= length)
		return 0;
	return length - before < b->c->chunk ? length - before : b->c->chunk;
}

/* Where a part of a segment stands in `written`. */
static size_t place_of(
	const struct collective_build *b, uint32_t rank, uint32_t place, uint32_t part)
{
	return ((size_t)rank * b->places + place) * b->parts + part;
}

static int add_cell(struct collective_build *b, const struct piece *piece, uint32_t part,
	uint64_t bytes, uint32_t from, uint32_t to)
{
	struct collective_cell cell = {piece->origin, piece->segment, part, bytes};
	uint32_t count = b->cell_count;

	if (ARRAY_ROOM(b->cell_writes, count) < 0 || ARRAY_ADD(b->cells, b->cell_count, cell) < 0)
		return -ENOMEM;
	b->message_bytes += bytes;
	if (!b->places)
		return 0;
	b->cell_writes[count] = (uint32_t)place_of(b, to, piece->write, part);
	return need(b, b->written[place_of(b, from, piece->read, part)]);
}

int build_piece(struct collective_build *b, struct piece piece)
{
	return ARRAY_ADD(b->pieces, b->piece_count, piece);
}

int build_transfer(struct collective_build *b, uint32_t from, uint32_t to, bool reduces)
{
	int r = 0;

	for (uint32_t i = 0; i < b->piece_count; i++)
		for (uint32_t part = 0; r == 0 && part < b->parts; part++) {
			uint64_t bytes = cell_bytes(b, b->pieces[i].segment, part);

			if (!bytes)
				break;
			if (b->c->chunk && b->message_bytes + bytes > b->c->chunk)
				r = send_message(b, from, to, reduces);
			if (r == 0)
				r = add_cell(b, &b->pieces[i], part, bytes, from, to);
		}
	if (r == 0 && b->cell_count)
		r = send_message(b, from, to, reduces);
	b->piece_count = 0;
	return r;
}

int build_segments(struct collective_build *b, uint32_t from, uint32_t to, bool reduces,
	uint32_t first, uint32_t count)
{
	int r = 0;

	for (uint32_t i = first; r == 0 && i < first + count; i++)
		r = build_piece(b, (struct piece){i, i, i, 0});
	return r < 0 ? r : build_transfer(b, from, to, reduces);
}

/* A rank begins a round when it has done with the one before, and later if it is a straggler. */
static int open_gate(struct collective_build *b, uint32_t rank)
{
	const struct straggler *s = straggler(b, rank);
	struct operation gate = {.src_host = b->hosts[rank],
		.dst_host = b->hosts[rank],
		.start_ps = b->round ? b->c->gap_ps : b->c->common.start_ps,
		.lasts_ps = s ? s->delay_ps : 0};
	int r;

	b->gates[rank] = LIST_END;
	if (!b->round && !gate.lasts_ps)
		return 0;
	for (uint32_t i = b->done[rank]; i != LIST_END; i = b->lists[i].next)
		if (ARRAY_ADD(b->needs, b->need_count, b->lists[i]) < 0)
			return -ENOMEM;
	r = add_operation(b, gate);
	b->gates[rank] = (uint32_t)b->m->count - 1;
	return r;
}

static int build_channel(struct collective_build *b)
{
	static int (*const algorithms[])(struct collective_build * b) = {
		[RING] = collective_ring,
		[HALVING_DOUBLING] = collective_halving_doubling,
		[TREE] = collective_tree,
		[PAIRWISE] = collective_exchange,
		[WINDOWED] = collective_exchange,
		[BRUCK] = collective_bruck,
	};

	return algorithms[collective_algorithm(b->c)](b);
}

static int build_round(struct collective_build *b)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < b->ranks; i++)
		r = open_gate(b, i);
	b->list_count = 0;
	memset(b->done, 0xff, b->ranks * sizeof(*b->done));
	for (b->channel = 0; r == 0 && b->channel < b->c->channels; b->channel++) {
		if (b->computed)
			memset(b->computed, 0xff,
				(size_t)b->ranks * b->ranks * sizeof(*b->computed));
		r = build_channel(b);
	}
	return r;
}

static bool computes(const struct collective *c)
{
	for (size_t i = 0; i < c->straggler_count; i++)
		if (c->stragglers[i].compute_ps != COMPUTE_AS_OTHERS && c->stragglers[i].compute_ps)
			return true;
	return c->compute_ps;
}

int collective_operations(struct operations *m, const struct workload_params *p,
	const struct collective *c, uint32_t ranks, const uint32_t *hosts, uint32_t mtu,
	const struct collective_watch *watch)
{
	struct collective_build b = {.m = m,
		.p = p,
		.c = c,
		.watch = watch,
		.ranks = ranks,
		.mtu = mtu,
		.first_port = m->work_stream_count};
	size_t count = m->count, wait_count = m->wait_count, bytes = ranks * sizeof(uint32_t);
	int r = -ENOMEM;

	b.gates = malloc(bytes);
	b.before = malloc(bytes);
	b.done = malloc(bytes);
	/* zeroed by the system: of those that nothing is sent on no memory is used */
	b.connections = calloc((size_t)c->channels * ranks * ranks, sizeof(*b.connections));
	if (computes(c))
		b.computed = malloc(bytes * ranks);
	if (b.gates && b.before && b.done && b.connections && (b.computed || !computes(c))) {
		memset(b.before, 0xff, bytes);
		memset(b.done, 0xff, bytes);
		r = 0;
	}
	m->work_stream_count += c->placement.inside.rate_bps ? ranks * c->jobs : 0;
	for (b.job = 0; r == 0 && b.job < c->jobs; b.job++) {
		b.hosts = hosts + (size_t)b.job * ranks;
		for (b.round = 0; r == 0 && b.round < c->repeat; b.round++)
			r = build_round(&b);
	}
	if (r < 0) {
		m->count = count;
		m->wait_count = wait_count;
	}
	free(b.written);
	free(b.gates);
	free(b.before);
	free(b.done);
	free(b.computed);
	free(b.connections);
	free(b.lists);
	free(b.pieces);
	free(b.cells);
	free(b.cell_writes);
	free(b.needs);
	return r;
}
