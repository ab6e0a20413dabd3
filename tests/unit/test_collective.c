/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collectives: the right data gets everywhere in any order that the waits allow, as much as the
 * closed forms say, and in their time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/array.h"
#include "base/json.h"
#include "base/rng_stream.h"
#include "base/units.h"
#include "engine/internal.h"
#include "lib/small_net.h"
#include "lib/small_session.h"
#include "lib/transport_options.h"
#include "scenario_fixture.h"
#include "telemetry/summary.h"
#include "workload/collective.h"

#define RANKS_MAX 64

/* ---- a graph, and what its messages move ---- */

struct moved {
	struct collective_move move;
	size_t first_cell;
};

struct graph {
	struct operations m;
	struct moved *moves;
	size_t move_count;
	struct collective_cell *cells;
	size_t cell_count;
};

static void keep(void *arg, const struct collective_move *move)
{
	struct graph *g = arg;

	assert_int_equal(
		ARRAY_ADD(g->moves, g->move_count, (struct moved){*move, g->cell_count}), 0);
	for (uint32_t i = 0; i < move->cell_count; i++)
		assert_int_equal(ARRAY_ADD(g->cells, g->cell_count, move->cells[i]), 0);
}

#define MTU    4096
#define INSIDE (50 * GBPS) /* between ranks of a host */

/* Rank r of job j is number j * n + r, and so many of them are on a host. */
static void make(struct graph *g, const struct collective *c, uint32_t n)
{
	const struct workload_params p = {.seed = 1, .entry = 7};
	const struct collective_watch watch = {keep, g};
	uint32_t hosts[RANKS_MAX * 2];

	*g = (struct graph){.m = OPERATIONS_INIT};
	for (uint32_t i = 0; i < RANKS_MAX * 2; i++)
		hosts[i] = i / c->placement.ranks_per_host;
	assert_int_equal(collective_operations(&g->m, &p, c, n, hosts, MTU, &watch), 0);
}

static void release(struct graph *g)
{
	operations_release(&g->m);
	free(g->moves);
	free(g->cells);
}

static struct collective plain(enum collective_op op, enum collective_algorithm a, uint64_t bytes)
{
	return (struct collective){.op = op,
		.algorithm = a,
		.bytes = bytes,
		.jobs = 1,
		.placement.ranks_per_host = 1,
		.channels = 1,
		.window = 3,
		.repeat = 1};
}

static const struct {
	enum collective_op op;
	enum collective_algorithm algorithm;
} all[] = {
	{ALL_REDUCE, RING},
	{ALL_REDUCE, HALVING_DOUBLING},
	{ALL_REDUCE, TREE},
	{REDUCE_SCATTER, RING},
	{REDUCE_SCATTER, HALVING_DOUBLING},
	{ALL_GATHER, RING},
	{ALL_GATHER, HALVING_DOUBLING},
	{BROADCAST, RING},
	{BROADCAST, TREE},
	{ALL_TO_ALL, PAIRWISE},
	{ALL_TO_ALL, WINDOWED},
	{ALL_TO_ALL, BRUCK},
};

#define ALL (sizeof(all) / sizeof(all[0]))

static bool is_possible(size_t i, uint32_t n)
{
	return all[i].algorithm != HALVING_DOUBLING || !(n & (n - 1));
}

/* ---- the data ---- */

/* A part of a buffer of a rank: whose contributions are in it. */
struct content {
	uint64_t from;    /* bits of ranks */
	unsigned on_wire; /* messages that are being sent out of it */
};

enum progress { WAITING, READY, BEGUN, DELIVERED, ENDED };

struct world {
	const struct graph *g;
	const struct collective *c;
	uint32_t n, segments, parts;
	struct content *contents;
	uint64_t *carried; /* by cell of the graph */
	const struct moved **by_operation;
	uint32_t *needs;
	enum progress *progress;
	uint32_t *open; /* operations that something may happen to next */
	size_t open_count;
	uint32_t *first_wait; /* of those that wait for an operation */
	uint32_t *next_wait;
	/* of an all-to-all: messages under way by their ranks, and those that a rank has */
	uint32_t under_way[RANKS_MAX][RANKS_MAX], sending[RANKS_MAX], receiving[RANKS_MAX];
};

static uint64_t share(uint64_t bytes, uint32_t parts, uint32_t i)
{
	return bytes / parts + (i < bytes % parts);
}

static struct content *content(const struct world *w, uint32_t rank, uint32_t round,
	uint32_t channel, const struct collective_cell *cell)
{
	size_t at = rank;

	at = at * w->c->repeat + round;
	at = at * w->c->channels + channel;
	at = at * (w->c->op == ALL_TO_ALL ? w->n : 1) + cell->origin;
	at = at * w->segments + cell->segment;
	return &w->contents[at * w->parts + cell->part];
}

/* What is there at first, or at the end. */
static uint64_t expected(
	const struct world *w, uint32_t rank, const struct collective_cell *cell, bool last)
{
	uint64_t every = w->n == 64 ? UINT64_MAX : (1ull << w->n) - 1;

	switch ((enum collective_op)w->c->op) {
	case ALL_REDUCE:
		return last ? every : 1ull << rank;
	case REDUCE_SCATTER:
		return last ? every : 1ull << rank;
	case ALL_GATHER:
		return last || cell->segment == rank ? 1ull << cell->segment : 0;
	case BROADCAST:
		return last || rank == w->c->root;
	case ALL_TO_ALL:
		return (last ? cell->segment : cell->origin) == rank;
	}
	return 0;
}

/* Whether the end of a collective is about that part at that rank. */
static bool counts(const struct world *w, uint32_t rank, const struct collective_cell *cell)
{
	if (w->c->op == REDUCE_SCATTER || w->c->op == ALL_TO_ALL)
		return cell->segment == rank && (w->c->op != ALL_TO_ALL || cell->origin != rank);
	return true;
}

/* Sets it as it is at first, or looks whether it is as it has to be at last. */
static void settle(struct world *w, uint32_t rank, uint32_t round, uint32_t channel, bool last)
{
	uint32_t origins = w->c->op == ALL_TO_ALL ? w->n : 1;
	uint64_t bytes = share(w->c->bytes, w->c->channels, channel);

	for (uint32_t i = 0; i < origins * w->segments * w->parts; i++) {
		struct collective_cell cell = {
			i / w->parts / w->segments, i / w->parts % w->segments, i % w->parts, 1};
		struct content *x = content(w, rank, round, channel, &cell);

		if (!last)
			x->from = expected(w, rank, &cell, false);
		else if (cell.part * w->c->chunk < share(bytes, w->segments, cell.segment) &&
			 counts(w, rank, &cell))
			assert_true(x->from == expected(w, rank, &cell, true));
	}
}

