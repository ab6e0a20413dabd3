/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_EMBEDDED_H
#define FABRICBED_POLICY_EMBEDDED_H

/* The headers that a policy file is compiled with: part of the command, as files of its own would
 * be those of another version. */
#include <stddef.h>

struct embedded_header {
	const char *name; /* as it is included: "fabricbed/policy.h" */
	const char *text;
};

extern const struct embedded_header embedded_headers[];
extern const size_t embedded_header_count;

#endif
