/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/machine.h"

#include <string.h>
#include <unistd.h>
#include "cli/cli.h"
#include "io/probe.h"
#include "session/cost.h"
#include "topology/fabric.h"

int machine_dataplane(const struct command *c, const struct cli_args *args, bool *ret_kernel)
{
	const char *given = cli_value(c, args, "dataplane");

	if (given && strcmp(given, "kernel") && strcmp(given, "inline")) {
		cli_error("%s: --dataplane is 'kernel' or 'inline', not '%s'", c->name, given);
		return EXIT_INPUT;
	}
	*ret_kernel = given ? !strcmp(given, "kernel") : geteuid() == 0;
	return EXIT_WELL;
}

void machine_note_dataplane(const struct command *c, const struct cli_args *args, bool kernel)
{
	if (!kernel && !cli_value(c, args, "dataplane") && !cli_value(c, args, "quiet"))
		cli_error(
			"note: on the inline dataplane, since you are not root; the results are the same");
}

void machine_note_memory(
	const struct scenario *s, const struct fabric *f, bool kernel, bool lasting)
{
	uint64_t have = probe_memory_available(), need;

	if (cost_memory(&need, s, f, kernel, lasting) < 0 || !have || need <= have)
		return;
	cli_error("note: this will take about %llu MB of memory, and %llu MB are available%s",
		(unsigned long long)need >> 20, (unsigned long long)have >> 20,
		kernel ? "; --dataplane inline takes less, and gives the same results" : "");
}

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
