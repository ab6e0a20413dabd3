/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "lib/headers_parse.h"
#include "transport/headers.h"

static const struct flow_spec spec = {
	.id = 0x123,
	.src_host = 0,
	.dst_host = 0x0102,
	.src_mac = {2, 0xfb, 0, 0, 0, 1},
	.dst_mac = {2, 0xfb, 0, 0, 0, 2},
	.src_next = {2, 0xfb, 0, 0, 0, 3},
	.dst_next = {2, 0xfb, 0, 0, 0, 4},
	.bytes = 1,
	.seed = 7,
};

static uint32_t write_one(struct header_template *t, uint8_t *bytes, uint16_t path,
	uint32_t payload, struct tx_frame *tx)
{
	struct header_fields f = {.opcode = STRACK_DATA,
		.ack_request = true,
		.path = path,
		.psn = 0x1abcdef,
		.extension = 16,
		.payload = payload};

	memset(bytes, 0xee, HEADERS_MAX);
	*tx = (struct tx_frame){.bytes = bytes};
	memset(headers_write(t, &f, tx), 0x55, f.extension);
	return tx->captured;
}

/*
 * Every byte written out by hand; the checksum is ~(4502 + 043c + 4000 + 4011 + 0a00 + 1 + 0a00
 * + 0103).
 */
static void ip4_packet_byte_by_byte(void **state)
{
	static const uint8_t want[] = {2, 0xfb, 0, 0, 0, 3, 2, 0xfb, 0, 0, 0, 1, 0x08,
		0x00,                                                      /* Ethernet */
		0x45, 0x02, 0x04, 0x3c, 0, 0, 0x40, 0, 64, 17, 0x21, 0xac, /* IPv4, 1,084 bytes */
		10, 0, 0, 1, 10, 0, 1, 3, 0, 0, 0x12, 0xb7, 0x04, 0x28, 0, 0, /* UDP, 1,064 bytes */
		0xc0, 0, 0xff, 0xff, 0, 0, 0x02, 0x49, 0x80, 0xab, 0xcd, 0xef, /* BTH */
		0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
		0x55, 0x55};
	struct transport_env env = {.mtu = 4096, .qps = 1};
	struct header_template t;
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx;

	(void)state;
	headers_prepare(&t, &env, &spec, true, 0, 0, 16 + 4096 + ICRC_BYTES);
	assert_int_equal(write_one(&t, bytes, 0, 1024, &tx), sizeof(want));
	assert_int_equal(tx.length, 14 + 20 + 8 + 12 + 16 + 1024 + 4);
	assert_int_equal(tx.payload_length, 1024);
	assert_true(bytes[34] >= 0xc0); /* the source port, which is random */
	bytes[34] = bytes[35] = 0;
	assert_memory_equal(bytes, want, sizeof(want));
}

static void ip6_packet_byte_by_byte(void **state)
{
	static const uint8_t want[] = {2, 0xfb, 0, 0, 0, 4, 2, 0xfb, 0, 0, 0, 2, 0x86,
		0xdd,                                 /* Ethernet, the way back */
		0x60, 0x20, 0, 0, 0x10, 0x28, 17, 64, /* IPv6, 4,136 bytes above */
		0xfd, 0, 0x0f, 0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0xfd, 0, 0x0f, 0xab, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x12, 0xb7, 0x10, 0x28, 0, 0, 0xc0, 0, 0xff,
		0xff, 0, 0, 0x02, 0x48, 0x80, 0xab, 0xcd, 0xef};
	struct transport_env env = {.mtu = 4096, .qps = 1, .ip6 = true};
	struct header_template t;
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx;

	(void)state;
	headers_prepare(&t, &env, &spec, false, 0, 0, 16 + 4096 + ICRC_BYTES);
	assert_int_equal(write_one(&t, bytes, 0, 4096, &tx), sizeof(want) + 16);
	assert_int_equal(tx.length, 14 + 40 + 8 + 12 + 16 + 4096 + 4);
	bytes[15] &= 0xf0; /* the flow label, a hash */
	bytes[16] = bytes[17] = 0;
	bytes[54] = bytes[55] = 0;
	assert_memory_equal(bytes, want, sizeof(want));
}

