/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collectives: the right data gets everywhere in any order that the waits allow, and as much as the
 * closed forms say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "collective_fixture.h"

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
		cmocka_unit_test(hosts_send_as_much_as_they_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
