/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control socket, sentence by sentence of docs/control.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "server_fixture.h"

#define ANSWER(id, result) "{\"version\":1,\"id\":" id ",\"ok\":true,\"result\":" result "}\n"
#define DID(verb)          "{\"did\":\"" verb "\"}"

/* "which only root can open (mode 0600, ...": also when the umask would let others in */
static void only_its_user_opens_it(void **state)
{
	struct server_world *w = *state;
	struct error why = ERROR_INIT;
	struct stat file;
	mode_t mask;

	server_close(w->server);
	mask = umask(0);
	assert_int_equal(server_open(&w->server, w->path, world_ops(), w, &why), 0);
	umask(mask);
	assert_int_equal(lstat(w->path, &file), 0);
	assert_int_equal(file.st_mode, S_IFSOCK | 0600);
	assert_int_equal(file.st_uid, geteuid());
}

/* "... and the peer's user is checked)": should the file have been opened to others */
static void other_users_are_refused(void **state)
{
	struct server_world *w = *state;
	int fd;

	if (geteuid())
		skip();
	assert_int_equal(chmod(w->directory, 0711), 0);
	assert_int_equal(seteuid(65534), 0);
	fd = world_try_connect(w);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(fd, -EACCES);

	assert_int_equal(chmod(w->path, 0666), 0);
	assert_int_equal(seteuid(65534), 0);
	fd = world_try_connect(w);
	assert_int_equal(seteuid(0), 0);
	assert_true(fd >= 0);
	say(fd, REQUEST("\"do\":\"it\""));
	check_refusal(hear_the_end(w, fd), "null", "state", "only root");
	assert_int_equal(w->requests, 0);
	assert_int_equal(w->gone, 0);
}

/* "A request is one JSON object on one line", "The answer is one line too", "request ... answer" */
static void an_answer_is_a_line(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	assert_string_equal(
		ask(w, fd, REQUEST("\"id\":7,\"do\":\"status\"")), ANSWER("7", DID("status")));
	assert_string_equal(ask(w, fd, " {\"do\" : \"a\\nb\", \"version\":1\t}\r\n"),
		ANSWER("null", DID("a\\nb")));
	assert_false(world_has_work(w));
	close(fd);
	world_serve(w);
	assert_int_equal(w->gone, 1);
}

/* 0.1 is written as such, and all of 15 digits */
static void numbers_are_short(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"do\":\"later\""));
	world_serve(w);
	server_answer(
		w->kept[0], json_pack("{s:f,s:f,s:i}", "a", 0.1, "b", 123456789.012345, "c", 3));
	assert_string_equal(
		hear(w, fd), ANSWER("null", "{\"a\":0.1,\"b\":123456789.012345,\"c\":3}"));
	close(fd);
}

/* "of at most 64 KB", "A line that is too long is refused, and the connection is closed" */
static void a_line_has_64_kb_at_most(void **state)
{
	struct server_world *w = *state;
	char *line = malloc(CONTROL_LINE_MAX + 2);
	const char request[] = "{\"version\":1,\"do\":\"it\"}";
	int fd = world_connect(w);

	assert_non_null(line);
	memset(line, ' ', CONTROL_LINE_MAX);
	memcpy(line + CONTROL_LINE_MAX - strlen(request), request, strlen(request));
	line[CONTROL_LINE_MAX] = '\n';
	assert_int_equal(say_bytes(fd, line, CONTROL_LINE_MAX + 1), CONTROL_LINE_MAX + 1);
	assert_string_equal(hear(w, fd), ANSWER("null", DID("it")));

	memmove(line + 1, line, CONTROL_LINE_MAX + 1);
	assert_int_equal(say_bytes(fd, line, CONTROL_LINE_MAX + 2), CONTROL_LINE_MAX + 2);
	check_refusal(hear_the_end(w, fd), "null", "input", "longer than 64 KB");
	world_serve(w);
	assert_int_equal(w->requests, 1);
	assert_int_equal(w->gone, 1);
	free(line);
}

