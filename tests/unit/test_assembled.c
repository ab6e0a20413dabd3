/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The core of an assembled transport: what the parts say is what happens on the wire. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/recovery_bench.h"
#include "lib/headers_parse.h"
#include "scenario_fixture.h"
#include "transport/headers.h"
#include "transport/recovery/arrivals.h"

#define PACKETS 200u
#define FRAME                                                                                      \
	(MTU + 14 + 20 + 8 + sizeof(struct bth_hdr) + sizeof(struct assembled_data) + ICRC_BYTES)
#define SEEN 20000

static struct recovery_bench_coding coded;
static struct dupack_options one = {.threshold = 3, .subflows = 1};
static struct dupack_options four = {.threshold = 3, .subflows = 4};
static struct recovery_bench_go_back back;
static struct selective_options cut = {.desync_ps = SELECTIVE_DESYNC_AUTO};
static struct selective_options by_order = {.threshold = 3};

static const struct scheme {
	const char *name;
	void *options;
} schemes[] = {
	{"coding", &coded},
	{"dupack", &one},
	{"subflow-dupack", &four},
	{"go-back-n", &back},
	{"trim", &cut},
	{"return", &cut},
	{"sack", &by_order},
};

/* What was on the wire, each way. */
struct view {
	uint64_t sent_ps[SEEN];
	uint16_t paths[2][SEEN];
	uint32_t psns[2][SEEN];
	uint32_t count[2]; /* answers, data */
	struct fake_packet last[2];
};

static void see(void *arg, const struct fake_packet *p)
{
	struct view *v = arg;
	uint32_t i = v->count[p->forward]++;

	assert_true(i < SEEN);
	v->paths[p->forward][i] = p->path;
	v->psns[p->forward][i] = p->psn;
	v->last[p->forward] = *p;
	if (p->forward)
		v->sent_ps[i] = p->sent_ps;
}

static struct view *prepare(struct recovery_bench *b, const struct scheme *s, uint32_t packets)
{
	struct view *v = calloc(1, sizeof(*v));

	assert_non_null(v);
	recovery_bench_prepare(b, s->name, s->options, packets);
	b->config.hooks = (struct fake_hooks){.arg = v, .see = see};
	return v;
}

static void choose_paths(struct recovery_bench *b, const char *name)
{
	b->options.paths = 0;
	while (strcmp(assembled_paths(&b->options)->name, name))
		b->options.paths++;
}

/* The scenario is to be freed. */
static struct scenario *choose_control(struct recovery_bench *b, const char *control)
{
	const struct assembled_options *o;
	struct scenario *s;
	char text[200];

	snprintf(text, sizeof(text), SMALL "host: {transport: {assembled: {control: {%s}}}}\n",
		control);
	s = load(text);
	o = s->host.transport.options;
	b->options.control = o->control;
	b->options.control_options = o->control_options;
	return s;
}

/* To the end, whatever the recovery. */
static void run(struct recovery_bench *b)
{
	fake_wire_open(&b->wire, &b->config);
	fake_wire_run(&b->wire, FOREVER);
	assert_true(fake_wire_finished(&b->wire));
	assert_int_equal(b->wire.malformed, 0);
	assert_int_equal(recovery_bench_receiver(b)->received, b->config.message_bytes);
}

static void close_bench(struct recovery_bench *b, struct view *v)
{
	fake_wire_close(&b->wire);
	free(v);
}

/* ---- when packets leave ---- */

static void packets_leave_at_the_rate(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		struct recovery_bench b;
		struct view *v = prepare(&b, &schemes[i], PACKETS);
		uint64_t gap = fake_wire_time(FRAME, 10 * GBPS);
		struct sender_state told = SENDER_STATE_NONE;
		struct scenario *scenario;

		scenario = choose_control(&b, "rate: 0.1");
		run(&b);
		assert_in_range(v->sent_ps[0], 0, gap);
		for (uint32_t n = 1; n < PACKETS; n++)
			assert_int_equal(v->sent_ps[n] - v->sent_ps[n - 1], gap);
		recovery_bench_sender(&b)->ops->sender_state(recovery_bench_sender(&b), 1, &told);
		assert_int_equal(told.rate_bps, 10 * GBPS);
		assert_int_equal(told.window_bytes, SENDER_NONE);
		assert_in_range(told.rtt_ps, RTT - 10, RTT);
		close_bench(&b, v);
		scenario_free(scenario);
	}
}