static void each_content(struct world *w, bool last)
{
	for (uint32_t rank = 0; rank < w->n; rank++)
		for (uint32_t round = 0; round < w->c->repeat; round++)
			for (uint32_t channel = 0; channel < w->c->channels; channel++)
				settle(w, rank, round, channel, last);
}

/* Neither a sender nor a receiver has more connections than the window. */
static void look_at_window(struct world *w, const struct collective_move *k, bool begins)
{
	uint32_t *between = &w->under_way[k->from][k->to];

	if (w->c->algorithm != WINDOWED || w->c->channels > 1 || w->c->repeat > 1)
		return;
	if (begins ? !(*between)++ : !--*between) {
		w->sending[k->from] += begins ? 1 : -1u;
		w->receiving[k->to] += begins ? 1 : -1u;
	}
	assert_true(w->sending[k->from] <= w->c->window);
	assert_true(w->receiving[k->to] <= w->c->window);
}

static void begin(struct world *w, uint32_t operation)
{
	const struct moved *k = w->by_operation[operation];

	if (k)
		look_at_window(w, &k->move, true);

	for (uint32_t i = 0; k && i < k->move.cell_count; i++) {
		struct content *x = content(w, k->move.from, k->move.round, k->move.channel,
			&w->g->cells[k->first_cell + i]);

		assert_true(x->from);
		w->carried[k->first_cell + i] = x->from;
		x->on_wire++;
	}
}

static void deliver(struct world *w, uint32_t operation)
{
	const struct moved *k = w->by_operation[operation];

	look_at_window(w, &k->move, false);
	for (uint32_t i = 0; i < k->move.cell_count; i++) {
		const struct collective_cell *cell = &w->g->cells[k->first_cell + i];
		struct content *from =
			content(w, k->move.from, k->move.round, k->move.channel, cell);
		struct content *to = content(w, k->move.to, k->move.round, k->move.channel, cell);

		from->on_wire--;
		assert_int_equal(to->on_wire, 0);
		if (k->move.reduces)
			assert_true(!(to->from & w->carried[k->first_cell + i]));
		to->from = (k->move.reduces ? to->from : 0) | w->carried[k->first_cell + i];
	}
}

static void tell(struct world *w, uint32_t operation, enum operation_event event)
{
	for (uint32_t i = w->first_wait[operation]; i != UINT32_MAX; i = w->next_wait[i]) {
		const struct wait *wait = &w->g->m.waits[i];

		if (wait->event == event && --w->needs[wait->to] == 0) {
			w->progress[wait->to] = READY;
			w->open[w->open_count++] = wait->to;
		}
	}
}

/* The next thing happens to one that is open. Returns whether that was the last. */
static bool happen(struct world *w, uint32_t operation)
{
	bool message = w->by_operation[operation] != NULL;

	switch (w->progress[operation]) {
	case READY:
		begin(w, operation);
		w->progress[operation] = message ? BEGUN : DELIVERED;
		tell(w, operation, OPERATION_BEGUN);
		return false;
	case BEGUN:
		deliver(w, operation);
		w->progress[operation] = DELIVERED;
		tell(w, operation, OPERATION_DELIVERED);
		return false;
	default:
		w->progress[operation] = ENDED;
		tell(w, operation, OPERATION_ENDED);
		return true;
	}
}

static void *zeroed(size_t count, size_t size)
{
	void *p = calloc(count + 1, size);

	assert_non_null(p);
	return p;
}

/* In an order that the dice choose among all that the waits allow. */
static void carry_out(const struct graph *g, const struct collective *c, uint32_t n, uint64_t seed)
{
	bool tree = c->algorithm == TREE, whole = c->op == BROADCAST && !tree;
	uint64_t rng = rng_stream(seed, "order", 0);
	struct world w = {.g = g, .c = c, .n = n, .segments = whole ? 1 : tree ? 2 : n};
	uint64_t longest = share(share(c->bytes, c->channels, 0), w.segments, 0);
	size_t ended = 0;

	w.parts = c->chunk && longest ? (uint32_t)((longest - 1) / c->chunk + 1) : 1;
	w.contents = zeroed((size_t)n * c->repeat * c->channels * n * w.segments * w.parts,
		sizeof(*w.contents));
	w.carried = zeroed(g->cell_count, sizeof(*w.carried));
	w.by_operation = zeroed(g->m.count, sizeof(*w.by_operation));
	w.needs = zeroed(g->m.count, sizeof(*w.needs));
	w.progress = zeroed(g->m.count, sizeof(*w.progress));
	w.open = zeroed(g->m.count, sizeof(*w.open));
	w.first_wait = zeroed(g->m.count, sizeof(*w.first_wait));
	w.next_wait = zeroed(g->m.wait_count, sizeof(*w.next_wait));
	memset(w.first_wait, 0xff, g->m.count * sizeof(*w.first_wait));
	for (size_t i = 0; i < g->move_count; i++)
		w.by_operation[g->moves[i].move.operation] = &g->moves[i];
	for (uint32_t i = 0; i < g->m.wait_count; i++) {
		w.needs[g->m.waits[i].to]++;
		w.next_wait[i] = w.first_wait[g->m.waits[i].from];
		w.first_wait[g->m.waits[i].from] = i;
	}
	each_content(&w, false);
	for (uint32_t i = 0; i < g->m.count; i++)
		if (!w.needs[i]) {
			w.progress[i] = READY;
			w.open[w.open_count++] = i;
		}
	while (w.open_count) {
		uint32_t drawn = rng_below(&rng, (uint32_t)w.open_count);

		if (!happen(&w, w.open[drawn]))
			continue;
		/* others may have been added behind */
		w.open[drawn] = w.open[--w.open_count];
		ended++;
	}
	assert_int_equal(ended, g->m.count);
	each_content(&w, true);
	free(w.contents);
	free(w.carried);
	free(w.by_operation);
	free(w.needs);
	free(w.progress);
	free(w.open);
	free(w.first_wait);
	free(w.next_wait);
}

