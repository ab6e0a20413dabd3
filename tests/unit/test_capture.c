/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which ports a capture is of, and what it says of what leaves, arrives and is dropped there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "abi/wire.h"
#include "lib/small_session.h"
#include "session/capture.h"
#include "session/names.h"

#define REST                                                                                       \
	"workload:\n"                                                                              \
	"  - pairs: {from: [h0], to: [h1], message: 1KB}\n"
static const char fat_tree[] = "name: t\ntopology: {fat_tree: {k: 4}}\n" REST;
static const char parallel[] =
	"name: t\n"
	"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1, links_per_pair: 2}}\n" REST;

/* A capture as text: a line "i0 NAME", or "p0 out 5/9 bytes=ab.. COMMENT", or "s0 lost 3". */
struct log {
	char text[16384];
	size_t used;
	bool full;
};

static void __attribute__((format(printf, 2, 3))) log_add(struct log *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	l->used += (size_t)vsnprintf(l->text + l->used, sizeof(l->text) - l->used, format, ap);
	va_end(ap);
	assert_true(l->used < sizeof(l->text));
}

/* The value of an option, or NULL. */
static const uint8_t *find_option(
	const uint8_t *at, const uint8_t *end, uint16_t code, uint16_t *ret_length)
{
	while (at + 4 <= end) {
		uint16_t head[2];

		memcpy(head, at, sizeof(head));
		if (!head[0])
			break;
		if (head[0] == code) {
			*ret_length = head[1];
			return at + 4;
		}
		at += 4 + ((head[1] + 3u) & ~3u);
	}
	return NULL;
}

static void log_packet(struct log *l, const uint8_t *block, size_t count)
{
	static const char *const directions[] = {"?", "in", "out"};
	uint32_t head[7], flags = 0;
	const uint8_t *options, *value;
	uint16_t length;

	memcpy(head, block, sizeof(head));
	options = block + 28 + ((head[5] + 3u) & ~3u);
	value = find_option(options, block + count - 4, 2, &length);
	if (value)
		memcpy(&flags, value, sizeof(flags));
	log_add(l, "p%u %llu %s %u/%u %02x..%02x", head[2],
		(unsigned long long)head[3] << 32 | head[4], directions[flags & 3], head[5],
		head[6], block[28], block[28 + head[5] - 1]);
	value = find_option(options, block + count - 4, 1, &length);
	if (value)
		log_add(l, " %.*s", length, (const char *)value);
	log_add(l, "\n");
}

static bool log_block(void *arg, const void *bytes, size_t count)
{
	struct log *l = arg;
	const uint8_t *value;
	uint32_t head[8] = {0};
	uint16_t length;

	if (l->full)
		return false;
	memcpy(head, bytes, count < sizeof(head) ? count : sizeof(head));
	assert_int_equal(head[1], count);
	if (head[0] == 6) {
		log_packet(l, bytes, count);
	} else if (head[0] == 5) {
		log_add(l, "s%u lost %u\n", head[2], head[6]);
	} else if (head[0] == 1) {
		value = find_option(
			(const uint8_t *)bytes + 16, (const uint8_t *)bytes + count, 2, &length);
		assert_non_null(value);
		log_add(l, "i %.*s", length, (const char *)value);
		value = find_option(
			(const uint8_t *)bytes + 16, (const uint8_t *)bytes + count, 3, &length);
		assert_non_null(value);
		log_add(l, " (%.*s)\n", length, (const char *)value);
	}
	return true;
}

struct bench {
	struct small_session s;
	struct captures *captures;
};

static void bench_open(struct bench *b, const char *text)
{
	small_session_load(&b->s, text, NULL, 0);
	assert_int_equal(captures_new(&b->captures, b->s.fabric), 0);
}

static void bench_close(struct bench *b)
{
	captures_free(b->captures);
	small_session_close(&b->s);
}

static uint32_t port_of(const struct bench *b, const char *name)
{
	const struct net *net = &b->s.fabric->net;
	char buf[RECORDER_NAME];

	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + net->port_count; port++)
		if (!strcmp(port_name(b->s.fabric, port, buf), name))
			return port;
	fail_msg("there is no %s", name);
	return 0;
}

