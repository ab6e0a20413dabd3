/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/drop_name.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/parents.h"
#include "cli/term.h"
#include "report/fidelity_text.h"
#include "base/json.h"
#include "report/number.h"
#include "report/table.h"
#include "scenario/scenario.h"
#include "telemetry/summary.h"

#define RUNS_MAX 100000

/* The first free runs/NAME-N. */
static int claim_next(struct folder **ret, const char *name, struct error *why)
{
	struct folder_params p = {.fresh = true};
	int r = -EEXIST;

	if (mkdir("runs", 0777) < 0 && errno != EEXIST)
		return error_set(why, -errno,
			"can't make the folder runs: %s; --output names another", strerror(errno));
	for (int n = 1; r == -EEXIST && n < RUNS_MAX; n++) {
		char *path;

		if (asprintf(&path, "runs/%s-%d", name, n) < 0)
			return error_set(why, -ENOMEM, "out of memory");
		p.path = path;
		r = folder_claim(ret, &p, why);
		free(path);
	}
	if (r == -EEXIST)
		error_set(why, r, "runs/ is full of %s; remove some", name);
	return r;
}

int results_claim(struct folder **ret, const struct results_place *place)
{
	const struct folder_params p = {
		.path = place->out,
		.input = place->input,
		.compares = place->compares,
	};
	struct error why = ERROR_INIT;
	int r;

	if (place->out)
		parents_make(place->out);
	r = place->out ? folder_claim(ret, &p, &why) : claim_next(ret, place->name, &why);
	if (r < 0)
		cli_error("%s", why.text);
	return r;
}

void results_close(struct folder *folder, bool is_out)
{
	if (folder_close(folder) && !is_out)
		rmdir("runs");
}

static bool exists(const json_t *summary, const char *metric)
{
	return json_is_number(look(summary, metric));
}

/* A run that was ended with flows on their way. */
static void print_cut_off(const json_t *s)
{
	static const struct {
		const char *by, *words;
	} ends[] = {
		{"until", "ended by the scenario's until"},
		{"auto", "CUT OFF by until: auto, long after they should have finished"},
		{"limit", "CUT OFF: no run lasts longer"},
	};
	const char *by = look_text(s, "ended_by");
	char time[NUMBER_TEXT];

	for (size_t i = 0; by && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(by, ends[i].by))
			printf("              %s, at %s\n", ends[i].words,
				number_time(time, look_number(s, "model_time_us")));
}

/* Of what has not ended nobody knows how long it takes: the others stand for themselves alone. */
static void print_completion(const json_t *s)
{
	const json_t *finished = look(s, "flows.finished");
	char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT], d[NUMBER_TEXT];

	if (!exists(finished, "fct_us.max")) {
		printf("  completion  -\n");
		return;
	}
	printf("  completion  ");
	if (!exists(s, "flows.fct_us.max"))
		printf("of the %.0f finished: ", look_number(finished, "count"));
	printf("mean %s, p50 %s, p99 %s, max %s\n",
		number_time(a, look_number(finished, "fct_us.mean")),
		number_time(b, look_number(finished, "fct_us.p50")),
		number_time(c, look_number(finished, "fct_us.p99")),
		number_time(d, look_number(finished, "fct_us.max")));
}

/* What short messages take is lost among long ones, and the other way round. */
static void print_sizes(const json_t *s)
{
	const json_t *classes = look(s, "flows.finished.by_size"), *class;
	char a[NUMBER_TEXT], b[NUMBER_TEXT];
	const char *size;

	if (json_object_size(classes) < 2)
		return;
	printf("  by size     %-8s %10s  %10s %10s  %9s %9s\n", "up to", "finished", "p50", "p99",
		"slow p50", "slow p99");
	json_object_foreach((json_t *)classes, size, class) printf(
		"              %-8s %10.0f  %10s %10s  %9.2f %9.2f\n", size,
		look_number(class, "count"),
		number_short(a, NUMBER_TIME, look_number(class, "fct_us.p50")),
		number_short(b, NUMBER_TIME, look_number(class, "fct_us.p99")),
		look_number(class, "fct_slowdown.p50"), look_number(class, "fct_slowdown.p99"));
}

