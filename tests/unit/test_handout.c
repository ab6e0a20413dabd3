/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Work handed out to threads, whose messages go through memory instead of MPI. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/numbers.h"
#include "sweep/handout.h"
#include "sweep/ranks.h"
#include "sweep/ranks_ops.h"

#define SIZE  4
#define ITEMS 20

struct message {
	int from, to;
	uint8_t *bytes;
	size_t length;
};

/* What all ranks share. */
struct world {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct message *messages;
	size_t count;
};

struct fake {
	struct ranks ranks; /* first: it is what the operations get */
	struct world *world;
	unsigned done; /* items */
	bool garbles;
};

static int fake_send(struct ranks *r, int to, const void *bytes, size_t length)
{
	struct world *w = ((struct fake *)r)->world;
	struct message m = {r->rank, to, calloc(1, length + 1), length};
	int e;

	memcpy(m.bytes, bytes, length);
	if (((struct fake *)r)->garbles)
		m.bytes[0] = '?';
	pthread_mutex_lock(&w->lock);
	e = ARRAY_ADD(w->messages, w->count, m);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return e;
}

static bool find(const struct world *w, int from, int to, size_t *ret)
{
	for (*ret = 0; *ret < w->count; (*ret)++)
		if (w->messages[*ret].to == to && (from < 0 || w->messages[*ret].from == from))
			return true;
	return false;
}

static int fake_recv(
	struct ranks *r, int from, int *ret_from, uint8_t **ret_bytes, size_t *ret_length)
{
	struct world *w = ((struct fake *)r)->world;
	size_t i;

	pthread_mutex_lock(&w->lock);
	while (!find(w, from, r->rank, &i))
		pthread_cond_wait(&w->changed, &w->lock);
	*ret_from = w->messages[i].from;
	*ret_bytes = w->messages[i].bytes;
	*ret_length = w->messages[i].length;
	/* to a slot that none reads: the array only grows */
	w->messages[i] = (struct message){.from = -2, .to = -2};
	pthread_mutex_unlock(&w->lock);
	return 0;
}

static const struct ranks_ops fake_ops = {.send = fake_send, .recv = fake_recv};

/* What rank 0 has heard. */
struct heard {
	char what[ITEMS][64];
	unsigned times[ITEMS], all, stop_at; /* stop_at 0: never */
};

static int work(void *arg, const char *item, struct bundle *ret, struct error *why)
{
	char text[64];

	((struct fake *)arg)->done++;
	if (!strcmp(item, "item 3"))
		return error_set(why, -ENOSPC, "no room for %s", item);
	snprintf(text, sizeof(text), "result of %s", item);
	*ret = (struct bundle){(uint8_t *)strdup(text), strlen(text)};
	return ret->bytes ? 0 : -ENOMEM;
}

static void *worker(void *arg)
{
	return handout_work(arg, work, arg) == 0 ? arg : NULL;
}

static int hear(void *arg, const struct handout_result *result)
{
	struct heard *h = arg;

	assert_true(result->rank > 0 && result->rank < SIZE);
	h->times[result->item]++;
	h->all++;
	if (result->status < 0)
		snprintf(h->what[result->item], sizeof(h->what[0]), "%d %s", -result->status,
			result->why);
	else
		snprintf(h->what[result->item], sizeof(h->what[0]), "%.*s",
			(int)result->bundle->length, result->bundle->bytes);
	return h->all == h->stop_at ? -ECANCELED : 0;
}

/* What handout_lead() returns; each worker has ended well. */
static int run(struct heard *h, size_t count, bool garbled)
{
	struct world w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};
	char texts[ITEMS][24];
	const char *items[ITEMS];
	struct fake fakes[SIZE];
	pthread_t threads[SIZE];
	unsigned done = 0;
	void *ended;
	int r;

	for (int i = 0; i < ITEMS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "item %d", i);
		items[i] = texts[i];
	}
	for (int i = 0; i < SIZE; i++) {
		fakes[i] = (struct fake){{&fake_ops, i, SIZE}, &w, 0, garbled && i == 2};
		if (i)
			assert_int_equal(pthread_create(&threads[i], NULL, worker, &fakes[i]), 0);
	}
	r = handout_lead(&fakes[0].ranks, items, count, hear, h);
	assert_int_equal(handout_end(&fakes[0].ranks), 0);
	for (int i = 1; i < SIZE; i++) {
		pthread_join(threads[i], &ended);
		assert_ptr_equal(ended, &fakes[i]);
		done += fakes[i].done;
	}
	assert_int_equal(done, h->all);
	assert_int_equal(fakes[0].done, 0);
	for (size_t i = 0; i < w.count; i++)
		assert_null(w.messages[i].bytes);
	free(w.messages);
	return r;
}

/* And one that fails stops none. */
static void each_item_is_done_once(void **state)
{
	struct heard h = {0};
	char text[64];

	(void)state;
	assert_int_equal(run(&h, ITEMS, false), 0);
	for (int i = 0; i < ITEMS; i++) {
		snprintf(text, sizeof(text),
			i == 3 ? "28 no room for item %d" : "result of item %d", i);
		assert_int_equal(h.times[i], 1);
		assert_string_equal(h.what[i], text);
	}
}

static void fewer_items_than_ranks(void **state)
{
	(void)state;
	for (size_t count = 0; count < SIZE; count++) {
		struct heard h = {0};

		assert_int_equal(run(&h, count, false), 0);
		assert_int_equal(h.all, count);
	}
}

/* What is being done is still taken. */
static void rank_0_can_stop_it(void **state)
{
	struct heard h = {.stop_at = 5};

	(void)state;
	assert_int_equal(run(&h, ITEMS, false), -ECANCELED);
	assert_in_range(h.all, 5, 5 + SIZE - 1);
}

static void garbled_answers_are_told(void **state)
{
	struct heard h = {0};
	unsigned garbled = 0;

	(void)state;
	assert_int_equal(run(&h, ITEMS, true), 0);
	assert_int_equal(h.all, ITEMS);
	for (int i = 0; i < ITEMS; i++)
		garbled += strstr(h.what[i], "garbled") != NULL;
	assert_true(garbled >= 1);
}

static void one_process_has_no_ranks(void **state)
{
	struct error why = ERROR_INIT;
	struct ranks *r = (struct ranks *)&why;

	(void)state;
	unsetenv("OMPI_COMM_WORLD_SIZE");
	assert_int_equal(ranks_open(&r, &why), 0);
	assert_null(r);
	setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
	assert_int_equal(ranks_open(&r, &why), 0);
	assert_null(r);
	ranks_close(r);
}

/* A unit test lies where there is none. */
static void without_the_plugin_a_package_is_named(void **state)
{
	struct error why = ERROR_INIT;
	struct ranks *r;

	(void)state;
	setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
	assert_int_equal(ranks_open(&r, &why), -ENOENT);
	assert_non_null(strstr(why.text, "mpirun started 3 processes"));
	assert_non_null(strstr(why.text, "libopenmpi-dev"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_is_done_once),
		cmocka_unit_test(fewer_items_than_ranks),
		cmocka_unit_test(rank_0_can_stop_it),
		cmocka_unit_test(garbled_answers_are_told),
		cmocka_unit_test(one_process_has_no_ranks),
		cmocka_unit_test(without_the_plugin_a_package_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
