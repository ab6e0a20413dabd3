/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SERVER_FIXTURE_H
#define FABRICBED_SERVER_FIXTURE_H

/*
 * A control socket in a directory of its own, clients of it, and a handler that does as the request
 * says. Unix sockets hand over at once, so that who serves until there is nothing to do need not
 * wait.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/server.h"

#define SERVER_ROUNDS 200000 /* of one server_serve() after the other: more is a busy loop */
#define REQUEST(rest) "{\"version\":1," rest "}\n"

struct server_world {
	struct server *server;
	char directory[64];
	char path[108];
	uint32_t requests; /* that reached the handler */
	uint32_t gone;
	uint32_t ended; /* streams, by their clients */
	uint32_t kept_count;
	struct server_client *kept[CONTROL_CLIENTS]; /* not answered yet, or streams */
	char *received;                              /* by say_and_hear() and hear() */
	size_t received_size;
};

static inline void world_keep(struct server_world *w, struct server_client *c)
{
	assert_true(w->kept_count < CONTROL_CLIENTS);
	w->kept[w->kept_count++] = c;
	server_set_context(c, w);
}

/* "later" waits; "stream" begins one; "long" sends so many bytes; "refuse" refuses; or replies. */
static inline void world_request(void *arg, struct server_client *c, const json_t *request)
{
	const char *verb = json_string_value(json_object_get(request, "do"));
	struct server_world *w = arg;
	json_int_t n = json_integer_value(json_object_get(request, "n"));
	char *text;

	w->requests++;
	if (!strcmp(verb, "later")) {
		world_keep(w, c);
	} else if (!strcmp(verb, "stream")) {
		server_answer(c, json_pack("{}"));
		assert_true(server_stream(c, NULL, 0));
		world_keep(w, c);
	} else if (!strcmp(verb, "long")) {
		text = malloc((size_t)n + 1);
		memset(text, 'x', (size_t)n);
		text[n] = '\0';
		server_answer(c, json_pack("{s:s}", "x", text));
		free(text);
	} else if (!strcmp(verb, "refuse")) {
		server_refuse(c, (enum refusal)n, "%s", "no \"way\"\n");
	} else {
		server_answer(c, json_pack("{s:s}", "did", verb));
	}
}

static inline void world_gone(void *arg, struct server_client *c)
{
	struct server_world *w = arg;

	w->gone++;
	for (uint32_t i = 0; i < w->kept_count; i++) {
		if (w->kept[i] != c)
			continue;
		assert_ptr_equal(server_context(c), w);
		w->kept[i] = w->kept[--w->kept_count];
		return;
	}
	assert_null(server_context(c));
}

static inline void world_ended(void *arg, struct server_client *c)
{
	struct server_world *w = arg;

	w->ended++;
	assert_true(server_stream(c, "bye", 3));
}

static inline const struct server_ops *world_ops(void)
{
	static const struct server_ops ops = {world_request, world_gone, world_ended};

	return &ops;
}

static inline int world_setup(void **state)
{
	struct server_world *w = calloc(1, sizeof(*w));
	struct error why = ERROR_INIT;

	assert_non_null(w);
	strcpy(w->directory, "/tmp/fabricbed-server-XXXXXX");
	assert_non_null(mkdtemp(w->directory));
	snprintf(w->path, sizeof(w->path), "%s/control", w->directory);
	if (server_open(&w->server, w->path, world_ops(), w, &why))
		fail_msg("%s", why.text);
	*state = w;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct server_world *w = *state;

	server_close(w->server);
	assert_int_equal(w->kept_count, 0);
	unlink(w->path);
	assert_int_equal(rmdir(w->directory), 0);
	free(w->received);
	free(w);
	return 0;
}

/* A new connection, or -errno. */
static inline int world_try_connect(const struct server_world *w)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), r;

	assert_true(fd >= 0);
	strcpy(address.sun_path, w->path);
	r = connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	if (r)
		close(fd);
	return r ? r : fd;
}

static inline int world_connect(const struct server_world *w)
{
	int fd = world_try_connect(w);

	assert_true(fd >= 0);
	return fd;
}

static inline bool world_has_work(const struct server_world *w)
{
	struct pollfd p = {server_fd(w->server), POLLIN, 0};

	return poll(&p, 1, 0) > 0;
}

/* Until there is nothing to do. */
static inline void world_serve(struct server_world *w)
{
	uint32_t rounds = 0;

	while (world_has_work(w)) {
		server_serve(w->server);
		if (++rounds > SERVER_ROUNDS)
			fail_msg("there is always something to do");
	}
}

/* As much as goes in at once. */
static inline size_t say_bytes(int fd, const void *bytes, size_t count)
{
	ssize_t n = send(fd, bytes, count, MSG_NOSIGNAL);

	assert_true(n > 0 || errno == EAGAIN);
	return n > 0 ? (size_t)n : 0;
}

static inline void say(int fd, const char *text)
{
	assert_int_equal(say_bytes(fd, text, strlen(text)), strlen(text));
}

/* Reads into w->received, and serves while there is more. True: the connection has ended. */
static inline bool world_read(struct server_world *w, int fd)
{
	size_t capacity = 0;
	ssize_t n;

	w->received_size = 0;
	for (;;) {
		if (capacity - w->received_size < 65536) {
			capacity = capacity * 2 + 131072;
			w->received = realloc(w->received, capacity);
			assert_non_null(w->received);
		}
		n = recv(fd, w->received + w->received_size, 65535, 0);
		if (n <= 0)
			break;
		w->received_size += (size_t)n;
		world_serve(w);
	}
	w->received[w->received_size] = '\0';
	assert_true(n == 0 || errno == EAGAIN || errno == ECONNRESET);
	return n == 0 || errno == ECONNRESET;
}

/* What the client hears, on a connection that stays. */
static inline const char *hear(struct server_world *w, int fd)
{
	world_serve(w);
	assert_false(world_read(w, fd));
	return w->received;
}

/* What it hears until the connection ends. */
static inline const char *hear_the_end(struct server_world *w, int fd)
{
	world_serve(w);
	assert_true(world_read(w, fd));
	close(fd);
	return w->received;
}

static inline const char *ask(struct server_world *w, int fd, const char *text)
{
	say(fd, text);
	return hear(w, fd);
}

/* A refusal of this kind to this id, on a line of its own, with these words in it. */
static inline void check_refusal(
	const char *line, const char *id, const char *kind, const char *words)
{
	char begin[256];
	const char *end = strchr(line, '\n');

	snprintf(begin, sizeof(begin),
		"{\"version\":1,\"id\":%s,\"ok\":false,\"error\":{\"kind\":\"%s\",\"text\":\"", id,
		kind);
	assert_non_null(end);
	assert_int_equal(end[1], '\0');
	if (strncmp(line, begin, strlen(begin)) || !strstr(line, words))
		fail_msg("%s is no %s...%s", line, begin, words);
}

#endif
