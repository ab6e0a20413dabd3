/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control socket among clients that are slow, odd, or gone; the file and its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/resource.h>
#include "server_fixture.h"

#define ANSWER(result) "{\"version\":1,\"id\":null,\"ok\":true,\"result\":" result "}\n"

static void bytes_come_one_by_one(void **state)
{
	static const char request[] = REQUEST("\"do\":\"a\"");
	struct server_world *w = *state;
	int fd = world_connect(w);

	for (size_t i = 0; i + 1 < strlen(request); i++) {
		assert_int_equal(say_bytes(fd, request + i, 1), 1);
		assert_string_equal(hear(w, fd), "");
	}
	assert_string_equal(ask(w, fd, "\n"), ANSWER("{\"did\":\"a\"}"));
	close(fd);
}

static void many_come_at_once(void **state)
{
	struct server_world *w = *state;
	char requests[1000 * 64] = "", answers[1000 * 64] = "";
	int fd = world_connect(w), n = 0, m = 0;

	for (int i = 0; i < 1000; i++) {
		n += sprintf(requests + n, "{\"version\":1,\"id\":%d,\"do\":\"a\"}\n", i);
		m += sprintf(answers + m,
			"{\"version\":1,\"id\":%d,\"ok\":true,\"result\":{\"did\":\"a\"}}\n", i);
	}
	say(fd, requests);
	assert_string_equal(hear(w, fd), answers);
	close(fd);
}

/* Of one that asks without end a call takes one request, so that others come to their turn. */
static void a_flood_is_taken_in_turns(void **state)
{
	struct server_world *w = *state;
	int flood = world_connect(w), fd = world_connect(w);

	for (int i = 0; i < 100; i++)
		say(flood, REQUEST("\"do\":\"a\""));
	say(fd, REQUEST("\"do\":\"a\""));
	server_serve(w->server); /* accepts both */
	server_serve(w->server);
	assert_int_equal(w->requests, 2);
	assert_int_equal(recv(fd, (char[256]){0}, 256, 0), strlen(ANSWER("{\"did\":\"a\"}")));
	close(flood);
	close(fd);
}

static void half_a_request_waits(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	assert_string_equal(ask(w, fd, "{\"version\":1,"), "");
	assert_false(world_has_work(w));
	close(fd);
	world_serve(w);
	assert_int_equal(w->gone, 1);
	assert_int_equal(w->requests, 0);
}

/* What is cut off might have been another request. */
static void half_a_request_is_not_carried_out(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, "{\"version\":1,\"do\":\"a\"}");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	check_refusal(hear_the_end(w, fd), "null", "input", "newline");
	assert_int_equal(w->requests, 0);
	assert_int_equal(w->gone, 1);
}

static void who_has_said_all_hears_all(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"a\"") REQUEST("\"do\":\"later\"") REQUEST("\"do\":\"b\""));
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(hear(w, fd), ANSWER("{\"did\":\"a\"}"));
	assert_false(world_has_work(w));
	server_answer(w->kept[0], json_pack("{}"));
	assert_string_equal(hear_the_end(w, fd), ANSWER("{}") ANSWER("{\"did\":\"b\"}"));
	assert_int_equal(w->gone, 1);
}

/* Its closed side is not looked at again and again while it does not read. */
static void who_hangs_is_let_hang(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"long\",\"n\":1000000"));
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	world_serve(w);
	assert_int_equal(w->gone, 0);
	hear_the_end(w, fd);
	assert_int_equal(w->received_size, 1000000 + strlen(ANSWER("{\"x\":\"\"}")));
	assert_int_equal(w->gone, 1);
}

/* echo REQUEST | socat -u - UNIX-CONNECT:... */
static void who_leaves_is_obeyed(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"a\"") REQUEST("\"do\":\"b\"") REQUEST("\"do\":\"c\""));
	close(fd);
	world_serve(w);
	assert_int_equal(w->requests, 3);
	assert_int_equal(w->gone, 1);
}

static void who_disappears_is_told_of(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\"") REQUEST("\"do\":\"b\""));
	world_serve(w);
	assert_int_equal(w->kept_count, 1);
	assert_false(world_has_work(w)); /* the second waits, and epoll keeps quiet of it */
	close(fd);
	world_serve(w);
	assert_int_equal(w->gone, 1);
	assert_int_equal(w->kept_count, 0);
	assert_int_equal(w->requests, 1);
}

