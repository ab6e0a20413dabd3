/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/embedded.h"

#include "base/numbers.h"

const struct embedded_header embedded_headers[] = {
#include "policy/headers.inc"
};
const size_t embedded_header_count = COUNT(embedded_headers);