/* It sends before it reads: the refusal waits, and no reset loses it. */
static void who_sends_far_too_much_is_told(void **state)
{
	static const char blanks[65536];
	struct server_world *w = *state;
	int fd = world_connect(w);
	size_t sent = 0;

	while (sent < 16 * sizeof(blanks)) {
		ssize_t n = send(fd, blanks, sizeof(blanks), MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			assert_int_equal(errno, EAGAIN);
		sent += n > 0 ? (size_t)n : 0;
		world_serve(w);
	}
	check_refusal(hear_the_end(w, fd), "null", "input", "longer than 64 KB");
	world_serve(w);
	assert_int_equal(w->gone, 1);
	assert_int_equal(w->requests, 0);
}

/* But not for ever. */
static void who_never_ends_is_cut_off(void **state)
{
	static const char blanks[65536];
	struct server_world *w = *state;
	int fd = world_connect(w);

	for (size_t sent = 0; !w->gone && sent < 1000 * sizeof(blanks);) {
		ssize_t n = send(fd, blanks, sizeof(blanks), MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		world_serve(w);
	}
	assert_int_equal(w->gone, 1);
	close(fd);
}

/* "The requests of one connection are answered in their order, one after the other" */
static void requests_wait_for_each_other(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	say(fd, REQUEST("\"id\":1,\"do\":\"a\"") REQUEST("\"id\":2,\"do\":\"later\"")
			REQUEST("\"id\":3,\"do\":\"later\"") REQUEST("\"id\":4,\"do\":\"b\""));
	assert_string_equal(hear(w, fd), ANSWER("1", DID("a")));
	assert_int_equal(w->requests, 2);
	server_answer(w->kept[0], json_pack("{}"));
	assert_string_equal(hear(w, fd), ANSWER("2", "{}"));
	assert_int_equal(w->requests, 3);
	server_refuse(w->kept[1], REFUSE_STATE, "no");
	assert_string_equal(hear(w, fd),
		"{\"version\":1,\"id\":3,\"ok\":false,"
		"\"error\":{\"kind\":\"state\",\"text\":\"no\"}}\n" ANSWER("4", DID("b")));
	w->kept_count = 1;
	close(fd);
}

/* "connections do not wait for each other" */
static void connections_do_not_wait(void **state)
{
	struct server_world *w = *state;
	int slow = world_connect(w), half = world_connect(w), fd = world_connect(w);

	say(slow, REQUEST("\"do\":\"later\""));
	say(half, "{\"version\":1,");
	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"a\"")), ANSWER("null", DID("a")));
	assert_string_equal(ask(w, half, "\"do\":\"b\"}\n"), ANSWER("null", DID("b")));
	assert_string_equal(hear(w, slow), "");
	server_answer(w->kept[0], json_pack("{}"));
	assert_string_equal(hear(w, slow), ANSWER("null", "{}"));
	close(slow);
	close(half);
	close(fd);
}

/* "id: ANYTHING", "the same", "may be left out" */
static void the_id_comes_back(void **state)
{
	static const char *const ids[] = {"null", "true", "-3", "9007199254740993",
		"1234567890.1234567", "\"\"", "\"a \\\"b\\\"\"", "\"\303\244\"",
		"[1,[],{\"b\":1,\"a\":2}]", "{\"version\":2}"};
	struct server_world *w = *state;
	char request[256], answer[256];
	int fd = world_connect(w);

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		snprintf(request, sizeof(request), "{\"id\":%s,\"do\":\"a\",\"version\":1}\n",
			ids[i]);
		snprintf(answer, sizeof(answer), ANSWER("%s", DID("a")), ids[i]);
		assert_string_equal(ask(w, fd, request), answer);
	}
	close(fd);
}

/* "`version` is 1; another one is refused with the versions that are known" */
static void other_versions_are_refused(void **state)
{
	static const char *const others[] = {"", "\"version\":2,", "\"version\":\"1\",",
		"\"version\":null,", "\"version\":true,"};
	struct server_world *w = *state;
	char request[128];
	int fd = world_connect(w);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		snprintf(request, sizeof(request), "{%s\"do\":\"a\",\"id\":[5]}\n", others[i]);
		check_refusal(ask(w, fd, request), "[5]", "input", "version 1 is");
	}
	assert_int_equal(w->requests, 0);
	close(fd);
}

/* "do: VERB" */
static void a_verb_is_needed(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	check_refusal(ask(w, fd, REQUEST("\"id\":1")), "1", "input", "\\\"do\\\"");
	check_refusal(ask(w, fd, REQUEST("\"id\":2,\"do\":1")), "2", "input", "\\\"do\\\"");
	assert_int_equal(w->requests, 0);
	close(fd);
}

/* "KIND is input ..., state ... or failed" */
static void refusals_have_kinds(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	check_refusal(ask(w, fd, REQUEST("\"id\":1,\"do\":\"refuse\",\"n\":0")), "1", "input",
		"no \\\"way\\\"\\n\"}}");
	check_refusal(
		ask(w, fd, REQUEST("\"id\":2,\"do\":\"refuse\",\"n\":1")), "2", "state", "no");
	check_refusal(
		ask(w, fd, REQUEST("\"id\":3,\"do\":\"refuse\",\"n\":2")), "3", "failed", "no");
	close(fd);
}

/* "Unknown keys are ignored" */
static void unknown_keys_are_ignored(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w);

	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"a\",\"future\":{\"x\":[1]},\"\":0")),
		ANSWER("null", DID("a")));
	close(fd);
}

