/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/send_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SMALLEST 4096u  /* bytes */
#define KEPT     65536u /* a larger one is not kept when it is empty */

/* Moves the waiting bytes to the front if they are few, else to twice as much memory. */
static bool make_room(struct send_buffer *o, size_t count)
{
	size_t capacity = o->capacity ? o->capacity : SMALLEST;
	char *bytes;

	while (capacity < 2 * (o->count + count))
		capacity *= 2;
	if (o->start)
		memmove(o->bytes, o->bytes + o->start, o->count);
	o->start = 0;
	if (capacity == o->capacity)
		return true;
	bytes = realloc(o->bytes, capacity);
	if (!bytes)
		return o->count + count <= o->capacity;
	o->bytes = bytes;
	o->capacity = capacity;
	return true;
}

bool send_buffer_put(struct send_buffer *o, const void *bytes, size_t count, size_t limit)
{
	if (o->count > limit || count > limit - o->count)
		return false;
	if (!count)
		return true;
	if (count > o->capacity - o->start - o->count && !make_room(o, count))
		return false;
	memcpy(o->bytes + o->start + o->count, bytes, count);
	o->count += count;
	return true;
}

int send_buffer_send(struct send_buffer *o, int fd)
{
	while (o->count) {
		ssize_t n = send(fd, o->bytes + o->start, o->count, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		o->start += (size_t)n;
		o->count -= (size_t)n;
	}
	o->start = 0;
	if (o->capacity > KEPT)
		send_buffer_release(o);
	return 0;
}

void send_buffer_release(struct send_buffer *o)
{
	free(o->bytes);
	*o = (struct send_buffer){0};
}