/* What an engine asks of a graph, and that messages are what they are said to move. */
static void assert_sound(const struct graph *g, const struct collective *c, uint32_t n)
{
	for (size_t i = 0; i < g->m.wait_count; i++) {
		const struct wait *w = &g->m.waits[i];
		const struct operation *from = &g->m.items[w->from], *to = &g->m.items[w->to];

		assert_true(w->from < w->to && to->waits);
		assert_true(!i || w[-1].to <= w->to);
		assert_true(operation_is_message(from) || w->event != OPERATION_DELIVERED);
		if (!operation_is_barrier(from) && !operation_is_barrier(to))
			assert_int_equal(to->src_host,
				w->event == OPERATION_DELIVERED ? from->dst_host : from->src_host);
	}
	for (size_t i = 0; i < g->move_count; i++) {
		const struct collective_move *k = &g->moves[i].move;
		const struct operation *o = &g->m.items[k->operation];
		uint32_t from = k->job * n + k->from, to = k->job * n + k->to;
		uint64_t bytes = 0;

		for (uint32_t j = 0; j < k->cell_count; j++)
			bytes += g->cells[g->moves[i].first_cell + j].bytes;
		assert_true(bytes && (!c->chunk || bytes <= c->chunk));
		assert_int_equal(o->src_host, from / c->placement.ranks_per_host);
		assert_int_equal(o->dst_host, to / c->placement.ranks_per_host);
		if (o->src_host == o->dst_host) {
			assert_int_equal(o->lasts_ps, bytes * 8 * 1000 / (INSIDE / GBPS));
			assert_int_equal(o->after_ps, c->placement.inside.delay_ps);
			assert_int_equal(o->stream, from + 1);
			bytes = 0;
		}
		assert_int_equal(o->bytes, bytes);
		assert_int_equal(o->entry, 7);
		assert_int_equal(o->group, k->job * c->repeat + k->round);
	}
}

static void data_gets_everywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++)
		for (uint32_t n = 2; n <= RANKS_MAX; n += n < 20 ? 1 : 11) {
			struct collective c = plain(all[i].op, all[i].algorithm, 1000 + n);
			struct graph g;

			if (!is_possible(i, n))
				continue;
			c.root = n / 3;
			for (int kind = 0; kind < 4; kind++) {
				c.chunk = kind == 1 ? 7 : kind == 2 ? 300 : 0;
				c.channels = kind == 2 ? 3 : 1;
				/* fewer bytes than ranks */
				c.bytes = kind == 3 ? n / 2 : 1000 + n;
				if (kind == 1 && n > 20)
					continue;
				make(&g, &c, n);
				assert_sound(&g, &c, n);
				for (uint64_t seed = 0; seed < 3; seed++)
					carry_out(&g, &c, n, seed);
				release(&g);
			}
		}
}

/* So many ranks to a host: with rounds, chunks, jobs and all that ranks do beside. */
static struct collective sharing(size_t i, uint32_t n, uint32_t ranks_per_host)
{
	static struct straggler late[] = {{1, 500, COMPUTE_AS_OTHERS}};
	struct collective c = plain(all[i].op, all[i].algorithm, 1000 + n);

	c.placement.ranks_per_host = ranks_per_host;
	c.placement.inside.rate_bps = INSIDE;
	c.placement.inside.delay_ps = 33;
	c.root = n / 3;
	if (n % 2) {
		c.chunk = 90;
		c.repeat = 2;
		c.compute_ps = 5;
		c.stragglers = late;
		c.straggler_count = 1;
	}
	return c;
}

static void data_gets_everywhere_in_hosts(void **state)
{
	static const uint32_t ranks_per_host[] = {2, 3, 8};

	(void)state;
	for (size_t i = 0; i < ALL; i++)
		for (uint32_t n = 2; n <= RANKS_MAX; n += n < 10 ? 1 : n < 17 ? 7 : 47)
			for (size_t k = 0; k < 3; k++) {
				struct collective c = sharing(i, n, ranks_per_host[k]);
				struct graph g;

				if (!is_possible(i, n))
					continue;
				make(&g, &c, n);
				assert_sound(&g, &c, n);
				for (uint64_t seed = 0; seed < 2; seed++)
					carry_out(&g, &c, n, seed);
				release(&g);
			}
}

/* Jobs may share a host: their ranks have ports of their own. */
static void jobs_share_hosts(void **state)
{
	struct collective c = plain(ALL_GATHER, RING, 600);
	bool seen[16] = {false};
	struct graph g;

	(void)state;
	c.jobs = 5;
	c.placement.ranks_per_host = 2;
	c.placement.inside.rate_bps = INSIDE;
	make(&g, &c, 3);
	assert_sound(&g, &c, 3);
	assert_int_equal(g.m.count, 5 * 3 * 2);
	for (size_t i = 0; i < g.m.count; i++)
		if (!operation_is_message(&g.m.items[i]))
			seen[g.m.items[i].stream] = true;
	/* of three ranks two share a host, and the first one sends to the second */
	for (uint32_t i = 0; i < 16; i++)
		assert_true(seen[i] == (i == 1 || i == 5 || i == 7 || i == 11 || i == 13));
	assert_int_equal(g.m.work_stream_count, 15);
	release(&g);
}

/* In powers of two up to the largest. */
static void halving_reaches_many(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++)
		for (uint32_t n = 32; n <= RANKS_MAX; n *= 2) {
			struct collective c = plain(all[i].op, all[i].algorithm, 100 * n);
			struct graph g;

			c.chunk = 64;
			make(&g, &c, n);
			carry_out(&g, &c, n, n);
			release(&g);
		}
}

