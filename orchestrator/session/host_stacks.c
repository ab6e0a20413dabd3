/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/host_stacks.h"

#include <errno.h>
#include <net/ethernet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define READY_AT_ONCE 64
#define HOST_AT_ONCE  32 /* frames of one host before the next one's turn */
#define HELD_FRAMES   256

struct held {
	uint32_t host, length;
};

struct stacks {
	struct engine *engine;
	int epoll;
	uint32_t host_count;
	uint32_t frame_bytes;
	unsigned held_count;
	struct held held[HELD_FRAMES]; /* read, not sent yet */
	uint8_t *bytes;                /* of those, frame_bytes each */
	const struct built *built;
	int *fds;       /* by host; not ours to close */
	uint64_t *seen; /* by host: what it had sent when its refused frames were counted */
	const uint8_t **next_macs;
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
	uint64_t *counts;
	int r = 0;

	if (!s)
		return error_set(why, -ENOMEM, "out of memory");
	s->engine = e;
	s->host_count = net->host_count;
	s->frame_bytes = engine_stack_capacity(e);
	s->built = b;
	s->bytes = calloc(HELD_FRAMES, s->frame_bytes);
	s->fds = calloc(net->host_count, sizeof(*s->fds));
	s->seen = calloc(net->host_count, sizeof(*s->seen));
	s->next_macs = calloc(net->host_count, sizeof(*s->next_macs));
	counts = calloc(4 * (size_t)net->host_count, sizeof(*counts));
	s->counts.sent = counts;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		r = -errno;
	else if (!s->bytes || !s->fds || !s->seen || !s->next_macs || !counts)
		r = -ENOMEM;
	else
		s->counts = (struct stack_counts){counts, counts + net->host_count,
			counts + 2 * (size_t)net->host_count, counts + 3 * (size_t)net->host_count};
	for (uint32_t i = 0; r == 0 && i < net->host_count; i++) {
		s->fds[i] = build_stack_fd(b, i);
		s->next_macs[i] = engine_tables(e)->ports[net->nodes[i].first_port].peer_mac;
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
	free(s->bytes);
	free(s->fds);
	free(s->seen);
	free(s->next_macs);
	free(s->counts.sent); /* and the others behind it */
	free(s);
}

int stacks_fd(const struct stacks *s)
{
	return s->epoll;
}

/* False: there is nothing more from this host now, or no room. */
static bool read_one(struct stacks *s, uint32_t host)
{
	uint8_t *frame = s->bytes + (size_t)s->held_count * s->frame_bytes;
	ssize_t n;

	if (s->held_count == HELD_FRAMES)
		return false;
	n = read(s->fds[host], frame, s->frame_bytes);
	if (n <= 0)
		return false;
	s->counts.sent[host]++;
	/* there is no ARP: a frame is addressed to its own sender, or to a group */
	if (n >= ETH_ALEN && !(frame[0] & 1))
		memcpy(frame, s->next_macs[host], ETH_ALEN);
	s->held[s->held_count++] = (struct held){host, (uint32_t)n};
	return true;
}

unsigned stacks_read(struct stacks *s)
{
	struct epoll_event ready[READY_AT_ONCE];
	unsigned before = HELD_FRAMES;

	if (s->held_count)
		return s->held_count;
	while (s->held_count < HELD_FRAMES && s->held_count != before) {
		int n = epoll_wait(s->epoll, ready, READY_AT_ONCE, 0);

		before = s->held_count;
		for (int i = 0; i < n; i++)
			for (int k = 0; k < HOST_AT_ONCE && read_one(s, ready[i].data.u32); k++)
				;
	}
	return s->held_count;
}

unsigned stacks_send(struct stacks *s)
{
	unsigned sent = 0;

	while (sent < s->held_count) {
		const struct held *h = &s->held[sent];
		uint8_t *buffer = engine_stack_buffer(s->engine);

		if (!buffer)
			break;
		memcpy(buffer, s->bytes + (size_t)sent * s->frame_bytes, h->length);
		/* what finds no room in the host's queue is counted by the engine */
		engine_stack_send(s->engine, h->host, h->length);
		sent++;
	}
	/* without memory the engine's next run fails: there is nobody left to send the rest to */
	s->held_count = 0;
	return sent;
}

uint64_t stacks_refused(struct stacks *s)
{
	uint64_t more = 0;

	for (uint32_t i = 0; i < s->host_count; i++) {
		uint64_t refused;

		if (s->seen[i] == s->counts.sent[i])
			continue;
		s->seen[i] = s->counts.sent[i];
		refused = build_stack_refused(s->built, i);
		more += refused - s->counts.refused[i];
		s->counts.refused[i] = refused;
	}
	return more;
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
