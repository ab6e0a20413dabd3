/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program of a host's eth0 decides, run natively. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "egress/class.h"
#include "egress/ect.h"
#include "egress/label.h"
#include "egress/parse_ports.h"
#include "lib/packet.h"

#define TCP      6
#define SRC_PORT 0xc123
#define DST_PORT 4791

static struct packet build(bool ip6, uint8_t protocol)
{
	struct packet_spec s = packet_spec_default;
	struct packet p;

	s.ip6 = ip6;
	s.protocol = protocol;
	packet_build(&p, &s);
	/* another protocol's bytes are no ports yet */
	packet_put16(p.bytes + PACKET_IP + (ip6 ? 40 : 20), SRC_PORT);
	packet_put16(p.bytes + PACKET_IP + (ip6 ? 42 : 22), DST_PORT);
	return p;
}

/* Parses the first bytes from memory of just that size: the sanitizer sees reads beyond. */
static int parse(
	struct egress_packet *ret, const struct packet *p, uint32_t bytes, uint8_t **ret_copy)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	assert_non_null(copy);
	memcpy(copy, p->bytes, bytes);
	*ret = (struct egress_packet){.cursor = {copy, copy + bytes}};
	*ret_copy = copy;
	return egress_parse(ret);
}

static void assert_parses(const struct packet *p, bool ip6, uint16_t src_port, uint16_t dst_port)
{
	struct egress_packet e;
	uint8_t *copy;

	assert_true(parse(&e, p, p->captured, &copy));
	assert_ptr_equal(e.ip4, ip6 ? NULL : copy + PACKET_IP);
	assert_ptr_equal(e.ip6, ip6 ? copy + PACKET_IP : NULL);
	assert_int_equal(e.src_port, be16(src_port));
	assert_int_equal(e.dst_port, be16(dst_port));
	free(copy);
}

static void tcp_and_udp_have_ports(void **state)
{
	(void)state;
	for (int ip6 = 0; ip6 < 2; ip6++) {
		for (unsigned protocol = 0; protocol < 256; protocol++) {
			struct packet p = build(ip6, (uint8_t)protocol);
			bool has = protocol == TCP || protocol == 17;

			assert_parses(&p, ip6, has ? SRC_PORT : 0, has ? DST_PORT : 0);
		}
	}
}

static void ports_lie_behind_options(void **state)
{
	struct packet_spec s = packet_spec_default;
	struct packet p;

	(void)state;
	for (s.options = 0; s.options <= 10; s.options++) {
		packet_build(&p, &s);
		assert_parses(&p, false, SRC_PORT, DST_PORT);
	}
}

static void later_fragments_have_no_ports(void **state)
{
	struct packet p = build(false, TCP);

	(void)state;
	for (unsigned fragment = 0; fragment < 65536; fragment += 0x3ff) {
		bool later = fragment & 0x1fff;

		packet_put16(p.bytes + PACKET_IP + 6, (uint16_t)fragment);
		assert_parses(&p, false, later ? 0 : SRC_PORT, later ? 0 : DST_PORT);
	}
}

static void short_packets_end_where_they_end(void **state)
{
	(void)state;
	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct packet p = build(ip6, TCP);
		uint32_t header = PACKET_IP + (ip6 ? 40 : 20);

		for (uint32_t n = 0; n < header + 8; n++) {
			struct egress_packet e;
			uint8_t *copy;

			assert_int_equal(parse(&e, &p, n, &copy), n >= header);
			assert_int_equal(e.src_port, n >= header + 4 ? be16(SRC_PORT) : 0);
			free(copy);
		}
	}
}

static void other_frames_are_none_of_ours(void **state)
{
	static const uint16_t types[] = {0x0806, 0x8100, 0x88a8, 0x88cc, 0x8808, 0};
	struct packet p = build(false, TCP);

	(void)state;
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct egress_packet e;
		uint8_t *copy;

		packet_put16(p.bytes + 12, types[i]);
		assert_false(parse(&e, &p, p.captured, &copy));
		free(copy);
	}
}

