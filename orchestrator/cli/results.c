/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/units.h"
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/human.h"
#include "cli/table.h"
#include "cli/term.h"
#include "telemetry/summary.h"

#define RUNS_MAX 100000

static int make_folder(const char *path, bool *ret_made)
{
	folder_make_parents(path);
	*ret_made = mkdir(path, 0777) == 0;
	if (*ret_made || errno == EEXIST)
		return 0;
	cli_error("can't make the folder %s: %s; --output names another", path, strerror(errno));
	return -errno;
}

static int next_run(char **ret_path, const char *name)
{
	for (int n = 1; n < RUNS_MAX; n++) {
		char *path;

		if (asprintf(&path, "runs/%s-%d", name, n) < 0)
			return -ENOMEM;
		if (mkdir(path, 0777) == 0) {
			*ret_path = path;
			return 0;
		}
		if (errno != EEXIST) {
			int r = -errno;

			cli_error("can't make the folder %s: %s", path, strerror(-r));
			free(path);
			return r;
		}
		free(path);
	}
	cli_error("runs/ is full of %s; remove some", name);
	return -EEXIST;
}

/* What an earlier run left in the folder must not pass for a result of this one. */
static void remove_files(const char *directory)
{
	static const char *const names[] = {"summary.json", "flows.csv", "queues.csv", "pauses.csv",
		"roles.csv", "events.jsonl", "scenario.yaml", "compare.json"};
	char *path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (asprintf(&path, "%s/%s", directory, names[i]) < 0)
			return;
		unlink(path);
		free(path);
	}
}

/* An earlier comparison tells which folders were its variants'. */
static void remove_variants(const char *directory)
{
	json_t *summaries = NULL, *summary;
	const char *name;
	char *path;

	if (asprintf(&path, "%s/compare.json", directory) >= 0) {
		summaries = json_load_file(path, 0, NULL);
		free(path);
	}
	json_object_foreach(summaries, name, summary)
	{
		if (strchr(name, '/') || asprintf(&path, "%s/%s", directory, name) < 0)
			continue;
		remove_files(path);
		rmdir(path);
		free(path);
	}
	json_decref(summaries);
}

static void remove_old(const char *directory)
{
	remove_variants(directory);
	remove_files(directory);
}

int results_directory(char **ret_path, bool *ret_made, const char *out, const char *name)
{
	bool made;
	int r = make_folder(out ? out : "runs", &made);

	if (r < 0)
		return r;
	if (!out) {
		*ret_made = true;
		return next_run(ret_path, name);
	}
	remove_old(out);
	*ret_made = made;
	*ret_path = strdup(out);
	return *ret_path ? 0 : -ENOMEM;
}

void results_discard(const char *directory, bool is_out)
{
	if (rmdir(directory) == 0 && !is_out)
		rmdir("runs");
}

static double number(const json_t *summary, const char *metric)
{
	double value = 0;

	summary_lookup(summary, metric, &value);
	return value;
}

static const char *text(const json_t *summary, const char *key)
{
	return json_string_value(json_object_get(summary, key));
}

static void print_flows(const json_t *s)
{
	double ideal = number(s, "ideal_us"), unfinished = number(s, "flows.unfinished");
	char a[HUMAN_TEXT], b[HUMAN_TEXT], c[HUMAN_TEXT], d[HUMAN_TEXT];

	printf("\n  flows       %.0f of %.0f finished", number(s, "flows.count") - unfinished,
		number(s, "flows.count"));
	if (unfinished)
		printf("; %.0f UNFINISHED", unfinished);
	printf("\n  completion  mean %s, p50 %s, p99 %s, max %s\n",
		human_time(a, number(s, "flows.fct_us.mean")),
		human_time(b, number(s, "flows.fct_us.p50")),
		human_time(c, number(s, "flows.fct_us.p99")),
		human_time(d, number(s, "flows.fct_us.max")));
	if (ideal) {
		printf("  ideal       %s by the hosts' links alone", human_time(a, ideal));
		if (!unfinished) /* what has not ended took no time that could be compared */
			printf("; the slowest flow took %.2f times that", number(s, "slowdown"));
		putchar('\n');
	}
	printf("  goodput     %s, all flows together\n",
		human_rate(a, number(s, "flows.goodput_gbps")));
}

static void print_packets(const json_t *s)
{
	const json_t *dropped = json_object_get(json_object_get(s, "packets"), "dropped");
	const char *reason, *separator = " (";
	json_t *count;

	double made = number(s, "packets.made");

	printf("  packets     %.0f sent", number(s, "packets.sent"));
	if (made)
		printf(" + %.0f made", made);
	printf(" = %.0f delivered", number(s, "packets.delivered"));
	if (made)
		printf(" + %.0f consumed", number(s, "packets.consumed"));
	printf(" + %.0f dropped", number(s, "packets.dropped"));
	json_object_foreach((json_t *)dropped, reason, count)
	{
		printf("%s%s %lld", separator, reason, (long long)json_integer_value(count));
		separator = ", ";
	}
	printf("%s + %.0f in flight\n", *separator == ',' ? ")" : "",
		number(s, "packets.in_flight"));
	printf("              %.0f marked, %.0f retransmitted (%.0f spurious)\n",
		number(s, "packets.marked"), number(s, "packets.retransmitted"),
		number(s, "packets.spurious"));
}