/* A round begins at a rank when it has done with the one before; a straggler later. */
static void rounds_and_stragglers(void **state)
{
	struct straggler late[] = {{1, 500, COMPUTE_AS_OTHERS}, {2, 0, 77}};

	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		struct collective c = plain(all[i].op, all[i].algorithm, 999);
		size_t gates = 0, computations = 0;
		struct graph g;

		c.common.start_ps = 40;
		c.repeat = 3;
		c.gap_ps = 9;
		c.compute_ps = 5;
		c.chunk = 100;
		c.stragglers = late;
		c.straggler_count = 2;
		make(&g, &c, 4);
		assert_sound(&g, &c, 4);
		carry_out(&g, &c, 4, 1);
		for (size_t k = 0; k < g.m.count; k++) {
			const struct operation *o = &g.m.items[k];

			if (operation_is_message(o)) {
				if (!o->waits)
					assert_int_equal(o->start_ps, 40);
				else
					assert_int_equal(o->start_ps, 0);
			} else if (o->lasts_ps == (o->src_host == 2 ? 77 : 5)) {
				assert_true(o->waits);
				computations++;
			} else if (o->lasts_ps || o->start_ps) {
				gates++;
				assert_int_equal(o->lasts_ps, o->src_host == 1 ? 500 : 0);
				assert_int_equal(o->start_ps, o->group ? 9 : 40);
			}
		}
		/* the straggler's first, and all of two rounds */
		assert_int_equal(gates, 1 + 2 * 4);
		assert_true(computations || all[i].algorithm == WINDOWED);
		release(&g);
	}
}

static void jobs_stay_apart(void **state)
{
	struct collective c = plain(ALL_REDUCE, RING, 800);
	struct graph g;

	(void)state;
	c.jobs = 5;
	make(&g, &c, 8);
	assert_sound(&g, &c, 8);
	assert_int_equal(g.m.count, 5 * 8 * 14);
	for (size_t i = 0; i < g.m.count; i++) {
		assert_int_equal(g.m.items[i].group, i / (8 * 14));
		assert_int_equal(g.m.items[i].src_host / 8, i / (8 * 14));
		assert_int_equal(g.m.items[i].dst_host / 8, i / (8 * 14));
	}
	release(&g);
}

/* ---- counts and bytes ---- */

struct traffic {
	uint64_t sent[RANKS_MAX], received[RANKS_MAX];
	uint32_t messages[RANKS_MAX]; /* sent */
	uint64_t bytes;
};

static struct traffic traffic(const struct collective *c, uint32_t n)
{
	struct traffic t = {0};
	struct graph g;

	make(&g, c, n);
	for (size_t i = 0; i < g.m.count; i++) {
		const struct operation *o = &g.m.items[i];

		if (!operation_is_message(o))
			continue;
		t.sent[o->src_host] += o->bytes;
		t.received[o->dst_host] += o->bytes;
		t.messages[o->src_host]++;
		t.bytes += o->bytes;
	}
	release(&g);
	return t;
}

static uint32_t log2_up(uint32_t n)
{
	uint32_t bits = 0;

	while (1u << bits < n)
		bits++;
	return bits;
}

/* Blocks that travel in a step of Bruck's. */
static uint32_t bruck_blocks(uint32_t n, uint32_t bit)
{
	uint32_t blocks = 0;

	for (uint32_t d = 1; d < n; d++)
		blocks += (d & bit) != 0;
	return blocks;
}

/*
 * docs/closed-forms.md, "collectives": messages of a rank, with a chunk a step, and its bytes in
 * segments of an n-th.
 */
static void closed_form(size_t i, uint32_t n, uint32_t *ret_messages, uint32_t *ret_segments)
{
	uint32_t twice = all[i].op == ALL_REDUCE ? 2 : 1;

	*ret_segments = twice * (n - 1);
	*ret_messages = all[i].algorithm == HALVING_DOUBLING ? twice * log2_up(n) : twice * (n - 1);
	if (all[i].algorithm == BRUCK) {
		*ret_messages = log2_up(n);
		*ret_segments = 0;
		for (uint32_t bit = 1; bit < n; bit *= 2)
			*ret_segments += bruck_blocks(n, bit);
	}
}

static void as_much_as_the_closed_forms_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++)
		for (uint32_t n = 2; n <= RANKS_MAX; n += n < 17 ? 1 : 47) {
			uint64_t segment = 60;
			struct collective c = plain(all[i].op, all[i].algorithm, segment * n);
			uint32_t messages, segments;
			struct traffic whole, parts;

			if (!is_possible(i, n))
				continue;
			whole = traffic(&c, n);
			if (all[i].algorithm == TREE || all[i].op == BROADCAST) {
				/* an edge carries a half of it, each way if it is reduced too */
				assert_int_equal(whole.bytes,
					(all[i].op == ALL_REDUCE ? 2 : 1) * (n - 1) * c.bytes);
				for (uint32_t k = 0; k < n; k++)
					assert_true(whole.sent[k] <= 2 * c.bytes);
				continue;
			}
			closed_form(i, n, &messages, &segments);
			c.chunk = 20;
			parts = traffic(&c, n);
			for (uint32_t k = 0; k < n; k++) {
				assert_int_equal(whole.messages[k], messages);
				assert_int_equal(whole.sent[k], segments * segment);
				assert_int_equal(whole.received[k], segments * segment);
				assert_int_equal(parts.messages[k], 3 * segments);
				assert_int_equal(parts.sent[k], segments * segment);
			}
		}
}

/* In NCCL's trees no rank but one is inside both. */
static void trees_are_complementary(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= RANKS_MAX; n++) {
		struct collective c = plain(ALL_REDUCE, TREE, 200);
		bool inside[2][RANKS_MAX] = {{0}};
		uint32_t both = 0;
		struct graph g;

		make(&g, &c, n);
		for (size_t i = 0; i < g.move_count; i++)
			if (g.moves[i].move.reduces)
				inside[g.cells[g.moves[i].first_cell].segment][g.moves[i].move.to] =
					true;
		for (uint32_t k = 0; k < n; k++)
			both += inside[0][k] && inside[1][k];
		assert_true(both <= 1);
		release(&g);
	}
}

/* No more than are promised, and about as many. */
static void counted_beforehand(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++)
		for (uint32_t n = 4; n <= RANKS_MAX; n *= 2)
			for (uint64_t chunk = 0; chunk < 400; chunk += 100) {
				struct collective c = plain(all[i].op, all[i].algorithm, 1000 * n);
				struct graph g;
				double least;

				c.ranks = n;
				c.jobs = n > 32 ? 1 : 2;
				c.chunk = chunk;
				make(&g, &c, n);
				least = workload_kind_collective.count(
					&c, &(struct workload_hosts){.count = 2 * n});
				assert_true(least <= (double)g.m.count);
				if (chunk && all[i].algorithm != BRUCK)
					assert_true(2 * least > (double)g.move_count);
				release(&g);
			}
}

