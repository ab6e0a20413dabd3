/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ASSEMBLED_H
#define FABRICBED_ASSEMBLED_H

/*
 * A transport that is assembled of three parts: which path a packet takes (paths/), how fast
 * packets leave (control/), and what is sent and sent again (recovery/).
 */
#include "transport/control/control.h"
#include "transport/paths/paths.h"
#include "transport/recovery/recovery.h"

/* Each part is an index in the table of its kind, with the options that go with it. */
struct assembled_options {
	unsigned paths, control, recovery;
	void *paths_options, *control_options, *recovery_options;
	struct diag_pos paths_pos, control_pos, recovery_pos;
};

static inline const struct paths_kind *assembled_paths(const struct assembled_options *o)
{
	return paths_kinds[o->paths];
}

static inline const struct control_kind *assembled_control(const struct assembled_options *o)
{
	return control_kinds[o->control];
}

static inline const struct recovery_kind *assembled_recovery(const struct assembled_options *o)
{
	return recovery_kinds[o->recovery];
}

extern const struct transport_ops assembled_transport;

#endif