static void print_flows(const json_t *s)
{
	double unfinished = look_number(s, "flows.unfinished");
	char a[NUMBER_TEXT];

	printf("\n  flows       %.0f of %.0f finished", look_number(s, "flows.count") - unfinished,
		look_number(s, "flows.count"));
	if (unfinished)
		printf("; %.0f UNFINISHED", unfinished);
	if (look_number(s, "flows.unmeasured") > 0)
		printf("; %.0f began outside the measured interval and do not count below",
			look_number(s, "flows.unmeasured"));
	putchar('\n');
	print_cut_off(s);
	print_completion(s);
	print_sizes(s);
	if (exists(s, "ideal_us")) {
		printf("  ideal       %s by the hosts' links alone",
			number_time(a, look_number(s, "ideal_us")));
		if (exists(s, "slowdown"))
			printf("; the slowest flow took %.2f times that",
				look_number(s, "slowdown"));
		putchar('\n');
		if (look_number(s, "ideal_fabric_us") > look_number(s, "ideal_us"))
			printf("              %s by all links, as lasting faults leave them\n",
				number_time(a, look_number(s, "ideal_fabric_us")));
	}
	if (exists(s, "flows.goodput_gbps"))
		printf("  goodput     %s, all flows together\n",
			number_rate(a, look_number(s, "flows.goodput_gbps")));
	else
		printf("  goodput     -\n");
}

/* In the words of nccl-tests. */
static void print_collectives(const json_t *s)
{
	const json_t *entries = look(s, "collectives.entries");

	if (!entries)
		return;
	printf("\n");
	table_print(entries, stdout, 0);
	printf("algbw and busbw in GB/s of 10^9 bytes, as nccl-tests have them\n\n");
}

static void print_graphs(const json_t *s)
{
	const json_t *entries = look(s, "goal.entries");

	if (!entries)
		return;
	if (!look(s, "collectives.entries"))
		printf("\n");
	table_print(entries, stdout, 0);
	printf("\n");
}

static void print_packets(const json_t *s)
{
	const json_t *dropped = look(s, "packets.dropped");
	const char *reason, *separator = " (";
	json_t *count;

	double made = look_number(s, "packets.made");

	printf("  packets     %.0f sent", look_number(s, "packets.sent"));
	if (made)
		printf(" + %.0f made", made);
	printf(" = %.0f delivered", look_number(s, "packets.delivered"));
	if (made)
		printf(" + %.0f consumed", look_number(s, "packets.consumed"));
	printf(" + %.0f dropped", look_number(s, "packets.dropped"));
	json_object_foreach((json_t *)dropped, reason, count)
	{
		printf("%s%s %lld", separator, reason, (long long)json_integer_value(count));
		separator = ", ";
	}
	printf("%s + %.0f in flight\n", *separator == ',' ? ")" : "",
		look_number(s, "packets.in_flight"));
	printf("              %.0f marked, %.0f retransmitted (%.0f spurious)\n",
		look_number(s, "packets.marked"), look_number(s, "packets.retransmitted"),
		look_number(s, "packets.spurious"));
}

/* What the switches did beside forwarding; nothing is said of what did not happen. */
static void print_switching(const json_t *s)
{
	const json_t *deadlock = look(s, "pfc.deadlock");
	const json_t *circle = json_object_get(deadlock, "circle"), *queue;
	double trimmed = look_number(s, "packets.trimmed"),
	       pauses = look_number(s, "pfc.pauses_sent");
	char time[NUMBER_TEXT], at[NUMBER_TEXT];
	size_t i;

	if (trimmed || look_number(s, "packets.returned"))
		printf("  trimming    %.0f packets cut to their headers, %.0f sent back\n", trimmed,
			look_number(s, "packets.returned"));
	if (pauses)
		printf("  pauses      %.0f sent; queues were paused for %s in all\n", pauses,
			number_time(time, look_number(s, "pfc.paused_us")));
	if (look_number(s, "packets.remapped"))
		printf("  roles       %.0f packets moved to another class between two uplinks\n",
			look_number(s, "packets.remapped"));
	if (look_number(s, "balance.forgotten"))
		printf("  balance     %.0f of %.0f entries of flow tables went to other flows too early; remedy: a larger switch.balance.flows\n",
			look_number(s, "balance.forgotten"), look_number(s, "balance.flows"));
	if (look_number(s, "packets.notified"))
		printf("  CNPs        %.0f sent by switches in place of the receivers\n",
			look_number(s, "packets.notified"));
	if (!deadlock)
		return;
	printf("  DEADLOCK    found at %s; these queues wait for each other and never end:\n",
		number_moment(at, json_object_get(deadlock, "at_us")));
	json_array_foreach((json_t *)circle, i, queue) printf("              %s, class %d\n",
		json_string_value(json_object_get(queue, "port")),
		(int)json_integer_value(json_object_get(queue, "class")));
}

