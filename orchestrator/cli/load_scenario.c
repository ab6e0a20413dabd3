/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/diag.h"
#include "cli/cli.h"
#include "base/json.h"
#include "scenario/scenario.h"
#include "session/traffic.h"
#include "topology/make_fabric.h"

/* For a program: an editor, a CI system. */
static void collect_diags(const char *path, const char *variant, const struct diags *d, json_t *ret)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct diag *item = &d->items[i];

		json_array_append_new(
			ret, json_pack("{s:s, s:i, s:i, s:s, s:s*}", "file", path, "line",
				     (int)item->pos.line, "column", (int)item->pos.column,
				     "message", item->text, "variant", variant));
	}
}

void cli_finish(struct cli_args *args)
{
	json_t *json =
		json_array_size(args->errors) ? json_pack("{s:O}", "errors", args->errors) : NULL;

	if (json)
		print_json(json, stdout);
	json_decref(json);
	json_decref(args->errors);
	args->errors = NULL;
}

static void print_diags(const char *path, const struct diags *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct diag *item = &d->items[i];

		if (item->pos.line)
			fprintf(stderr, "%s:%u:%u: %s\n", path, item->pos.line, item->pos.column,
				item->text);
		else
			fprintf(stderr, "%s: %s\n", path, item->text);
	}
	if (d->count > 1)
		fprintf(stderr, "%zu errors; nothing was created\n", d->count);
}

int cli_take_seed(const struct command *c, struct cli_args *args, char buf[CLI_SEED_SET])
{
	const char *seed = cli_value(c, args, "seed");

	if (!seed)
		return EXIT_WELL;
	if (strlen(seed) > 32) {
		cli_error("%s: --seed %s is not a number from 0 to 2^64 - 1", c->name, seed);
		return EXIT_INPUT;
	}
	if (args->set_count == CLI_SETS_MAX) {
		cli_error("more than %d --set, --seed being one", CLI_SETS_MAX);
		return EXIT_INPUT;
	}
	snprintf(buf, CLI_SEED_SET, "seed=%s", seed);
	args->sets[args->set_count++] = buf;
	return EXIT_WELL;
}

static int load(const char *path, const char *variant, const struct cli_args *args,
	struct scenario **ret_scenario, struct fabric **ret_fabric)
{
	struct diags diags = DIAGS_INIT;
	struct scenario *s = NULL;
	struct fabric *f = NULL;
	int r = scenario_inspect(&s, path, args->sets, args->set_count, &diags);

	if (r == 0)
		r = fabric_new(&f, s, &diags);
	else if (s && fabric_inspect(s, &diags) == -ENOMEM)
		r = -ENOMEM;
	if (r == 0)
		r = traffic_check(s, f, 0, NULL, &diags);
	if (r < 0) {
		diags_sort(&diags);
		if (args->errors)
			collect_diags(path, variant, &diags, args->errors);
		else
			print_diags(path, &diags);
		if (diags.out_of_memory)
			cli_error("out of memory: there may be more errors");
		if (r != -EINVAL)
			cli_error("%s: out of memory", path);
		fabric_free(f);
		scenario_free(s);
	} else {
		*ret_scenario = s;
		*ret_fabric = f;
	}
	diags_release(&diags);
	return r < 0 ? EXIT_INPUT : EXIT_WELL;
}

int cli_load(const char *path, const struct cli_args *args, struct scenario **ret_scenario,
	struct fabric **ret_fabric)
{
	return load(path, NULL, args, ret_scenario, ret_fabric);
}

/* The variant's own values first, so that the command line has the last word. */
int cli_load_variant(const struct cli_args *given, const struct variant_spec *v,
	struct scenario **ret_scenario, struct fabric **ret_fabric)
{
	struct cli_args args = *given;
	int status;

	if (v->set.count + given->set_count > CLI_SETS_MAX) {
		cli_error(
			"more than %d --set, those of variant %s included", CLI_SETS_MAX, v->name);
		return EXIT_INPUT;
	}
	for (size_t i = 0; i < v->set.count; i++)
		args.sets[i] = v->set.items[i];
	for (size_t i = 0; i < given->set_count; i++)
		args.sets[v->set.count + i] = given->sets[i];
	args.set_count = v->set.count + given->set_count;
	status = load(args.positional[0], v->name, &args, ret_scenario, ret_fabric);
	if (status != EXIT_WELL && !args.errors)
		cli_error("that is variant %s", v->name);
	return status;
}
