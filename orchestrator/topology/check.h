/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOPOLOGY_CHECK_H
#define FABRICBED_TOPOLOGY_CHECK_H

/* Whether a scenario's workloads and faults name what the fabric has. Internal to topology/. */
#include "topology/fabric.h"

/* Every mismatch is a message. 0 or -ENOMEM. */
int check_scenario(const struct fabric *f, const struct scenario *s, struct diags *diags);

/* The same for the faults alone. */
int check_fault_targets(const struct fabric *f, const struct scenario *s, struct diags *diags);

/* The message for a glob that matches no link: the nearest name, or what names look like. */
void report_no_link(const struct fabric *f, const char *key, const char *glob, struct diag_pos pos,
	struct diags *diags);

#endif
