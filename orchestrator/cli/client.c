/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/fabrics.h"
#include "base/json.h"
#include "daemon/server.h"
#include "daemon/registry.h"

#define READ_STEP 65536
/* What a live fabric would let wait for a reader is the longest that it can answer. */
#define ANSWER_MAX (2 * CONTROL_QUEUE_MAX)

struct client {
	int fd;
	char *name;
	bool failed; /* the latest request, by its answer */
	char *bytes; /* that came and were not asked for yet: `count` from `start` on */
	size_t start, count, capacity;
	size_t searched; /* bytes in which there is no end of a line */
};

/* ---- why there is no connection ---- */

static int no_such_fabric(const char *name, struct error *why)
{
	fabrics_explain_missing(name, why);
	return EXIT_INPUT;
}

static int not_allowed(struct error *why)
{
	error_set(why, 0,
		"a live fabric answers root alone; remedy: run this as root, with sudo for one");
	return EXIT_MACHINE;
}

/* It is there, but does not listen: error is why. */
static void explain_state(const struct registry_info *info, int error, struct error *why)
{
	const char *name = info->name;

	if (!info->alive || info->phase == REGISTRY_FAILED)
		error_set(why, 0, "%s %s: %s; 'fabricbed down %s' cleans up", name,
			info->phase == REGISTRY_FAILED ? "failed" : "crashed", info->reason, name);
	else if (info->phase == REGISTRY_STARTING)
		error_set(why, 0, "%s is still coming up", name);
	else if (info->phase == REGISTRY_ENDED)
		error_set(why, 0, "%s is being taken down", name);
	else
		error_set(why, 0, "can't reach %s: %s", name, strerror(error));
}

static int explain_connect(const char *name, int error, struct error *why)
{
	struct registry_info info;
	int r;

	if (error == EACCES || error == EPERM)
		return not_allowed(why);
	if (error == ENOMEM) {
		error_set(why, 0, "out of memory");
		return EXIT_RUN;
	}
	r = registry_read(&info, name);
	if (r == -ENOENT || r == -ENOTDIR)
		return no_such_fabric(name, why);
	if (r < 0) {
		error_set(why, 0, "can't reach %s: %s", name, strerror(error));
		return EXIT_RUN;
	}
	explain_state(&info, error, why);
	registry_release(&info);
	return EXIT_RUN;
}

/* ---- the connection ---- */

/* A descriptor, or -errno. flags: with SOCK_NONBLOCK a full queue of connections is -EAGAIN. */
static int connect_socket(const char *name, int flags)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char path[REGISTRY_PATH_MAX];
	int fd, error;

	/* what is no name must not lead out of the directory */
	if (!claim_valid_name(name, REGISTRY_NAME_MAX))
		return -ENOENT;
	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s",
		(int)sizeof(address.sun_path) - 1, registry_path(path, name, "control"));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	return -error;
}

static int open_socket(struct client **ret, const char *name, int flags)
{
	struct client *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (c && (c->name = strdup(name)))
		r = c->fd = connect_socket(name, flags);
	if (r >= 0) {
		*ret = c;
		return 0;
	}
	free(c ? c->name : NULL);
	free(c);
	return r;
}

int client_open(struct client **ret, const char *name, struct error *why)
{
	int status = fabrics_trust(why);
	int r = status == EXIT_WELL ? open_socket(ret, name, 0) : 0;

	return r < 0 ? explain_connect(name, -r, why) : status;
}

int client_try_open(struct client **ret, const char *name)
{
	return open_socket(ret, name, SOCK_NONBLOCK);
}

int client_fd(const struct client *c)
{
	return c->fd;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	close(c->fd);
	free(c->bytes);
	free(c->name);
	free(c);
}

/* ---- requests and answers ---- */

