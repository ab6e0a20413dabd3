/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_REQUESTS_H
#define FABRICBED_REQUESTS_H

/* What the control socket of a live fabric answers; its argument is a struct live. */
#include "daemon/server.h"

extern const struct server_ops live_requests;

#endif
