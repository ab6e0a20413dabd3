/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "lib/headers_parse.h"
#include "lib/transport_options.h"
#include "transport/headers.h"

#define MTU  1000
#define LAST 10 /* payload of the last packet */

/* A receiver, and the template of a sender with which frames for it are made. */
struct fixture {
	struct strack_options options;
	struct transport_env env;
	struct header_template headers;
	struct endpoint *ep;
	uint8_t frame[HEADERS_MAX], answer[HEADERS_MAX];
	struct strack_sack sack; /* of the last answer, ... */
	uint32_t sack_psn;       /* ... and the PSN of its BTH */
	bool trimmed;            /* what is handed in has lost its payload */
	uint32_t packets;
};

static void open_receiver(struct fixture *f, uint32_t packets, uint32_t sack_packets)
{
	struct flow_spec spec = {.id = 5, .bytes = (uint64_t)(packets - 1) * MTU + LAST};

	memset(f, 0, sizeof(*f));
	f->options = (struct strack_options)STRACK_OPTIONS_DEFAULT;
	f->options.sack_packets = sack_packets;
	f->env = (struct transport_env){.mtu = MTU,
		.host_rate_bps = 40000000000, /* a ring of 256 bits */
		.base_rtt_ps = 8000000,
		.qps = 1,
		.options = &f->options};
	f->packets = packets;
	headers_prepare(&f->headers, &f->env, &spec, true, 0, 0, 0);
	f->ep = calloc(1, strack_transport.size(&f->env, &spec, false));
	assert_non_null(f->ep);
	strack_transport.open(f->ep, &f->env, &spec, false, 0);
}

/* Hands in a frame; true: it was answered, and f->sack is the answer. */
static bool give(struct fixture *f, const struct header_fields *h, const void *extension,
	uint8_t ecn, uint64_t now)
{
	struct tx_frame tx = {.bytes = f->frame}, reply = {.bytes = f->answer};
	struct rx_frame rx;
	struct bth bth;

	memcpy(headers_write(&f->headers, h, &tx), extension, h->extension);
	assert_int_equal(headers_parse(f->frame, tx.captured, &rx), 0);
	rx.ecn = ecn;
	rx.trimmed = f->trimmed;
	if (f->trimmed)
		rx.transport_length = rx.captured - rx.transport_offset;
	if (strack_transport.on_packet(f->ep, &rx, &reply, now) != TRANSPORT_REPLY)
		return false;
	assert_int_equal(headers_parse(f->answer, reply.captured, &rx), 0);
	assert_true(headers_read_bth(&rx, &bth));
	assert_int_equal(bth.opcode, STRACK_SACK);
	assert_int_equal(bth.qp, flow_qp(&f->env, 5, 0, true));
	assert_int_equal(reply.payload_length, 0);
	f->sack_psn = bth.psn;
	memcpy(&f->sack, headers_extension(&rx, sizeof(f->sack)), sizeof(f->sack));
	return true;
}

static bool data(struct fixture *f, uint32_t psn)
{
	struct strack_data d = {
		.sent_ps = htobe64(1000 + psn), .path = htobe16((uint16_t)(psn % 7))};
	struct header_fields h = {.opcode = STRACK_DATA,
		.psn = psn,
		.extension = sizeof(d),
		.payload = psn + 1 == f->packets ? LAST : MTU};

	return give(f, &h, &d, ECN_ECT0, 5000 + psn);
}

static void expect_sack(struct fixture *f, uint32_t epsn, uint32_t base, uint64_t bitmap,
	uint32_t ooo, uint32_t trigger)
{
	assert_int_equal(be32toh(f->sack.epsn), epsn);
	assert_int_equal(be32toh(f->sack.base_psn), base);
	assert_int_equal(be64toh(f->sack.bitmap), bitmap);
	assert_int_equal(be32toh(f->sack.ooo_packets), ooo);
	assert_int_equal(be64toh(f->sack.bytes_recvd), (uint64_t)(epsn + ooo) * MTU);
	assert_int_equal(be64toh(f->sack.sent_ps), 1000 + trigger);
	assert_int_equal(be16toh(f->sack.path), trigger % 7);
	assert_int_equal(f->sack.flags, 0);
}

static bool headers(struct fixture *f, uint32_t psn)
{
	bool answered;

	f->trimmed = true;
	answered = data(f, psn);
	f->trimmed = false;
	return answered;
}

static void expect_trimmed(struct fixture *f, uint32_t psn, uint32_t epsn, uint32_t base,
	uint64_t bitmap, uint32_t ooo)
{
	assert_int_equal(f->sack_psn, psn);
	assert_int_equal(f->sack.flags, STRACK_FLAG_TRIMMED);
	f->sack.flags = 0;
	expect_sack(f, epsn, base, bitmap, ooo, psn);
}

/*
 * Answered each, at once; nothing has arrived by them, and the count of the data goes on as
 * before.
 */