/* Waits until there is something to read. 0; -EINTR: stop_fd was first. */
static int wait_readable(const struct client *c, int stop_fd)
{
	struct pollfd fds[2] = {{.fd = c->fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
	int r;

	do
		r = poll(fds, 2, -1);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return fds[1].revents ? -EINTR : 0;
}

/* Appends input to the buffer. How many bytes; 0: end of input; -EAGAIN: none yet; -errno. */
static ssize_t read_more(struct client *c)
{
	ssize_t n;

	if (c->capacity - c->count < READ_STEP) {
		size_t capacity = 2 * c->capacity + READ_STEP;
		char *bytes = c->count > ANSWER_MAX ? NULL : realloc(c->bytes, capacity);

		if (!bytes)
			return -ENOMEM;
		c->bytes = bytes;
		c->capacity = capacity;
	}
	do
		n = recv(c->fd, c->bytes + c->count, READ_STEP, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	c->count += (size_t)n;
	return n;
}

static int connection_lost(const struct client *c, int error, struct error *why)
{
	if (error == -ECONNRESET)
		error_set(why, 0,
			"%s closed the connection before it answered: 'fabricbed list' tells whether it lives",
			c->name);
	else
		error_set(why, 0, "the connection to %s broke: %s", c->name, strerror(-error));
	return EXIT_RUN;
}

/*
 * Sends a whole request. Nothing else has been sent, so there is room for it unless the fabric
 * reads nothing. Whether the other end has closed shows when the reply is read: it may have sent a
 * reason.
 */
static int send_line(struct client *c, const char *line, size_t length, struct error *why)
{
	ssize_t n;

	for (; length; line += n, length -= (size_t)n) {
		n = send(c->fd, line, length, MSG_NOSIGNAL);
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return EXIT_WELL;
		if (n < 0 && errno != EINTR)
			return connection_lost(c, -errno, why);
		if (n < 0)
			n = 0;
	}
	return EXIT_WELL;
}

int client_send(struct client *c, const char *verb, json_t *keys, struct error *why)
{
	json_t *request = json_pack("{s:i, s:s}", "version", CONTROL_VERSION, "do", verb);
	char *line = NULL, *text = NULL;
	int length, status;

	if (request && (!keys || json_object_update(request, keys) == 0))
		text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	json_decref(keys);
	length = text ? asprintf(&line, "%s\n", text) : -1;
	free(text);
	if (length < 0) {
		error_set(why, 0, "out of memory");
		return EXIT_RUN;
	}
	if (length > CONTROL_LINE_MAX) {
		error_set(why, 0, "a request of %d bytes is too long: %s takes at most %d", length,
			c->name, CONTROL_LINE_MAX);
		status = EXIT_INPUT;
	} else {
		status = send_line(c, line, (size_t)length, why);
	}
	free(line);
	return status;
}

static int refused(struct client *c, const json_t *answer, struct error *why)
{
	const char *kind = NULL, *text = NULL;

	if (json_unpack((json_t *)answer, "{s:{s:s, s:s}}", "error", "kind", &kind, "text", &text) <
		0) {
		error_set(why, 0, "%s refused it and did not say why", c->name);
		return EXIT_RUN;
	}
	error_set(why, 0, "%s: %s", c->name, text);
	c->failed = !strcmp(kind, "failed");
	return strcmp(kind, "input") ? EXIT_RUN : EXIT_INPUT;
}

/* The next whole line, without its end; NULL: incomplete. The line before it is invalid now. */
static const char *next_line(struct client *c, size_t *ret_length)
{
	const char *end;

	c->count -= c->start;
	if (c->start && c->count)
		memmove(c->bytes, c->bytes + c->start, c->count);
	c->start = 0;
	end = c->count > c->searched ? memchr(c->bytes + c->searched, '\n', c->count - c->searched)
				     : NULL;
	c->searched = end ? 0 : c->count;
	if (!end)
		return NULL;
	*ret_length = (size_t)(end - c->bytes);
	c->start = *ret_length + 1;
	return c->bytes;
}

int client_take(struct client *c, json_t **ret_answer)
{
	const char *line;
	size_t length;
	ssize_t n;

	while (!(line = next_line(c, &length))) {
		n = read_more(c);
		if (n <= 0)
			return n == -EAGAIN ? 0 : n < 0 ? (int)n : -ECONNRESET;
	}
	*ret_answer = json_loadb(line, length, JSON_ALLOW_NUL, NULL);
	return *ret_answer ? 1 : -EPROTO;
}

static int judge_answer(
	struct client *c, const json_t *answer, json_t **ret_result, struct error *why)
{
	const json_t *ok = json_object_get(answer, "ok");
	json_t *result = json_object_get(answer, "result");

	if (json_is_false(ok))
		return refused(c, answer, why);
	if (json_is_true(ok) && json_is_object(result)) {
		*ret_result = json_incref(result);
		return EXIT_WELL;
	}
	error_set(why, 0,
		"%s gave an answer that fabricbed %s does not understand; was it brought up by another?",
		c->name, FABRICBED_VERSION);
	return EXIT_RUN;
}

int client_ask(struct client *c, const char *verb, json_t *keys, int stop_fd, json_t **ret_result,
	struct error *why)
{
	int status = client_send(c, verb, keys, why), r;
	json_t *answer = NULL;

	c->failed = false;
	if (status != EXIT_WELL)
		return status;
	while ((r = client_take(c, &answer)) == 0) {
		r = wait_readable(c, stop_fd);
		if (r == -EINTR)
			return CLIENT_STOPPED;
		if (r < 0)
			break;
	}
	if (r < 0 && r != -EPROTO)
		return connection_lost(c, r, why);
	status = judge_answer(c, answer, ret_result, why);
	json_decref(answer);
	return status;
}

int client_ask_within(struct client *c, const char *verb, json_t *keys, int seconds,
	json_t **ret_result, struct error *why)
{
	struct itimerspec patience = {.it_value = {.tv_sec = seconds}};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), status;

	/* without a timer it is asked all the same */
	if (timer >= 0)
		timerfd_settime(timer, 0, &patience, NULL);
	status = client_ask(c, verb, keys, timer, ret_result, why);
	if (timer >= 0)
		close(timer);
	return status;
}

bool client_has_failed(const struct client *c)
{
	return c && c->failed;
}

ssize_t client_stream(struct client *c, void *ret, size_t size, int stop_fd)
{
	ssize_t n;

	if (c->start == c->count) {
		c->start = c->count = 0;
		do {
			n = wait_readable(c, stop_fd);
			if (n == 0)
				n = read_more(c);
		} while (n == -EAGAIN);
		if (n <= 0)
			return n;
	}
	if (size > c->count - c->start)
		size = c->count - c->start;
	memcpy(ret, c->bytes + c->start, size);
	c->start += size;
	return (ssize_t)size;
}

void client_end_stream(struct client *c)
{
	struct error why = ERROR_INIT;

	/* where it can't be sent, the end is there already, or will be */
	client_send(c, "end", NULL, &why);
}

int client_request(const char *name, const char *verb, json_t *keys, json_t **ret_result)
{
	struct error why = ERROR_INIT;
	struct client *c = NULL;
	int status = client_open(&c, name, &why);

	if (status == EXIT_WELL)
		status = client_ask(c, verb, keys, CLIENT_NO_STOP, ret_result, &why);
	else
		json_decref(keys);
	if (status != EXIT_WELL)
		cli_error("%s", why.text);
	client_close(c);
	return status;
}

int client_command(const struct command *c, const struct cli_args *args, json_t *keys,
	void (*print)(const struct cli_args *args, const json_t *result))
{
	json_t *result = NULL;
	int status = client_request(args->positional[0], c->name, keys, &result);

	if (status != EXIT_WELL)
		return status;
	if (cli_value(c, args, "json"))
		print_json(result, stdout);
	else
		print(args, result);
	json_decref(result);
	return EXIT_WELL;
}

json_t *client_words(const char *const *words, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		if (json_array_append_new(list, json_string(words[i])) == 0)
			continue;
		cli_error("'%s' is no UTF-8", words[i]);
		json_decref(list);
		return NULL;
	}
	return list;
}

int client_words_command(const struct command *c, const struct cli_args *args,
	void (*print)(const struct cli_args *args, const json_t *result))
{
	json_t *words = client_words(args->positional + 1, args->positional_count - 1);

	return words ? client_command(c, args, json_pack("{s:o}", "words", words), print)
		     : EXIT_INPUT;
}

const struct cli_option client_options[] = {CLIENT_JSON, {0}};

/* ---- signals ---- */

static void deadly_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
}

int client_catch_signals(void)
{
	sigset_t signals;
	int fd;

	deadly_signals(&signals);
	fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (fd < 0)
		return CLIENT_NO_STOP;
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return fd;
}

void client_release_signals(int stop_fd)
{
	struct signalfd_siginfo info;
	struct pollfd p = {.fd = stop_fd, .events = POLLIN};
	sigset_t signals;

	if (stop_fd < 0)
		return;
	/* those that came have had their effect */
	while (poll(&p, 1, 0) == 1 && read(stop_fd, &info, sizeof(info)) == sizeof(info))
		;
	close(stop_fd);
	deadly_signals(&signals);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}
