/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sweep_print.h"

#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "cli/term.h"
#include "report/table.h"

static void print_runs(const json_t *report)
{
	printf("\n  runs        %.0f of %.0f done",
		look_number(report, "runs.count") - look_number(report, "runs.failed"),
		look_number(report, "runs.count"));
	if (look_number(report, "runs.done_before"))
		printf(" (%.0f before)", look_number(report, "runs.done_before"));
	if (look_number(report, "runs.failed"))
		printf(", %.0f %sFAILED%s", look_number(report, "runs.failed"), term_red(),
			term_plain());
	if (look_number(report, "runs.missed"))
		printf("; in %.0f an expectation of the run %sFAILED%s",
			look_number(report, "runs.missed"), term_red(), term_plain());
	printf("\n");
}

static void print_value(const json_t *value)
{
	if (json_is_number(value))
		printf("%.4g", json_number_value(value));
	else
		printf("-");
}

/* The claim, then what decides it, then what is known of it. */
static void print_expect(const json_t *e)
{
	const json_t *bound = json_object_get(e, "bound");
	const char *kind = json_object_iter_key(json_object_iter((json_t *)bound));
	const char *says = look_text(e, "says"), *known = look_text(e, "not_reached");
	bool ok = json_is_true(json_object_get(e, "ok"));

	if (ok)
		printf("  expect      ok    ");
	else if (known)
		printf("  expect      not reached  ");
	else
		printf("  expect      %sFAIL%s  ", term_red(), term_plain());
	printf("%s: ", says ? says : look_text(e, "claim"));
	print_value(json_object_get(e, "value"));
	printf(", %s %g", kind, json_number_value(json_object_get(bound, kind)));
	if (look_text(e, "at"))
		printf(" (%s%s)", strcmp(look_text(e, "points"), "any") ? "" : "best at ",
			look_text(e, "at"));
	printf("\n");
	if (!ok && look_text(e, "reason"))
		printf("              %s\n", look_text(e, "reason"));
	if (known)
		printf("              %s%s\n",
			ok ? "it holds, though it is noted as not reached: " : "", known);
}

static void print_points(const char *title, const json_t *rows, const char *metric)
{
	printf("\n%s%s\n", title, metric);
	table_print(rows, stdout, term_width());
}

void sweep_print(const json_t *report, const char *about, const char *folder)
{
	const json_t *best = json_object_get(report, "best"), *e;
	size_t i;

	printf("%s%s%s%s%.*s\n", look_text(report, "scenario"),
		*look_text(report, "scale") ? ", scale " : "", look_text(report, "scale"),
		*about ? ": " : "", (int)strcspn(about, "\n"), about);
	print_runs(report);
	print_points("", json_object_get(report, "points"), look_text(report, "metric"));
	if (best)
		print_points(
			json_is_true(json_object_get(best, "largest")) ? "largest " : "smallest ",
			json_object_get(best, "points"), look_text(best, "metric"));
	printf("\n");
	json_array_foreach(json_object_get(report, "expect"), i, e) print_expect(e);
	printf("  results     %s/\n", folder);
}
