/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "serve/state.h"

/* More than a control socket ever sends on one line. */
#define LINE_MAX_BYTES (16u << 20)
#define ID_STATUS      TOP_VIEWS /* of the request; those of the views are their numbers */

struct top_feed {
	int fd;
	char *line;
	size_t length, capacity;
	unsigned awaited; /* 1 << id of what was asked for */
	struct top_answers got;
};

static int connect_to(int fd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char path[STATE_PATH_MAX];

	if (!record_valid_name(name) || strlen(name) > STATE_NAME_MAX)
		return -ENOENT;
	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s",
		(int)sizeof(address.sun_path) - 1, state_path(path, name, "control"));
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

int top_feed_open(struct top_feed **ret, const char *name)
{
	struct top_feed *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	r = f->fd < 0 ? -errno : connect_to(f->fd, name);
	if (r < 0) {
		top_feed_close(f);
		return r;
	}
	*ret = f;
	return 0;
}

void top_feed_close(struct top_feed *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	top_answers_release(&f->got);
	free(f->line);
	free(f);
}

int top_feed_fd(const struct top_feed *f)
{
	return f->fd;
}

bool top_feed_waits(const struct top_feed *f)
{
	return f->awaited != 0;
}

void top_answers_release(struct top_answers *a)
{
	json_decref(a->status);
	for (int i = 0; i < TOP_VIEWS; i++)
		json_decref(a->shown[i]);
	*a = (struct top_answers){0};
}

/* A few hundred bytes to a socket whose last request was answered: they fit, or something is wrong. */
static int send_text(int fd, const char *text)
{
	ssize_t n = send(fd, text, strlen(text), MSG_NOSIGNAL);

	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) ? 0 : -EPIPE;
}

int top_feed_ask(struct top_feed *f, unsigned views)
{
	char text[1024];
	int n = snprintf(
		text, sizeof(text), "{\"version\":1,\"id\":%d,\"do\":\"status\"}\n", ID_STATUS);

	for (int i = 0; i < TOP_VIEWS; i++)
		if (views >> i & 1)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				"{\"version\":1,\"id\":%d,\"do\":\"show\",\"what\":\"%s\"}\n", i,
				top_view_spec((enum top_view)i)->what);
	top_answers_release(&f->got);
	f->awaited = views | 1u << ID_STATUS;
	return send_text(f->fd, text);
}

static void take_refusal(struct top_feed *f, const json_t *answer)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(answer, "error"), "text"));

	snprintf(f->got.refusal, sizeof(f->got.refusal), "%s", text ? text : "refused");
}

static int take_answer(struct top_feed *f, json_t *answer)
{
	json_t *result = json_object_get(answer, "result"), *id = json_object_get(answer, "id"),
	       **to;
	json_int_t i = json_integer_value(id);

	if (!json_is_integer(id) || i < 0 || i > ID_STATUS || !(f->awaited >> i & 1)) {
		/* it was refused before its id was read, and so is the rest: too many connections */
		take_refusal(f, answer);
		f->awaited = 0;
		return 0;
	}
	f->awaited &= ~(1u << i);
	to = i == ID_STATUS ? &f->got.status : &f->got.shown[i];
	if (json_is_true(json_object_get(answer, "ok")) && json_is_object(result))
		*to = json_incref(result);
	else
		take_refusal(f, answer);
	return 0;
}

static int take_line(struct top_feed *f, size_t length)
{
	json_t *answer = json_loadb(f->line, length, JSON_ALLOW_NUL, NULL);
	int r = answer ? take_answer(f, answer) : -EPROTO;

	json_decref(answer);
	f->length -= length + 1;
	memmove(f->line, f->line + length + 1, f->length);
	return r;
}

static int make_room(struct top_feed *f)
{
	size_t capacity = f->capacity ? 2 * f->capacity : 65536;
	char *line;

	if (f->length < f->capacity)
		return 0;
	if (f->capacity >= LINE_MAX_BYTES)
		return -EPROTO;
	line = realloc(f->line, capacity);
	if (!line)
		return -ENOMEM;
	f->line = line;
	f->capacity = capacity;
	return 0;
}

/* Bytes that came, 0: none now, or -errno. */
static ssize_t receive(struct top_feed *f)
{
	int r = make_room(f);
	ssize_t n;

	if (r < 0)
		return r;
	n = recv(f->fd, f->line + f->length, f->capacity - f->length, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return n ? n : -ECONNRESET;
}

int top_feed_take(struct top_feed *f, struct top_answers *ret)
{
	while (f->awaited) {
		ssize_t n = receive(f);
		size_t seen = f->length;
		const char *end;

		if (n <= 0)
			return (int)n;
		f->length += (size_t)n;
		while ((end = memchr(f->line + seen, '\n', f->length - seen))) {
			int r = take_line(f, (size_t)(end - f->line));

			if (r < 0)
				return r;
			seen = 0;
		}
	}
	*ret = f->got;
	f->got = (struct top_answers){0};
	return 1;
}
