/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SERVER_H
#define FABRICBED_SERVER_H

/*
 * The control socket of a live fabric: requests and replies as in docs/control.md, a JSON object a
 * line. It never blocks, and no client can keep it from serving the others: what one sends and does
 * not read is bounded.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

#define CONTROL_VERSION   1
#define CONTROL_LINE_MAX  65536                   /* bytes of a request */
#define CONTROL_KEYS_MAX  (CONTROL_LINE_MAX - 64) /* of its verb's own keys: the rest has room */
#define CONTROL_CLIENTS   64                      /* at once; more are refused */
#define CONTROL_QUEUE_MAX (8 << 20)               /* bytes that wait for a client to read them */

struct server;
struct server_client;

/* Why a request was refused: what an exit status comes of. */
enum refusal {
	REFUSE_INPUT,  /* it makes no sense */
	REFUSE_STATE,  /* not now: paused, ended, ... */
	REFUSE_FAILED, /* it was tried, and something failed */
};

struct server_ops {
	/*
	 * A request: an object of the right version with a string "do". server_answer() or
	 * server_refuse() replies, now or later; until then the client's next request waits.
	 */
	void (*request)(void *arg, struct server_client *c, const json_t *request);
	/*
	 * The client is gone, whoever ended it: drop pending replies and streams. Called once for
	 * every client, also for one that asked nothing. c is invalid afterwards.
	 */
	void (*gone)(void *arg, struct server_client *c);
	/*
	 * The client wants its stream to end. What is given to server_stream() now is the last of
	 * it, and has room however slow the reader is; then the connection is closed. At most once
	 * for a client, before it is gone.
	 */
	void (*ended)(void *arg, struct server_client *c);
};

/*
 * Listens at path (replaces a stale socket; mode 0600). 0 or -errno with why: -EADDRINUSE, another
 * process listens there; -EEXIST, there is no socket but something else. server_close() removes the
 * file and calls gone() for every client. ops stays the caller's. No operation may close the
 * server, or serve.
 */
int server_open(struct server **ret, const char *path, const struct server_ops *ops, void *arg,
	struct error *why);
void server_close(struct server *s);

/* A descriptor that polls as readable when there is something to do for server_serve(). */
int server_fd(const struct server *s);

/* Takes and sends what can be taken and sent now; of a client one request a call. Never blocks. */
void server_serve(struct server *s);

/*
 * Replies to the client's pending request, if any. Takes the reference to result (an object; NULL
 * is refused as a lack of memory, and one longer than CONTROL_QUEUE_MAX as too long).
 */
void server_answer(struct server_client *c, json_t *result);
__attribute__((format(printf, 3, 4))) void server_refuse(
	struct server_client *c, enum refusal kind, const char *format, ...);

/*
 * Raw bytes after the reply: the rest of the connection is a stream. False: no room, the reader is
 * slow; nothing was taken. From the first call on, even of no bytes, requests are no longer read:
 * any line ends the stream. A client that has closed its side is still sent to; so the first call
 * follows the reply at once. Before the reply it is false.
 */
bool server_stream(struct server_client *c, const void *bytes, size_t count);

/* Ends all streams, as if their clients had asked for it: each closes once all has been read. */
void server_end_streams(struct server *s);

/* Sends the last replies, until no client has read anything for so long. */
void server_drain(struct server *s, int milliseconds);

/* The place for what a request's handler keeps with a client; NULL at first. */
void server_set_context(struct server_client *c, void *context);
void *server_context(const struct server_client *c);

#endif
