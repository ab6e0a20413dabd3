/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/handout.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "sweep/ranks.h"

/*
 * To a worker: WORK and an item, or END. From it: DONE and a bundle, or FAILED, the errno in four
 * bytes, the most significant first, and why.
 */
enum kind { WORK = 'w', END = 'e', DONE = 'd', FAILED = 'f' };

#define FAILED_HEADER 5

static int send_message(struct ranks *r, int to, enum kind kind, const void *bytes, size_t length)
{
	uint8_t *message = malloc(length + 1);
	int e;

	if (!message)
		return -ENOMEM;
	message[0] = (uint8_t)kind;
	if (length)
		memcpy(message + 1, bytes, length);
	e = ranks_send(r, to, message, length + 1);
	free(message);
	return e;
}

/* ---- rank 0 ---- */

struct lead {
	struct ranks *ranks;
	const char *const *items;
	size_t count, next, busy; /* busy: items that are being done */
	size_t *item_of;          /* of each rank */
	handout_taken *taken;
	void *arg;
	int stopped; /* what `taken` answered, if it was negative */
};

static int hand_out(struct lead *l, int rank)
{
	const char *item;

	if (l->stopped || l->next == l->count)
		return 0;
	item = l->items[l->next];
	l->item_of[rank] = l->next++;
	l->busy++;
	return send_message(l->ranks, rank, WORK, item, strlen(item));
}

static struct handout_result read_answer(
	const uint8_t *bytes, size_t length, struct bundle *ret_bundle)
{
	struct handout_result result = {.status = -EBADMSG,
		.why = "a rank's answer is garbled: do all run the same version?"};
	uint32_t code = 0;

	for (size_t i = 1; i < FAILED_HEADER && i < length; i++)
		code = code << 8 | bytes[i];
	if (length && bytes[0] == DONE) {
		*ret_bundle = (struct bundle){(uint8_t *)bytes + 1, length - 1};
		result.status = 0;
		result.bundle = ret_bundle;
		result.why = NULL;
	} else if (length >= FAILED_HEADER && bytes[0] == FAILED && code && code <= INT_MAX) {
		result.status = -(int)code;
		result.why = (const char *)bytes + FAILED_HEADER;
	}
	return result;
}

static int take_answer(struct lead *l)
{
	struct handout_result result;
	struct bundle bundle;
	uint8_t *bytes;
	size_t length;
	int from, e = ranks_recv(l->ranks, -1, &from, &bytes, &length), answer;

	if (e < 0)
		return e;
	l->busy--;
	result = read_answer(bytes, length, &bundle);
	result.rank = from;
	result.item = l->item_of[from];
	/* at once, that it need not wait for what this process does with the answer */
	e = hand_out(l, from);
	answer = l->taken(l->arg, &result);
	if (answer < 0 && !l->stopped)
		l->stopped = answer;
	free(bytes);
	return e;
}

int handout_lead(
	struct ranks *r, const char *const *items, size_t count, handout_taken *taken, void *arg)
{
	struct lead l = {.ranks = r, .items = items, .count = count, .taken = taken, .arg = arg};
	int size = ranks_size(r), e = 0;

	l.item_of = calloc((size_t)size, sizeof(*l.item_of));
	if (!l.item_of)
		return -ENOMEM;
	for (int rank = 1; e == 0 && rank < size; rank++)
		e = hand_out(&l, rank);
	while (e == 0 && l.busy)
		e = take_answer(&l);
	free(l.item_of);
	return e < 0 ? e : l.stopped;
}

int handout_end(struct ranks *r)
{
	int e = 0;

	for (int rank = 1; e == 0 && rank < ranks_size(r); rank++)
		e = send_message(r, rank, END, NULL, 0);
	return e;
}

/* ---- the others ---- */

static int answer(struct ranks *r, int status, const struct bundle *bundle, const char *why)
{
	uint32_t code = (uint32_t)-status;
	uint8_t failed[FAILED_HEADER - 1 + sizeof(((struct error *)NULL)->text)] = {
		(uint8_t)(code >> 24), (uint8_t)(code >> 16), (uint8_t)(code >> 8), (uint8_t)code};
	size_t length = strlen(why);

	if (status == 0)
		return send_message(r, 0, DONE, bundle->bytes, bundle->length);
	memcpy(failed + FAILED_HEADER - 1, why, length);
	return send_message(r, 0, FAILED, failed, FAILED_HEADER - 1 + length);
}

int handout_work(struct ranks *r, handout_work_item *work, void *arg)
{
	for (;;) {
		struct error why = ERROR_INIT;
		struct bundle bundle = {0};
		uint8_t *bytes;
		size_t length;
		int from, status, e = ranks_recv(r, 0, &from, &bytes, &length);

		if (e < 0)
			return e;
		if (!length || bytes[0] != WORK) {
			e = length && bytes[0] == END ? 0 : -EIO;
			free(bytes);
			return e;
		}
		status = work(arg, (const char *)bytes + 1, &bundle, &why);
		free(bytes);
		e = answer(r, status, &bundle, why.text);
		bundle_free(&bundle);
		if (e < 0)
			return e;
	}
}
