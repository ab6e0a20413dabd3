/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/server.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "io/clock.h"
#include "daemon/listener.h"
#include "daemon/send_buffer.h"

#define PEEK         4096u       /* bytes looked at in search of a line's end */
#define DISCARD_MAX  (16u << 20) /* of a line that is too long: who sends more is cut off */
#define DISCARD_TURN 65536u      /* of these, at once */

struct server_client {
	struct server *server;
	int fd;
	uint32_t events;     /* that epoll waits for */
	bool pending;        /* a request waits for its answer */
	bool stream;         /* there are no more requests, but a line that ends it */
	bool last_of_stream; /* that line has come */
	bool silent;         /* it has closed its side, and is streamed to all the same */
	bool ending;         /* to be closed when all is sent */
	bool input_ended;    /* it has closed its side */
	bool discards;       /* what it sends is thrown away, until it has read why */
	size_t discarded;    /* bytes of it */
	bool deaf;           /* it does not read any more: what is sent to it is lost */
	bool shut;           /* epoll will say so, and server_serve() takes it away */
	void *context;       /* the handler's */
	char *id;            /* of the pending request, as JSON; NULL: null */
	struct send_buffer send_buffer;  /* not taken by the socket yet */
	size_t length;                   /* of the line so far */
	char line[CONTROL_LINE_MAX + 1]; /* and its newline */
};

struct server {
	const struct server_ops *ops;
	void *arg;
	int epoll;
	struct listener listener;
	uint32_t client_count;
	struct server_client *clients[CONTROL_CLIENTS];
};

/* ---- one client ------------------------------------------------------------------------------ */

static bool client_takes_requests(const struct server_client *c)
{
	return !c->pending && !c->stream && !c->ending && !c->input_ended;
}

/* Input is read, and its end seen, only while nothing is pending and nothing streams. */
static bool client_is_done(const struct server_client *c)
{
	return !c->send_buffer.count && !c->discards &&
	       (c->ending || c->input_ended || (c->stream && c->deaf));
}

static bool client_may_end_stream(const struct server_client *c)
{
	return c->stream && !c->ending && !c->silent;
}

/*
 * After any change: updates the events that epoll waits for. A client that is done is shut down,
 * which epoll reports as a hangup like that of one that left, so that clients are freed in one
 * place, and never below a caller that holds one.
 */
static void client_update(struct server_client *c)
{
	struct epoll_event event = {.data.ptr = c};

	if (c->discards && !c->send_buffer.count)
		shutdown(c->fd, SHUT_WR); /* end of output */
	if (client_is_done(c) && !c->shut) {
		shutdown(c->fd, SHUT_RDWR);
		c->shut = true;
		c->ending = true;
	}
	if (client_takes_requests(c) || client_may_end_stream(c) || c->discards)
		event.events |= EPOLLIN;
	if (c->send_buffer.count)
		event.events |= EPOLLOUT;
	if (event.events == c->events)
		return;
	c->events = event.events;
	epoll_ctl(c->server->epoll, EPOLL_CTL_MOD, c->fd, &event);
}

static void client_send(struct server_client *c)
{
	if (send_buffer_send(&c->send_buffer, c->fd) < 0) {
		c->deaf = true;
		send_buffer_release(&c->send_buffer);
	}
}

/* A reply that can't be sent, or is not read, ends the connection: none may be missing. */
static void client_drop(struct server_client *c)
{
	send_buffer_release(&c->send_buffer);
	c->ending = true;
}

/* All of it or nothing, which is false; if there is no room, after what waits has been sent. */
static bool client_queue(struct server_client *c, const void *bytes, size_t count, size_t limit)
{
	if (c->deaf)
		return false;
	if (send_buffer_put(&c->send_buffer, bytes, count, limit))
		return true;
	client_send(c);
	return !c->deaf && send_buffer_put(&c->send_buffer, bytes, count, limit);
}