/* So many packets fit a window, one at least, and all of it is used. */
static void windows_are_kept_to(void **state)
{
	static const struct {
		uint32_t bytes, packets;
	} windows[] = {{1, 1}, {MTU, 1}, {2 * MTU - 1, 1}, {2 * MTU, 2}, {7 * MTU + 5, 7}};

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (size_t w = 0; w < COUNT(windows); w++) {
			uint32_t out = windows[w].packets;
			struct recovery_bench b;
			struct view *v = prepare(&b, &schemes[i], PACKETS);

			b.window.value = windows[w].bytes;
			run(&b);
			for (uint32_t n = out; n < PACKETS; n++)
				assert_in_range(v->sent_ps[n] - v->sent_ps[n - out], RTT - 10, RTT);
			assert_int_equal(recovery_bench_sender(&b)->stats.timeouts, 0);
			close_bench(&b, v);
		}
	}
}

static bool drop_data(void *arg, const struct fake_packet *p)
{
	(void)arg;
	return p->forward;
}

/* A timeout takes what was under way, which nscc takes off its window. */
static void controls_hear_how_much_was_under_way(void **state)
{
	struct sender_state told = SENDER_STATE_NONE;
	struct recovery_bench b;
	struct view *v = prepare(&b, &schemes[1], PACKETS);
	struct scenario *s = choose_control(&b, "nscc: {quick_adapt: off, window: 1MB}");

	(void)state;
	b.config.hooks.drop = drop_data;
	fake_wire_open(&b.wire, &b.config);
	fake_wire_run(&b.wire, RTO + RTO / 2);
	assert_int_equal(recovery_bench_sender(&b)->stats.timeouts, 1);
	assembled_transport.sender_state(recovery_bench_sender(&b), b.wire.now, &told);
	assert_int_equal(told.window_bytes, (1u << 20) - PACKETS * MTU);
	close_bench(&b, v);
	scenario_free(s);
}

/* ---- where they go ---- */

static void each_packet_takes_another_path(void **state)
{
	uint32_t taken[PATHS_ALL] = {0}, packets = PATHS_ALL + 10;
	struct recovery_bench b;
	struct view *v = prepare(&b, &schemes[0], packets);

	(void)state;
	choose_paths(&b, "spray");
	run(&b);
	for (uint32_t n = 0; n < packets; n++)
		assert_int_equal(taken[v->paths[1][n]]++, n >= PATHS_ALL);
	assert_int_equal(recovery_bench_sender(&b)->stats.paths_used, PATHS_ALL);
	close_bench(&b, v);
}

/* Answers too: a path of theirs is that of the packet that they answer. */
static void answers_take_their_packets_path(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		struct recovery_bench b;
		struct view *v = prepare(&b, &schemes[i], PACKETS);

		if (schemes[i].options == &four) {
			close_bench(&b, v); /* PSNs are not one sequence */
			continue;
		}
		choose_paths(&b, "spray");
		run(&b);
		assert_int_equal(v->count[0], v->count[1]);
		for (uint32_t n = 0; n < v->count[0]; n++) {
			assert_int_equal(v->paths[1][n], v->psns[1][n]);
			assert_int_equal(v->paths[0][n], v->psns[0][n]);
		}
		close_bench(&b, v);

		v = prepare(&b, &schemes[i], PACKETS);
		run(&b);
		for (uint32_t n = 0; n < v->count[0]; n++)
			assert_true(!v->paths[0][n] && !v->paths[1][n]);
		assert_int_equal(recovery_bench_sender(&b)->stats.paths_used, 1);
		close_bench(&b, v);
	}
}

/* ---- frames that are none of its own ---- */

struct forgery {
	const char *what;
	void (*spoil)(struct rx_frame *rx, uint8_t *extension, uint64_t now);
};

static struct assembled_answer *answer_at(uint8_t *extension)
{
	return (struct assembled_answer *)extension;
}

static struct assembled_data *data_at(uint8_t *extension)
{
	return (struct assembled_data *)extension;
}

static void other_recovery(struct rx_frame *rx, uint8_t *at, uint64_t now)
{
	(void)rx;
	(void)now;
	answer_at(at)->recovery++;
}

