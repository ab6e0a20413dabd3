/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/kind.h"

#define WORKLOAD_ROW(name) &workload_kind_##name,

const struct workload_kind *const workload_kinds[WORKLOAD_KINDS] = {WORKLOADS(WORKLOAD_ROW)};