/* ---- time ---- */

#define DELAY (100 * PS_PER_US)

static void open_star(struct small_net *s, uint32_t n)
{
	static struct strack_options few_answers = STRACK_OPTIONS_DEFAULT;
	const struct small_config c = {.options = &few_answers};

	few_answers.sack_packets = 64; /* they share links with data */
	small_net_star(s, n, 100 * GBPS, 100 * GBPS, DELAY);
	small_net_open(s, &c);
}

/* A message alone: when it has been delivered; when it has ended; when all can know of it. */
static uint64_t alone(uint64_t bytes, uint64_t *ret_ended_ps, uint64_t *ret_known_ps)
{
	struct engine_flow_result r;
	struct small_net s;

	open_star(&s, 3);
	small_net_flow(&s, 0, 1, bytes, 0);
	small_net_run(&s, PS_PER_S);
	engine_flow_result(s.engine, 0, &r);
	if (ret_ended_ps)
		*ret_ended_ps = r.finish_ps;
	if (ret_known_ps)
		*ret_known_ps = r.delivered_ps + s.engine->env.base_rtt_ps / 2;
	small_net_close(&s);
	return r.delivered_ps;
}

static uint64_t delivered(uint64_t bytes)
{
	return alone(bytes, NULL, NULL);
}

/* From the first beginning to the last delivery. */
static uint64_t takes(const struct collective *c, uint32_t n)
{
	uint64_t last = 0;
	struct small_net s;
	struct graph g;

	make(&g, c, n);
	open_star(&s, n);
	assert_int_equal(
		engine_add_flows(s.engine, g.m.items, g.m.count, g.m.waits, g.m.wait_count), 0);
	small_net_run(&s, 100 * PS_PER_S);
	for (uint32_t i = 0; i < g.m.count; i++) {
		struct engine_flow_result r;

		engine_flow_result(s.engine, i, &r);
		assert_true(r.finish_ps || !operation_is_message(&r.flow));
		if (!operation_is_message(&r.flow) && r.flow.stream)
			r.delivered_ps = r.finish_ps;
		last = r.delivered_ps > last ? r.delivered_ps : last;
	}
	small_net_close(&s);
	release(&g);
	return last;
}

static void assert_near(uint64_t a, uint64_t b)
{
	if (a < b ? (b - a) * 1000 > b : (a - b) * 1000 > b)
		fail_msg("%llu ps, and the closed form says %llu ps", (unsigned long long)a,
			(unsigned long long)b);
}

/* docs/closed-forms.md, "collectives". */
static uint64_t closed_time(size_t i, uint32_t n, uint64_t segment)
{
	uint32_t twice = all[i].op == ALL_REDUCE ? 2 : 1;
	uint64_t sum = 0, ended, known, one = alone(segment, &ended, &known);

	switch (all[i].algorithm) {
	case RING:
		if (all[i].op == BROADCAST)
			return (n - 1) * delivered(segment * n);
		return twice * (n - 1) * one;
	case HALVING_DOUBLING:
		for (uint32_t d = n / 2; d; d /= 2)
			sum += twice * delivered(segment * d);
		return sum;
	case TREE:
		return twice * log2_up(n) * delivered(segment * n / 2);
	case PAIRWISE:
		return (n - 2) * ended + one;
	case WINDOWED:
		return (n - 2) / 3 * (known > ended ? known : ended) + one;
	case BRUCK:
		for (uint32_t bit = 1; bit < n; bit *= 2)
			sum += delivered(segment * bruck_blocks(n, bit));
		return sum;
	default:
		return 0;
	}
}

/*
 * On a star: a switch at which all hosts are. Segments of one packet, so that little is on a link
 * at the same time.
 */
static void time_is_the_closed_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++)
		for (uint32_t n = 2; n <= 16; n += n < 9 ? 1 : 7) {
			struct collective c = plain(all[i].op, all[i].algorithm, 200 * n);

			/* else a step need not wait for the one before */
			if (is_possible(i, n) && (all[i].algorithm != BRUCK || !(n & (n - 1))))
				assert_near(takes(&c, n), closed_time(i, n, 200));
		}
}

/* Long segments too, where each has a link for itself. */
static void long_ones_too(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		struct collective c = plain(all[i].op, all[i].algorithm, 8 * 65536);

		if (all[i].algorithm == RING || all[i].algorithm == HALVING_DOUBLING ||
			all[i].algorithm == BRUCK || all[i].algorithm == PAIRWISE)
			assert_near(takes(&c, 8), closed_time(i, 8, 65536));
	}
}

/* The bytes on a host's link, either way: docs/closed-forms.md, "several ranks to a host". */
static void hosts_send_as_much_as_they_must(void **state)
{
	(void)state;
	for (uint32_t each = 2; each <= 8; each *= 2) {
		struct collective ring = plain(ALL_REDUCE, RING, 32 * 60);
		struct collective exchange = plain(ALL_TO_ALL, PAIRWISE, 32 * 60);
		struct traffic r, x;

		ring.placement.ranks_per_host = exchange.placement.ranks_per_host = each;
		ring.placement.inside.rate_bps = exchange.placement.inside.rate_bps = INSIDE;
		r = traffic(&ring, 32);
		x = traffic(&exchange, 32);
		for (uint32_t host = 0; host < 32 / each; host++) {
			assert_int_equal(r.sent[host], 2 * 31 * 60);
			assert_int_equal(r.received[host], 2 * 31 * 60);
			assert_int_equal(x.sent[host], each * (32 - each) * 60);
			assert_int_equal(x.received[host], each * (32 - each) * 60);
		}
	}
}

/*
 * docs/closed-forms.md, "several ranks to a host": where all hops are short, where a hop inside a
 * host takes longest, and where all are in one host.
 */
static void time_in_hosts_is_the_closed_form(void **state)
{
	(void)state;
	for (uint32_t each = 2; each <= 8; each *= 2)
		for (uint32_t hosts = 1; hosts <= 4; hosts++) {
			uint32_t n = each * hosts, hops = 2 * (n - 1);
			/* of so many in sequence; the two that are left out stand side by side */
			uint32_t far = hosts == 1 ? 0 : 2 * hosts - (each == 2);
			struct collective c = plain(ALL_REDUCE, RING, (uint64_t)200 * n);

			c.placement.ranks_per_host = each;
			c.placement.inside.rate_bps = 100 * GBPS;
			c.placement.inside.delay_ps = 20 * PS_PER_US;
			assert_near(takes(&c, n),
				far * delivered(200) +
					(hops - far) * (16000 + c.placement.inside.delay_ps));
			/* 1.6 ms a hop: longer than a message to another host, and all delays */
			c.placement.inside.rate_bps = GBPS / 1000;
			assert_near(takes(&c, n),
				hops * 1600 * PS_PER_US + (hosts == 1 ? hops : each - 1) *
								  c.placement.inside.delay_ps);
		}
}

