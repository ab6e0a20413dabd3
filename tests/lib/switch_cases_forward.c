/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a router changes in a packet, and the checksum that it must have before and after. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define CHECKSUM (PACKET_IP + 10)
#define TCP      6

void switch_ip4_is_forwarded(void **state)
{
	struct trial t;

	trial_init(&t, &packet_spec_default);
	trial_forwards(*state, &t, BENCH_LOCAL(1));
}

void switch_ip6_is_forwarded(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.ip6 = true;
	trial_init(&t, &spec);
	trial_forwards(*state, &t, BENCH_LOCAL(1));
}

void switch_what_is_not_udp_is_forwarded(void **state)
{
	static const uint8_t protocols[] = {0, 1, TCP, 41, 44, 50, 58, 132, 255};
	static const uint16_t fragments[] = {0x0000, 0x2000, 0x2001, 0x1fff, 0x8000, 0x6000};
	struct packet_spec spec;
	struct trial t;

	for (unsigned i = 0; i < sizeof(protocols); i++) {
		for (int ip6 = 0; ip6 < 2; ip6++) {
			spec = packet_spec_default;
			spec.ip6 = ip6;
			spec.protocol = protocols[i];
			trial_init(&t, &spec);
			trial_forwards(*state, &t, BENCH_LOCAL(1));
		}
	}
	for (unsigned i = 0; i < sizeof(fragments) / sizeof(fragments[0]); i++) {
		spec = packet_spec_default;
		spec.fragment = fragments[i];
		trial_init(&t, &spec);
		trial_forwards(*state, &t, BENCH_LOCAL(1));
	}
	for (uint8_t options = 1; options <= 10; options++) {
		spec = packet_spec_default;
		spec.options = options;
		trial_init(&t, &spec);
		trial_forwards(*state, &t, BENCH_LOCAL(1));
	}
}

void switch_every_ttl(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (int i = 0; i < 512; i++) {
		spec.ip6 = i & 256;
		spec.ttl = (uint8_t)i;
		trial_init(&t, &spec);
		if (spec.ttl < 2)
			trial_drops(*state, &t, DROP_TTL, BENCH_IN);
		else
			trial_forwards(*state, &t, BENCH_LOCAL(1));
	}
}

/* A frame a value of the identification: the checksum then takes every value that it can have. */
static unsigned sweep_checksum(struct switch_bench *b, struct trial *t)
{
	static uint8_t seen[65536];
	unsigned values = 0;

	memset(seen, 0, sizeof(seen));
	for (uint32_t id = 0; id < 65536; id++) {
		packet_put16(t->in.bytes + PACKET_IP + 4, (uint16_t)id);
		packet_seal(&t->in);
		seen[packet_get16(t->in.bytes + CHECKSUM)] = 1;
		trial_forwards(b, t, BENCH_LOCAL(1));
	}
	for (uint32_t i = 0; i < 65536; i++)
		values += seen[i];
	return values;
}

/* All but 0xffff, which the sum of a header that is not all zero cannot give. */
void switch_every_checksum(void **state)
{
	struct trial t;

	trial_init(&t, &packet_spec_default);
	assert_int_equal(sweep_checksum(*state, &t), 65535);
}

void switch_marked_checksum_at_every_value(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	bench_queue(b, BENCH_HOST_PORT, 0)->kmax_bytes = 1;
	bench_accept(b);
	trial_init(&t, &packet_spec_default);
	t.hop.behind_bytes = 1;
	t.flags = VERDICT_MARKED;
	assert_int_equal(sweep_checksum(b, &t), 65535);
}

/*
 * 0x0000 and 0xffff are both zero in ones' complement, and a receiver's sum takes either (RFC
 * 1071).
 */
void switch_both_forms_of_a_zero_checksum(void **state)
{
	struct trial t;

	trial_init(&t, &packet_spec_default);
	packet_put16(t.in.bytes + PACKET_IP + 4, 0);
	packet_put16(t.in.bytes + PACKET_IP + 4, packet_checksum(&t.in));
	assert_int_equal(packet_checksum(&t.in), 0);
	packet_put16(t.in.bytes + CHECKSUM, 0);
	trial_forwards(*state, &t, BENCH_LOCAL(1));
	packet_put16(t.in.bytes + CHECKSUM, 0xffff);
	trial_forwards(*state, &t, BENCH_LOCAL(1));
}

void switch_only_the_right_checksum_passes(void **state)
{
	struct trial t;
	uint16_t right;

	trial_init(&t, &packet_spec_default);
	right = packet_checksum(&t.in);
	assert_int_not_equal(right, 0);
	for (uint32_t checksum = 0; checksum < 65536; checksum++) {
		packet_put16(t.in.bytes + CHECKSUM, (uint16_t)checksum);
		if (checksum == right)
			trial_forwards(*state, &t, BENCH_LOCAL(1));
		else
			trial_drops(*state, &t, DROP_CHECKSUM, BENCH_IN);
	}
}

/* The version, the length of the header and the total length are looked at before the sum. */
static enum drop_reason reason_of_flip(unsigned bit, const struct packet *p)
{
	if (bit < 8)
		return DROP_MALFORMED;
	if (bit >= 16 && bit < 32) {
		uint32_t length = packet_get16(p->bytes + PACKET_IP + 2);

		if (length < 20 || length + PACKET_IP > p->length)
			return DROP_MALFORMED;
	}
	return DROP_CHECKSUM;
}

void switch_a_flipped_header_bit_is_dropped(void **state)
{
	struct trial t;

	for (unsigned bit = 0; bit < 20 * 8; bit++) {
		/* a longer header: its options are not there to be summed */
		if (bit >= 4 && bit < 8 && !(5 >> (7 - bit) & 1))
			continue;
		trial_init(&t, &packet_spec_default);
		t.in.bytes[PACKET_IP + bit / 8] ^= 0x80 >> bit % 8;
		trial_drops(*state, &t, reason_of_flip(bit, &t.in), BENCH_IN);
	}
}

/*
 * Several frames in one submit: each gets its own verdict, in order, and the second sees the
 * first's depth.
 */
void switch_batch_keeps_order(void **state)
{
	struct switch_bench *b = *state;
	struct frame *frames[3];
	struct frame_ref refs[3];
	struct trial t;

	trial_init(&t, &packet_spec_default);
	trial_queue(b, &t, BENCH_LOCAL(1))->limit_bytes = t.hop.length;
	for (int i = 0; i < 3; i++) {
		frames[i] = test_malloc(sizeof(struct frame) + t.in.captured);
		frames[i]->hop = t.hop;
		memcpy(frames[i]->bytes, t.in.bytes, t.in.captured);
		if (i == 0)
			frames[i]->bytes[PACKET_IP] = 0x55;
		refs[i] = (struct frame_ref){frames[i], t.in.captured};
	}
	assert_int_equal(b->dp->ops->submit(b->dp, BENCH_IN, refs, 3), 0);
	assert_int_equal(frames[0]->verdict.reason, DROP_MALFORMED);
	assert_int_equal(frames[1]->verdict.action, VERDICT_FORWARD);
	assert_int_equal(frames[2]->verdict.reason, DROP_BUFFER);
	for (int i = 0; i < 3; i++)
		test_free(frames[i]);
}
