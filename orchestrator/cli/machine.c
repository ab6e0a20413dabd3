/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/machine.h"

#include "cli/cli.h"
#include "io/probe.h"

bool machine_lacks(const struct fabric *f, const char *otherwise)
{
	struct probe probes[PROBES];
	const struct probe *missing;

	probe_machine(probes, f->net.port_count, f->net.node_count);
	missing = probe_missing(probes);
	if (!missing)
		return false;
	cli_error("the kernel dataplane can't run here: %s: %s", missing->name, missing->detail);
	cli_error("remedy: %s", missing->remedy);
	cli_error("'fabricbed doctor' tells more%s%s", otherwise ? "; " : "",
		otherwise ? otherwise : "");
	return true;
}
