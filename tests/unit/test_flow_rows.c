/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flows.csv: a row a message as it ends, and where on the wire its data is found. */
#include <endian.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "abi/wire.h"
#include "base/numbers.h"
#include "base/units.h"
#include "lib/small_net.h"
#include "lib/small_session.h"
#include "lib/transport_options.h"
#include "telemetry/flow_rows.h"

/* Six hosts at two switches and two above them. */
static void open_net(struct small_net *s, struct small_config c)
{
	c.buffer_bytes = 1000000;
	small_net_fabric(s, 2, 2, 3, 100 * GBPS, 500000);
	small_net_open(s, &c);
}

/* ---- on the wire ---- */

enum { FLOWS = 3 };

struct seen {
	struct small_net net;
	bool ip6;
	uint64_t data[FLOWS], others, told; /* SACKs that tell of a mark */
	uint8_t pairs[FLOWS];               /* a bit each that was seen */
};

/* Whether the frame is data of that flow, by what is told of it alone. */
static bool is_of(struct seen *s, uint32_t flow, const struct udp_hdr *udp, uint32_t qp)
{
	struct engine_flow_wire wire;
	bool port = false;
	uint32_t pair;

	engine_flow_wire(s->net.engine, flow, &wire);
	pair = (qp - wire.qp) / 2;
	if (qp < wire.qp || (qp - wire.qp) % 2 || pair >= wire.qps)
		return false;
	for (uint32_t i = 0; i < wire.ports; i++)
		port |= be16toh(udp->src) == engine_flow_port(s->net.engine, flow, pair, i);
	assert_true(port);
	s->pairs[flow] |= (uint8_t)(1u << pair);
	return true;
}

static void see_sent(void *arg, uint64_t now_ps, uint32_t port, const uint8_t *bytes,
	uint32_t captured, uint32_t length)
{
	struct seen *s = arg;
	size_t ip = s->ip6 ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr);
	const struct udp_hdr *udp = (const struct udp_hdr *)(bytes + sizeof(struct eth_hdr) + ip);
	const struct bth_hdr *bth = (const struct bth_hdr *)(udp + 1);
	bool found = false;

	(void)now_ps, (void)captured, (void)length;
	if (s->net.net.ports[port].node >= s->net.net.host_count || bth->opcode == STRACK_PROBE ||
		bth->opcode == RC_ACK || bth->opcode == ROCE_CNP)
		return;
	if (bth->opcode == STRACK_SACK) {
		s->told += ((const struct strack_sack *)(bth + 1))->flags == STRACK_FLAG_CE;
		return;
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		if (is_of(s, i, udp, be32toh(bth->qp) & BTH_MASK_24)) {
			assert_false(found);
			found = true;
			s->data[i]++;
		}
	s->others += !found;
}

static void data_is_found_by_queue_pair_and_port(void **state)
{
	static const struct roce_options roce = ROCE_OPTIONS_DEFAULT;
	static const struct small_config cases[] = {{.kmin_bytes = 5000, .kmax_bytes = 6000},
		{.ip6 = true}, {.transport = &roce_transport, .options = &roce},
		{.transport = &roce_transport, .options = &roce, .qps = 4, .ip6 = true}};

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		struct seen s = {.ip6 = cases[c].ip6};
		struct small_config config = cases[c];
		uint64_t marks = 0;

		config.observer = (struct engine_observer){.sent = see_sent, .arg = &s};
		open_net(&s.net, config);
		small_net_flow(&s.net, 0, 4, 300000, 0);
		small_net_flow(&s.net, 1, 4, 200000, 0);
		small_net_flow(&s.net, 5, 0, 5000, 0); /* two packets */
		small_net_run(&s.net, PS_PER_S);
		for (uint32_t i = 0; i < FLOWS; i++) {
			struct engine_flow_result f;
			uint32_t pairs = config.qps ? min_u64(config.qps, i < 2 ? 4 : 2) : 1;

			engine_flow_result(s.net.engine, i, &f);
			assert_int_equal(f.sender.packets_sent, s.data[i]);
			assert_int_equal(s.pairs[i], (1u << pairs) - 1);
			assert_int_equal(f.received, f.flow.bytes);
			assert_true(f.over);
			marks += f.sender.marks;
		}
		/* those that come after the one that ends a flow are not heard */
		assert_true(marks <= s.told && marks + 8 > s.told);
		assert_int_equal(marks > 0, c == 0);
		assert_int_equal(s.others, 0);
		small_net_close(&s.net);
	}
}

/* ---- rows ---- */

struct written {
	struct small_net net;
	struct flow_rows rows;
};

static void on_ended(void *arg, uint64_t now_ps, uint32_t flow)
{
	flow_rows_ended(&((struct written *)arg)->rows, now_ps, flow);
}

static void on_settled(void *arg)
{
	struct written *w = arg;

	flow_rows_settled(&w->rows, w->net.engine);
}

