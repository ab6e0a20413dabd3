/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_DATAGRAM_H
#define FABRICBED_TEST_DATAGRAM_H

/*
 * A transport for tests that sends and never listens: full packets at times of its own, which
 * reach whoever they reach. A flow is done a while after it has sent its last one.
 */
#include <stdbool.h>
#include <stdint.h>
#include "transport/transport.h"

struct datagram {
	uint32_t flow, number; /* of the flow's packets, from 0 */
	uint64_t due_ps;       /* when it was to be sent */
	uint64_t now_ps;       /* of its arrival */
	uint8_t ecn;
};

struct datagram_options {
	uint64_t mean_gap_ps; /* of a Poisson process; 0: all are due at the start */
	uint64_t linger_ps;   /* from the last packet to the flow's end */
	uint32_t wrong_qps;   /* packets before number so many are for a QP that nobody has */
	void (*arrived)(void *arg, const struct datagram *d); /* NULL is fine */
	void *arg;
};

extern const struct transport_ops datagram_transport;

#endif