/* Nobody needs to be told of what came to its own host. */
static void news_inside_hosts_takes_no_time(void **state)
{
	struct collective c = plain(ALL_TO_ALL, WINDOWED, 8 * 1000);

	(void)state;
	c.window = 1;
	c.placement.ranks_per_host = 8;
	c.placement.inside.rate_bps = GBPS;
	c.placement.inside.delay_ps = 3 * PS_PER_US;
	assert_int_equal(takes(&c, 8), 7 * (8 + 3) * PS_PER_US);
}

/* A message's frames on a link. */
static uint64_t on_link(uint64_t bytes)
{
	return bytes / MTU * serialise_ps(data_frame_bytes(MTU, false), 100 * GBPS);
}

/* As long as what is inside hosts is faster, their links are never idle. */
static void hosts_links_are_never_idle(void **state)
{
	(void)state;
	for (uint32_t each = 2; each <= 4; each *= 2) {
		struct collective c = plain(ALL_REDUCE, RING, (uint64_t)2 * each * 1024 * MTU);

		c.placement.ranks_per_host = each;
		c.placement.inside.rate_bps = 1000 * GBPS;
		assert_near(takes(&c, 2 * each),
			(4 * each - 3) * on_link(1024 * MTU) + delivered(1024 * MTU));
	}
}

/* A straggler's delay is seen at the end, and so is what is computed between steps. */
static void stragglers_take_time(void **state)
{
	struct collective c = plain(ALL_REDUCE, RING, 8000);
	struct straggler late = {3, 7 * PS_PER_MS, COMPUTE_AS_OTHERS};
	uint64_t before = takes(&c, 8);

	(void)state;
	c.compute_ps = 50 * PS_PER_US;
	assert_near(takes(&c, 8), before + 13 * c.compute_ps);
	c.compute_ps = 0;
	c.stragglers = &late;
	c.straggler_count = 1;
	assert_near(takes(&c, 8), before + late.delay_ps);
	/* one after the other, while the others wait */
	late = (struct straggler){3, 0, 7 * PS_PER_MS};
	assert_near(takes(&c, 8), 13 * late.compute_ps + 2 * delivered(1000));
}

/* ---- scenarios ---- */

#define STAR                                                                                         \
	"name: a\ntopology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 8}, delay: 100us}\n" \
	"workload:\n  - collective: "

static void wrong_keys_are_explained(void **state)
{
	(void)state;
	expect(STAR "{op: all_to_all, algorithm: ring, size: 1MB}\n",
		"4:45: workload.0.collective.algorithm: there is no all_to_all by ring; expected one of "
		"pairwise, windowed, bruck\n");
	expect(STAR "{op: broadcast, algorithm: halving_doubling, size: 1MB}\n",
		"4:44: workload.0.collective.algorithm: there is no broadcast by halving_doubling; "
		"expected one of ring, tree\n");
	expect(STAR
		"{op: all_to_all, size: 1MB, stragglers: [{rank: 1, delay: 1us}, {rank: 0}, {rank: 1, compute: 2us}]}\n",
		"4:99: workload.0.collective.stragglers.2.rank: rank 1 again; say all of it at once\n");
	expect(STAR "{op: all_to_all, size: 1MB, window: 0}\n",
		"4:53: workload.0.collective.window: 0 is too small; expected a whole number from 1 to "
		"1000000\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks: 1}\n",
		"4:52: workload.0.collective.ranks: 1 is too small; expected a whole number from 2 to "
		"1000000, or all\n");
	expect(STAR "{op: all_reduce, size: 1MB, hosts: [h0, h1, h0]}\n",
		"4:61: workload.0.collective.hosts.2: 'h0' again; ranks_per_host is 1\n");
	expect(STAR "{op: all_reduce, size: 1MB, hosts: [h0, h0, h1, h0], ranks_per_host: 2, "
		    "inside: {rate: 1Tbps}}\n",
		"4:65: workload.0.collective.hosts.3: 'h0' again; ranks_per_host is 2\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks_per_host: 4}\n",
		"4:61: workload.0.collective.ranks_per_host: ranks of a host send to each other inside "
		"it; give the rate of that too, such as inside: {rate: 3.6Tbps}\n");
	expect(STAR "{op: all_reduce, size: 1MB, inside: {rate: 1Tbps}}\n",
		"4:53: workload.0.collective.inside: no ranks share a host; give ranks_per_host: 2 or "
		"more, or leave it out\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks_per_host: 4, inside: {delay: 1us}}\n",
		"4:72: workload.0.collective.inside.rate: missing; expected a rate from 1Mbps to "
		"10Tbps, such as 100Gbps\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks_per_host: 4, inside: {rate: 0Gbps}}\n",
		"4:79: workload.0.collective.inside.rate: 0Gbps is too small; expected a rate from "
		"1Mbps to 10Tbps, such as 100Gbps\n");
}

static const struct workload_hosts eight_hosts = {.count = 8};

