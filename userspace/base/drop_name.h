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
#define X(symbol, name, place, meaning) name,
		DROP_REASONS(X)
#undef X
	};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

/* Where a packet that ended for this reason is to be shown. */
static inline enum drop_place drop_place(enum drop_reason reason)
{
	static const unsigned char places[] = {
#define X(symbol, name, place, meaning) place,
		DROP_REASONS(X)
#undef X
	};

	return (enum drop_place)places[reason];
}

#endif