static void client_put(struct server_client *c, const char *line, size_t length)
{
	if (c->deaf || c->ending)
		return;
	if (!client_queue(c, line, length, CONTROL_QUEUE_MAX) && !c->deaf)
		client_drop(c);
	client_send(c);
}

/* Replies to the pending request. False: the reply is too long, and the request still pending. */
static bool client_reply(struct server_client *c, const char *outcome, const char *text)
{
	char *line;
	int n = asprintf(&line, "{\"version\":%d,\"id\":%s,\"ok\":%s:%s}\n", CONTROL_VERSION,
		c->id ? c->id : "null", outcome, text);

	if (n > CONTROL_QUEUE_MAX) {
		free(line);
		return false;
	}
	c->pending = false;
	free(c->id);
	c->id = NULL;
	if (n < 0) {
		client_drop(c);
	} else {
		client_put(c, line, (size_t)n);
		free(line);
	}
	client_update(c);
	return true;
}

void server_answer(struct server_client *c, json_t *result)
{
	char *text;

	if (!c->pending) {
		json_decref(result);
		return;
	}
	/* 15 digits: 0.1 stays 0.1 */
	text = result ? json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(result);
	if (!text)
		server_refuse(c, REFUSE_FAILED, "there is no memory for the answer");
	else if (!client_reply(c, "true,\"result\"", text))
		server_refuse(c, REFUSE_FAILED,
			"the answer is %zu bytes long, and one may have %d: ask for less",
			strlen(text), CONTROL_QUEUE_MAX);
	free(text);
}

/* An error as JSON, or NULL: no memory. Bytes that are not UTF-8 are replaced. */
static char *refusal_text(enum refusal kind, char *text)
{
	static const char *const kinds[] = {
		[REFUSE_INPUT] = "input",
		[REFUSE_STATE] = "state",
		[REFUSE_FAILED] = "failed",
	};
	json_t *string = json_string(text), *error;
	char *ret;

	if (!string) {
		for (char *p = text; *p; p++)
			if (*p & 0x80)
				*p = '?';
		string = json_string(text);
	}
	error = json_pack("{s:s, s:o}", "kind", kinds[kind], "text", string);
	ret = error ? json_dumps(error, JSON_COMPACT) : NULL;
	json_decref(error);
	return ret;
}

void server_refuse(struct server_client *c, enum refusal kind, const char *format, ...)
{
	char *text = NULL, *error = NULL;
	va_list args;

	if (!c->pending)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0) {
		error = refusal_text(kind, text);
		free(text);
	}
	va_end(args);
	if (!error || !client_reply(c, "false,\"error\"", error)) {
		client_drop(c);
		client_update(c);
	}
	free(error);
}

bool server_stream(struct server_client *c, const void *bytes, size_t count)
{
	size_t limit = c->last_of_stream ? 2 * CONTROL_QUEUE_MAX : CONTROL_QUEUE_MAX;
	bool taken;

	if (c->pending || c->ending)
		return false;
	c->stream = true;
	taken = client_queue(c, bytes, count, limit);
	client_update(c); /* sent by server_serve(), many at once */
	return taken;
}

/* The handler has the last word. */
static void end_stream(struct server_client *c)
{
	c->last_of_stream = true;
	c->server->ops->ended(c->server->arg, c);
	c->ending = true;
	client_update(c);
}

void server_end_streams(struct server *s)
{
	for (uint32_t i = 0; i < s->client_count; i++)
		if (s->clients[i]->stream && !s->clients[i]->ending)
			end_stream(s->clients[i]);
}

void server_set_context(struct server_client *c, void *context)
{
	c->context = context;
}

