/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/provenance.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include "base/fnv.h"
#include "cli/cli.h"
#include "scenario/identity.h"
#include "scenario/scenario.h"

int provenance_now(struct provenance *ret, const struct cli_args *args, const struct scenario *s,
	struct error *why)
{
	const struct file_text *policy = balance_file(&s->sw.balance);
	time_t now = time(NULL);
	struct utsname machine;
	struct tm date;

	*ret = (struct provenance){.command = args->words, .commit = provenance_commit()};
	strftime(ret->date, sizeof(ret->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &date));
	uname(&machine);
	snprintf(ret->host, sizeof(ret->host), "%s", machine.nodename);
	snprintf(ret->kernel, sizeof(ret->kernel), "%s", machine.release);
	if (policy) {
		ret->policy = file_text_name(policy);
		ret->policy_hash = fnv_hash(policy->text, policy->length);
	}
	return scenario_identity(s, &ret->scenario_hash, why);
}
