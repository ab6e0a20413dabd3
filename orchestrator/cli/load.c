/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include "cli/cli.h"

static void print_diags(const char *path, struct diags *d)
{
	diags_sort(d);
	for (size_t i = 0; i < d->count; i++) {
		const struct diag *item = &d->items[i];

		if (item->pos.line)
			fprintf(stderr, "%s:%u:%u: %s\n", path, item->pos.line, item->pos.column,
				item->text);
		else
			fprintf(stderr, "%s: %s\n", path, item->text);
	}
	if (d->count > 1)
		fprintf(stderr, "%zu faults; nothing was created\n", d->count);
	if (d->out_of_memory)
		cli_error("out of memory: there may be more faults");
}

int cli_load(const char *path, const struct cli_args *args, struct scenario **ret_scenario,
	struct fabric **ret_fabric)
{
	struct diags diags = DIAGS_INIT;
	struct scenario *s = NULL;
	struct fabric *f = NULL;
	int r = scenario_inspect(&s, path, args->sets, args->set_count, &diags);

	if (r == 0)
		r = fabric_new(&f, s, &diags);
	else if (s && fabric_inspect(s, &diags) == -ENOMEM)
		r = -ENOMEM;
	if (r < 0) {
		print_diags(path, &diags);
		if (r != -EINVAL)
			cli_error("%s: out of memory", path);
		scenario_free(s);
	} else {
		*ret_scenario = s;
		*ret_fabric = f;
	}
	diags_release(&diags);
	return r < 0 ? EXIT_INPUT : EXIT_WELL;
}
