/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLIENT_H
#define FABRICBED_CLIENT_H

/*
 * A connection to a live fabric's control socket: requests and replies as in docs/control.md.
 * Errors are an exit status with words in *why, which client_request() prints; a screen prints them
 * when it is closed.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/error.h"
#include "cli/cli.h"

struct client;

/* No descriptor that could interrupt. */
#define CLIENT_NO_STOP -1
/* In place of an exit status: stop_fd became readable first. Nothing is in *why. */
#define CLIENT_STOPPED -1

/*
 * Connects to the fabric of that name. EXIT_WELL, or with why: EXIT_INPUT, there is no such fabric;
 * EXIT_MACHINE, the user is not root; EXIT_RUN, its process is gone.
 */
int client_open(struct client **ret, const char *name, struct error *why);

/* The same without waiting or words, for a screen. 0 or -errno; -EAGAIN: too many connections. */
int client_try_open(struct client **ret, const char *name);

/* Readable when an answer has come, or the connection has ended. */
int client_fd(const struct client *c);

/* NULL is fine. */
void client_close(struct client *c);

/*
 * Sends one request and waits for its reply. `keys` are those beside version and do (NULL: none);
 * it takes the reference. EXIT_WELL with a new reference to the result; CLIENT_STOPPED; or with
 * why: EXIT_INPUT or EXIT_RUN as the fabric refused it, EXIT_RUN when the connection broke.
 */
int client_ask(struct client *c, const char *verb, json_t *keys, int stop_fd, json_t **ret_result,
	struct error *why);

/* The same, which stops after so many seconds. */
int client_ask_within(struct client *c, const char *verb, json_t *keys, int seconds,
	json_t **ret_result, struct error *why);

/*
 * The two halves of client_ask(). Several requests may be sent before a reply is taken: an "id"
 * among the keys comes back with its reply. client_send() returns EXIT_WELL, or another status with
 * why. client_take() never waits: 1 with a new reference to a reply; 0: none yet; -ECONNRESET: the
 * connection has ended; -EPROTO: no JSON; another -errno.
 */
int client_send(struct client *c, const char *verb, json_t *keys, struct error *why);
int client_take(struct client *c, json_t **ret_answer);

/* Whether the fabric refused the latest request with "failed": it has tried, and lives. */
bool client_has_failed(const struct client *c);

/*
 * What follows the reply to a `capture`, as it comes: how many bytes, at least 1; 0: the fabric has
 * ended it; -EINTR: stop_fd became readable; another -errno.
 */
ssize_t client_stream(struct client *c, void *ret, size_t size, int stop_fd);

/* Asks the fabric to end the stream: what follows, up to the end, is what had happened before. */
void client_end_stream(struct client *c);

/* A request on its own connection. EXIT_WELL with the result; another status after a message. */
int client_request(const char *name, const char *verb, json_t *keys, json_t **ret_result);

/*
 * The request of a command with the verb's name, to the fabric of its first operand: the reply is
 * printed as JSON with --json, else by `print`. Takes the reference to keys (NULL: none). An exit
 * status, after a message if it is not EXIT_WELL.
 */
int client_command(const struct command *c, const struct cli_args *args, json_t *keys,
	void (*print)(const struct cli_args *args, const json_t *result));

/* The option for that, alone. */
#define CLIENT_JSON                                                                                \
	{                                                                                          \
		"json", 'j', NULL, "print what the fabric answered as JSON"                        \
	}
extern const struct cli_option client_options[];

/* The same for a verb that takes the other operands as `words`. */
int client_words_command(const struct command *c, const struct cli_args *args,
	void (*print)(const struct cli_args *args, const json_t *result));

/* An array of these words; NULL after a message if one is not UTF-8. */
json_t *client_words(const char *const *words, size_t count);

/*
 * Returns a descriptor that Ctrl-C and similar signals make readable, instead of ending the
 * process. CLIENT_NO_STOP if that can't be had. Closing it restores the signals.
 */
int client_catch_signals(void);
void client_release_signals(int stop_fd);

#endif
