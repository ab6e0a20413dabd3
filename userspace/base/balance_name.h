/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_NAME_H
#define FABRICBED_BALANCE_NAME_H

/* The load-balancing policies, for modules that know nothing else of the switch. */
#include <stddef.h>
#include "abi/policies.h"

/* The words of all policies by enum balance, as an initialiser with a NULL behind the last one. */
#define X(symbol, name, word, ahead, flows, reorders) word,
static const char *const balance_names[] = {BALANCES(X) NULL};
#undef X

#endif
