/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every kind of frame that RoCEv2 sends: byte by byte here, and as tshark reads it. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "lib/headers_parse.h"
#include "lib/transport_options.h"
#include "transport/headers.h"

#define MTU         1024u
#define FRAMES      8
#define PCAP_MAGIC  0xa1b2c3d4u
#define PCAP_ETHER  1
#define SNAPLEN     65535
#define PORT_OFFSET 34 /* IPv4 */
#define BTH_OFFSET  42

enum { FIRST, MIDDLE, LAST, ONLY, ACK, NAK, CNP, ALONE };

struct frames {
	uint8_t bytes[FRAMES][2048];
	uint32_t captured[FRAMES], length[FRAMES];
};

static const struct flow_spec spec = {
	.id = 0x123,
	.src_host = 0,
	.dst_host = 0x0102,
	.src_mac = {2, 0xfb, 0, 0, 0, 1},
	.dst_mac = {2, 0xfb, 0, 0, 0, 2},
	.src_next = {2, 0xfb, 0, 0, 0, 3},
	.dst_next = {2, 0xfb, 0, 0, 0, 4},
	.bytes = 3 * MTU + 500,
	.seed = 7,
	.dscp = 26,
};

static void keep(struct frames *f, int which, const struct tx_frame *tx)
{
	memcpy(f->bytes[which], tx->bytes, tx->captured);
	f->captured[which] = tx->captured;
	f->length[which] = tx->length;
}

static struct rx_frame received(const struct frames *f, int which)
{
	struct rx_frame rx;

	assert_int_equal(headers_parse(f->bytes[which], f->captured[which], &rx), 0);
	return rx;
}

/*
 * A message of four packets, and one of a single packet. The receiver sees the second before the
 * first (NAK), then marked (CNP), and then all (ACK).
 */
static void make_frames(struct frames *f, bool ip6)
{
	static const struct roce_options options = ROCE_OPTIONS_DEFAULT;
	struct transport_env env = {.mtu = MTU,
		.host_rate_bps = 100000000000,
		.base_rtt_ps = 8000000,
		.ip6 = ip6,
		.control_dscp = 48,
		.notify_dscp = 46,
		.qps = 1,
		.options = &options};
	struct flow_spec one = spec;
	struct endpoint *s = calloc(1, roce_transport.size(&env, &spec, true));
	struct endpoint *r = calloc(1, roce_transport.size(&env, &spec, false));
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes};
	struct rx_frame rx[4];

	assert_true(s && r);
	memset(f, 0, sizeof(*f));
	roce_transport.open(s, &env, &spec, true, 0);
	roce_transport.open(r, &env, &spec, false, 0);
	for (int i = 0; i < 4; i++) {
		int which = i < 2 ? i : i == 2 ? ALONE : LAST;

		assert_true(roce_transport.next_packet(s, &tx, 0));
		keep(f, which, &tx);
		rx[i] = received(f, which);
	}
	assert_int_equal(roce_transport.on_packet(r, &rx[1], &tx, 1), TRANSPORT_REPLY);
	keep(f, NAK, &tx);
	assert_int_equal(roce_transport.on_packet(r, &rx[0], &tx, 2), 0);
	rx[1].ecn = ECN_CE;
	assert_int_equal(roce_transport.on_packet(r, &rx[1], &tx, 3), TRANSPORT_REPLY);
	keep(f, CNP, &tx);
	assert_int_equal(roce_transport.on_packet(r, &rx[2], &tx, 4), 0);
	assert_int_equal(roce_transport.on_packet(r, &rx[3], &tx, 5), TRANSPORT_REPLY);
	keep(f, ACK, &tx);
	free(s);
	one.bytes = 77;
	s = calloc(1, roce_transport.size(&env, &one, true));
	assert_non_null(s);
	roce_transport.open(s, &env, &one, true, 0);
	assert_true(roce_transport.next_packet(s, &tx, 0));
	keep(f, ONLY, &tx);
	free(s);
	free(r);
}

static void expect_bytes(
	struct frames *f, int which, const uint8_t *want, uint32_t count, uint32_t length)
{
	const uint8_t *port = f->bytes[which] + PORT_OFFSET;

