/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traffic classes: which DSCP belongs to which, and that each has a queue at every port. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT BENCH_LOCAL(1)

/* The class is that of the DSCP alone; ECN's bits, which share its byte, have no say. */
void switch_every_dscp_to_its_class(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	unsigned seen = 0;
	struct trial t;

	for (unsigned i = 0; i < 512; i++) {
		uint8_t class = b->dp->tables.config.class_of[i % 256 / 4];
		struct verdict v;

		spec.ip6 = i & 256;
		spec.tos = (uint8_t)i;
		spec.flow_label = i * 2053 & 0xfffff;
		spec.dst_host = TO_ONE;
		trial_init(&t, &spec);
		trial_forwards(b, &t, OUT);
		v = trial_run(b, &t, NULL);
		assert_int_equal(v.queue, class);
		assert_int_equal(v.in_queue, class);
		bench_accept(b);
		t.at = BENCH_HOST_PORT;
		trial_delivers(b, &t);
		seen |= 1u << class;
	}
	assert_int_equal(seen, 0xff);
}