/* "A line that is no JSON object is refused with id null, and the connection stays" */
static void rubbish_is_refused(void **state)
{
	static const char *const lines[] = {"\n", "\r\n", "rubbish\n", "[]\n", "1\n", "null\n",
		"\"do\"\n", "{\"version\":1,\"id\":4,\"do\":\"a\"\n", "{\"id\":4}}\n", "{} {}\n",
		"\377\376\n", "{\"id\":\"\355\240\200\"}\n", "{\"id\":\"\\u0000\"}\n",
		"{\"id\":1e999}\n", "{\"id\":99999999999999999999}\n"};
	struct server_world *w = *state;
	int fd = world_connect(w);

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		check_refusal(ask(w, fd, lines[i]), "null", "input", "no JSON object");
	assert_string_equal(ask(w, fd, REQUEST("\"do\":\"a\"")), ANSWER("null", DID("a")));
	assert_int_equal(w->requests, 1);
	close(fd);
}

static void a_nul_is_rubbish(void **state)
{
	static const char behind[] = "{\"version\":1,\"do\":\"a\"}\0\n";
	static const char inside[] = "{\"version\":1,\"do\":\"a\0b\"}\n";
	static const char before[] = "\0{\"version\":1,\"do\":\"a\"}\n";
	struct server_world *w = *state;
	int fd = world_connect(w);

	say_bytes(fd, behind, sizeof(behind) - 1);
	check_refusal(hear(w, fd), "null", "input", "no JSON object");
	say_bytes(fd, inside, sizeof(inside) - 1);
	check_refusal(hear(w, fd), "null", "input", "no JSON object");
	say_bytes(fd, before, sizeof(before) - 1);
	check_refusal(hear(w, fd), "null", "input", "no JSON object");
	assert_int_equal(w->requests, 0);
	close(fd);
}

/* As deep as 64 KB go: refused, and no stack is lost over it. */
static void depth_is_rubbish(void **state)
{
	struct server_world *w = *state;
	char *line = malloc(CONTROL_LINE_MAX + 1);
	int fd = world_connect(w);

	assert_non_null(line);
	memset(line, '[', CONTROL_LINE_MAX);
	memcpy(line, "{\"id\":", 6);
	line[CONTROL_LINE_MAX] = '\n';
	say_bytes(fd, line, CONTROL_LINE_MAX + 1);
	check_refusal(hear(w, fd), "null", "input", "no JSON object");
	free(line);
	close(fd);
}

/* "A client that does not read its answers is closed when 8 MB wait for it" */
static void answers_wait_up_to_8_mb(void **state)
{
	struct server_world *w = *state;
	int fd = world_connect(w), other = world_connect(w);
	uint32_t asked = 0;

	/* a MB each: seven wait for certain, nine cannot; the socket holds less than one */
	for (; asked < 7; asked++) {
		say(fd, REQUEST("\"do\":\"long\",\"n\":1048500"));
		world_serve(w);
	}
	assert_int_equal(w->gone, 0);
	for (; asked < 10 && !w->gone; asked++) {
		say(fd, REQUEST("\"do\":\"long\",\"n\":1048500"));
		world_serve(w);
	}
	assert_int_equal(w->gone, 1);
	assert_true(asked > 8);
	assert_string_equal(ask(w, other, REQUEST("\"do\":\"a\"")), ANSWER("null", DID("a")));
	close(fd);
	close(other);
}

/* "More than 64 connections at once are refused" */
static void there_are_64_connections(void **state)
{
	struct server_world *w = *state;
	int fds[CONTROL_CLIENTS], more;

	for (uint32_t i = 0; i < CONTROL_CLIENTS; i++) {
		fds[i] = world_connect(w);
		world_serve(w);
	}
	more = world_connect(w);
	check_refusal(hear_the_end(w, more), "null", "state", "too many connections");
	for (uint32_t i = 0; i < CONTROL_CLIENTS; i++)
		assert_string_equal(
			ask(w, fds[i], REQUEST("\"do\":\"a\"")), ANSWER("null", DID("a")));
	close(fds[0]);
	world_serve(w);
	fds[0] = world_connect(w);
	assert_string_equal(ask(w, fds[0], REQUEST("\"do\":\"a\"")), ANSWER("null", DID("a")));
	for (uint32_t i = 0; i < CONTROL_CLIENTS; i++)
		close(fds[i]);
	world_serve(w);
	assert_int_equal(w->gone, CONTROL_CLIENTS + 1);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(only_its_user_opens_it),
		world_test(other_users_are_refused),
		world_test(an_answer_is_a_line),
		world_test(numbers_are_short),
		world_test(a_line_has_64_kb_at_most),
		world_test(who_sends_far_too_much_is_told),
		world_test(who_never_ends_is_cut_off),
		world_test(requests_wait_for_each_other),
		world_test(connections_do_not_wait),
		world_test(the_id_comes_back),
		world_test(other_versions_are_refused),
		world_test(a_verb_is_needed),
		world_test(refusals_have_kinds),
		world_test(unknown_keys_are_ignored),
		world_test(rubbish_is_refused),
		world_test(a_nul_is_rubbish),
		world_test(depth_is_rubbish),
		world_test(answers_wait_up_to_8_mb),
		world_test(there_are_64_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