/* Runs class and ECT over a packet in place. */
static void change(struct packet *p, const struct egress_config *config, uint64_t cgroup)
{
	struct egress_packet e = {.cursor = {p->bytes, p->bytes + p->captured}};

	assert_true(egress_parse(&e));
	e.cgroups[0] = 1;
	e.cgroups[1] = cgroup;
	egress_class(&e, config);
	egress_ect(&e, config);
}

static void assert_becomes(const struct egress_config *config, uint64_t cgroup, bool ip6,
	uint8_t before, uint8_t after)
{
	struct packet p = build(ip6, TCP), want;

	packet_set_tos(&p, before);
	want = p;
	packet_set_tos(&want, after);
	change(&p, config, cgroup);
	packet_assert_equal("packet", p.bytes, want.bytes, want.captured);
}

/* Every TOS and every DSCP: the checksum too is that of a full sum. */
static void a_rule_sets_the_dscp_and_nothing_else(void **state)
{
	struct egress_config config = {.rule_count = 1, .rules = {{.port = DST_PORT}}};

	(void)state;
	for (unsigned dscp = 0; dscp < 64; dscp++) {
		config.rules[0].dscp = (uint8_t)dscp;
		for (unsigned tos = 0; tos < 256; tos++)
			for (int ip6 = 0; ip6 < 2; ip6++)
				assert_becomes(&config, 0, ip6, (uint8_t)tos,
					(uint8_t)(dscp << 2 | (tos & 3)));
	}
}

static void the_first_rule_that_fits_counts(void **state)
{
	struct egress_config config = {
		.rule_count = 4,
		.rules = {{.port = 80, .dscp = 1}, {.cgroup = 77, .dscp = 2},
			{.port = SRC_PORT, .dscp = 3}, {.port = DST_PORT, .dscp = 4}},
	};

	(void)state;
	assert_becomes(&config, 77, false, 0, 2 << 2);
	assert_becomes(&config, 78, false, 0, 3 << 2);
	config.rule_count = 2;
	assert_becomes(&config, 78, true, 0x41, 0x41);
	config.rules[1].cgroup = 1; /* the root of all */
	assert_becomes(&config, 78, true, 0x41, 2 << 2 | 1);
	config.rule_count = 0;
	assert_becomes(&config, 1, true, 0x41, 0x41);
}

static void every_rule_and_level_is_looked_at(void **state)
{
	(void)state;
	for (int i = 0; i < EGRESS_RULES; i++) {
		for (int level = 0; level < EGRESS_LEVELS; level++) {
			struct egress_config config = {.rule_count = EGRESS_RULES};
			struct packet p = build(true, TCP);
			struct egress_packet e = {.cursor = {p.bytes, p.bytes + p.captured}};

			config.rules[i] = (struct egress_rule){.cgroup = 5, .dscp = 9};
			assert_true(egress_parse(&e));
			e.cgroups[level] = 5;
			egress_class(&e, &config);
			assert_int_equal(packet_tos(&p) >> 2, 9);
		}
	}
}

static void a_rule_without_port_and_cgroup_fits_nothing(void **state)
{
	struct egress_config config = {.rule_count = 1, .rules = {{.dscp = 9}}};
	struct packet p = build(true, 58), want = p;

	(void)state;
	change(&p, &config, 0);
	packet_assert_equal("packet", p.bytes, want.bytes, want.captured);
}

static void what_is_not_ecn_capable_becomes_ect0(void **state)
{
	struct egress_config config = {0};

	(void)state;
	for (config.ect = 0; config.ect < 2; config.ect++)
		for (unsigned tos = 0; tos < 256; tos++)
			for (int ip6 = 0; ip6 < 2; ip6++)
				assert_becomes(&config, 0, ip6, (uint8_t)tos,
					(uint8_t)(config.ect && !(tos & 3) ? tos | 2 : tos));
}

static void a_label_takes_its_bits_alone(void **state)
{
	struct packet p = build(true, TCP), want = p;
	struct egress_packet e = {.cursor = {p.bytes, p.bytes + p.captured}};

	(void)state;
	assert_true(egress_parse(&e));
	assert_int_equal(egress_label(&e), packet_spec_default.flow_label);
	for (unsigned bit = 0; bit < 20; bit++) {
		egress_set_label(&e, 1u << bit);
		assert_int_equal(egress_label(&e), 1u << bit);
	}
	egress_set_label(&e, packet_spec_default.flow_label);
	packet_assert_equal("packet", p.bytes, want.bytes, want.captured);
}