void *server_context(const struct server_client *c)
{
	return c->context;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void request_check(struct server_client *c, const json_t *request)
{
	const json_t *id = json_object_get(request, "id");
	const json_t *version = json_object_get(request, "version");
	struct server *s = c->server;

	/* 17 digits: the same number, whatever it is */
	c->id = id ? json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17))
		   : NULL;
	if (id && !c->id)
		server_refuse(c, REFUSE_FAILED, "there is no memory for the request");
	else if (!version)
		server_refuse(c, REFUSE_INPUT,
			"the request has no \"version\"; version %d is known", CONTROL_VERSION);
	else if (!json_is_integer(version) || json_integer_value(version) != CONTROL_VERSION)
		server_refuse(c, REFUSE_INPUT,
			"the request's \"version\" is not known; version %d is", CONTROL_VERSION);
	else if (!json_is_string(json_object_get(request, "do")))
		server_refuse(c, REFUSE_INPUT,
			"the request has no \"do\", a string that says what is to be done");
	else
		s->ops->request(s->arg, c, request);
}

static void client_request(struct server_client *c, size_t length)
{
	json_error_t error;
	json_t *request = json_loadb(c->line, length, 0, &error);

	c->pending = true;
	if (!request)
		server_refuse(c, REFUSE_INPUT, "the line is no JSON object: byte %d: %s",
			error.position, error.text);
	else if (!json_is_object(request))
		server_refuse(c, REFUSE_INPUT, "the line is no JSON object");
	else
		request_check(c, request);
	json_decref(request);
}

/* Nothing more is read from the client, which gets the reason. */
static void client_refuse_line(struct server_client *c, const char *why)
{
	c->pending = true;
	server_refuse(c, REFUSE_INPUT, "%s", why);
	c->length = 0;
}

static void client_input_ended(struct server_client *c)
{
	c->input_ended = true;
	if (c->length)
		client_refuse_line(c, "the last line does not end with a newline");
}

/* Reads what there is, up to a line's end. Its length; 0: end of input; or -errno. */
static ssize_t receive_line(struct server_client *c)
{
	char *to = c->line + c->length, *newline;
	size_t room = sizeof(c->line) - c->length;
	ssize_t n = recv(c->fd, to, room < PEEK ? room : PEEK, MSG_PEEK);

	if (n > 0) {
		newline = memchr(to, '\n', (size_t)n);
		n = recv(c->fd, to, newline ? (size_t)(newline - to) + 1 : (size_t)n, 0);
	}
	return n < 0 ? -errno : n;
}

/*
 * Reads one line. What follows stays in the socket, so that epoll reports it later, and a client
 * that asks faster than it is served is stopped by its own socket.
 */
static void client_receive(struct server_client *c)
{
	ssize_t n;

	do {
		n = receive_line(c);
		if (n == -EAGAIN)
			return;
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			client_input_ended(c);
			return;
		}
		c->length += (size_t)n;
		if (c->line[c->length - 1] == '\n') {
			n = (ssize_t)c->length - 1;
			c->length = 0;
			client_request(c, (size_t)n);
			return;
		}
	} while (c->length <= CONTROL_LINE_MAX);
	client_refuse_line(c, "the line is longer than 64 KB");
	c->ending = true;
	c->discards = true;
}

/*
 * Closing a socket with unread input resets the connection, and the reply may be lost before the
 * peer has read it.
 */
static void client_discard(struct server_client *c)
{
	size_t count = 0;
	ssize_t n;

	do {
		n = recv(c->fd, c->line, sizeof(c->line), 0);
		count += n > 0 ? (size_t)n : 0;
	} while (n > 0 && count < DISCARD_TURN);
	c->discarded += count;
	c->discards = (n > 0 || (n < 0 && errno == EAGAIN)) && c->discarded < DISCARD_MAX;
}

/* Of one that is streamed to: a line's end is the end. */
static void client_receive_end(struct server_client *c)
{
	char bytes[PEEK];
	ssize_t n;

	do
		n = recv(c->fd, bytes, sizeof(bytes), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0)
		c->silent = true;
	else if (memchr(bytes, '\n', (size_t)n))
		end_stream(c);
}

/* ---- clients --------------------------------------------------------------------------------- */

static void client_free(struct server_client *c)
{
	struct server *s = c->server;

	s->ops->gone(s->arg, c);
	for (uint32_t i = 0; i < s->client_count; i++)
		if (s->clients[i] == c)
			s->clients[i] = s->clients[--s->client_count];
	close(c->fd);
	free(c->id);
	send_buffer_release(&c->send_buffer);
	free(c);
}