/* What the switches did beside forwarding; nothing is said of what did not happen. */
static void print_switching(const json_t *s)
{
	const json_t *deadlock = json_object_get(json_object_get(s, "pfc"), "deadlock");
	const json_t *circle = json_object_get(deadlock, "circle"), *queue;
	double trimmed = number(s, "packets.trimmed"), pauses = number(s, "pfc.pauses_sent");
	char time[HUMAN_TEXT], at[TABLE_TIME];
	size_t i;

	if (trimmed || number(s, "packets.returned"))
		printf("  trimming    %.0f packets cut to their headers, %.0f sent back\n", trimmed,
			number(s, "packets.returned"));
	if (pauses)
		printf("  pauses      %.0f sent; queues were paused for %s in all\n", pauses,
			human_time(time, number(s, "pfc.paused_us")));
	if (number(s, "packets.remapped"))
		printf("  roles       %.0f packets moved to another class between two uplinks\n",
			number(s, "packets.remapped"));
	if (number(s, "packets.notified"))
		printf("  CNPs        %.0f sent by switches in place of the receivers\n",
			number(s, "packets.notified"));
	if (!deadlock)
		return;
	printf("  DEADLOCK    found at %s; these queues wait for each other and never end:\n",
		table_time(at, json_object_get(deadlock, "at_us")));
	json_array_foreach((json_t *)circle, i, queue) printf("              %s, class %d\n",
		json_string_value(json_object_get(queue, "port")),
		(int)json_integer_value(json_object_get(queue, "class")));
}

static void print_fault(const struct fault_spec *f)
{
	char a[UNITS_TEXT], b[UNITS_TEXT];

	switch (f->kind) {
	case FAULT_LINK_DOWN:
	case FAULT_SWITCH_DOWN:
		printf("down");
		break;
	case FAULT_LINK_RATE:
		printf("at %g%% of its rate", 100 * f->share);
		break;
	case FAULT_LINK_DELAY:
		printf("longer by %s", format_time(a, f->delay_ps));
		break;
	case FAULT_LINK_LOSS:
		printf("loses %g%% of frames", 100 * f->loss);
		break;
	case FAULT_LINK_GILBERT:
		printf("loses frames by Gilbert-Elliott");
		break;
	case FAULT_LINK_FLAKY:
		printf("loses all frames for %s every %s on average",
			format_time(a, f->flaky.last_ps), format_time(b, f->flaky.every_ps));
		break;
	case FAULT_LINK_ERRORS:
		printf("has a bit error rate of %g", f->bit_errors);
		break;
	case FAULT_HOST_STORM:
		printf("pauses class %u all the time", f->class);
		break;
	}
}

static void print_faults(const json_t *s, const struct scenario *sc)
{
	static const char *const lost[] = {
		"link_down", "loss", "burst", "gilbert", "fcs", "switch_down", "watchdog"};
	char at[UNITS_TEXT], until[UNITS_TEXT], key[64];
	double frames = 0;

	for (size_t i = 0; i < sc->fault_count; i++) {
		const struct fault_spec *f = &sc->faults[i];

		printf("  fault       %s ", f->target);
		print_fault(f);
		printf(" from %s %s%s\n", format_time(at, f->at_ps),
			f->until_ps == UINT64_MAX ? "on" : "to ",
			f->until_ps == UINT64_MAX ? "" : format_time(until, f->until_ps));
	}
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		snprintf(key, sizeof(key), "packets.dropped.%s", lost[i]);
		frames += number(s, key);
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
		printf("%s %s %g: ", text(e, "metric"), kind,
			json_number_value(json_object_get(bound, kind)));
		if (json_is_number(value))
			printf("%g\n", json_number_value(value));
		else
			printf("no such figure\n");
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

/* On the wall clock alone: whether the numbers are to be believed. */
static void print_fidelity(const json_t *summary)
{
	const json_t *f = json_object_get(summary, "fidelity");
	const char *reason = json_string_value(json_object_get(f, "reason"));

	if (!f)
		return;
	printf("  fidelity    %s: events late by p50 %.3g us, p99 %.3g us, max %.3g us; shortest link %.3g us\n",
		json_string_value(json_object_get(f, "verdict")),
		number(summary, "fidelity.late_us.p50"), number(summary, "fidelity.late_us.p99"),
		number(summary, "fidelity.late_us.max"),
		number(summary, "fidelity.smallest_delay_us"));
	if (reason)
		printf("              %s;\n              a slowdown of %g would have sufficed\n",
			reason, number(summary, "fidelity.sufficient_slowdown"));
}

void results_print(const json_t *summary, const struct scenario *s, const char *directory)
{
	char a[HUMAN_TEXT], b[HUMAN_TEXT];

	print_title(s);
	print_flows(summary);
	print_packets(summary);
	printf("  queues      at most %s deep, longest wait %s\n",
		human_bytes(a, number(summary, "queues.max_depth_bytes")),
		human_time(b, number(summary, "queues.max_delay_us")));
	print_switching(summary);
	print_faults(summary, s);
	print_expect(summary);
	printf("  run         %s dataplane: up in %.2f s, %.2f s for %s of model time\n",
		text(summary, "dataplane"), number(summary, "setup_s"), number(summary, "wall_s"),
		human_time(a, number(summary, "model_time_us")));
	printf("              %.0f hops, %.2f million a second, %.0f MB\n", number(summary, "hops"),
		number(summary, "hops_per_s") / 1e6, number(summary, "peak_rss_mb"));
	print_fidelity(summary);
	printf("  trace       %s (seed %.0f)\n", text(summary, "trace_hash"),
		number(summary, "seed"));
	if (directory)
		printf("  results     %s/\n", directory);
}
