/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SERIES_H
#define FABRICBED_SERIES_H

/* What can be sampled during a run: X(symbol, key, file without ".csv"). */
#include <stdint.h>
#include "base/diag.h"
#include "base/quantity.h"

#define SERIES(X)                                                                                  \
	X(SERIES_PORTS, ports, port_series)                                                        \
	X(SERIES_FLOWS, flows, flow_series)                                                        \
	X(SERIES_QUEUES, queues, queues)                                                           \
	X(SERIES_IMBALANCE, imbalance, imbalance)

enum series_kind {
#define X(symbol, key, file) symbol,
	SERIES(X)
#undef X
		SERIES_KINDS
};

/* What is asked of one. */
struct series_spec {
	uint64_t every_ps;     /* 0: off */
	char *match;           /* a glob over names of ports; NULL: all */
	struct quantity above; /* queues no deeper than that have no row; QUANTITY_AUTO: all have */
	struct diag_pos pos;   /* in the scenario */
};

#endif