static void client_serve(struct server_client *c, uint32_t events)
{
	if (events & EPOLLOUT)
		client_send(c);
	if (c->discards && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		client_discard(c);
	/* who has left may have asked before: `echo REQUEST | socat -u - ...` */
	if (client_takes_requests(c) && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		client_receive(c);
	else if (client_may_end_stream(c) && events & EPOLLIN)
		client_receive_end(c);
	if (events & (EPOLLHUP | EPOLLERR) && !client_takes_requests(c))
		client_free(c);
	else
		client_update(c);
}

/* NULL, or why a connection is not served. */
static const char *client_new(struct server *s, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct server_client *c;

	if (s->client_count == CONTROL_CLIENTS)
		return "there are too many connections";
	c = calloc(1, sizeof(*c));
	if (!c)
		return "there is no memory for another connection";
	c->server = s;
	c->fd = fd;
	c->events = event.events;
	event.data.ptr = c;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(c);
		return "there is no memory for another connection";
	}
	s->clients[s->client_count++] = c;
	return NULL;
}

static void server_accept(struct server *s)
{
	const char *why;
	int fd;

	/* no more than can be served at once; epoll reports the others */
	for (uint32_t i = 0; i < CONTROL_CLIENTS; i++) {
		fd = listener_accept(&s->listener);
		if (fd == -EAGAIN)
			return;
		why = fd < 0 ? NULL : client_new(s, fd);
		if (why)
			listener_refuse(fd, why);
	}
}

/* ---- the server ------------------------------------------------------------------------------ */

int server_open(struct server **ret, const char *path, const struct server_ops *ops, void *arg,
	struct error *why)
{
	struct epoll_event event = {.events = EPOLLIN}; /* no client: the listener */
	struct server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(why, -ENOMEM, "there is no memory for a control socket");
	*s = (struct server){.ops = ops, .arg = arg, .epoll = -1, .listener = LISTENER_NONE};
	r = listener_open(&s->listener, path, why);
	if (r == 0)
		s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r == 0 &&
		(s->epoll < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener.fd, &event) < 0))
		r = error_set(why, -errno, "cannot wait at %s: %s", path, strerror(errno));
	if (r < 0) {
		server_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	while (s->client_count)
		client_free(s->clients[0]);
	listener_close(&s->listener);
	if (s->epoll >= 0)
		close(s->epoll);
	free(s);
}

int server_fd(const struct server *s)
{
	return s->epoll;
}

void server_serve(struct server *s)
{
	struct epoll_event events[CONTROL_CLIENTS + 1];
	int count = epoll_wait(s->epoll, events, CONTROL_CLIENTS + 1, 0);

	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr)
			client_serve(events[i].data.ptr, events[i].events);
		else
			server_accept(s);
	}
}

/* What waits for the clients, in all; the sockets of those in *ret. */
static size_t send_all(struct server *s, struct pollfd ret[CONTROL_CLIENTS], uint32_t *ret_count)
{
	size_t waits = 0;

	*ret_count = 0;
	for (uint32_t i = 0; i < s->client_count; i++) {
		struct server_client *c = s->clients[i];

		client_send(c);
		client_update(c);
		if (c->send_buffer.count)
			ret[(*ret_count)++] = (struct pollfd){c->fd, POLLOUT, 0};
		waits += c->send_buffer.count;
	}
	return waits;
}

void server_drain(struct server *s, int milliseconds)
{
	int64_t end = 0, left;
	struct pollfd waiting[CONTROL_CLIENTS];
	size_t before = SIZE_MAX, now;
	uint32_t count;

	for (;;) {
		now = send_all(s, waiting, &count);
		if (now < before)
			end = clock_ms() + milliseconds;
		before = now;
		left = end - clock_ms();
		if (!count || left <= 0)
			return;
		poll(waiting, count, (int)left);
	}
}
