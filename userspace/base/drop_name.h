/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DROP_NAME_H
#define FABRICBED_DROP_NAME_H

/* The drop reasons in results, for modules that know nothing else of the switch. */
#include <stdbool.h>
#include <stddef.h>
#include "abi/drop.h"

/* The name of reason i, or NULL behind the last one. Reason 0, "none", ends no packet. */
static inline const char *drop_name(unsigned i)
{
	static const char *const names[] = {
#define X(symbol, name, meaning) name,
		DROP_REASONS(X)
#undef X
	};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

/* Whether the packet died on a cable: the port that it would have reached counts it, and the other one is where it is shown. */
static inline bool drop_on_wire(enum drop_reason reason)
{
	switch (reason) {
	case DROP_LINK_DOWN:
	case DROP_LOSS:
	case DROP_BURST:
	case DROP_GILBERT:
	case DROP_FCS:
		return true;
	default:
		return false;
	}
}

#endif