static void path_beyond(struct rx_frame *rx, uint8_t *at, uint64_t now)
{
	(void)rx;
	(void)now;
	answer_at(at)->path = htobe16(1);
}

static void not_sent_yet(struct rx_frame *rx, uint8_t *at, uint64_t now)
{
	(void)rx;
	answer_at(at)->sent_ps = htobe64(now);
}

static void cut_off(struct rx_frame *rx, uint8_t *at, uint64_t now)
{
	(void)at;
	(void)now;
	rx->captured--;
}

static void another_opcode(struct rx_frame *rx, uint8_t *at, uint64_t now)
{
	(void)rx;
	(void)now;
	((struct bth_hdr *)(at - sizeof(struct bth_hdr)))->opcode ^= 0x1f;
}

static void other_recovery_of_data(struct rx_frame *rx, uint8_t *at, uint64_t now)
{
	(void)rx;
	(void)now;
	data_at(at)->recovery++;
}

static void other_message(struct rx_frame *rx, uint8_t *at, uint64_t now)
{
	(void)rx;
	(void)now;
	data_at(at)->message = htobe32(1);
}

/* Hands it a frame as it was, or spoilt; returns what it asks for, and whether it has changed. */
static unsigned hand_in(struct recovery_bench *b, struct endpoint *ep, const struct fake_packet *p,
	const struct forgery *f, bool *ret_changed)
{
	const struct flow_spec spec = {.bytes = b->config.message_bytes};
	size_t size = ep->ops->size(&b->env, &spec, ep == recovery_bench_sender(b));
	uint8_t bytes[HEADERS_MAX], out[HEADERS_MAX], *before = malloc(size);
	struct tx_frame reply = {.bytes = out};
	struct rx_frame rx;
	unsigned asks;

	assert_non_null(before);
	memcpy(before, ep, size);
	memcpy(bytes, p->bytes, sizeof(bytes));
	assert_int_equal(headers_parse(bytes, p->captured, &rx), 0);
	if (f)
		f->spoil(&rx, bytes + rx.transport_offset + sizeof(struct bth_hdr), b->wire.now);
	asks = ep->ops->on_packet(ep, &rx, &reply, b->wire.now);
	*ret_changed = memcmp(before, ep, size);
	free(before);
	return asks;
}

static bool stop_answers(void *arg, const struct fake_packet *p)
{
	const struct view *v = arg;

	return !p->forward && v->count[0] > 20;
}

static bool stop_data(void *arg, const struct fake_packet *p)
{
	const struct view *v = arg;

	return p->forward && v->count[1] > 20;
}

/* The frame that was stopped on its way, spoilt each way in turn, and at last as it was. */
static void expect_ignored(const struct scheme *s, bool data, const struct forgery *f, size_t count)
{
	struct recovery_bench b;
	struct view *v = prepare(&b, s, PACKETS);
	struct endpoint *ep;
	bool changed;

	b.window.value = 8 * MTU;
	b.config.hooks.drop = data ? stop_data : stop_answers;
	fake_wire_open(&b.wire, &b.config);
	for (uint64_t until = 0; v->count[data] <= 20; until += US / 10)
		fake_wire_run(&b.wire, until);
	b.wire.now += US;
	ep = data ? recovery_bench_receiver(&b) : recovery_bench_sender(&b);
	for (size_t i = 0; i < count; i++) {
		unsigned asks = hand_in(&b, ep, &v->last[data], &f[i], &changed);

		if (asks || changed)
			fail_msg("%s, %s: it asked for %u%s", s->name, f[i].what, asks,
				changed ? " and has changed" : "");
	}
	hand_in(&b, ep, &v->last[data], NULL, &changed);
	assert_true(changed);
	close_bench(&b, v);
}

static void strange_answers_change_nothing(void **state)
{
	static const struct forgery answers[] = {
		{"of another recovery", other_recovery},
		{"by a path that there is not", path_beyond},
		{"to what was not sent yet", not_sent_yet},
		{"not whole", cut_off},
		{"an opcode of others", another_opcode},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++)
		expect_ignored(&schemes[i], false, answers, COUNT(answers));
}

static void strange_data_changes_nothing(void **state)
{
	static const struct forgery data[] = {
		{"of another recovery", other_recovery_of_data},
		{"of a message that there is not", other_message},
		{"not whole", cut_off},
		{"an opcode of others", another_opcode},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++)
		expect_ignored(&schemes[i], true, data, COUNT(data));
}