static void assert_refused(const struct collective *c, const char *why)
{
	char text[WORKLOAD_REFUSAL];

	assert_string_equal(workload_kind_collective.refuse(c, &eight_hosts, text), why);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct straggler late = {.rank = 4};
	struct collective c = plain(ALL_REDUCE, RING, 1000);
	char text[WORKLOAD_REFUSAL];

	(void)state;
	assert_null(workload_kind_collective.refuse(&c, &eight_hosts, text));
	c.ranks = 9;
	assert_refused(
		&c, "ranks: 1 job of 9 ranks; ranks_per_host is 1, and the fabric has 8 hosts");
	c.ranks = 4;
	c.jobs = 3;
	assert_refused(
		&c, "ranks: 3 jobs of 4 ranks; ranks_per_host is 1, and the fabric has 8 hosts");
	c.placement.ranks_per_host = 2;
	assert_null(workload_kind_collective.refuse(&c, &eight_hosts, text));
	c.jobs = 5;
	assert_refused(
		&c, "ranks: 5 jobs of 4 ranks; ranks_per_host is 2, and the fabric has 8 hosts");
	c.placement.ranks_per_host = 1;
	c.ranks = 0;
	c.jobs = 5;
	assert_refused(
		&c, "jobs: 5 of 8 hosts; a job needs at least 2 ranks, and ranks_per_host is 1");
	c.jobs = 1;
	c.ranks = 3;
	c.placement.host_count = 4;
	assert_refused(&c, "hosts: 4 for 1 job of 3 ranks; expected 3");
	c.placement.host_count = 0;
	c.algorithm = HALVING_DOUBLING;
	c.ranks = 6;
	assert_refused(&c, "ranks: 6 is no power of two, which halving_doubling needs");
	c.ranks = 4;
	assert_null(workload_kind_collective.refuse(&c, &eight_hosts, text));
	c.stragglers = &late;
	c.straggler_count = 1;
	assert_refused(&c, "stragglers.0.rank: there is no rank 4; they are 0 to 3");
	c = plain(BROADCAST, RING, 1000);
	c.root = 8;
	assert_refused(&c, "root: there is no rank 8; they are 0 to 7");
}

/* ---- placement */

static uint32_t host_number(const void *fabric, const char *name)
{
	(void)fabric;
	return (uint32_t)strtoul(name + 1, NULL, 10);
}

/* The host of each of n ranks, of which each sends to all others. */
static void placed(uint32_t *ret, struct collective *c, uint32_t n, uint64_t seed)
{
	const struct workload_hosts hosts = {.count = 8, .mtu = MTU, .number = host_number};
	const struct workload_params p = {.seed = seed};
	struct operations m = OPERATIONS_INIT;
	uint32_t *next = ret;

	c->ranks = n;
	assert_int_equal(workload_kind_collective.operations(&m, &p, c, &hosts), 0);
	/* the first step has a message of each rank, in their order */
	for (size_t i = 0; next < ret + n; i++) {
		assert_true(i < m.count);
		if (operation_is_message(&m.items[i]) || m.items[i].stream)
			*next++ = m.items[i].src_host;
	}
	operations_release(&m);
}

/* In order and at random consecutive ranks fill a host; a list says of each rank where it is. */
static void ranks_are_where_they_are_placed(void **state)
{
	static char *const names[] = {"h3", "h1", "h3", "h7", "h1"};
	struct collective c = plain(ALL_TO_ALL, PAIRWISE, 6400);
	uint32_t hosts[20], again[20], other[20];
	bool seen[8] = {false}, moved = false;

	(void)state;
	placed(hosts, &c, 8, 1);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(hosts[i], i);
	c.placement.ranks_per_host = 3;
	c.placement.inside.rate_bps = INSIDE;
	placed(hosts, &c, 20, 1);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(hosts[i], i / 3);
	c.placement.order = RANDOM;
	placed(hosts, &c, 20, 1);
	placed(again, &c, 20, 1);
	placed(other, &c, 20, 2);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(hosts[i], hosts[i / 3 * 3]);
		assert_int_equal(hosts[i], again[i]);
		assert_true(i % 3 || !seen[hosts[i]]);
		seen[hosts[i]] = true;
		moved |= hosts[i] != other[i];
	}
	assert_true(moved);
	c.placement.hosts = (char **)names;
	c.placement.host_count = 5;
	placed(hosts, &c, 5, 1);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(hosts[i], host_number(NULL, names[i]));
}

static void it_is_written_as_it_was_read(void **state)
{
	static const char given[] = STAR
		"{op: all_gather, size: 1MB, hosts: [h3, h1], chunk: off, compute: 1us, stragglers: "
		"[{rank: 1, delay: 2us}, {rank: 0, compute: 0}], ranks_per_host: 4, "
		"inside: {rate: 3.6Tbps, delay: 700ns}}\n";
	struct scenario *s = load(given), *again;
	char *text = write_text(s), *second;
	const struct collective *c = (const struct collective *)s->workloads[0].options;

	(void)state;
	assert_int_equal(c->chunk, 0);
	assert_int_equal(c->common.bytes, 1 << 20);
	assert_int_equal(c->straggler_count, 2);
	assert_int_equal(c->stragglers[0].compute_ps, COMPUTE_AS_OTHERS);
	assert_int_equal(c->stragglers[1].compute_ps, 0);
	assert_int_equal(c->placement.ranks_per_host, 4);
	assert_int_equal(c->placement.inside.rate_bps, 3600 * GBPS);
	assert_int_equal(c->placement.inside.delay_ps, 700000);
	again = load(text);
	second = write_text(again);
	assert_string_equal(text, second);
	free(text);
	free(second);
	scenario_free(s);
	scenario_free(again);
}

/* ---- results ---- */

static double figure(const json_t *summary, const char *path)
{
	double value;

	assert_int_equal(summary_lookup(summary, path, &value), 0);
	return value;
}

