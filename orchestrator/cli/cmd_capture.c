/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/client.h"

static const struct cli_option options[] = {
	{"output", 'o', "FILE",
		"write there; '-' is standard output (the default, if it is no terminal)"},
	{0},
};

/* pcapng: blocks begin with type and total length; an Enhanced Packet Block carries a packet. */
#define BLOCK_PACKET 6
#define BLOCK_HEAD   8
#define BLOCK_MIN    12
#define BLOCK_MAX    (1 << 20)

#define BUFFER      (2 * BLOCK_MAX)
#define PORTS_SHOWN 4

struct capture {
	const char *name; /* of the fabric */
	struct client *client;
	int out;
	int stop_fd;
	unsigned char *bytes; /* what came and is no whole block yet */
	size_t count;
	unsigned long long written, packets;
};

/* ---- writing: whole blocks only, so that the file can be read wherever it ends ---- */

/* 0; -ECANCELED: asked to stop while the reader of a pipe took nothing; another -errno. */
static int write_bytes(struct capture *c, const unsigned char *bytes, size_t count)
{
	struct pollfd fds[2] = {
		{.fd = c->out, .events = POLLOUT}, {.fd = c->stop_fd, .events = POLLIN}};
	ssize_t n;

	while (count) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (!fds[0].revents && fds[1].revents)
			return -ECANCELED;
		if (!fds[0].revents)
			continue;
		/* a pipe that polls as writable takes that much without blocking */
		n = write(c->out, bytes, count < PIPE_BUF ? count : PIPE_BUF);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			bytes += n;
			count -= (size_t)n;
			c->written += (unsigned long long)n;
		}
	}
	return 0;
}

/* The length of the block there, 0 if it is not whole yet. -EPROTO: no block. */
static ssize_t block_length(struct capture *c, size_t at)
{
	uint32_t type, length;

	if (c->count - at < BLOCK_HEAD)
		return 0;
	memcpy(&type, c->bytes + at, sizeof(type));
	memcpy(&length, c->bytes + at + sizeof(type), sizeof(length));
	if (length < BLOCK_MIN || length > BLOCK_MAX || length % 4)
		return -EPROTO;
	if (c->count - at < length)
		return 0;
	c->packets += type == BLOCK_PACKET;
	return length;
}

static int write_blocks(struct capture *c)
{
	ssize_t length = 0;
	size_t end = 0;
	int r;

	while (end < c->count && (length = block_length(c, end)) > 0)
		end += (size_t)length;
	r = write_bytes(c, c->bytes, end);
	if (r < 0)
		return r;
	c->count -= end;
	memmove(c->bytes, c->bytes + end, c->count);
	return length < 0 ? (int)length : 0;
}

/* ---- the stream ---- */

/* 1: go on; 0: the fabric has ended it; -errno as client_stream() and write_bytes(). */
static int take_some(struct capture *c)
{
	ssize_t n = client_stream(c->client, c->bytes + c->count, BUFFER - c->count, c->stop_fd);
	int r;

	if (n <= 0)
		return (int)n;
	c->count += (size_t)n;
	r = write_blocks(c);
	return r < 0 ? r : 1;
}

/* All until Ctrl-C belongs to the capture, sent already or not; a second Ctrl-C is deadly. */
static int take_rest(struct capture *c)
{
	int r;

	client_release_signals(c->stop_fd);
	c->stop_fd = CLIENT_NO_STOP;
	client_end_stream(c->client);
	do
		r = take_some(c);
	while (r > 0);
	return r;
}

static int copy_stream(struct capture *c, const char *output)
{
	int r;

	do
		r = take_some(c);
	while (r > 0);
	if (r == -EINTR)
		r = take_rest(c);
	else if (r == 0)
		cli_error("%s ended the capture: it is going down, or this was read too slowly",
			c->name);
	if (r == -EPIPE) /* whoever reads the pipe has seen enough */
		r = 0;
	cli_error("%llu packets, %llu bytes", c->packets, c->written);
	if (r < 0 && r != -ECANCELED) {
		cli_error("capture to %s: %s", output,
			r == -EPROTO ? "what came is no pcapng" : strerror(-r));
		return EXIT_RUN;
	}
	return EXIT_WELL;
}

/* ---- its begin ---- */