static void labels_are_never_0_and_spread(void **state)
{
	unsigned seen[16] = {0};

	(void)state;
	assert_int_equal(egress_label_of(0), 1);
	assert_int_equal(egress_label_of(UINT32_MAX), LABEL_MASK);
	for (uint64_t bits = 0; bits < 1ull << 32; bits += 1u << 20)
		seen[egress_label_of((uint32_t)bits) >> 16]++;
	for (int i = 0; i < 16; i++)
		assert_in_range(seen[i], 255, 257);
}

static void a_flow_keeps_its_label_or_gets_the_same_each_time(void **state)
{
	struct egress_flow flow = {
		.src = {0xfd, 1}, .dst = {0xfd, 2}, .src_port = 3, .dst_port = 4, .protocol = 6};
	uint32_t label = egress_label_flow(0, &flow);

	(void)state;
	assert_int_equal(egress_label_flow(0x12345, &flow), 0x12345);
	assert_in_range(label, 1, LABEL_MASK);
	assert_int_equal(egress_label_flow(0, &flow), label);
	for (size_t i = 0; i < sizeof(flow) - sizeof(flow.reserved); i++) {
		struct egress_flow other = flow;

		((uint8_t *)&other)[i] ^= 1;
		assert_int_not_equal(egress_label_flow(0, &other), label);
	}
}

static void a_flow_is_its_five_fields(void **state)
{
	struct packet p = build(true, TCP);
	struct egress_packet e = {.cursor = {p.bytes, p.bytes + p.captured}};
	struct egress_flow flow = {0};

	(void)state;
	assert_true(egress_parse(&e));
	egress_flow_of(&e, &flow);
	assert_memory_equal(flow.src, p.bytes + PACKET_IP + 8, 16);
	assert_memory_equal(flow.dst, p.bytes + PACKET_IP + 24, 16);
	assert_int_equal(flow.src_port, be16(SRC_PORT));
	assert_int_equal(flow.dst_port, be16(DST_PORT));
	assert_int_equal(flow.protocol, TCP);
}

static void a_silence_longer_than_the_gap_begins_a_flowlet(void **state)
{
	struct egress_flowlet f = {.last_ns = 1000, .label = 7};

	(void)state;
	assert_int_equal(egress_label_flowlet(&f, 1100, 100, 1u << 31), 7);
	assert_int_equal(
		egress_label_flowlet(&f, 1200, 100, 1u << 31), 7); /* since the latest packet */
	assert_int_equal(egress_label_flowlet(&f, 1301, 100, 1u << 31), egress_label_of(1u << 31));
	assert_int_equal(egress_label_flowlet(&f, 1302, 100, 0), egress_label_of(1u << 31));
	/* another core's, a little earlier */
	assert_int_equal(egress_label_flowlet(&f, 1290, 100, 0), egress_label_of(1u << 31));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_and_udp_have_ports),
		cmocka_unit_test(ports_lie_behind_options),
		cmocka_unit_test(later_fragments_have_no_ports),
		cmocka_unit_test(short_packets_end_where_they_end),
		cmocka_unit_test(other_frames_are_none_of_ours),
		cmocka_unit_test(a_rule_sets_the_dscp_and_nothing_else),
		cmocka_unit_test(the_first_rule_that_fits_counts),
		cmocka_unit_test(every_rule_and_level_is_looked_at),
		cmocka_unit_test(a_rule_without_port_and_cgroup_fits_nothing),
		cmocka_unit_test(what_is_not_ecn_capable_becomes_ect0),
		cmocka_unit_test(a_label_takes_its_bits_alone),
		cmocka_unit_test(labels_are_never_0_and_spread),
		cmocka_unit_test(a_flow_keeps_its_label_or_gets_the_same_each_time),
		cmocka_unit_test(a_flow_is_its_five_fields),
		cmocka_unit_test(a_silence_longer_than_the_gap_begins_a_flowlet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