static void print_faults(const json_t *s, const struct scenario *sc)
{
	char at[UNITS_TEXT], until[UNITS_TEXT], pick[PICK_TEXT], key[64];
	double frames = 0;
	uint32_t drops = 0;

	for (size_t i = 0; i < sc->fault_count; i++) {
		const struct fault_spec *f = &sc->faults[i];

		printf("  fault       %s ", f->target);
		if (f->pick.per != PICK_ALL)
			printf("(%s) ", fault_pick_text(&f->pick, pick));
		fault_kinds[f->effect.kind].describe(stdout, &f->effect);
		printf(" from %s %s%s\n", format_time(at, f->at_ps),
			f->until_ps == UINT64_MAX ? "on" : "to ",
			f->until_ps == UINT64_MAX ? "" : format_time(until, f->until_ps));
	}
	for (unsigned i = 0; i < FAULT_KINDS; i++)
		drops |= fault_kinds[i].drops;
	for (unsigned i = 0; i < DROP_REASON_COUNT; i++) {
		snprintf(key, sizeof(key), "packets.dropped.%s", drop_name(i));
		frames += drops >> i & 1 ? look_number(s, key) : 0;
	}
	if (sc->fault_count)
		printf("              %.0f frames were lost by these faults\n", frames);
}

static void print_expect(const json_t *summary)
{
	const json_t *list = json_object_get(summary, "expect"), *e;
	size_t i;

	json_array_foreach((json_t *)list, i, e)
	{
		json_t *bound = json_object_get(e, "bound");
		const char *kind = json_object_iter_key(json_object_iter(bound));
		const json_t *value = json_object_get(e, "value");

		if (json_is_true(json_object_get(e, "ok")))
			printf("  expect      ok    ");
		else
			printf("  expect      %sFAIL%s  ", term_red(), term_plain());
		printf("%s %s %g%s%s: ", look_text(e, "metric"), kind,
			json_number_value(json_object_get(bound, kind)),
			look_text(e, "of") ? " of finished" : "",
			json_object_get(e, "implied") ? " (implied)" : "");
		if (json_is_number(value))
			printf("%g\n", json_number_value(value));
		else
			printf("-, %s\n", look_text(e, "reason"));
	}
}

/* YAML's folded texts end with a line break, which would leave a hole here. */
static void print_title(const struct scenario *s)
{
	const char *about = s->about ? s->about : "";
	size_t length = strlen(about);

	while (length && about[length - 1] == '\n')
		length--;
	printf("%s%s%.*s\n", s->name, length ? ": " : "", (int)length, about);
}

void results_print(const json_t *summary, const struct scenario *s, const char *directory)
{
	char a[NUMBER_TEXT], b[NUMBER_TEXT];

	print_title(s);
	print_flows(summary);
	print_packets(summary);
	printf("  queues      at most %s deep, longest wait %s\n",
		number_bytes(a, look_number(summary, "queues.max_depth_bytes")),
		number_time(b, look_number(summary, "queues.max_delay_us")));
	print_switching(summary);
	print_faults(summary, s);
	print_collectives(summary);
	print_graphs(summary);
	print_expect(summary);
	printf("  run         %s dataplane: up in %.2f s, %.2f s for %s of model time\n",
		look_text(summary, "dataplane"), look_number(summary, "setup_s"),
		look_number(summary, "wall_s"),
		number_time(a, look_number(summary, "model_time_us")));
	printf("              %.0f hops, %.2f million a second, %.0f MB\n",
		look_number(summary, "hops"), look_number(summary, "hops_per_s") / 1e6,
		look_number(summary, "peak_rss_mb"));
	fidelity_print(look(summary, "fidelity"), true, FIDELITY_LATE, stdout);
	printf("  trace       %s (seed %.0f)\n", look_text(summary, "trace_hash"),
		look_number(summary, "seed"));
	if (directory)
		printf("  results     %s/\n", directory);
}
