/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TRANSPORT_OPTIONS_H
#define FABRICBED_TRANSPORT_OPTIONS_H

/* Default options of transports: for tests below scenarios. */
#include "transport/roce.h"
#include "transport/strack.h"

#define STRACK_OPTIONS_DEFAULT                                                                     \
	{                                                                                          \
		.paths = 256, .spray = STRACK_ADAPTIVE, .sack_packets = 1,                         \
		.window = {1.4, QUANTITY_BDP}, .bitmap_rtts = 8,                                   \
	}

#define DCQCN_OPTIONS_DEFAULT                                                                      \
	{                                                                                          \
		.clamp = DCQCN_CLAMP_ALWAYS, .rounds = 5, .alpha_start = 1, .gain = 1 / 256.0,     \
		.cnp_ps = 50 * PS_PER_US, .increase_ps = 55 * PS_PER_US,                           \
		.alpha_ps = 55 * PS_PER_US,                                                        \
	}

#define ROCE_OPTIONS_DEFAULT                                                                       \
	{                                                                                          \
		.qps = 1, .dcqcn = true, .reaction = DCQCN_OPTIONS_DEFAULT,                        \
	}

#endif