	assert_true(port[0] >= 0xc0); /* the source port is the flow's own */
	f->bytes[which][PORT_OFFSET] = f->bytes[which][PORT_OFFSET + 1] = 0;
	assert_int_equal(f->captured[which], count);
	assert_int_equal(f->length[which], length);
	assert_memory_equal(f->bytes[which], want, count);
}

#define THERE 2, 0xfb, 0, 0, 0, 3, 2, 0xfb, 0, 0, 0, 1, 0x08, 0x00
#define BACK  2, 0xfb, 0, 0, 0, 4, 2, 0xfb, 0, 0, 0, 2, 0x08, 0x00

/* The address is where in the message, the key is the flow's number: 0x123. */
static void data_byte_by_byte(void **state)
{
	static const uint8_t first[] = {THERE, 0x45, 0x6a, 0x04, 0x3c, 0, 0, 0x40, 0, 64, 17, 0x21,
		0x44, 10, 0, 0, 1, 10, 0, 1, 3, 0, 0, 0x12, 0xb7, 0x04, 0x28, 0, 0,
		/* BTH */ 0x06, 0, 0xff, 0xff, 0, 0, 0x02, 0x49, 0, 0, 0, 0,
		/* RETH */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x23, 0, 0, 0x0d, 0xf4};
	static const uint8_t middle[] = {THERE, 0x45, 0x6a, 0x04, 0x2c, 0, 0, 0x40, 0, 64, 17, 0x21,
		0x54, 10, 0, 0, 1, 10, 0, 1, 3, 0, 0, 0x12, 0xb7, 0x04, 0x18, 0, 0,
		/* BTH */ 0x07, 0, 0xff, 0xff, 0, 0, 0x02, 0x49, 0, 0, 0, 1};
	static const uint8_t last[] = {THERE, 0x45, 0x6a, 0x02, 0x20, 0, 0, 0x40, 0, 64, 17, 0x23,
		0x60, 10, 0, 0, 1, 10, 0, 1, 3, 0, 0, 0x12, 0xb7, 0x02, 0x0c, 0, 0,
		/* BTH */ 0x08, 0, 0xff, 0xff, 0, 0, 0x02, 0x49, 0x80, 0, 0, 3};
	static const uint8_t only[] = {THERE, 0x45, 0x6a, 0x00, 0x89, 0, 0, 0x40, 0, 64, 17, 0x24,
		0xf7, 10, 0, 0, 1, 10, 0, 1, 3, 0, 0, 0x12, 0xb7, 0x00, 0x75, 0, 0,
		/* BTH */ 0x0a, 0, 0xff, 0xff, 0, 0, 0x02, 0x49, 0x80, 0, 0, 0,
		/* RETH */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x23, 0, 0, 0, 77};
	struct frames f;

	(void)state;
	make_frames(&f, false);
	expect_bytes(&f, FIRST, first, sizeof(first), 54 + 16 + MTU + 4);
	expect_bytes(&f, MIDDLE, middle, sizeof(middle), 54 + MTU + 4);
	expect_bytes(&f, LAST, last, sizeof(last), 54 + 500 + 4);
	expect_bytes(&f, ONLY, only, sizeof(only), 54 + 16 + 77 + 4);
}

