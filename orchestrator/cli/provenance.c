/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/provenance.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include "cli/cli.h"
#include "scenario/identity.h"

int provenance_now(struct provenance *ret, const struct cli_args *args, const struct scenario *s,
	struct error *why)
{
	time_t now = time(NULL);
	struct utsname machine;
	struct tm date;

	*ret = (struct provenance){.command = args->words, .commit = provenance_commit()};
	strftime(ret->date, sizeof(ret->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &date));
	uname(&machine);
	snprintf(ret->host, sizeof(ret->host), "%s", machine.nodename);
	snprintf(ret->kernel, sizeof(ret->kernel), "%s", machine.release);
	return scenario_identity(s, &ret->scenario_hash, why);
}