static struct capture *begin(struct bench *b, const char *target, struct log *l)
{
	struct error why = ERROR_INIT;
	struct capture *one = NULL;

	*l = (struct log){0};
	if (capture_begin(&one, b->captures, target, log_block, l, &why) < 0)
		fail_msg("%s", why.text);
	return one;
}

/* The names of the ports that a target means, with blanks between. */
static void assert_ports(struct bench *b, const char *target, const char *want)
{
	struct log l;
	struct capture *one = begin(b, target, &l);
	json_t *ports = capture_ports(one), *name;
	char text[4096] = "";
	size_t i;

	json_array_foreach(ports, i, name)
	{
		strcat(text, i ? " " : "");
		strcat(text, json_string_value(name));
	}
	assert_string_equal(text, want);
	json_decref(ports);
	capture_end(b->captures, one);
}

static void targets_are_ports_nodes_and_links(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, fat_tree);
	assert_ports(&b, "tor0.0->agg0.1", "tor0.0->agg0.1");
	assert_ports(&b, "tor0.?->agg0.1", "tor0.0->agg0.1 tor0.1->agg0.1");
	assert_ports(&b, "*->h3", "tor0.1->h3");
	assert_ports(&b, "core0", "core0->agg0.0 core0->agg1.0 core0->agg2.0 core0->agg3.0");
	assert_ports(&b, "h[01]", "h0->tor0.0 h1->tor0.0");
	assert_ports(&b, "h0-tor0.0", "h0->tor0.0 tor0.0->h0");
	assert_ports(&b, "tor0.0-h0", "h0->tor0.0 tor0.0->h0");
	assert_ports(&b, "agg1.0-core*", "agg1.0->core0 agg1.0->core1 core0->agg1.0 core1->agg1.0");
	/* a node's name comes first, though links have it in theirs */
	assert_ports(&b, "h15*", "h15->tor3.1");
	bench_close(&b);
}

static void all_is_every_port(void **state)
{
	struct bench b;
	struct log l;
	json_t *ports;

	(void)state;
	bench_open(&b, fat_tree);
	ports = capture_ports(begin(&b, "all", &l));
	assert_int_equal(json_array_size(ports), 96);
	json_decref(ports);
	bench_close(&b);
}

static void parallel_links_have_numbers(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, parallel);
	assert_ports(&b, "leaf0->spine0#1", "leaf0->spine0#1");
	assert_ports(&b, "leaf0->spine0*", "leaf0->spine0#0 leaf0->spine0#1");
	assert_ports(&b, "spine0-leaf1#0", "leaf1->spine0#0 spine0->leaf1#0");
	bench_close(&b);
}

static void assert_unknown(struct bench *b, const char *target, const char *want)
{
	struct capture *one = NULL;
	struct error why = ERROR_INIT;
	struct log l = {0};

	assert_int_equal(capture_begin(&one, b->captures, target, log_block, &l, &why), -EINVAL);
	assert_null(one);
	assert_string_equal(why.text, want);
	assert_int_equal(l.used, 0);
}

