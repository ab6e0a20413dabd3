/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/fabrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/diag.h"
#include "cli/cli.h"

int fabrics_need_root(const char *command)
{
	if (geteuid() == 0)
		return EXIT_WELL;
	cli_error("%s: live fabrics are root's; remedy: run this as root, with sudo for one",
		command);
	return EXIT_MACHINE;
}

/* What root has can't even be seen. */
#define OF_YOURS " of yours, and root's answer root alone (remedy: run this as root)"

int fabrics_trust(struct error *why)
{
	return registry_trust(why) < 0 ? EXIT_MACHINE : EXIT_WELL;
}

int fabrics_list(struct registry_info **ret, size_t *ret_count)
{
	int r = registry_list(ret, ret_count);

	if (r < 0)
		cli_error("can't read %s: %s", REGISTRY_DIR, strerror(-r));
	return r < 0 ? EXIT_RUN : EXIT_WELL;
}

void fabrics_explain_missing(const char *name, struct error *why)
{
	struct registry_info *list = NULL;
	const char **names, *of_yours = geteuid() ? OF_YOURS : "";
	char hint[DIAG_HINT];
	size_t count = 0;

	if (registry_list(&list, &count) < 0)
		count = 0;
	names = calloc(count + 1, sizeof(*names));
	for (size_t i = 0; names && i < count; i++)
		names[i] = list[i].name;
	error_set(why, 0, "there is no fabric '%s'%s%s", name, of_yours,
		diag_hint(hint, name, names, names ? count : 0,
			count ? "; 'fabricbed list' tells which are up"
			      : ", and no other: 'fabricbed up FILE' brings one up"));
	free(names);
	registry_list_free(list, count);
}

int fabrics_find(const char *name, struct registry_info *ret)
{
	struct error why = ERROR_INIT;
	int r = fabrics_trust(&why);

	if (r != EXIT_WELL) {
		cli_error("%s", why.text);
		return r;
	}
	r = registry_read(ret, name);
	if (r == -ENOENT) {
		fabrics_explain_missing(name, &why);
		cli_error("%s", why.text);
	} else if (r < 0)
		cli_error("can't read %s/%s: %s", REGISTRY_DIR, name, strerror(-r));
	if (!r)
		return EXIT_WELL;
	return r == -ENOENT ? EXIT_INPUT : EXIT_RUN;
}

const char *fabrics_word(const struct registry_info *info)
{
	static const char *const words[] = {"starting", "running", "ended", "failed"};

	if (!info->alive && info->phase != REGISTRY_FAILED)
		return "crashed";
	return words[info->phase];
}
