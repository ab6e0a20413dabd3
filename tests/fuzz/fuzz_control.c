/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Anything at all to a control socket, in pieces of any size, whose handler answers, refuses,
 * defers, streams and ends. Bytes that are in no UTF-8 text say what else happens in between (see
 * `enum`). Whatever comes, each line of answers is an object as docs/control.md has it, each client
 * goes once, and nothing keeps the server busy.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/server.h"

enum {
	ANOTHER = 0xf9, /* leaves, and comes again */
	HALF = 0xfa,    /* closes its side */
	READ = 0xfb,    /* reads what has come */
	LATER = 0xfc,   /* what was deferred is answered, a stream goes on */
	END = 0xfd,     /* the handler ends the streams */
	DRAIN = 0xfe,   /* what waits is sent */
	SERVE = 0xff,
};

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

struct world {
	struct server *server;
	struct sockaddr_un address;
	struct server_client *client; /* that asked last */
	bool pending;
	bool stream;
	uint32_t connected, gone;
	int fd;
	size_t length;
	char *line;
};

static void request(void *arg, struct server_client *c, const json_t *r)
{
	const char *verb = json_string_value(json_object_get(r, "do"));
	struct world *w = arg;

	must(verb && !w->pending && !w->stream);
	w->client = c;
	switch (verb[0]) {
	case 'l':
		w->pending = true;
		return;
	case 'r':
		server_refuse(c, REFUSE_STATE, "not %s", verb);
		return;
	case 's':
		server_answer(c, json_pack("{}"));
		w->stream = server_stream(c, "", 0);
		return;
	default:
		server_answer(c, json_pack("{s:O}", "request", r));
	}
}

static void gone(void *arg, struct server_client *c)
{
	struct world *w = arg;

	must(!w->client || w->client == c);
	w->gone++;
	w->client = NULL;
	w->pending = w->stream = false;
}

/* No line: it is the handler's last. */
static void ended(void *arg, struct server_client *c)
{
	struct world *w = arg;

	must(w->stream && w->client == c);
	must(server_stream(c, "", 0));
}

static void serve(struct world *w)
{
	struct pollfd p = {server_fd(w->server), POLLIN, 0};
	uint32_t rounds = 0;

	while (poll(&p, 1, 0) > 0) {
		server_serve(w->server);
		must(rounds++ < 1000000);
	}
}

static void connect_again(struct world *w)
{
	if (w->fd >= 0)
		close(w->fd);
	serve(w);
	must(w->gone == w->connected);
	w->length = 0;
	w->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must(w->fd >= 0);
	must(!connect(w->fd, (struct sockaddr *)&w->address, sizeof(w->address)));
	w->connected++;
}

static void check_line(const char *line, size_t length)
{
	json_t *answer = json_loadb(line, length, 0, NULL), *error;

	must(answer && json_object_size(answer) == 4);
	must(json_integer_value(json_object_get(answer, "version")) == CONTROL_VERSION);
	must(json_object_get(answer, "id"));
	error = json_object_get(answer, "error");
	must(json_is_boolean(json_object_get(answer, "ok")));
	must(json_is_true(json_object_get(answer, "ok")) == !error);
	must(json_is_object(json_object_get(answer, error ? "error" : "result")));
	must(!error || (json_is_string(json_object_get(error, "kind")) &&
			       json_is_string(json_object_get(error, "text"))));
	json_decref(answer);
}

/* What is streamed are answers too. */
static void read_lines(struct world *w)
{
	char *end;
	ssize_t n;

	for (;;) {
		serve(w);
		w->line = realloc(w->line, w->length + 65536);
		must(w->line);
		n = recv(w->fd, w->line + w->length, 65536, 0);
		if (n <= 0)
			return;
		w->length += (size_t)n;
		while ((end = memchr(w->line, '\n', w->length))) {
			size_t length = (size_t)(end - w->line) + 1;

			check_line(w->line, length);
			memmove(w->line, end + 1, w->length -= length);
		}
	}
}

static void go_on(struct world *w)
{
	static const char line[] = "{\"version\":1,\"id\":0,\"ok\":true,\"result\":{}}\n";

	if (w->pending)
		server_answer(w->client, json_pack("{s:f}", "x", 0.1));
	w->pending = false;
	if (w->stream)
		server_stream(w->client, line, strlen(line));
}

static void act(struct world *w, uint8_t what)
{
	switch (what) {
	case ANOTHER:
		connect_again(w);
		break;
	case HALF:
		shutdown(w->fd, SHUT_WR);
		break;
	case READ:
		read_lines(w);
		break;
	case LATER:
		go_on(w);
		break;
	case END:
		server_end_streams(w->server);
		break;
	case DRAIN:
		server_drain(w->server, 0);
		break;
	case SERVE:
		server_serve(w->server);
		break;
	}
}

static void feed(struct world *w, const uint8_t *input, size_t size)
{
	size_t n;

	while (size) {
		for (n = 0; n < size && input[n] < ANOTHER; n++)
			;
		/* what does not go in is lost, as if it had never been said */
		if (n && send(w->fd, input, n, MSG_NOSIGNAL) < 0)
			must(errno == EAGAIN || errno == EPIPE || errno == ECONNRESET);
		input += n;
		size -= n;
		if (size) {
			act(w, *input++);
			size--;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static const struct server_ops ops = {request, gone, ended};
	struct world w = {.fd = -1, .address.sun_family = AF_UNIX};

	snprintf(w.address.sun_path, sizeof(w.address.sun_path), "/tmp/fabricbed-fuzz-control-%d",
		getpid());
	must(!server_open(&w.server, w.address.sun_path, &ops, &w, NULL));
	connect_again(&w);
	feed(&w, input, size);
	read_lines(&w);
	go_on(&w);
	read_lines(&w);
	connect_again(&w);
	serve(&w);
	server_close(w.server);
	must(w.gone == w.connected);
	close(w.fd);
	free(w.line);
	return 0;
}