/* Two jobs of four ranks in two rounds: times, bandwidths and who was last. */
static void results_tell_of_each_round(void **state)
{
	struct small_session s;
	json_t *summary, *round;
	double took = 0, bytes = 4096;
	bool met;
	size_t i;

	(void)state;
	small_session_open(&s,
		STAR "{op: reduce_scatter, size: 4KB, ranks: 4, jobs: 2, repeat: 2, start: 5us, "
		     "stragglers: [{rank: 2, delay: 900us}]}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "collectives.count"), 4);
	assert_int_equal(figure(summary, "collectives.unfinished"), 0);
	assert_int_equal(json_array_size(look(summary, "collectives.entries")), 1);
	json_array_foreach(look(summary, "collectives.rounds"), i, round)
	{
		double time = figure(round, "time_us");

		took += time / 4;
		assert_int_equal(figure(round, "job"), i / 2);
		assert_int_equal(figure(round, "round"), i % 2);
		assert_true(i % 2 || figure(round, "start_us") == 5);
		/* ranks begin the second round as they have done with the first */
		assert_true(time > 900 + 200 && time < 900 + 3 * 200 * 1.01);
		assert_true(i % 2 || time > 900 + 3 * 200);
		assert_float_equal(figure(round, "algbw"), bytes / time / 1000, 1e-9);
		assert_float_equal(figure(round, "busbw"), bytes / time / 1000 * 3 / 4, 1e-9);
		assert_float_equal(figure(round, "last.after_us"), time, 1e-9);
		assert_true(figure(round, "first.after_us") < time);
		/* three messages of a packet */
		assert_float_equal(
			figure(round, "ideal_us"), 3.0 * (1024 + 74 + 24) * 8 / 100e9 * 1e6, 1e-9);
	}
	assert_int_equal(i, 4);
	assert_float_equal(figure(summary, "collectives.time_us.mean"), took, 1e-9);
	json_decref(summary);
	small_session_close(&s);
}

/* Of four ranks below each of two leaves 16 blocks cross, and 7 leave a NIC; a fault slows some. */
static void the_ideal_knows_links_between_switches(void **state)
{
	const struct {
		const char *spines, *faults;
		double blocks;
	} cases[] = {{"1", "", 16}, {"4", "", 7},
		{"4", "faults: [{at: 0, link: \"leaf0-spine[123]\", do: down}]\n", 16},
		{"4", "faults: [{at: 0, link: h5-leaf1, do: {rate: 25%}}]\n", 28}};
	double one = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct small_session s;
		json_t *summary;
		char text[300];
		double ideal;
		bool met;

		snprintf(text, sizeof(text),
			"name: a\ntopology: {leaf_spine: {leaves: 2, spines: %s, hosts_per_leaf: 4}}\n"
			"workload: [{collective: {op: all_to_all, size: 8MB}}]\n%s",
			cases[i].spines, cases[i].faults);
		small_session_open(&s, text, NULL, 0, NULL);
		small_session_run(&s);
		summary = small_session_summary(&s, &met);
		ideal = json_number_value(
			look(json_array_get(look(summary, "collectives.rounds"), 0), "ideal_us"));
		one = i ? one : ideal / cases[i].blocks;
		assert_float_equal(ideal, one * cases[i].blocks, 1e-3);
		assert_true(figure(summary, "collectives.time_us.max") > ideal);
		json_decref(summary);
		small_session_close(&s);
	}
}

/*
 * Twice two ranks on two hosts, the second time with a slow way inside: what is sent there counts
 * in times and in the bound, and not as sent by the fabric.
 */
static void results_count_what_is_inside(void **state)
{
	struct small_session s;
	json_t *summary, *entry, *round;
	bool met;
	size_t i;

	(void)state;
	small_session_open(&s,
		STAR
		"{op: all_reduce, size: 800, ranks: 4, ranks_per_host: 2, inside: {rate: 1Tbps}}\n"
		"  - collective: {op: all_reduce, size: 800, hosts: [h4, h4, h3, h3], "
		"ranks_per_host: 2, start: 1s, inside: {rate: 1Gbps, delay: 2us}}\n"
		"  - collective: {op: all_gather, size: 4KB, hosts: [h1, h2], start: 2s}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "collectives.unfinished"), 0);
	/* six steps, and two of four ranks send to another host; two ranks send once */
	assert_int_equal(figure(summary, "flows.count"), 2 * 6 * 2 + 2);
	json_array_foreach(look(summary, "collectives.entries"), i, entry)
	{
		/* six messages of 200 bytes on a link, or inside a host */
		double ideal[] = {6 * (200 + 74 + 24) * 8 / 100e3, 6 * 200 * 8 / 1e3};

		assert_int_equal(figure(entry, "ranks_per_host"), i == 2 ? 1 : 2);
		if (i == 2)
			break;
		assert_float_equal(figure(entry, "ideal_us"), ideal[i], 1e-9);
		/* three messages of either kind follow each other: 200 us, or none; 3.6 us */
		assert_float_equal(figure(entry, "time_us"), i ? 610.8 : 600, 1);
	}
	assert_int_equal(i, 2);
	round = json_array_get(look(summary, "collectives.rounds"), 1);
	assert_float_equal(figure(round, "last.after_us"), figure(round, "time_us"), 1e-9);
	json_decref(summary);
	small_session_close(&s);
}

/* All of it inside a host: no packet is sent, and the run waits for what is queued at a port. */
static void a_host_is_enough(void **state)
{
	struct small_session s;
	json_t *summary, *entry;
	bool met;

	(void)state;
	small_session_open(&s,
		STAR
		"{op: all_to_all, algorithm: windowed, window: 7, size: 56GB, chunk: off, ranks: 8, "
		"ranks_per_host: 8, repeat: 3, inside: {rate: 1Tbps, delay: 9us}}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "packets.sent"), 0);
	assert_int_equal(figure(summary, "collectives.unfinished"), 0);
	entry = json_array_get(look(summary, "collectives.entries"), 0);
	/* seven messages of 7 GB, which a port has at once */
	assert_float_equal(figure(entry, "ideal_us"), 7 * 56 * 1073.741824, 1e-3);
	assert_float_equal(figure(entry, "min_us"), figure(entry, "ideal_us") + 9, 1e-3);
	json_decref(summary);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_gets_everywhere),
		cmocka_unit_test(data_gets_everywhere_in_hosts),
		cmocka_unit_test(jobs_share_hosts),
		cmocka_unit_test(halving_reaches_many),
		cmocka_unit_test(rounds_and_stragglers),
		cmocka_unit_test(jobs_stay_apart),
		cmocka_unit_test(as_much_as_the_closed_forms_say),
		cmocka_unit_test(trees_are_complementary),
		cmocka_unit_test(counted_beforehand),
		cmocka_unit_test(time_is_the_closed_form),
		cmocka_unit_test(long_ones_too),
		cmocka_unit_test(hosts_send_as_much_as_they_must),
		cmocka_unit_test(time_in_hosts_is_the_closed_form),
		cmocka_unit_test(news_inside_hosts_takes_no_time),
		cmocka_unit_test(hosts_links_are_never_idle),
		cmocka_unit_test(stragglers_take_time),
		cmocka_unit_test(wrong_keys_are_explained),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(ranks_are_where_they_are_placed),
		cmocka_unit_test(it_is_written_as_it_was_read),
		cmocka_unit_test(results_tell_of_each_round),
		cmocka_unit_test(the_ideal_knows_links_between_switches),
		cmocka_unit_test(results_count_what_is_inside),
		cmocka_unit_test(a_host_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
