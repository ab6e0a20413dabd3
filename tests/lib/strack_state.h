/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_STRACK_STATE_H
#define FABRICBED_TEST_STRACK_STATE_H

/* What tests ask of a sender that the product asks of itself alone. */
#include "transport/strack_sender.h"

/* Payload bytes on their way: equations 1 and 2. */
static inline uint64_t strack_inflight(const struct endpoint *sender)
{
	return strack_sender_inflight((const struct strack_sender *)sender);
}

/* The window in packets. */
static inline double strack_cwnd(const struct endpoint *sender)
{
	return (double)((const struct strack_sender *)sender)->window.cwnd / WINDOW_ONE;
}

#endif