static void headers_without_payload(void **state)
{
	struct fixture f;

	(void)state;
	open_receiver(&f, 100, 4);
	assert_true(headers(&f, 0));
	expect_trimmed(&f, 0, 0, 0, 0, 0);
	for (uint32_t psn = 1; psn < 4; psn++) {
		assert_false(data(&f, psn));
		assert_true(headers(&f, 0));
		expect_trimmed(&f, 0, 0, 0, (1u << (psn + 1)) - 2, psn);
	}
	assert_true(headers(&f, 70)); /* its segment's base, not the count's */
	expect_trimmed(&f, 70, 0, 64, 0, 3);
	assert_true(data(&f, 4)); /* the fourth that arrived */
	expect_sack(&f, 0, 0, 0x1e, 4, 4);
	assert_true(data(&f, 0));
	expect_sack(&f, 5, 5, 0, 0, 0);
	assert_true(headers(&f, 3)); /* it is there: the answer says so */
	expect_trimmed(&f, 3, 5, 5, 0, 0);
	assert_int_equal(f.ep->stats.trimmed, 6);
	assert_int_equal(f.ep->stats.duplicates, 0);
	assert_false(headers(&f, 5 + 256)); /* beyond the bitmap */
	f.packets = 200;
	assert_false(headers(&f, 100)); /* beyond the message */
	assert_int_equal(f.ep->stats.trimmed, 6);
	free(f.ep);
}

static void in_order_by_count_alone(void **state)
{
	struct fixture f;

	(void)state;
	open_receiver(&f, 100, 4);
	for (uint32_t psn = 0; psn < 40; psn++) {
		assert_int_equal(data(&f, psn), psn % 4 == 3);
		if (psn % 4 == 3)
			expect_sack(&f, psn + 1, psn + 1, 0, 0, psn);
	}
	assert_int_equal(f.ep->deadline_ps, 0);
	free(f.ep);
}

static void a_gap_bit_by_bit(void **state)
{
	struct fixture f;

	(void)state;
	open_receiver(&f, 100, 4);
	assert_false(data(&f, 0));
	assert_false(data(&f, 2));
	assert_false(data(&f, 5));
	assert_true(data(&f, 3));
	expect_sack(&f, 1, 1, 1 << 1 | 1 << 2 | 1 << 4, 3, 3);
	assert_true(data(&f, 1)); /* closes the gap, and says so at once */
	expect_sack(&f, 4, 4, 1 << 1, 1, 1);
	assert_true(data(&f, 4));
	expect_sack(&f, 6, 6, 0, 0, 4);
	assert_int_equal(f.ep->stats.out_of_order, 3);
	assert_int_equal(f.ep->received, 6 * MTU);
	free(f.ep);
}

/* Of two holes in a row the first filled moves EPSN but meets no waiting packet: no SACK yet. */
static void only_a_closed_gap_answers_at_once(void **state)
{
	struct fixture f;

	(void)state;
	open_receiver(&f, 100, 4);
	assert_false(data(&f, 2));
	assert_false(data(&f, 0));
	assert_true(data(&f, 1));
	expect_sack(&f, 3, 3, 0, 0, 1);
	free(f.ep);
}

static void the_segment_of_the_lowest_since_the_last_sack(void **state)
{
	struct fixture f;

	(void)state;
	open_receiver(&f, 400, 2);
	assert_false(data(&f, 130));
	assert_true(data(&f, 70)); /* 64..127 holds the lowest */
	expect_sack(&f, 0, 64, 1ull << 6, 2, 70);
	assert_false(data(&f, 191));
	assert_true(data(&f, 192)); /* 128..191: also what the last SACK left out */
	expect_sack(&f, 0, 128, 1ull << 2 | 1ull << 63, 4, 192);
	assert_false(data(&f, 255));
	assert_true(data(&f, 254)); /* the last segment of a ring of 256 */
	expect_sack(&f, 0, 192, 1 | 1ull << 62 | 1ull << 63, 6, 254);
	assert_false(data(&f, 256)); /* beyond the ring: ignored */
	assert_false(data(&f, 0));
	assert_true(
		data(&f, 256)); /* segments count from EPSN, which is 1: 193..256 has number 3 */
	expect_sack(&f, 1, 193, 7ull << 61, 7, 256);
	assert_false(data(&f, 200));
	assert_true(data(&f, 256)); /* a duplicate */
	expect_sack(&f, 1, 193, 1ull << 7 | 1ull << 61 | 1ull << 62 | 1ull << 63, 8, 256);
	assert_int_equal(f.ep->stats.duplicates, 1);
	free(f.ep);
}

/* What came just before a hole and is told by EPSN does not hide what came just after it. */
static void a_hole_in_the_middle_of_the_count(void **state)
{
	struct fixture f;

	(void)state;
	open_receiver(&f, 400, 4);
	assert_false(data(&f, 0));
	assert_false(data(&f, 1));
	assert_false(data(&f, 100));
	assert_true(data(&f, 101));
	expect_sack(&f, 2, 66, 3ull << 34, 2, 101);
	free(f.ep);
}

