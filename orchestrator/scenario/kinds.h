/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_KINDS_H
#define FABRICBED_KINDS_H

/* Words of a scenario that others speak of without knowing the rest of it. */

enum fault_kind {
	FAULT_LINK_DOWN,
	FAULT_LINK_RATE,
	FAULT_LINK_DELAY,
	FAULT_LINK_LOSS,
	FAULT_LINK_GILBERT,
	FAULT_LINK_FLAKY,
	FAULT_LINK_ERRORS,
	FAULT_SWITCH_DOWN,
	FAULT_HOST_STORM, /* a host that pauses a class and never lets go */
};

enum fault_target { TARGET_LINK, TARGET_SWITCH, TARGET_HOST };

/* What faults of a kind befall, and so what their target names. */
static inline enum fault_target fault_target(enum fault_kind kind)
{
	if (kind == FAULT_SWITCH_DOWN)
		return TARGET_SWITCH;
	return kind == FAULT_HOST_STORM ? TARGET_HOST : TARGET_LINK;
}

#endif
