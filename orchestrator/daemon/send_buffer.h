/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SEND_BUFFER_H
#define FABRICBED_SEND_BUFFER_H

/* Bytes to be sent to a socket. Memory grows up to a limit, and is freed when none are left. */
#include <stdbool.h>
#include <stddef.h>

struct send_buffer {
	char *bytes;
	size_t capacity;
	size_t start, count; /* of those that wait */
};

/* Takes all of it, or nothing: false, there is no room below limit, or no memory. */
bool send_buffer_put(struct send_buffer *o, const void *bytes, size_t count, size_t limit);

/* Sends what the socket takes now. 0, even if some still waits, or -errno: nobody will read it. */
int send_buffer_send(struct send_buffer *o, int fd);

/* Empties it. */
void send_buffer_release(struct send_buffer *o);

#endif
