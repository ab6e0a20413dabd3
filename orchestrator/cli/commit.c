/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In the command and not in a library: it is built again after each commit. */
#include <stddef.h>
#include "cli/provenance.h"

const char *provenance_commit(void)
{
	return
#include "cli/commit.inc"
		;
}