static void unknown_targets_are_told(void **state)
{
	char big[70000];
	struct bench b;

	(void)state;
	bench_open(&b, fat_tree);
	assert_unknown(&b, "tor0.0->agg0.2",
		"there is no port 'tor0.0->agg0.2'; did you mean 'tor0.0->agg0.0'?");
	assert_unknown(&b, "cor0", "there is no port, node or link 'cor0'; did you mean 'core0'?");
	assert_unknown(&b, "h0-tor00",
		"there is no port, node or link 'h0-tor00'; did you mean 'h0-tor0.0'?");
	assert_unknown(&b, "spine*", "there is no port, node or link 'spine*'");
	assert_unknown(&b, "", "there is no port, node or link ''");
	assert_unknown(&b, "->x\x1b[2J\xc3\xbc", "there is no port '->x\\x1b[2J\xc3\xbc'");
	memset(big, 'h', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	assert_unknown(&b, big,
		"there is no port, node or link "
		"'hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh...'");
	bench_close(&b);
}

static const uint8_t frame[] = {0x11, 0x22, 0x33, 0x44, 0x55};

static void frames_have_directions(void **state)
{
	uint32_t up, down;
	struct bench b;
	struct log l;

	(void)state;
	bench_open(&b, fat_tree);
	up = port_of(&b, "h0->tor0.0");
	down = port_of(&b, "tor0.0->h0");
	begin(&b, "tor0.0->*", &l);
	capture_sent(b.captures, 5000, up, frame, 5, 100);
	capture_sent(b.captures, (1ull << 40) * 1000, down, frame, 3, 3);
	capture_sent(b.captures, 9000, port_of(&b, "h2->tor0.1"), frame, 5, 5);
	capture_sent(b.captures, 10000, port_of(&b, "agg0.0->tor0.0"), frame, 1, 1);
	assert_string_equal(l.text, "i tor0.0->h0 (port 0 of tor0.0, link h0-tor0.0)\n"
				    "i tor0.0->h1 (port 1 of tor0.0, link h1-tor0.0)\n"
				    "i tor0.0->agg0.0 (port 2 of tor0.0, link tor0.0-agg0.0)\n"
				    "i tor0.0->agg0.1 (port 3 of tor0.0, link tor0.0-agg0.1)\n"
				    "p0 5 in 5/100 11..55\n"
				    "p0 1099511627776 out 3/3 11..33\n"
				    "p2 10 in 1/1 11..11\n");
	bench_close(&b);
}

/* Of a link both ends are there, and see the same frame from either side. */
static void both_ends_see_a_frame(void **state)
{
	struct bench b;
	struct log l;

	(void)state;
	bench_open(&b, fat_tree);
	begin(&b, "h0-tor0.0", &l);
	l.used = 0;
	capture_sent(b.captures, 5000, port_of(&b, "tor0.0->h0"), frame, 5, 5);
	assert_string_equal(l.text, "p1 5 out 5/5 11..55\np0 5 in 5/5 11..55\n");
	bench_close(&b);
}

/* At a full queue it was leaving, on a cable it was arriving; where only the link's other end is
 * chosen it is told there. */
static void drops_have_reasons(void **state)
{
	uint32_t port;
	struct log leaf, host, far;
	struct bench b;

	(void)state;
	bench_open(&b, fat_tree);
	port = port_of(&b, "tor0.0->h0");
	begin(&b, "tor0.0->h0", &leaf);
	begin(&b, "h0", &host);
	begin(&b, "h1", &far);
	leaf.used = host.used = far.used = 0;
	far.text[0] = 0;
	capture_dropped(b.captures, 5000, port, DROP_BUFFER, frame, 5, 8);
	capture_dropped(b.captures, 6000, port, DROP_LOSS, frame, 5, 8);
	capture_dropped(b.captures, 7000, port_of(&b, "h0->tor0.0"), DROP_HOST_QUEUE, frame, 5, 8);
	assert_string_equal(leaf.text,
		"p0 5 out 5/8 11..55 dropped: buffer: the egress queue had no room (tail drop)\n"
		"p0 6 in 5/8 11..55 dropped: loss: lost on the wire at random\n"
		"p0 7 in 5/8 11..55 dropped: host_queue: the sending host's transmit queue had no room\n");
	assert_string_equal(host.text,
		"p0 5 in 5/8 11..55 dropped: buffer: the egress queue had no room (tail drop)\n"
		"p0 6 out 5/8 11..55 dropped: loss: lost on the wire at random\n"
		"p0 7 out 5/8 11..55 dropped: host_queue: the sending host's transmit queue had no room\n");
	assert_string_equal(far.text, "");
	bench_close(&b);
}

/* Once, though both ends are chosen. */
static void drops_are_told_once(void **state)
{
	struct bench b;
	struct log l;

	(void)state;
	bench_open(&b, fat_tree);
	begin(&b, "h0-tor0.0", &l);
	l.used = 0;
	capture_dropped(b.captures, 5000, port_of(&b, "tor0.0->h0"), DROP_FCS, frame, 5, 8);
	assert_string_equal(l.text,
		"p1 5 in 5/8 11..55 dropped: fcs: bit errors on the wire: the frame check failed\n");
	bench_close(&b);
}

/* Headers alone lack the ICRC, which is zero; other frames stay as they are. */
static void frames_without_payload_have_their_icrc(void **state)
{
	uint8_t long_one[HEADERS_MAX + 1];
	struct bench b;
	struct log l;

	(void)state;
	bench_open(&b, fat_tree);
	memset(long_one, 0x77, sizeof(long_one));
	begin(&b, "h0->tor0.0", &l);
	l.used = 0;
	for (uint32_t length = 5; length <= 10; length++)
		capture_sent(b.captures, 5000, port_of(&b, "h0->tor0.0"), frame, 5, length);
	capture_dropped(b.captures, 6000, port_of(&b, "h0->tor0.0"), DROP_TTL, frame, 5, 9);
	capture_sent(b.captures, 7000, port_of(&b, "h0->tor0.0"), long_one, HEADERS_MAX,
		HEADERS_MAX + 4);
	capture_sent(b.captures, 7000, port_of(&b, "h0->tor0.0"), long_one, HEADERS_MAX + 1,
		HEADERS_MAX + 5);
	assert_memory_equal(l.text,
		"p0 5 out 5/5 11..55\np0 5 out 5/6 11..55\np0 5 out 5/7 11..55\n"
		"p0 5 out 5/8 11..55\np0 5 out 9/9 11..00\np0 5 out 5/10 11..55\n"
		"p0 6 in 9/9 11..00 dropped: ttl: TTL or hop limit used up\n",
		176);
	assert_non_null(strstr(l.text, "77..00\np0 7 out"));
	assert_non_null(strstr(l.text, "77..77\n"));
	bench_close(&b);
}

/* Captures are independent: also as one ends, or has no room. */
static void captures_are_independent(void **state)
{
	struct capture *first, *second, *third;
	struct log l[3];
	struct bench b;
	uint32_t port;

	(void)state;
	bench_open(&b, fat_tree);
	port = port_of(&b, "h0->tor0.0");
	first = begin(&b, "h0", &l[0]);
	second = begin(&b, "all", &l[1]);
	third = begin(&b, "h0->tor0.0", &l[2]);
	for (int i = 0; i < 3; i++)
		l[i].used = 0;
	capture_sent(b.captures, 1000, port, frame, 5, 5);
	l[0].full = true;
	capture_sent(b.captures, 2000, port, frame, 5, 5);
	capture_sent(b.captures, 3000, port, frame, 5, 5);
	capture_end(b.captures, second);
	capture_sent(b.captures, 3000, port, frame, 5, 5);
	l[0].full = false;
	capture_end(b.captures, first);
	capture_sent(b.captures, 4000, port, frame, 5, 5);
	capture_end(b.captures, third);
	capture_sent(b.captures, 5000, port, frame, 5, 5);
	capture_end(b.captures, NULL);
	assert_string_equal(l[0].text, "p0 1 out 5/5 11..55\ns0 lost 3\n");
	assert_string_equal(l[2].text,
		"p0 1 out 5/5 11..55\np0 2 out 5/5 11..55\n"
		"p0 3 out 5/5 11..55\np0 3 out 5/5 11..55\np0 4 out 5/5 11..55\n");
	bench_close(&b);
}

static void sinks_without_room_are_refused(void **state)
{
	struct error why = ERROR_INIT;
	struct log l = {.full = true};
	struct capture *one = NULL;
	struct bench b;

	(void)state;
	bench_open(&b, fat_tree);
	assert_int_equal(capture_begin(&one, b.captures, "h0", log_block, &l, &why), -ENOBUFS);
	assert_null(one);
	assert_true(why.text[0]);
	capture_sent(b.captures, 1000, port_of(&b, "h0->tor0.0"), frame, 5, 5);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_ports_nodes_and_links),
		cmocka_unit_test(all_is_every_port),
		cmocka_unit_test(parallel_links_have_numbers),
		cmocka_unit_test(unknown_targets_are_told),
		cmocka_unit_test(frames_have_directions),
		cmocka_unit_test(both_ends_see_a_frame),
		cmocka_unit_test(drops_have_reasons),
		cmocka_unit_test(drops_are_told_once),
		cmocka_unit_test(frames_without_payload_have_their_icrc),
		cmocka_unit_test(captures_are_independent),
		cmocka_unit_test(sinks_without_room_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
