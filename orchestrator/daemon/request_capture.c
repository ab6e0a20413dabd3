/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A capture over the control socket: an answer, and then pcapng until one side closes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "session/capture.h"
#include "daemon/live_fabric_internal.h"

struct stream {
	struct server_client *client;
	struct capture *capture;
	FILE *head; /* what comes before the answer could be given; NULL: it has been */
	char *text;
	size_t bytes;
};

static bool sink(void *arg, const void *bytes, size_t count)
{
	struct stream *s = arg;

	if (s->head)
		return fwrite(bytes, 1, count, s->head) == count;
	return server_stream(s->client, bytes, count);
}

static int begin(struct stream *s, struct captures *captures, const char *target, struct error *why)
{
	int r;

	s->head = open_memstream(&s->text, &s->bytes);
	if (!s->head)
		return error_set(why, -ENOMEM, "out of memory for a capture");
	r = capture_begin(&s->capture, captures, target, sink, s, why);
	if (fclose(s->head) && r == 0)
		r = error_set(why, -ENOMEM, "out of memory for a capture");
	s->head = NULL;
	return r;
}

static void stream_free(struct stream *s, struct captures *captures)
{
	capture_end(captures, s->capture);
	free(s->text);
	free(s);
}

void capture_request(struct live *l, struct server_client *c, const json_t *request)
{
	const char *target = json_string_value(json_object_get(request, "target"));
	struct captures *captures = session_captures(l->session);
	struct error why = ERROR_INIT;
	struct stream *s;

	if (!target) {
		server_refuse(c, REFUSE_INPUT, "capture: of what? A port, a node, a link, or all");
		return;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		server_refuse(c, REFUSE_FAILED, "out of memory for a capture");
		return;
	}
	s->client = c;
	if (begin(s, captures, target, &why) < 0) {
		server_refuse(c, REFUSE_INPUT, "%s", why.text);
		stream_free(s, captures);
		return;
	}
	server_set_context(c, s);
	server_answer(c, json_pack("{s:o}", "ports", capture_ports(s->capture)));
	server_stream(c, s->text, s->bytes);
}

void capture_forget(struct live *l, struct server_client *c)
{
	struct stream *s = server_context(c);

	if (!s)
		return;
	server_set_context(c, NULL);
	stream_free(s, session_captures(l->session));
}
