/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/send_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SMALLEST 4096u  /* bytes of a ring */
#define KEPT     65536u /* a larger one is not kept when it is empty */

/* What waits, in the order in which it goes out: one piece, or two when it wraps. */
static size_t send_buffer_pieces(const struct send_buffer *o, struct iovec pieces[2])
{
	size_t first = o->capacity - o->start;

	if (first > o->count)
		first = o->count;
	pieces[0] = (struct iovec){o->bytes + o->start, first};
	pieces[1] = (struct iovec){o->bytes, o->count - first};
	return pieces[1].iov_len ? 2 : 1;
}

static bool send_buffer_grow(struct send_buffer *o, size_t count)
{
	struct send_buffer larger = {.capacity = SMALLEST, .count = o->count};
	struct iovec pieces[2];

	while (larger.capacity < count)
		larger.capacity *= 2;
	larger.bytes = malloc(larger.capacity);
	if (!larger.bytes)
		return false;
	if (o->count) {
		send_buffer_pieces(o, pieces);
		memcpy(larger.bytes, pieces[0].iov_base, pieces[0].iov_len);
		memcpy(larger.bytes + pieces[0].iov_len, pieces[1].iov_base, pieces[1].iov_len);
	}
	free(o->bytes);
	*o = larger;
	return true;
}

bool send_buffer_put(struct send_buffer *o, const void *bytes, size_t count, size_t limit)
{
	size_t end, first;

	if (o->count > limit || count > limit - o->count)
		return false;
	if (!count)
		return true;
	if (count > o->capacity - o->count && !send_buffer_grow(o, o->count + count))
		return false;
	end = (o->start + o->count) & (o->capacity - 1);
	first = o->capacity - end;
	if (first > count)
		first = count;
	memcpy(o->bytes + end, bytes, first);
	memcpy(o->bytes, (const char *)bytes + first, count - first);
	o->count += count;
	return true;
}

int send_buffer_send(struct send_buffer *o, int fd)
{
	struct iovec pieces[2];
	struct msghdr message = {.msg_iov = pieces};
	ssize_t n;

	while (o->count) {
		message.msg_iovlen = send_buffer_pieces(o, pieces);
		n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		o->start = (o->start + (size_t)n) & (o->capacity - 1);
		o->count -= (size_t)n;
	}
	if (o->capacity > KEPT)
		send_buffer_release(o);
	return 0;
}

void send_buffer_release(struct send_buffer *o)
{
	free(o->bytes);
	*o = (struct send_buffer){0};
}