/* Summed here in another way than there: big endian, and with the checksum it is all ones. */
static uint32_t ip4_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void every_length_parses(void **state)
{
	(void)state;
	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct transport_env env = {.mtu = 4096, .qps = 1, .ip6 = ip6};
		struct header_template t;
		uint8_t bytes[HEADERS_MAX];
		struct tx_frame tx;
		struct rx_frame rx;

		headers_prepare(&t, &env, &spec, true, 0, 0, 16 + 4096 + ICRC_BYTES);
		for (uint32_t payload = 0; payload < 60000; payload++) {
			write_one(&t, bytes, (uint16_t)payload, payload, &tx);
			assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
			assert_int_equal(rx.transport_offset, ip6 ? 62 : 42);
			assert_int_equal(rx.transport_offset + rx.transport_length, tx.length);
			assert_int_equal(rx.ecn, ECN_ECT0);
			for (uint32_t i = headers_capacity(ip6); i < HEADERS_MAX; i++)
				assert_int_equal(
					bytes[i], 0xee); /* a caller's room may end there */
			if (!ip6)
				assert_int_equal(ip4_sum(bytes + 14), 0xffff);
		}
	}
}

static void every_address_sums_up(void **state)
{
	struct transport_env env = {.mtu = 4096, .qps = 1};
	struct flow_spec flow = spec;

	(void)state;
	for (flow.dst_host = 0; flow.dst_host < 140000; flow.dst_host++) {
		struct header_template t;

		/* a length of 255: its sums reach those that carry twice */
		headers_prepare(&t, &env, &flow, true, 0, 0, 215);
		assert_int_equal(ip4_sum(t.bytes + 14), 0xffff);
	}
}

static void bth_comes_back(void **state)
{
	struct transport_env env = {.mtu = 4096, .qps = 1};
	struct header_template t;
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx;
	struct rx_frame rx;
	struct bth bth;

	(void)state;
	headers_prepare(&t, &env, &spec, true, 0, 0, 100);
	write_one(&t, bytes, 3, 64, &tx);
	assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
	assert_true(headers_read_bth(&rx, &bth));
	assert_int_equal(bth.opcode, STRACK_DATA);
	assert_true(bth.ack_request);
	assert_int_equal(bth.psn, 0xabcdef);
	assert_int_equal(bth.qp, flow_qp(&env, 0x123, 0, false));
	assert_ptr_equal(headers_extension(&rx, 16), bytes + 54);
	assert_null(headers_extension(&rx, 17));
	rx.captured = rx.transport_offset + 11;
	assert_false(headers_read_bth(&rx, &bth));
}

/* Each path has a port of its own in the dynamic range, and a flow label that follows it. */
static void entropy_spreads(void **state)
{
	struct transport_env env = {.mtu = 4096, .qps = 1, .ip6 = true};
	struct header_template t;
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx;
	static uint8_t seen[1 << 14], labels[1 << 20];
	unsigned distinct = 0;

	(void)state;
	headers_prepare(&t, &env, &spec, true, 0, 0, 100);
	for (uint32_t path = 0; path < 1 << 14; path++) {
		uint32_t port, label;

		write_one(&t, bytes, (uint16_t)path, 64, &tx);
		port = (uint32_t)bytes[54] << 8 | bytes[55];
		label = (uint32_t)(bytes[15] & 0xf) << 16 | (uint32_t)bytes[16] << 8 | bytes[17];
		assert_true(port >= ENTROPY_PORTS);
		assert_int_equal(seen[port - ENTROPY_PORTS]++, 0);
		distinct += !labels[label]++;
	}
	assert_int_equal(distinct, 1 << 14);
}

static void cut_or_changed_headers_are_refused(void **state)
{
	struct transport_env env = {.mtu = 4096, .qps = 1};
	struct header_template t;
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx;
	struct rx_frame rx;

	(void)state;
	headers_prepare(&t, &env, &spec, true, 0, 0, 100);
	for (uint32_t n = 0; n < 42; n++) {
		write_one(&t, bytes, 3, 64, &tx);
		assert_int_equal(headers_parse(bytes, n, &rx), -EBADMSG);
	}
	for (unsigned bit = 14 * 8; bit < 34 * 8; bit++) {
		write_one(&t, bytes, 3, 64, &tx);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(headers_parse(bytes, tx.captured, &rx), -EBADMSG);
	}
	write_one(&t, bytes, 3, 64, &tx);
	bytes[37] ^= 1;
	assert_int_equal(headers_parse(bytes, tx.captured, &rx), -EPROTONOSUPPORT);
	write_one(&t, bytes, 3, 64, &tx);
	bytes[39] ^= 1;
	assert_int_equal(headers_parse(bytes, tx.captured, &rx), -EBADMSG);
	write_one(&t, bytes, 3, 64, &tx);
	bytes[13] = 6; /* ARP */
	assert_int_equal(headers_parse(bytes, tx.captured, &rx), -EPROTONOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ip4_packet_byte_by_byte),
		cmocka_unit_test(ip6_packet_byte_by_byte),
		cmocka_unit_test(every_length_parses),
		cmocka_unit_test(every_address_sums_up),
		cmocka_unit_test(bth_comes_back),
		cmocka_unit_test(entropy_spreads),
		cmocka_unit_test(cut_or_changed_headers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