static void answers_byte_by_byte(void **state)
{
	/* ACK of PSN 3, no credits, one message done */
	static const uint8_t ack[] = {BACK, 0x45, 0xc2, 0x00, 0x30, 0, 0, 0x40, 0, 64, 17, 0x24,
		0xf8, 10, 0, 1, 3, 10, 0, 0, 1, 0, 0, 0x12, 0xb7, 0x00, 0x1c, 0, 0,
		/* BTH */ 0x11, 0, 0xff, 0xff, 0, 0, 0x02, 0x48, 0, 0, 0, 3,
		/* AETH */ 0x1f, 0, 0, 1};
	/* NAK: PSN 0 was expected */
	static const uint8_t nak[] = {BACK, 0x45, 0xc2, 0x00, 0x30, 0, 0, 0x40, 0, 64, 17, 0x24,
		0xf8, 10, 0, 1, 3, 10, 0, 0, 1, 0, 0, 0x12, 0xb7, 0x00, 0x1c, 0, 0,
		/* BTH */ 0x11, 0, 0xff, 0xff, 0, 0, 0x02, 0x48, 0, 0, 0, 0,
		/* AETH */ 0x60, 0, 0, 0};
	/* BECN */
	static const uint8_t cnp[] = {BACK, 0x45, 0xba, 0x00, 0x3c, 0, 0, 0x40, 0, 64, 17, 0x24,
		0xf4, 10, 0, 1, 3, 10, 0, 0, 1, 0, 0, 0x12, 0xb7, 0x00, 0x28, 0, 0,
		/* BTH */ 0x81, 0, 0xff, 0xff, 0x40, 0, 0x02, 0x48, 0, 0, 0, 0,
		/* reserved */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct frames f;

	(void)state;
	make_frames(&f, false);
	expect_bytes(&f, ACK, ack, sizeof(ack), 54 + 4 + 4);
	expect_bytes(&f, NAK, nak, sizeof(nak), 54 + 4 + 4);
	expect_bytes(&f, CNP, cnp, sizeof(cnp), 54 + 16 + 4);
}

/* Over IPv6 all from the BTH on is the same. */
static void ip6_carries_the_same(void **state)
{
	struct frames four, six;

	(void)state;
	make_frames(&four, false);
	make_frames(&six, true);
	for (int i = 0; i < FRAMES; i++) {
		assert_int_equal(six.captured[i], four.captured[i] + 20);
		assert_int_equal(six.length[i], four.length[i] + 20);
		assert_memory_equal(six.bytes[i] + BTH_OFFSET + 20, four.bytes[i] + BTH_OFFSET,
			four.captured[i] - BTH_OFFSET);
	}
}

/* ---- tshark ---------------------------------------------------------------------------------- */

/* Frames in full: payload and ICRC are zeros. */
static void write_pcap(const char *path, const struct frames *f)
{
	struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, digits, snaplen, link;
	} head = {PCAP_MAGIC, 2, 4, 0, 0, SNAPLEN, PCAP_ETHER};
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(&head, sizeof(head), 1, file), 1);
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t record[4] = {0, i, f->length[i], f->length[i]};

		assert_int_equal(fwrite(record, sizeof(record), 1, file), 1);
		assert_int_equal(fwrite(f->bytes[i], f->length[i], 1, file), 1);
	}
	assert_int_equal(fclose(file), 0);
}

/* What tshark prints, all of it. */
static void run_tshark(const char *path, const char *arguments, char *ret, size_t size)
{
	char command[512];
	size_t n;
	FILE *out;

	snprintf(command, sizeof(command), "tshark -n -r '%s' %s 2>/dev/null", path, arguments);
	out = popen(command, "r");
	assert_non_null(out);
	n = fread(ret, 1, size - 1, out);
	ret[n] = 0;
	assert_int_equal(pclose(out), 0);
}

static void tshark_reads_every_kind(void **state)
{
	/* opcode, queue pair, PSN, syndrome, MSN, length of the write, DSCP, whatever is wrong */
	static const char want[] = "6|0x000249|0|||3572|26|\n"
				   "7|0x000249|1||||26|\n"
				   "8|0x000249|3||||26|\n"
				   "10|0x000249|0|||77|26|\n"
				   "17|0x000248|3|31|1||48|\n"
				   "17|0x000248|0|96|0||48|\n"
				   "129|0x000248|0||||46|\n"
				   "7|0x000249|2||||26|\n";
	char path[] = "/tmp/fabricbed-frames-XXXXXX", out[8192];
	struct frames f;
	int fd;

	(void)state;
	if (system("command -v tshark >/dev/null 2>&1"))
		skip();
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	make_frames(&f, false);
	write_pcap(path, &f);
	run_tshark(path,
		"-T fields -E separator='|' -e infiniband.bth.opcode -e infiniband.bth.destqp"
		" -e infiniband.bth.psn -e infiniband.aeth.syndrome -e infiniband.aeth.msn"
		" -e infiniband.reth.dmalen -e ip.dsfield.dscp -e _ws.malformed",
		out, sizeof(out));
	unlink(path);
	assert_string_equal(out, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_byte_by_byte),
		cmocka_unit_test(answers_byte_by_byte),
		cmocka_unit_test(ip6_carries_the_same),
		cmocka_unit_test(tshark_reads_every_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
