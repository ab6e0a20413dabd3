/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What follows an answer on the control socket as raw bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "server_fixture.h"

#define ANSWER(result) "{\"version\":1,\"id\":null,\"ok\":true,\"result\":" result "}\n"
#define A_MEGABYTE     (1 << 20)

static void a_stream_is_raw(void **state)
{
	static const char bytes[] = "\0\n\377{";
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"stream\"") "half a line");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(hear(w, fd), ANSWER("{}"));
	assert_false(world_has_work(w));
	assert_true(server_stream(w->kept[0], bytes, 4));
	assert_true(server_stream(w->kept[0], bytes, 2));
	hear(w, fd);
	assert_int_equal(w->received_size, 6);
	assert_memory_equal(w->received, "\0\n\377{\0\n", 6);
	assert_int_equal(w->requests, 1);
	assert_true(server_stream(w->kept[0], "end", 3));
	server_end_streams(w->server);
	assert_false(server_stream(w->kept[0], "more", 4));
	assert_string_equal(hear_the_end(w, fd), "endbye");
	assert_int_equal(w->gone, 1);
}

/* Nothing is in front of the answer. */
static void a_stream_follows_the_answer(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\""));
	world_serve(w);
	assert_false(server_stream(w->kept[0], "x", 1));
	server_answer(w->kept[0], json_pack("{}"));
	assert_true(server_stream(w->kept[0], "y\n", 2));
	assert_string_equal(hear(w, fd), ANSWER("{}") "y\n");
	close(fd);
}

/* A slow reader's stream has holes where it was refused, nowhere else, and stays open. */
static void a_stream_is_bounded(void **state)
{
	struct server_world *w = *state;
	uint8_t *block = malloc(A_MEGABYTE);
	uint32_t taken = 0;
	int fd = world_connect(w);

	assert_non_null(block);
	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"stream\"")), ANSWER("{}"));
	for (; taken < 16; taken++) {
		memset(block, (int)taken, A_MEGABYTE);
		if (!server_stream(w->kept[0], block, A_MEGABYTE))
			break;
		world_serve(w);
	}
	assert_true(taken >= 8 && taken < 10);
	assert_false(server_stream(w->kept[0], block, A_MEGABYTE));
	assert_int_equal(w->gone, 0);
	assert_false(world_has_work(w)); /* not while nobody reads */
	hear(w, fd);
	assert_int_equal(w->received_size, taken * A_MEGABYTE);
	for (size_t i = 0; i < w->received_size; i += 4093)
		assert_int_equal((uint8_t)w->received[i], i / A_MEGABYTE);
	assert_true(server_stream(w->kept[0], block, A_MEGABYTE));
	close(fd);
	free(block);
}

/* Around the ring, in pieces that fit nowhere. */
static void a_stream_keeps_its_order(void **state)
{
	struct server_world *w = *state;
	uint32_t numbers[777], next = 0, heard = 0;
	int fd = world_connect(w);

	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"stream\"")), ANSWER("{}"));
	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t count = 1 + round * 31 % 777, got[999];
		ssize_t n;

		for (uint32_t i = 0; i < count; i++)
			numbers[i] = next++;
		assert_true(server_stream(w->kept[0], numbers, count * sizeof(*numbers)));
		world_serve(w);
		if (round % 3)
			continue;
		n = recv(fd, got, sizeof(got), 0); /* less than what was said: some of it waits */
		assert_true(n > 0 && n % 4 == 0);
		for (ssize_t i = 0; i < n / 4; i++)
			assert_int_equal(got[i], heard++);
	}
	hear(w, fd);
	assert_int_equal(w->received_size, (next - heard) * sizeof(*numbers));
	for (size_t i = 0; i < w->received_size; i += 4)
		assert_memory_equal(w->received + i, &(uint32_t){heard++}, 4);
	close(fd);
}

/* What was streamed before comes, however much it is and whoever of both is slow; then the
 * handler's last words. */
static void a_line_ends_a_stream(void **state)
{
	struct server_world *w = *state;
	uint8_t *block = calloc(1, A_MEGABYTE);
	int fd = world_connect(w);
	uint32_t taken = 0;

	assert_non_null(block);
	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"stream\"")), ANSWER("{}"));
	while (server_stream(w->kept[0], block, A_MEGABYTE))
		taken++;
	while (server_stream(w->kept[0], block, 100)) /* until there is no room at all */
		;
	say(fd, "half of ");
	world_serve(w);
	assert_int_equal(w->ended, 0);
	say(fd, "a line\nmore\n");
	world_serve(w);
	assert_int_equal(w->ended, 1);
	assert_false(server_stream(w->kept[0], "x", 1));
	assert_int_equal(w->gone, 0);
	hear_the_end(w, fd);
	assert_true(w->received_size > taken * (size_t)A_MEGABYTE + 3);
	assert_string_equal(w->received + w->received_size - 3, "bye");
	assert_int_equal(w->gone, 1);
	assert_int_equal(w->ended, 1);
	free(block);
}

static void all_streams_end_at_once(void **state)
{
	struct server_world *w = *state;
	int fds[] = {world_connect(w), world_connect(w), world_connect(w)};

	assert_string_equal(ask(w, fds[0], REQUEST("\"do\":\"stream\"")), ANSWER("{}"));
	assert_string_equal(ask(w, fds[1], REQUEST("\"do\":\"later\"")), "");
	assert_string_equal(ask(w, fds[2], REQUEST("\"do\":\"stream\"")), ANSWER("{}"));
	assert_true(server_stream(w->kept[0], "x", 1));
	server_end_streams(w->server);
	server_end_streams(w->server);
	assert_int_equal(w->ended, 2);
	assert_string_equal(hear_the_end(w, fds[0]), "xbye");
	assert_string_equal(hear_the_end(w, fds[2]), "bye");
	assert_int_equal(w->gone, 2);
	close(fds[1]);
}

static void a_stream_to_nobody_ends(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w), deaf = world_connect(w);

	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"stream\"")), ANSWER("{}"));
	close(fd);
	assert_true(server_stream(w->kept[0], "x", 1)); /* it is not known yet */
	world_serve(w);
	assert_int_equal(w->gone, 1);
	assert_string_equal(ask(w, deaf, REQUEST("\"do\":\"stream\"")), ANSWER("{}"));
	assert_int_equal(shutdown(deaf, SHUT_RD), 0);
	assert_true(server_stream(w->kept[0], "x", 1));
	world_serve(w);
	assert_int_equal(w->gone, 2);
	close(deaf);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(a_stream_is_raw),
		world_test(a_stream_follows_the_answer),
		world_test(a_stream_is_bounded),
		world_test(a_stream_keeps_its_order),
		world_test(a_line_ends_a_stream),
		world_test(all_streams_end_at_once),
		world_test(a_stream_to_nobody_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