static const char *name_of(const void *arg, uint32_t host, char *buf)
{
	(void)arg;
	snprintf(buf, RECORDER_NAME, "h%u", host);
	return buf;
}

/* The numbers of the flows that have rows, in their order. */
static void assert_rows(struct written *w, const char *directory, const char *want)
{
	char *text, got[64] = "";
	size_t length = 0;

	assert_int_equal(spool_flush(&w->rows.spool), 0);
	text = small_file(directory, "flows.csv.part");
	assert_non_null(text);
	for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
		length += (size_t)snprintf(
			got + length, sizeof(got) - length, "%lu ", strtoul(line + 1, NULL, 10));
	assert_string_equal(got, want);
	free(text);
}

/* In the order of their ends; what has not ended comes last. Only messages have rows. */
static void rows_are_in_the_order_of_ends(void **state)
{
	static const struct operation flows[] = {{.src_host = 0, .dst_host = 4, .bytes = 9000000},
		{.src_host = 2, .dst_host = 2, .lasts_ps = 1000},
		{.src_host = 1, .dst_host = 2, .bytes = 1000},
		{.src_host = OPERATION_BARRIER, .dst_host = OPERATION_BARRIER},
		{.src_host = 3, .dst_host = 5, .bytes = 1000},
		{.src_host = 5, .dst_host = 3, .bytes = 100},
		{.src_host = 3, .dst_host = 5, .bytes = 1, .start_ps = PS_PER_S}};
	struct written w = {.rows = {.spool = SPOOL_NONE, .host_name = name_of}};
	const struct small_config c = {
		.observer = {.ended = on_ended, .settled = on_settled, .arg = &w}};
	char directory[SMALL_PATH];
	int fd;

	(void)state;
	small_directory(directory);
	fd = open(directory, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flow_rows_open(&w.rows, fd), 0);
	open_net(&w.net, c);
	assert_int_equal(engine_add_flows(w.net.engine, flows, COUNT(flows), NULL, 0), 0);
	assert_rows(&w, directory, "");
	small_net_run(&w.net, 100 * PS_PER_US);
	assert_rows(&w, directory, "5 2 4 ");
	flow_rows_end(&w.rows, w.net.engine);
	flow_rows_end(&w.rows, w.net.engine);
	assert_rows(&w, directory, "5 2 4 0 6 ");
	small_net_close(&w.net);
	flow_rows_remove(&w.rows);
	close(fd);
	small_directory_remove(directory);
}

/* They have one queue pair; packets that come after the end of all count for the last of them. */
static void messages_of_a_stream_have_a_connection(void **state)
{
	struct operation flows[] = {{.src_host = 0, .dst_host = 4, .bytes = 8192, .stream = 1},
		{.src_host = 0, .dst_host = 4, .bytes = 8192, .stream = 1},
		{.src_host = 0, .dst_host = 4, .bytes = 8192, .stream = 1}};
	struct written w = {.rows = {.spool = SPOOL_NONE, .host_name = name_of}};
	const struct small_config c = {
		.observer = {.ended = on_ended, .settled = on_settled, .arg = &w}};
	struct engine_flow_wire wire;
	struct engine_flow_result is;
	char directory[SMALL_PATH];
	int fd;

	(void)state;
	small_directory(directory);
	fd = open(directory, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flow_rows_open(&w.rows, fd), 0);
	open_net(&w.net, c);
	small_net_flow(&w.net, 1, 3, 1, PS_PER_MS);
	for (uint32_t i = 0; i < COUNT(flows); i++)
		flows[i].start_ps = i * 20 * PS_PER_US;
	assert_int_equal(engine_add_flows(w.net.engine, flows, COUNT(flows), NULL, 0), 0);
	engine_flow_wire(w.net.engine, 2, &wire);
	assert_int_equal(wire.qps, 0);
	/* the first packet of the second message is there, the other is not */
	small_net_run(&w.net, 23600 * PS_PER_NS);
	engine_flow_result(w.net.engine, 2, &is);
	assert_int_equal(is.received, 4096);
	small_net_run(&w.net, 35 * PS_PER_US);
	assert_rows(&w, directory, "1 2 ");
	small_net_run(&w.net, 100 * PS_PER_US);
	assert_rows(&w, directory, "1 2 3 ");
	for (uint32_t i = 1; i <= COUNT(flows); i++) {
		engine_flow_wire(w.net.engine, i, &wire);
		assert_int_equal(wire.qp, 5);
		assert_int_equal(wire.qps, 1);
		assert_int_equal(engine_flow_port(w.net.engine, i, 0, 7),
			engine_flow_port(w.net.engine, 1, 0, 7));
		engine_flow_result(w.net.engine, i, &is);
		assert_int_equal(is.received, 8192);
		assert_true(is.over);
	}
	small_net_close(&w.net);
	flow_rows_remove(&w.rows);
	close(fd);
	small_directory_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_found_by_queue_pair_and_port),
		cmocka_unit_test(rows_are_in_the_order_of_ends),
		cmocka_unit_test(messages_of_a_stream_have_a_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
