/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport/recovery/recovery.h"

#define RECOVERY_ROW(symbol, word) &recovery_kind_##symbol,

const struct recovery_kind *const recovery_kinds[RECOVERY_KINDS] = {RECOVERIES(RECOVERY_ROW)};