static void a_request_is_answered(void **state)
{
	struct strack_data d = {.sent_ps = htobe64(1), .path = htobe16(300)};
	struct header_fields h = {
		.opcode = STRACK_DATA, .ack_request = true, .extension = sizeof(d), .payload = MTU};
	struct fixture f;

	(void)state;
	open_receiver(&f, 100, 4);
	assert_true(give(&f, &h, &d, ECN_CE, 9));
	assert_int_equal(f.sack.flags, STRACK_FLAG_CE);
	assert_int_equal(be16toh(f.sack.path), 300);
	assert_int_equal(be32toh(f.sack.epsn), 1);
	/* and the count starts anew */
	for (uint32_t psn = 1; psn < 5; psn++)
		assert_int_equal(data(&f, psn), psn == 4);
	free(f.ep);
}

static bool probe(struct fixture *f, uint32_t base)
{
	struct strack_probe p = {
		.sent_ps = htobe64(77), .path = htobe16(9), .base_psn = htobe32(base)};
	struct header_fields h = {.opcode = STRACK_PROBE, .extension = sizeof(p)};

	return give(f, &h, &p, ECN_ECT0, 99);
}

static void a_probe_gets_the_segment_it_asks_for(void **state)
{
	static const uint32_t odd[] = {0, 256, 9999, UINT32_MAX};
	struct fixture f;

	(void)state;
	open_receiver(&f, 400, 4);
	data(&f, 0);
	data(&f, 70);
	assert_true(probe(&f, 65));
	assert_int_equal(f.sack.flags, STRACK_FLAG_PROBE);
	assert_int_equal(be32toh(f.sack.base_psn), 65);
	assert_int_equal(be64toh(f.sack.bitmap), 1 << 5);
	assert_int_equal(be64toh(f.sack.sent_ps), 77);
	assert_int_equal(be16toh(f.sack.path), 9);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		assert_true(probe(&f, odd[i]));
		assert_int_equal(be32toh(f.sack.base_psn), 1);
	}
	/* it is outside the counting */
	assert_false(data(&f, 71));
	assert_true(data(&f, 72));
	expect_sack(&f, 1, 65, 7 << 5, 3, 72);
	free(f.ep);
}

static void backwards_over_the_whole_ring(void **state)
{
	struct fixture f;

	(void)state;
	open_receiver(&f, 256, 1);
	for (uint32_t psn = 255; psn; psn--) {
		assert_true(data(&f, psn));
		assert_int_equal(be32toh(f.sack.ooo_packets), 256 - psn);
		assert_int_equal(f.ep->delivered_ps, 0);
	}
	assert_true(data(&f, 0));
	assert_int_equal(be32toh(f.sack.epsn), 256);
	assert_int_equal(be32toh(f.sack.ooo_packets), 0);
	assert_int_equal(be64toh(f.sack.bytes_recvd), 255 * MTU + LAST);
	assert_int_equal(f.ep->delivered_ps, 5000);
	free(f.ep);
}

static void what_is_no_packet_of_this_message(void **state)
{
	struct strack_data d = {0};
	struct header_fields wrong[] = {
		{.opcode = STRACK_DATA, .psn = 100, .extension = sizeof(d), .payload = MTU},
		{.opcode = STRACK_DATA, .psn = 99, .extension = sizeof(d), .payload = MTU},
		{.opcode = STRACK_DATA, .psn = 0, .extension = sizeof(d), .payload = MTU - 1},
		{.opcode = STRACK_DATA, .psn = 0xffffff, .extension = sizeof(d), .payload = MTU},
		{.opcode = STRACK_SACK, .psn = 0, .extension = sizeof(d), .payload = MTU},
		{.opcode = 4, .psn = 0, .extension = sizeof(d), .payload = MTU},
		{.opcode = STRACK_DATA, .psn = 0, .extension = 15, .payload = MTU + 1},
	};
	struct fixture f;

	(void)state;
	open_receiver(&f, 100, 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(give(&f, &wrong[i], &d, ECN_ECT0, 1));
	assert_int_equal(f.ep->stats.duplicates, 0);
	assert_true(data(&f, 0));
	assert_int_equal(be64toh(f.sack.bytes_recvd), MTU);
	free(f.ep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_by_count_alone),
		cmocka_unit_test(headers_without_payload),
		cmocka_unit_test(a_gap_bit_by_bit),
		cmocka_unit_test(only_a_closed_gap_answers_at_once),
		cmocka_unit_test(the_segment_of_the_lowest_since_the_last_sack),
		cmocka_unit_test(a_hole_in_the_middle_of_the_count),
		cmocka_unit_test(a_request_is_answered),
		cmocka_unit_test(a_probe_gets_the_segment_it_asks_for),
		cmocka_unit_test(backwards_over_the_whole_ring),
		cmocka_unit_test(what_is_no_packet_of_this_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
