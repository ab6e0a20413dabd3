/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport/paths/paths.h"

#define PATHS_ROW(symbol, word) &paths_kind_##symbol,

const struct paths_kind *const paths_kinds[PATHS_KINDS] = {PATHS(PATHS_ROW)};