/* Gone, and not yet known to be: an answer to nobody, without a signal. */
static void an_answer_to_nobody(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w), deaf = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\""));
	say(deaf, REQUEST("\"do\":\"later\""));
	world_serve(w);
	close(fd);
	assert_int_equal(shutdown(deaf, SHUT_RD), 0);
	server_answer(w->kept[0], json_pack("{}"));
	server_refuse(w->kept[1], REFUSE_STATE, "no");
	world_serve(w);
	assert_int_equal(w->gone, 1);
	say(deaf, REQUEST("\"do\":\"a\""));
	world_serve(w);
	assert_int_equal(w->requests, 3);
	close(deaf);
}

static void only_what_is_pending_is_answered(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\""));
	world_serve(w);
	server_answer(w->kept[0], json_pack("{}"));
	server_answer(w->kept[0], json_pack("{}"));
	server_refuse(w->kept[0], REFUSE_STATE, "no");
	assert_string_equal(hear(w, fd), ANSWER("{}"));
	close(fd);
}

static void a_result_may_be_missing(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\""));
	world_serve(w);
	server_answer(w->kept[0], NULL);
	check_refusal(hear(w, fd), "null", "failed", "memory");
	close(fd);
}

static void an_answer_may_be_too_long(void **state)
{
	struct server_world *w = *state;
	size_t longest = CONTROL_QUEUE_MAX - strlen(ANSWER("{\"x\":\"\"}"));
	char request[64];
	int fd = world_connect(w);

	sprintf(request, REQUEST("\"do\":\"long\",\"n\":%zu"), longest + 1);
	check_refusal(ask(w, fd, request), "null", "failed", "ask for less");
	sprintf(request, REQUEST("\"do\":\"long\",\"n\":%zu"), longest);
	ask(w, fd, request);
	assert_int_equal(w->received_size, CONTROL_QUEUE_MAX);
	close(fd);
}

/* Names that others chose need be no UTF-8. */
static void any_bytes_make_a_refusal(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\""));
	world_serve(w);
	server_refuse(w->kept[0], REFUSE_INPUT, "\001\377\n%s", "\303");
	check_refusal(hear(w, fd), "null", "input", "\"\\u0001?\\n?\"");
	close(fd);
}

/* More than a socket holds is sent while it is read; a client that does not read is cut off. */
static void last_answers_are_drained(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w), hangs = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\""));
	say(hangs, REQUEST("\"do\":\"long\",\"n\":1000000"));
	world_serve(w);
	server_answer(w->kept[0], json_pack("{}"));
	server_drain(w->server, 20);
	assert_false(world_read(w, fd));
	assert_string_equal(w->received, ANSWER("{}"));
	server_drain(w->server, 0);
	server_drain(w->server, -5);
	close(fd);
	close(hangs);
}

static void a_stale_socket_is_replaced(void **state)
{
	struct server_world *w = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct error why = ERROR_INIT;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	server_close(w->server);
	w->server = NULL;
	strcpy(address.sun_path, w->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(access(w->path, F_OK), 0);
	assert_int_equal(server_open(&w->server, w->path, world_ops(), w, &why), 0);
	fd = world_connect(w);
	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"a\"")), ANSWER("{\"did\":\"a\"}"));
	close(fd);
}

static void a_living_one_is_not(void **state)
{
	struct server_world *w = *state;
	struct server *second = NULL;
	struct error why = ERROR_INIT;
	int fds[2 * CONTROL_CLIENTS];
	uint32_t n = 0;

	assert_int_equal(server_open(&second, w->path, world_ops(), w, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, "another process listens"));
	/* nor one that is too busy to accept */
	while (n < 2 * CONTROL_CLIENTS && (fds[n] = world_try_connect(w)) >= 0)
		n++;
	assert_int_equal(fds[n], -EAGAIN);
	why = (struct error)ERROR_INIT;
	assert_int_equal(server_open(&second, w->path, world_ops(), w, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, "another process listens"));
	assert_null(second);
	while (n)
		close(fds[--n]);
	world_serve(w);
	fds[0] = world_connect(w);
	assert_string_equal(ask(w, fds[0], REQUEST("\"do\":\"a\"")), ANSWER("{\"did\":\"a\"}"));
	close(fds[0]);
}

