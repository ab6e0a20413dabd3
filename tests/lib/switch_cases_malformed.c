/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames that are no packets: cut short, of wrong versions, of lengths that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define TCP 6

static void expect(struct switch_bench *b, const struct trial *t, bool good)
{
	if (good)
		trial_forwards(b, t, BENCH_LOCAL(1));
	else
		trial_drops(b, t, DROP_MALFORMED, BENCH_IN);
}

/*
 * All that the hash looks at must be there, of TCP the ports, where hosts have stacks; what follows
 * may be missing (payload: headers).
 */
void switch_every_truncation(void **state)
{
	uint32_t ports = bench_has(*state, SW_STACK) ? 4 : 0;
	const struct {
		bool ip6;
		uint8_t protocol;
		uint32_t needed;
	} kinds[] = {
		{false, 17, 14 + 20 + 8},
		{false, TCP, 14 + 20 + ports},
		{true, 17, 14 + 40 + 8},
		{true, TCP, 14 + 40 + ports},
	};
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.payload = 0;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		spec.ip6 = kinds[i].ip6;
		spec.protocol = kinds[i].protocol;
		trial_init(&t, &spec);
		for (uint32_t whole = t.in.captured, n = 0; n <= whole; n++) {
			t.in.captured = n;
			expect(*state, &t, n >= kinds[i].needed);
		}
	}
}

void switch_wrong_versions(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (unsigned first = 0; first < 256; first++) {
		spec.ip6 = false;
		trial_init(&t, &spec);
		t.in.bytes[PACKET_IP] = (uint8_t)first;
		/* a longer header has its options in what follows; it is not summed */
		if (first >> 4 == 4 && (first & 15) >= 5) {
			packet_seal(&t.in);
			expect(*state, &t, true);
		} else {
			expect(*state, &t, false);
		}
		spec.ip6 = true;
		trial_init(&t, &spec);
		t.in.bytes[PACKET_IP] = (uint8_t)first;
		expect(*state, &t, first >> 4 == 6);
	}
}

/* The lengths that IP states, against the modelled length of the frame and the header's own. */
void switch_wrong_lengths(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.protocol = TCP;
	trial_init(&t, &spec);
	for (uint32_t length = 0; length < 65536; length++) {
		packet_put16(t.in.bytes + PACKET_IP + 2, (uint16_t)length);
		packet_seal(&t.in);
		expect(*state, &t, length >= 20 && length + PACKET_IP <= t.hop.length);
	}
	for (uint32_t words = 5; words < 16; words++) {
		spec.options = (uint8_t)(words - 5);
		trial_init(&t, &spec);
		packet_put16(t.in.bytes + PACKET_IP + 2, (uint16_t)(words * 4 - 1));
		packet_seal(&t.in);
		expect(*state, &t, false);
	}
	spec.ip6 = true;
	trial_init(&t, &spec);
	t.hop.length--;
	expect(*state, &t, false);
	t.hop.length++;
	expect(*state, &t, true);
	packet_put16(t.in.bytes + PACKET_IP + 4, 65535);
	expect(*state, &t, false);
}

/*
 * IPv4 and IPv6 are all that goes on, and LLDP ends at the port, where it occurs; a header of the
 * one under the type of the other does not.
 */
void switch_every_ethertype(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (uint32_t type = 0; type < 65536; type++) {
		trial_init(&t, &spec);
		packet_put16(t.in.bytes + 12, (uint16_t)type);
		if (type == 0x88cc && bench_has(*state, SW_CONTROL))
			trial_ends(*state, &t, VERDICT_CONTROL);
		else
			expect(*state, &t, type == 0x0800);
	}
	spec.ip6 = true;
	trial_init(&t, &spec);
	packet_put16(t.in.bytes + 12, 0x0800);
	expect(*state, &t, false);
}
