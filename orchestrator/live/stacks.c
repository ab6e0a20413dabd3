/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define READY_AT_ONCE 64
#define HOST_AT_ONCE  32 /* frames of one host before the next one's turn */

struct stacks {
	struct engine *engine;
	int epoll;
	uint32_t host_count;
	uint32_t frame_bytes;
	int *fds; /* by host; not ours to close */
	struct stack_counts counts;
};

static int watch(struct stacks *s, uint32_t host)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = host};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->fds[host], &ev) < 0 ? -errno : 0;
}

int stacks_new(struct stacks **ret, const struct built *b, struct engine *e, const struct net *net,
	struct error *why)
{
	struct stacks *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return error_set(why, -ENOMEM, "out of memory");
	s->engine = e;
	s->host_count = net->host_count;
	s->frame_bytes = engine_stack_capacity(e);
	s->fds = calloc(net->host_count, sizeof(*s->fds));
	s->counts.sent = calloc(net->host_count, sizeof(uint64_t));
	s->counts.delivered = calloc(net->host_count, sizeof(uint64_t));
	s->counts.lost = calloc(net->host_count, sizeof(uint64_t));
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		r = -errno;
	else if (!s->fds || !s->counts.sent || !s->counts.delivered || !s->counts.lost)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < net->host_count; i++) {
		s->fds[i] = build_stack_fd(b, i);
		r = watch(s, i);
	}
	if (r < 0) {
		stacks_free(s);
		return error_set(why, r, "can't watch the hosts' interfaces: %s", strerror(-r));
	}
	*ret = s;
	return 0;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->fds);
	free(s->counts.sent);
	free(s->counts.delivered);
	free(s->counts.lost);
	free(s);
}

int stacks_fd(const struct stacks *s)
{
	return s->epoll;
}

/* False: there is nothing more from this host now. */
static bool take_one(struct stacks *s, uint32_t host)
{
	uint8_t *buffer = engine_stack_buffer(s->engine);
	ssize_t n;

	if (!buffer)
		return false;
	n = read(s->fds[host], buffer, s->frame_bytes);
	if (n <= 0)
		return false;
	s->counts.sent[host]++;
	/* what finds no room in the host's queue is counted by the engine */
	engine_stack_send(s->engine, host, (uint32_t)n);
	return true;
}

unsigned stacks_take(struct stacks *s, unsigned most)
{
	struct epoll_event ready[READY_AT_ONCE];
	unsigned taken = 0;

	while (taken < most) {
		int n = epoll_wait(s->epoll, ready, READY_AT_ONCE, 0);
		unsigned before = taken;

		for (int i = 0; i < n; i++)
			for (int k = 0; k < HOST_AT_ONCE && take_one(s, ready[i].data.u32); k++)
				taken++;
		if (taken == before)
			break;
	}
	return taken;
}

void stacks_give(struct stacks *s, uint32_t host, const uint8_t *bytes, uint32_t length)
{
	ssize_t n = write(s->fds[host], bytes, length);

	s->counts.delivered[host]++;
	if (n != (ssize_t)length)
		s->counts.lost[host]++;
}

const struct stack_counts *stacks_counts(const struct stacks *s)
{
	return &s->counts;
}
