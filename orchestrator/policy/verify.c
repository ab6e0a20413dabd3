/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/policies.h"
#include "dataplane/dataplane.h"
#include "dataplane/kernel.h"
#include "policy/source.h"

#define FRAME 128 /* bytes; the programs do not depend on it */

int policy_verify(
	const struct policy_source *source, const struct policy_code *code, struct error *why)
{
	const struct sw_sizes sizes = {
		.ports = PORT_FIRST + 1,
		.switches = 1,
		.routes = 1,
		.groups = 1,
		.config = {.features = SW_FEATURES,
			.balances = 1u << BALANCE_ECMP | 1u << BALANCE_FILE,
			.flow_sets = 1,
			.watchdog_ps = 1},
	};
	struct dataplane *dp;
	int r = dataplane_kernel_load(&dp, &sizes, FRAME, NULL, code, why);

	if (r < 0)
		return policy_explain(source, r, why);
	dp->ops->close(dp);
	return 0;
}

/* The line that follows KERNEL_AT: "text @ ./my.c:9", or, of older kernels, the text alone. */
static unsigned find_line(const struct policy_source *source, const char *at)
{
	size_t length = strcspn(at, "\n");
	const char *behind = memmem(at, length, " @ ", 3), *name;

	if (!behind)
		return source_find_line(source, at, length);
	name = memmem(behind, length - (size_t)(behind - at), source->name, strlen(source->name));
	return name && name[strlen(source->name)] == ':'
		       ? (unsigned)strtoul(name + strlen(source->name) + 1, NULL, 10)
		       : 0;
}

/* What to do about it, as far as the verifier's words tell. */
static const char *remedy(const char *words)
{
	static const char loop[] =
		"; a loop over the candidates is 'for (__u32 i = 0; i < p->count; i++)', any other needs a constant bound and few rounds";
	static const char index[] = "; an index needs % or a comparison before it is used";
	static const struct {
		const char *part, *remedy;
	} remedies[] = {
		{"too large", loop},
		{"infinite loop", loop},
		{"back-edge", loop},
		{"jumps is too complex", loop},
		{"map_value", index},
		{"map value", index},
	};

	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (strstr(words, remedies[i].part))
			return remedies[i].remedy;
	return "";
}

/* The last line that says why: behind it may stand what it saw. */
static const char *last_words(char *lines)
{
	char *line, *last = "";

	while ((line = strsep(&lines, "\n")))
		if (*line && strncmp(line, "cur state:", 10) && strncmp(line, "old state:", 10) &&
			strspn(line, "0123456789") == 0)
			last = line;
	return last;
}

int policy_explain(const struct policy_source *source, int code, struct error *why)
{
	const char *at = strstr(why->text, KERNEL_AT), *lines = strchr(why->text, '\n'), *words;
	char place[SOURCE_PLACE], copy[sizeof(why->text)];
	unsigned line;

	if (code == -EPERM || !at || !lines)
		return code;
	line = find_line(source, at + strlen(KERNEL_AT));
	snprintf(copy, sizeof(copy), "%s", lines + 1);
	words = last_words(copy);
	return error_set(why, -EINVAL, "%s: the kernel's verifier refuses it: %.200s%s",
		source_place(place, source, line ? line : source_line_of(source, "POLICY")), words,
		remedy(words));
}
