/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cli/cli.h"
#include "io/clock.h"
#include "base/json.h"

#define ID_STATUS TOP_VIEWS /* of the request; those of the views are their numbers */

struct top_feed {
	struct client *client;
	unsigned awaited; /* 1 << id of what was asked for */
	struct top_answers got;
};

int top_feed_open(struct top_feed **ret, struct client *client)
{
	struct top_feed *f = calloc(1, sizeof(*f));

	if (!f) {
		client_close(client);
		return -ENOMEM;
	}
	f->client = client;
	*ret = f;
	return 0;
}

void top_feed_close(struct top_feed *f)
{
	if (!f)
		return;
	client_close(f->client);
	top_answers_release(&f->got);
	free(f);
}

int top_feed_fd(const struct top_feed *f)
{
	return client_fd(f->client);
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

int top_feed_ask(struct top_feed *f, unsigned views)
{
	struct error why = ERROR_INIT;
	int status = client_send(f->client, "status", json_pack("{s:i}", "id", ID_STATUS), &why);

	for (int i = 0; i < TOP_VIEWS && status == EXIT_WELL; i++)
		if (views >> i & 1)
			status = client_send(f->client, "show",
				json_pack("{s:i, s:s}", "id", i, "what",
					top_view_spec((enum top_view)i)->what),
				&why);
	top_answers_release(&f->got);
	f->awaited = views | 1u << ID_STATUS;
	return status == EXIT_WELL ? 0 : -EPIPE;
}

static void take_refusal(struct top_feed *f, const json_t *answer)
{
	const char *text = look_text(answer, "error.text");

	snprintf(f->got.refusal, sizeof(f->got.refusal), "%s", text ? text : "refused");
}

static void take_answer(struct top_feed *f, const json_t *answer)
{
	json_t *result = json_object_get(answer, "result"), **to;
	const json_t *id = look(answer, "id");
	json_int_t i = json_integer_value(id);

	if (!json_is_integer(id) || i < 0 || i > ID_STATUS || !(f->awaited >> i & 1)) {
		/* refused before its id was read, and so is the rest: too many connections */
		take_refusal(f, answer);
		f->awaited = 0;
		return;
	}
	f->awaited &= ~(1u << i);
	to = i == ID_STATUS ? &f->got.status : &f->got.shown[i];
	if (json_is_true(look(answer, "ok")) && json_is_object(result))
		*to = json_incref(result);
	else
		take_refusal(f, answer);
}

int top_feed_take(struct top_feed *f, struct top_answers *ret)
{
	while (f->awaited) {
		json_t *answer = NULL;
		int r = client_take(f->client, &answer);

		if (r <= 0)
			return r;
		take_answer(f, answer);
		json_decref(answer);
	}
	*ret = f->got;
	f->got = (struct top_answers){0};
	return 1;
}

uint64_t top_clock(void)
{
	return (uint64_t)clock_ns();
}

int top_until(uint64_t then_ns, int most)
{
	uint64_t now = top_clock();
	uint64_t ms = then_ns > now ? (then_ns - now + 999999) / 1000000 : 0;

	return ms < (uint64_t)most ? (int)ms : most;
}

void top_push(struct top *t, struct top_answers *answers)
{
	if (answers->status)
		top_pair_push(&t->status, answers->status);
	for (int i = 0; i < TOP_VIEWS; i++)
		if (answers->shown[i])
			top_pair_push(&t->views[i], answers->shown[i]);
	top_answers_release(answers);
}
