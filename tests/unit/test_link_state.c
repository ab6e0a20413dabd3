/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine and switch together: a cable that is down for a while loses what left in that while, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "engine/engine.h"
#include "lib/hand_fabric.h"
#include "lib/transport_options.h"

#define DELAY_PS   10000000u /* 10 us, far longer than a packet takes to leave */
#define RATE_BPS   100000000000u
#define SENDER     1u
#define MESSAGE    1000u /* one packet */
#define CAPACITY   256u
#define LONG_AFTER (3 * (uint64_t)DELAY_PS)

/*
 * Two hosts, one switch; host 1 sends one packet to host 0 at start_ps while its link is down
 * from..to.
 */
static uint64_t losses(uint64_t start_ps, uint64_t from_ps, uint64_t to_ps)
{
	static const uint32_t links[][2] = {{0, 2}, {1, 2}};
	const struct strack_options options = STRACK_OPTIONS_DEFAULT;
	struct fabric *f = hand_fabric(2, 1, links, 2);
	const struct sw_sizes sizes = hand_sizes(f);
	struct operation flow = {
		.src_host = SENDER,
		.dst_host = 0,
		.bytes = MESSAGE,
		.start_ps = start_ps,
	};
	struct engine_params params = {
		.net = &f->net,
		.transports[0].ops = &strack_transport,
		.transports[0].env = {.mtu = 4096,
			.host_rate_bps = RATE_BPS,
			.base_rtt_ps = 4 * DELAY_PS,
			.qps = 1,
			.options = &options},
	};
	uint32_t port = f->net.nodes[SENDER].first_port;
	struct engine_stats stats;
	struct engine *e;

	for (uint32_t id = PORT_FIRST; id < PORT_FIRST + f->net.port_count; id++) {
		f->net.ports[id].rate_bps = RATE_BPS;
		f->net.ports[id].delay_ps = DELAY_PS;
	}
	assert_int_equal(dataplane_inline_open(&params.dataplane, &sizes, CAPACITY), 0);
	hand_tables(f, &params.dataplane->tables);
	assert_int_equal(engine_new(&e, &params), 0);
	assert_int_equal(engine_add_flows(e, &flow, 1, NULL, 0), 0);
	assert_int_equal(engine_run(e, from_ps, NULL), 0);
	engine_set_link_up(e, port, false);
	assert_int_equal(engine_run(e, to_ps, NULL), 0);
	engine_set_link_up(e, port, true);
	assert_int_equal(engine_run(e, LONG_AFTER, NULL), 0);
	engine_stats(e, &stats);
	assert_int_equal(engine_check_balance(e), 0);
	engine_free(e);
	params.dataplane->ops->close(params.dataplane);
	hand_fabric_free(f);
	return stats.dropped[DROP_LINK_DOWN];
}

static void cut_after_it_left(void **state)
{
	(void)state;
	assert_int_equal(losses(1000000, 2000000, 3000000), 1);
}

static void left_while_down_and_arrives_when_up(void **state)
{
	(void)state;
	assert_int_equal(losses(1000000, 500000, 3000000), 1);
	/* what is done to a link at some time comes before what happens then */
	assert_int_equal(losses(1000000, 1000000, 3000000), 1);
	assert_int_equal(losses(1000000, 500000, 1000001), 1);
}

static void left_when_up_again(void **state)
{
	(void)state;
	assert_int_equal(losses(1000000, 500000, 1000000), 0);
	assert_int_equal(losses(1000000, 500000, 999999), 0);
	assert_int_equal(losses(1000000, 20000000, 21000000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_after_it_left),
		cmocka_unit_test(left_while_down_and_arrives_when_up),
		cmocka_unit_test(left_when_up_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
