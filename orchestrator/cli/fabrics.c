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

int fabrics_trust(struct error *why)
{
	return state_trust(why) < 0 ? EXIT_MACHINE : EXIT_WELL;
}

bool fabrics_is_roots(const char *name)
{
	char path[sizeof(STATE_DIR_ROOT) + STATE_NAME_MAX + 2];

	snprintf(path, sizeof(path), "%s/%s", STATE_DIR_ROOT, name);
	/* where not even that can be seen it may well be */
	return geteuid() != 0 && record_valid_name(name) &&
	       (!access(path, F_OK) || errno == EACCES);
}

static void explain_roots(const char *name, struct error *why)
{
	error_set(why, 0,
		"%s is root's: a live fabric of root's answers root alone; remedy: run this as root, with sudo for one",
		name);
}

int fabrics_list(struct state_info **ret, size_t *ret_count)
{
	int r = state_list(ret, ret_count);

	if (r < 0)
		cli_error("can't read %s: %s", STATE_DIR, strerror(-r));
	return r < 0 ? EXIT_RUN : EXIT_WELL;
}

void fabrics_explain_missing(const char *name, struct error *why)
{
	struct state_info *list = NULL;
	const char **names, *near = NULL, *of_yours = geteuid() ? " of yours" : "";
	size_t count = 0;

	if (fabrics_is_roots(name)) {
		explain_roots(name, why);
		return;
	}
	if (state_list(&list, &count) < 0)
		count = 0;
	names = calloc(count + 1, sizeof(*names));
	for (size_t i = 0; names && i < count; i++)
		names[i] = list[i].name;
	if (names)
		near = nearest_word(name, names, count);
	if (near)
		error_set(why, 0, "there is no fabric '%s'%s; did you mean '%s'?", name, of_yours,
			near);
	else if (count)
		error_set(why, 0, "there is no fabric '%s'%s; 'fabricbed list' tells which are up",
			name, of_yours);
	else
		error_set(why, 0,
			"there is no fabric '%s'%s, and no other: 'fabricbed up FILE' brings one up",
			name, of_yours);
	free(names);
	state_list_free(list, count);
}

int fabrics_find(const char *name, struct state_info *ret)
{
	struct error why = ERROR_INIT;
	int r = fabrics_trust(&why);

	if (r != EXIT_WELL) {
		cli_error("%s", why.text);
		return r;
	}
	r = state_read(ret, name);
	if (r == -ENOENT) {
		fabrics_explain_missing(name, &why);
		cli_error("%s", why.text);
	} else if (r < 0)
		cli_error("can't read %s/%s: %s", STATE_DIR, name, strerror(-r));
	if (!r)
		return EXIT_WELL;
	if (r == -ENOENT && fabrics_is_roots(name))
		return EXIT_MACHINE;
	return r == -ENOENT ? EXIT_INPUT : EXIT_RUN;
}

const char *fabrics_word(const struct state_info *info)
{
	static const char *const words[] = {"starting", "running", "ended", "failed"};

	if (!info->alive && info->phase != STATE_FAILED)
		return "crashed";
	return words[info->phase];
}