static void other_files_are_not_replaced(void **state)
{
	struct server_world *w = *state;
	struct server *second = NULL;
	struct error why = ERROR_INIT;
	char longest[200];
	int fd;

	server_close(w->server);
	w->server = NULL;
	assert_int_equal(access(w->path, F_OK), -1); /* it went with the server */
	fd = open(w->path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(server_open(&second, w->path, world_ops(), w, &why), -EEXIST);
	assert_int_equal(access(w->path, F_OK), 0);
	assert_int_equal(
		server_open(&second, "/tmp/no/such/directory", world_ops(), w, &why), -ENOENT);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(server_open(&second, longest, world_ops(), w, &why), -ENAMETOOLONG);
	assert_null(second);
}

/* A fabric of that name that came up while this one went down. */
static void the_successors_file_stays(void **state)
{
	struct server_world *w = *state;
	struct server *second;
	struct error why = ERROR_INIT;
	char aside[128];

	snprintf(aside, sizeof(aside), "%s/aside", w->directory);
	assert_int_equal(rename(w->path, aside), 0); /* so that its inode is not used again */
	assert_int_equal(server_open(&second, w->path, world_ops(), w, &why), 0);
	server_close(w->server);
	assert_int_equal(access(w->path, F_OK), 0);
	w->server = second;
	unlink(aside);
}

static void the_end_tells_of_all(void **state)
{
	struct server_world *w = *state;
	int fds[3];

	for (int i = 0; i < 3; i++)
		fds[i] = world_connect(w);
	say(fds[0], REQUEST("\"do\":\"later\""));
	say(fds[1], REQUEST("\"do\":\"stream\""));
	world_serve(w);
	server_close(w->server);
	w->server = NULL;
	assert_int_equal(w->gone, 3);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	server_close(NULL);
}

/* Nobody waits for want of descriptors, and epoll does not tell of it without end. */
static void descriptors_may_run_out(void **state)
{
	struct server_world *w = *state;
	struct rlimit before, none;
	int fd = world_connect(w), waiting;

	world_serve(w);
	waiting = world_connect(w);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)waiting + 1; /* the last one that is in use */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	world_serve(w);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	check_refusal(hear_the_end(w, waiting), "null", "state", "too many open files");
	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"a\"")), ANSWER("{\"did\":\"a\"}"));
	waiting = world_connect(w);
	assert_string_equal(ask(w, waiting, REQUEST("\"do\":\"a\"")), ANSWER("{\"did\":\"a\"}"));
	close(waiting);
	close(fd);
}

/* What programs that are started see of it: nothing. */
static void descriptors_are_closed_on_exec(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	world_serve(w);
	for (int i = 3; i < 64; i++) {
		int flags = fcntl(i, F_GETFD);
		struct stat file;

		if (flags < 0 || fstat(i, &file) < 0 ||
			!(S_ISSOCK(file.st_mode) || i == server_fd(w->server)))
			continue;
		assert_true(flags & FD_CLOEXEC);
	}
	close(fd);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(bytes_come_one_by_one),
		world_test(many_come_at_once),
		world_test(a_flood_is_taken_in_turns),
		world_test(half_a_request_waits),
		world_test(half_a_request_is_not_carried_out),
		world_test(who_has_said_all_hears_all),
		world_test(who_hangs_is_let_hang),
		world_test(who_leaves_is_obeyed),
		world_test(who_disappears_is_told_of),
		world_test(an_answer_to_nobody),
		world_test(only_what_is_pending_is_answered),
		world_test(a_result_may_be_missing),
		world_test(an_answer_may_be_too_long),
		world_test(any_bytes_make_a_refusal),
		world_test(last_answers_are_drained),
		world_test(a_stale_socket_is_replaced),
		world_test(a_living_one_is_not),
		world_test(other_files_are_not_replaced),
		world_test(the_successors_file_stays),
		world_test(the_end_tells_of_all),
		world_test(descriptors_may_run_out),
		world_test(descriptors_are_closed_on_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
