/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOPOLOGY_MISSING_H
#define FABRICBED_TOPOLOGY_MISSING_H

/* What is said of links that are not there. Internal to topology/. */
#include "base/diag.h"
#include "topology/fabric.h"

/* The message for a glob that matches no link: the nearest name, or what names look like. */
void report_no_link(const struct fabric *f, const char *key, const char *glob, struct diag_pos pos,
	struct diags *diags);

#endif