/* ---- sizes ---- */

/* Memory is asked for with the longest message that there may be. */
static void counts_of_packets_end_at_32_bits(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t more, mtu, count, of_message, last;
	} cases[] = {
		{1, 0, 4096, 1, 1, 1},
		{8192, 2, 4096, 6, 2, 4096},
		{8193, 0, 4096, 3, 3, 1},
		{(1ull << 40) - 256, 0, 256, UINT32_MAX, UINT32_MAX, 256},
		{1ull << 40, 0, 256, UINT32_MAX, UINT32_MAX, 256},
		{1ull << 40, 0, 4096, 1 << 28, 1 << 28, 4096},
		{1ull << 32, UINT32_MAX - 1, 4096, UINT32_MAX, 1 << 20, 4096},
		{4096, UINT32_MAX, 4096, UINT32_MAX, 1, 4096},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct transport_env env = {.mtu = cases[i].mtu};
		struct flow_spec flow = {.bytes = cases[i].bytes, .more = cases[i].more};
		struct packets p = packets_of_flow(&env, &flow);

		assert_int_equal(p.bytes, flow.bytes * (1 + (uint64_t)flow.more));
		assert_int_equal(p.count, cases[i].count);
		assert_int_equal(p.of_message, cases[i].of_message);
		assert_int_equal(p.last_bytes, cases[i].last);
		assert_int_equal(p.mtu, cases[i].mtu);
	}
}

/* A sequence goes on where its PSNs begin again. */
static void numbers_outgrow_psns(void **state)
{
	const struct transport_env env = {.mtu = 1};
	const struct flow_spec flow = {.bytes = 1 << 26};
	uint32_t sequences[] = {1, 3}, from = (1 << 24) - 100;

	(void)state;
	assert_int_equal(psn_number(0, 5), 5);
	assert_int_equal(psn_number(0, 0xffffff), -1);
	assert_int_equal(psn_number(0xfffffe, 3), 0x1000003);
	assert_int_equal(psn_number(0x1000003, 0xfffffe), 0xfffffe);
	for (size_t i = 0; i < COUNT(sequences); i++) {
		uint64_t words[2] = {0};
		struct endpoint ep = {0};
		struct recovery r = {.ep = &ep, .packets = packets_of_flow(&env, &flow)};
		struct arrivals a = {.ring = {words, 128}, .expected = from};

		for (uint32_t n = from; n < from + 200; n++) {
			uint32_t k = sequences[i], psn = n ^ 1; /* each pair the wrong way round */
			struct recovery_data d = {.psn = psn & BTH_MASK_24,
				.number = psn * k + k - 1,
				.subflow = (uint16_t)(k - 1)};

			assert_true(arrivals_is(&r, &d, k));
			assert_true(arrivals_take(&r, &a, &d, k, 1));
			assert_int_equal(a.expected, n % 2 ? n + 1 : n);
			d.psn ^= 1 << 23;
			assert_false(arrivals_is(&r, &d, k));
		}
		assert_int_equal(ep.received, 200);
		assert_int_equal(ep.stats.duplicates, 0);
	}
}

static void the_longest_message_takes_most(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (int sender = 0; sender < 2; sender++) {
			struct recovery_bench b;
			struct view *v = prepare(&b, &schemes[i], PACKETS);
			const struct transport_ops *ops = b.config.ops;
			struct flow_spec longest = {.bytes = 1ull << 40},
					 flow = {.bytes = 1ull << 30};

			b.env.mtu = 256;
			assert_int_equal(ops->size(&b.env, &longest, sender),
				ops->size(&b.env, &flow, sender));
			assert_int_equal(ops->size(&b.env, &flow, sender) % 8, 0);
			free(v);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_leave_at_the_rate),
		cmocka_unit_test(windows_are_kept_to),
		cmocka_unit_test(controls_hear_how_much_was_under_way),
		cmocka_unit_test(each_packet_takes_another_path),
		cmocka_unit_test(answers_take_their_packets_path),
		cmocka_unit_test(strange_answers_change_nothing),
		cmocka_unit_test(strange_data_changes_nothing),
		cmocka_unit_test(counts_of_packets_end_at_32_bits),
		cmocka_unit_test(numbers_outgrow_psns),
		cmocka_unit_test(the_longest_message_takes_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
