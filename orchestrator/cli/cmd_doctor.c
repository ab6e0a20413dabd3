/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <jansson.h>
#include <stdio.h>
#include "cli/cli.h"
#include "io/probe.h"
#include "base/json.h"

static const struct cli_option options[] = {
	{"json", 'j', NULL, "print the findings as JSON"},
	{0},
};

static const char *verdict(const struct probe *p)
{
	if (p->ok)
		return "ok";
	return p->required ? "MISSING" : "advice";
}

static void print_text(const struct probe *probes)
{
	const struct probe *missing = probe_missing(probes);

	for (int i = 0; i < PROBES; i++) {
		printf("%-8s %-18s %s\n", verdict(&probes[i]), probes[i].name, probes[i].detail);
		if (!probes[i].ok && *probes[i].remedy)
			printf("%-27s remedy: %s\n", "", probes[i].remedy);
	}
	printf("\nkernel dataplane: %s\ninline dataplane: ready, it needs none of this\n",
		missing ? "not possible here" : "ready");
}

static void print_probes_json(const struct probe *probes)
{
	json_t *list = json_array(), *all;

	for (int i = 0; i < PROBES; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:b, s:b, s:s, s:s}", "name", probes[i].name, "ok",
				(int)probes[i].ok, "required", (int)probes[i].required, "detail",
				probes[i].detail, "remedy", probes[i].ok ? "" : probes[i].remedy));
	all = json_pack("{s:b, s:b, s:o}", "kernel_dataplane", !probe_missing(probes),
		"inline_dataplane", 1, "probes", list);
	print_json(all, stdout);
	json_decref(all);
}

static int run_doctor(const struct command *c, const struct cli_args *args)
{
	struct probe probes[PROBES];

	probe_machine(probes, 0, 0);
	if (cli_value(c, args, "json"))
		print_probes_json(probes);
	else
		print_text(probes);
	return probe_missing(probes) ? EXIT_MACHINE : EXIT_WELL;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.operands = "",
	.summary = "check what this kernel and these privileges allow, and print remedies",
	.details =
		"Tries each thing that the kernel dataplane needs, in a network namespace of its own.\n"
		"Exit status 3 means that something is missing.",
	.options = options,
	.run = run_doctor,
};
