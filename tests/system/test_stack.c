/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the hosts' kernel stacks send by eth0, and receive: here the test is what lies between. */
#include "lib/kernel_case.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "abi/wire.h"
#include "base/parallel.h"
#include "io/netns.h"

#define FRAME_MAX (STACK_MTU + 14)
#define TRANSFER  300000u
#define SEGMENTS  500u  /* of a transfer, retransmissions included */
#define LOST_MS   60000 /* nothing takes so long */

/* A socket of a host: made by a thread in its namespace, used from here. */
struct host_socket {
	char netns[64];
	int family, type, fd;
};

static int make_socket(void *context, uint32_t index, struct error *why)
{
	struct host_socket *s = context;
	int ns = netns_open(s->netns);

	(void)index;
	if (ns < 0 || netns_enter(ns) < 0)
		return error_set(why, -ENOENT, "no namespace %s", s->netns);
	close(ns);
	s->fd = socket(s->family, s->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return s->fd < 0 ? error_set(why, -errno, "no socket") : 0;
}

static int host_socket(const struct kernel_case *s, unsigned host, int family, int type)
{
	struct host_socket h = {.family = family, .type = type};
	struct error why = ERROR_INIT;

	snprintf(h.netns, sizeof(h.netns), "%s-h%u", s->name, host);
	if (parallel_for(1, 1, make_socket, &h, &why) < 0)
		fail_msg("%s", why.text);
	return h.fd;
}

static struct sockaddr_in6 address6(const char *text, uint16_t port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	assert_int_equal(inet_pton(AF_INET6, text, &a.sin6_addr), 1);
	return a;
}

static void await(int fd, short events)
{
	struct pollfd wait = {.fd = fd, .events = events};

	assert_int_equal(poll(&wait, 1, LOST_MS), 1);
}

/* The next frame that a host has sent. */
static uint32_t next_frame(int tap, uint8_t frame[FRAME_MAX])
{
	ssize_t n;

	await(tap, POLLIN);
	n = read(tap, frame, FRAME_MAX);
	assert_in_range(n, 14, FRAME_MAX);
	return (uint32_t)n;
}

/* To the host at that port: there it counts only if it is addressed to its card. */
static void deliver(int tap, uint32_t port, uint8_t *frame, uint32_t bytes)
{
	port_mac(port, frame);
	assert_int_equal(write(tap, frame, bytes), bytes);
}

static uint32_t label_of(const uint8_t *frame)
{
	return (frame[15] & 15u) << 16 | (uint32_t)frame[16] << 8 | frame[17];
}

/* The first frame of eth0 is the program's datagram: a stack sends nothing by itself. */
static void a_datagram_passes_as_the_program_wants_it(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build_stacks(s);
	struct sockaddr_in6 to = address6("fd00:fab::2", STACK_PORT),
			    any = address6("::", STACK_PORT);
	int from = host_socket(s, 0, AF_INET6, SOCK_DGRAM),
	    at = host_socket(s, 1, AF_INET6, SOCK_DGRAM);
	uint8_t frame[FRAME_MAX], mac[6];
	char got[16] = "";
	uint32_t n;

	assert_int_equal(bind(at, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_int_equal(sendto(from, "hello", 6, 0, (struct sockaddr *)&to, sizeof(to)), 6);
	n = next_frame(build_stack_fd(b, 0), frame);
	assert_int_equal(n, 14 + 40 + 8 + 6);
	port_mac(H0, mac);
	assert_memory_equal(frame + 6, mac, 6);
	assert_int_equal((uint8_t)(frame[14] << 4 | frame[15] >> 4), STACK_DSCP << 2 | ECN_ECT0);
	assert_int_not_equal(label_of(frame), 0);
	deliver(build_stack_fd(b, 1), H1, frame, n);
	await(at, POLLIN);
	assert_int_equal(recv(at, got, sizeof(got), 0), 6);
	assert_string_equal(got, "hello");
	/* and nothing else */
	assert_int_equal(read(build_stack_fd(b, 0), frame, sizeof(frame)), -1);
	assert_int_equal(read(build_stack_fd(b, 1), frame, sizeof(frame)), -1);
	close(from);
	close(at);
	build_down(b);
	assert_nothing_left(s);
}

static void what_is_for_outside_leaves_too(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build_stacks(s);
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct sockaddr_in6 to6 = address6("2001:db8::1", 9);
	int fd = host_socket(s, 0, AF_INET, SOCK_DGRAM),
	    fd6 = host_socket(s, 0, AF_INET6, SOCK_DGRAM);
	uint8_t frame[FRAME_MAX];

	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	assert_int_equal(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)), 1);
	next_frame(build_stack_fd(b, 0), frame);
	assert_memory_equal(frame + 14 + 16, &to.sin_addr, 4);
	assert_int_equal(sendto(fd6, "x", 1, 0, (struct sockaddr *)&to6, sizeof(to6)), 1);
	next_frame(build_stack_fd(b, 0), frame);
	assert_memory_equal(frame + 14 + 24, &to6.sin6_addr, 16);
	close(fd);
	close(fd6);
	build_down(b);
}

/* What was seen of a transfer's segments with data. */
struct seen {
	uint32_t labels[SEGMENTS];
	unsigned count;
	uint8_t syn_flags;
};

static void look_at(struct seen *seen, const uint8_t *frame, uint32_t n)
{
	const uint8_t *tcp = frame + 14 + 40;
	uint32_t header = 14u + 40u + (tcp[12] >> 4) * 4u;

	assert_in_range(n, header, FRAME_MAX);
	/* the first one: a stack that has waited for long asks again without ECN */
	if (tcp[13] & 2 && !seen->syn_flags)
		seen->syn_flags = tcp[13];
	if (n == header)
		return;
	assert_true(seen->count < SEGMENTS);
	seen->labels[seen->count++] = label_of(frame);
}

/* Carries frames both ways until all of the transfer has arrived. */
static void transfer(struct built *b, int from, int listener, struct seen *seen)
{
	static const uint8_t data[TRANSFER];
	uint32_t sent = 0, received = 0;
	uint8_t frame[FRAME_MAX], got[4096];
	int to = -1;
	ssize_t n;

	while (received < TRANSFER) {
		struct pollfd waits[4] = {{build_stack_fd(b, 0), POLLIN, 0},
			{build_stack_fd(b, 1), POLLIN, 0}, {to < 0 ? listener : to, POLLIN, 0},
			{from, sent < TRANSFER ? POLLOUT : 0, 0}};

		assert_true(poll(waits, 4, LOST_MS) > 0);
		if (to < 0)
			to = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		n = sent < TRANSFER ? send(from, data + sent, TRANSFER - sent, MSG_NOSIGNAL) : 0;
		sent += n > 0 ? (uint32_t)n : 0;
		while ((n = read(waits[0].fd, frame, sizeof(frame))) > 0) {
			look_at(seen, frame, (uint32_t)n);
			deliver(waits[1].fd, H1, frame, (uint32_t)n);
		}
		while ((n = read(waits[1].fd, frame, sizeof(frame))) > 0)
			deliver(waits[0].fd, H0, frame, (uint32_t)n);
		while (to >= 0 && (n = recv(to, got, sizeof(got), 0)) > 0)
			received += (uint32_t)n;
	}
	close(to);
}

/* One send of many segments, whose labels the program draws one by one. */
static void each_segment_of_a_connection_has_a_path_of_its_own(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build_stacks(s);
	struct sockaddr_in6 to = address6("fd00:fab::2", STACK_PORT),
			    any = address6("::", STACK_PORT);
	int from = host_socket(s, 0, AF_INET6, SOCK_STREAM),
	    at = host_socket(s, 1, AF_INET6, SOCK_STREAM);
	struct seen seen = {0};
	unsigned same = 0;

	assert_int_equal(bind(at, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_int_equal(listen(at, 1), 0);
	assert_int_equal(connect(from, (struct sockaddr *)&to, sizeof(to)), -1);
	assert_int_equal(errno, EINPROGRESS);
	transfer(b, from, at, &seen);
	assert_int_equal(seen.syn_flags, 0x02 | 0x40 | 0x80); /* SYN, ECE, CWR: RFC 3168, 6.1.1 */
	assert_true(seen.count >= TRANSFER / STACK_MTU);
	for (unsigned i = 1; i < seen.count; i++)
		same += seen.labels[i] == seen.labels[i - 1];
	assert_in_range(same, 0, 1); /* a label comes twice in a row once in a million */
	close(from);
	close(at);
	build_down(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		kernel_case_test(a_datagram_passes_as_the_program_wants_it),
		kernel_case_test(what_is_for_outside_leaves_too),
		kernel_case_test(each_segment_of_a_connection_has_a_path_of_its_own),
	};

	return kernel_case_run(tests, sizeof(tests) / sizeof(tests[0]));
}