static void print_begin(const char *name, const json_t *result)
{
	const json_t *ports = json_object_get(result, "ports"), *port;
	size_t count = json_array_size(ports), i;

	fprintf(stderr, "fabricbed: capturing at %zu port%s of %s", count, count == 1 ? "" : "s",
		name);
	json_array_foreach(ports, i, port) if (i < PORTS_SHOWN)
		fprintf(stderr, "%s%s", i ? ", " : ": ", json_string_value(port));
	fprintf(stderr, "%s; Ctrl-C ends it\n", count > PORTS_SHOWN ? ", ..." : "");
}

/* Not before the fabric has agreed: a refusal must not cost an older file. */
static int open_output(struct capture *c, const char *output)
{
	c->out = STDOUT_FILENO;
	if (output)
		c->out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (c->out >= 0)
		return EXIT_WELL;
	cli_error("can't write %s: %s", output, strerror(errno));
	return EXIT_INPUT;
}

static int close_output(struct capture *c, const char *output, int status)
{
	if (!output || close(c->out) == 0)
		return status;
	cli_error("can't write %s: %s", output, strerror(errno));
	return EXIT_RUN;
}

static int capture(struct capture *c, json_t *keys, const char *output)
{
	struct error why = ERROR_INIT;
	json_t *result = NULL;
	int status = client_ask(c->client, "capture", keys, c->stop_fd, &result, &why);

	if (status == CLIENT_STOPPED)
		return EXIT_RUN;
	if (status != EXIT_WELL) {
		cli_error("%s", why.text);
		return status;
	}
	status = open_output(c, output);
	if (status == EXIT_WELL) {
		print_begin(c->name, result);
		status = copy_stream(c, output ? output : "standard output");
		status = close_output(c, output, status);
	}
	json_decref(result);
	return status;
}

static int open_capture(struct capture *c, json_t *keys, const char *output)
{
	struct error why = ERROR_INIT;
	int status = client_open(&c->client, c->name, &why);

	if (status != EXIT_WELL) {
		cli_error("%s", why.text);
		json_decref(keys);
		return status;
	}
	c->stop_fd = client_catch_signals();
	status = capture(c, keys, output);
	client_release_signals(c->stop_fd);
	client_close(c->client);
	return status;
}

static int run_capture(const struct command *c, const struct cli_args *args)
{
	const char *output = cli_value(c, args, "output");
	struct capture capture = {.name = args->positional[0], .stop_fd = CLIENT_NO_STOP};
	json_t *words = NULL, *keys;
	int status;

	if (output && !strcmp(output, "-"))
		output = NULL;
	if (!output && isatty(STDOUT_FILENO)) {
		cli_error(
			"capture: a terminal can't show it; name a file with --output, or pipe it: "
			"'fabricbed capture %s %s | wireshark -k -i -'",
			args->positional[0], args->positional[1]);
		return EXIT_INPUT;
	}
	words = client_words(args->positional + 1, 1);
	if (!words)
		return EXIT_INPUT;
	capture.bytes = malloc(BUFFER);
	keys = json_pack("{s:O}", "target", json_array_get(words, 0));
	json_decref(words);
	if (!capture.bytes || !keys) {
		cli_error("out of memory");
		json_decref(keys);
		status = EXIT_RUN;
	} else {
		status = open_capture(&capture, keys, output);
	}
	free(capture.bytes);
	return status;
}

const struct command cmd_capture = {
	.name = "capture",
	.operands = "NAME TARGET",
	.summary = "record the frames at ports of a live fabric, for Wireshark",
	.details =
		"Writes pcapng: frames with their model time, the port and direction, and of what was dropped the\n"
		"reason as the packet's comment. TARGET is a port ('tor0.0->agg0.1'), a node, a link, a pattern of\n"
		"them, or all. It goes on until Ctrl-C, the end of the pipe's reader, or of the fabric, and says\n"
		"then how much it was. After Ctrl-C the file has all that had passed by then; a second one\n"
		"does not wait for it. For STrack, the assembled transport and trimmed headers Wireshark has to\n"
		"load share/fabricbed/wireshark/fabricbed.lua, where fabricbed is installed.\n\n"
		"  fabricbed capture hello h0 --output h0.pcapng\n"
		"  fabricbed capture hello all | wireshark -k -i -\n"
		"  fabricbed capture hello 'tor0.0->agg0.1' | tshark -r -",
	.options = options,
	.operands_min = 2,
	.operands_max = 2,
	.run = run_capture,
};
