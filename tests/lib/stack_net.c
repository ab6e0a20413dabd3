/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/stack_net.h"
#include "lib/transport_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TCP       6
#define TCP_BYTES 20u

static void on_stack(
	void *arg, uint64_t now, uint32_t host, const uint8_t *bytes, uint32_t captured)
{
	struct stack_net *s = arg;

	if (s->taken_count < STACK_TAKEN) {
		struct stack_taken *t = &s->taken[s->taken_count];

		assert_in_range(captured, 1, STACK_FRAME);
		t->now_ps = now;
		t->host = host;
		t->length = captured;
		memcpy(t->bytes, bytes, captured);
	}
	s->taken_count++;
}

static void on_sent(void *arg, uint64_t now, uint32_t port, const uint8_t *bytes, uint32_t captured,
	uint32_t length)
{
	struct stack_net *s = arg;
	struct stack_start *start = &s->starts[s->start_count];

	if (s->start_count == STACK_STARTS)
		return;
	s->start_count++;
	*start = (struct stack_start){.now_ps = now, .port = port, .length = length};
	start->type = packet_get16(bytes + 12);
	if (captured < PACKET_IP + 20)
		return;
	start->protocol = bytes[PACKET_IP + (start->type == 0x86dd ? 6 : 9)];
	start->class = class_net_frame_class(bytes);
}

static void on_dropped(void *arg, uint64_t now, uint32_t port, enum drop_reason reason,
	const uint8_t *bytes, uint32_t captured, uint32_t length)
{
	struct stack_net *s = arg;

	(void)now;
	assert_true(port >= PORT_FIRST && captured <= length);
	/* of a stack's frames all is there */
	if (packet_get16(bytes + 12) == 0x0800 && bytes[PACKET_IP + 9] == TCP)
		assert_int_equal(captured, length);
	s->dropped[reason]++;
}

static void on_control(
	void *arg, uint64_t now, uint32_t port, const uint8_t *bytes, uint32_t captured)
{
	struct stack_net *s = arg;

	(void)now, (void)port, (void)bytes, (void)captured;
	s->control++;
}

struct stack_net *stack_net_new(
	uint32_t hosts, uint32_t switches, const struct class_link *links, uint32_t count)
{
	struct stack_net *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	class_net_init(&s->net, hosts, switches, links, count);
	s->net.switching.config.features |= SW_STACK;
	s->net.switching.frame_bytes = STACK_FRAME;
	s->net.params.stack_frame = STACK_FRAME;
	s->net.params.stack_queue = 1 << 20;
	s->net.params.lasting = true;
	s->net.params.observer = (struct engine_observer){.stack = on_stack,
		.sent = on_sent,
		.dropped = on_dropped,
		.control = on_control,
		.arg = s};
	return s;
}

struct stack_net *stack_net_chain(void)
{
	static const struct class_link links[] = {{0, 2, STACK_RATE, STACK_CHAIN_DELAY},
		{2, 3, 4 * STACK_RATE, 13}, {3, 1, STACK_RATE / 3, 5000000}};

	return stack_net_new(2, 2, links, 3);
}

void stack_net_strack(struct stack_net *s, uint64_t base_rtt_ps)
{
	static const struct strack_options options = STRACK_OPTIONS_DEFAULT;

	s->net.params.transports[0].ops = &strack_transport;
	s->net.params.transports[0].env.options = &options;
	s->net.params.transports[0].env.base_rtt_ps = base_rtt_ps;
}

void stack_net_close(struct stack_net *s)
{
	class_net_close(&s->net);
	free(s);
}

void stack_segment_write(uint8_t *bytes, const struct stack_segment *g)
{
	struct packet_spec spec = packet_spec_default;
	uint32_t header = PACKET_IP + (g->ip6 ? 40 : 20) + TCP_BYTES;
	struct packet p;

	spec.src_host = g->src;
	spec.dst_host = g->dst;
	spec.ip6 = g->ip6;
	spec.tos = (uint8_t)(g->class << 5);
	spec.protocol = TCP;
	spec.src_port = (uint16_t)g->number;
	spec.payload = (uint16_t)(g->length - header - 4); /* packet_build() adds an ICRC */
	packet_build(&p, &spec);
	assert_int_equal(p.length, g->length);
	memcpy(bytes, p.bytes, header);
	for (uint32_t i = header; i < g->length; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8) + g->number * 31);
}

int stack_net_send_bytes(struct stack_net *s, uint32_t host, const uint8_t *bytes, uint32_t length)
{
	uint8_t *to = engine_stack_buffer(s->net.engine);

	assert_non_null(to);
	memcpy(to, bytes, length);
	return engine_stack_send(s->net.engine, host, length);
}

int stack_net_send(struct stack_net *s, const struct stack_segment *g)
{
	uint8_t bytes[STACK_FRAME];

	stack_segment_write(bytes, g);
	return stack_net_send_bytes(s, g->src, bytes, g->length);
}

void stack_net_assert_taken(const struct stack_net *s, uint32_t i, const struct stack_segment *g,
	uint32_t switches, uint32_t port)
{
	const struct stack_taken *t = &s->taken[i];
	uint8_t want[STACK_FRAME];
	struct packet header;

	assert_in_range(i, 0, s->taken_count - 1);
	stack_segment_write(want, g);
	port_mac(s->net.net.ports[port].peer, want);
	port_mac(port, want + 6);
	want[PACKET_IP + (g->ip6 ? 7 : 8)] -= (uint8_t)switches;
	memcpy(header.bytes, want, PACKET_IP + 40);
	if (!g->ip6)
		packet_seal(&header);
	memcpy(want, header.bytes, PACKET_IP + 40);
	assert_int_equal(t->host, g->dst);
	assert_int_equal(t->length, g->length);
	packet_assert_equal("what the stack was handed", t->bytes, want, g->length);
}

void stack_net_assert_balanced(const struct stack_net *s)
{
	struct engine_stats stats = class_net_stats(&s->net);

	assert_int_equal(engine_check_balance(s->net.engine), 0);
	assert_int_equal(stats.sent + stats.made,
		stats.delivered + stats.consumed + class_net_dropped(&s->net) + stats.in_flight);
	assert_memory_equal(s->dropped, stats.dropped, sizeof(s->dropped));
}
