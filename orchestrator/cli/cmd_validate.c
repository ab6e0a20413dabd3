/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "session/cost.h"
#include "session/ending.h"
#include "session/traffic.h"
#include "report/fabric_report.h"
#include "base/json.h"
#include "base/units.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

static const struct cli_option options[] = {
	{"set", 's', "KEY=VALUE", "override a key of the scenario; may be given several times"},
	{"json", 'j', NULL, "print what there is to know as JSON"},
	{0},
};

static struct report_cost in_units(const struct cost *c)
{
	return (struct report_cost){(double)c->memory_bytes / 1048576, c->wall_s};
}

static void measure_series(struct report_load *ret, const struct scenario *s,
	const struct fabric *f, const struct ending *ending)
{
	static const char *const files[SERIES_KINDS] = {
#define X(symbol, key, file) #file ".csv",
		SERIES(X)
#undef X
	};

	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		struct series_cost cost;

		if (!s->series[i].every_ps)
			continue;
		cost = cost_series(s, f, (enum series_kind)i, ending);
		ret->series[ret->series_count++] =
			(struct report_series){files[i], (double)s->series[i].every_ps / PS_PER_US,
				cost.rows, (double)cost.bytes / 1048576};
	}
}

static int measure_load(struct report_load *ret, const struct scenario *s, const struct fabric *f)
{
	const struct ending_params p = {.scenario = s, .fabric = f};
	struct operations m = OPERATIONS_INIT;
	struct ending ending;
	struct cost in_process, kernel;
	struct fair_shares shares = {0};
	char why[FAIR_SHARE_WHY];
	int r = traffic_list(&m, s, f, 0);

	if (r == 0)
		r = traffic_fair_shares(&shares, why, s, f, 0, &m);
	if (r == 0)
		r = ending_foresee(&ending, &p, &m);
	if (r == 0)
		r = cost_foresee(&in_process, &kernel, s, f, &m, &ending.size);
	if (r == 0)
		*ret = (struct report_load){
			.flows = ending.size.messages,
			.bytes = ending.size.bytes,
			.packets = ending.size.packets,
			.ideal_ps = ending.size.ideal_ps,
			.kernel = in_units(&kernel),
			.in_process = in_units(&in_process),
			.least_share_bps = shares.least_bps,
			.most_share_bps = shares.most_bps,
		};
	for (uint32_t i = 0; r == 0 && i < OPERATION_TRANSPORTS; i++)
		ret->dscps[i] = ending.size.transports[i].dscps;
	if (r == 0)
		strcpy(ret->no_share, why);
	if (r == 0)
		measure_series(ret, s, f, &ending);
	fair_shares_release(&shares);
	operations_release(&m);
	return r;
}

/* Reports on one scenario: in print, or into *ret_json if that is not NULL. */
static int explain(const struct cli_args *args, const struct scenario *s, const struct fabric *f,
	json_t **ret_json)
{
	struct report_load load;
	json_t *report = NULL;
	int status = cli_check_policy(args, s);

	if (status != EXIT_WELL)
		return status;
	if (measure_load(&load, s, f) == 0)
		report = fabric_report(f, s, &load);
	if (!report) {
		cli_error("out of memory");
		return EXIT_RUN;
	}
	if (ret_json) {
		*ret_json = report;
		return EXIT_WELL;
	}
	fabric_report_print(report, stdout);
	json_decref(report);
	return EXIT_WELL;
}

static int explain_variant(
	const struct cli_args *args, const struct variant_spec *v, json_t *ret_variants)
{
	json_t *json = NULL;
	struct scenario *s;
	struct fabric *f;
	int status = cli_load_variant(args, v, &s, &f);

	if (status != EXIT_WELL)
		return status;
	if (!ret_variants)
		printf("%s: variant %s\n", s->name, v->name);
	status = explain(args, s, f, ret_variants ? &json : NULL);
	if (json)
		json_object_set_new(ret_variants, v->name, json);
	fabric_free(f);
	scenario_free(s);
	return status;
}

/* All that a scenario compares, each by itself. */
static int explain_variants(const struct cli_args *args, const struct scenario *s, bool as_json)
{
	json_t *variants = as_json ? json_object() : NULL;
	int status = EXIT_WELL;

	for (size_t i = 0; i < s->variant_count; i++) {
		int r = explain_variant(args, &s->variants[i], variants);

		if (r > status)
			status = r;
	}
	if (variants && status == EXIT_WELL)
		print_json(variants, stdout);
	json_decref(variants);
	return status;
}

static int run_validate(const struct command *c, const struct cli_args *args)
{
	bool as_json = cli_value(c, args, "json");
	json_t *json = NULL;
	struct scenario *s;
	struct fabric *f;
	int status = cli_load(args->positional[0], args, &s, &f);

	if (status != EXIT_WELL)
		return status;
	if (s->variant_count)
		status = explain_variants(args, s, as_json);
	else
		status = explain(args, s, f, as_json ? &json : NULL);
	if (json)
		print_json(json, stdout);
	json_decref(json);
	fabric_free(f);
	scenario_free(s);
	return status;
}

const struct command cmd_validate = {
	.name = "validate",
	.operands = "FILE",
	.summary = "check a scenario, and report what it builds and sends",
	.details =
		"Names every mistake in one go, with line and column. Of a good scenario it tells the nodes,\n"
		"links and paths, the bandwidth-delay product and what follows from it, the workload and\n"
		"its ideal time, and what memory and time a run will need. Nothing is built, but\n"
		"for a load-balancing policy of your own, if a compiler is there.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_validate,
};
