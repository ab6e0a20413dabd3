/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/junit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/parents.h"
#include "cli/replace.h"
#include "base/json.h"
#include "report/table.h"
#include "scenario/text.h"

struct totals {
	size_t cases, failures, errors;
	double time_s;
};

struct junit {
	struct replacement file;
	char *path;
	FILE *suites; /* in memory: the head of the file has their sums */
	char *text;
	size_t length;
	struct totals totals;
	bool out_of_memory;
};

static void junit_free(struct junit *j)
{
	if (j->suites)
		fclose(j->suites);
	if (j->file.out.file)
		replace_drop(&j->file);
	free(j->text);
	free(j->path);
	free(j);
}

int junit_open(struct junit **ret, const char *path)
{
	struct junit *j = calloc(1, sizeof(*j));
	int r = -ENOMEM;

	if (!j)
		goto fail;
	j->path = strdup(path);
	j->suites = open_memstream(&j->text, &j->length);
	if (!j->path || !j->suites)
		goto fail;
	parents_make(path);
	r = replace_open(&j->file, path);
	if (r < 0)
		goto fail;
	*ret = j;
	return 0;
fail:
	cli_error("can't write %s: %s", path, strerror(-r));
	if (j)
		junit_free(j);
	return r;
}

/* XML can't express most control characters, nor what is not UTF-8: messages may quote either. */
static void put_escaped(FILE *f, const char *text)
{
	while (*text) {
		const char *start = text;
		uint32_t code;

		if (!text_next(&text, &code))
			putc('?', f);
		else if (code < 0x80 && strchr("&<>\"\n\t", (int)code))
			fprintf(f, "&#%u;", code);
		else if (!text_code_printable(code))
			putc('?', f);
		else
			fwrite(start, 1, (size_t)(text - start), f);
	}
}

static void put(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	put_escaped(f, value);
	putc('"', f);
}

/* The same of what is put together of short texts. */
__attribute__((format(printf, 3, 4))) static void putf(
	FILE *f, const char *name, const char *format, ...)
{
	char value[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(value, sizeof(value), format, ap);
	va_end(ap);
	put(f, name, value);
}

/* What the summary says, by the names that `expect` has for it; lists are left to summary.json. */
static void put_properties(FILE *f, const json_t *rows)
{
	const json_t *row;
	size_t i;

	fputs("    <properties>\n", f);
	json_array_foreach(rows, i, row)
	{
		const json_t *value = json_object_get(row, "value");
		/* as summary.json has it, but words without their quotes */
		char *text = json_is_string(value)
				     ? NULL
				     : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

		fputs("      <property", f);
		put(f, "name", look_text(row, "metric"));
		put(f, "value", text ? text : json_string_value(value));
		fputs("/>\n", f);
		free(text);
	}
	fputs("    </properties>\n", f);
}

/* The expectation as in the scenario, and why it was missed. */
static void put_expectation(FILE *f, const char *run, const json_t *found)
{
	const char *metric = look_text(found, "metric");
	void *entry = json_object_iter(json_object_get(found, "bound"));
	const char *bound = json_object_iter_key(entry);
	double limit = json_number_value(json_object_iter_value(entry));
	const json_t *value = json_object_get(found, "value");

	fputs("    <testcase", f);
	put(f, "classname", run);
	fputs(" time=\"0.000\"", f);
	putf(f, "name", "%s %s %.15g%s%s", metric, bound, limit,
		json_object_get(found, "of") ? " of finished" : "",
		json_object_get(found, "implied") ? " (implied)" : "");
	if (json_is_true(json_object_get(found, "ok"))) {
		fputs("/>\n", f);
		return;
	}
	fputs(">\n      <failure type=\"expect\"", f);
	if (json_is_number(value))
		putf(f, "message", "%s is %.15g, expected %s %.15g", metric,
			json_number_value(value), bound, limit);
	else
		putf(f, "message", "there is no %s: %s; expected %s %.15g", metric,
			look_text(found, "reason"), bound, limit);
	fputs("/>\n    </testcase>\n", f);
}

/* A case that is always there: a scenario may expect nothing, and an error needs a place. */
static void put_run(FILE *f, const struct junit_run *run)
{
	fputs("    <testcase", f);
	put(f, "classname", run->name);
	putf(f, "time", "%.3f", run->wall_s);
	put(f, "name", "run");
	fputs(">\n", f);
	if (run->error) {
		fputs("      <error type=\"run\"", f);
		put(f, "message", run->error);
		fputs("/>\n", f);
	}
	fputs("    </testcase>\n", f);
}

static void put_totals(FILE *f, const char *element, const char *name, const struct totals *t)
{
	fprintf(f, "<%s", element);
	put(f, "name", name);
	fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"%.3f\">\n",
		t->cases, t->failures, t->errors, t->time_s);
}

void junit_add(struct junit *j, const struct junit_run *run)
{
	const json_t *expect = json_object_get(run->summary, "expect"), *found;
	struct totals t = {.cases = 1, .errors = run->error != NULL, .time_s = run->wall_s};
	FILE *f = j->suites;
	size_t i;

	json_array_foreach((json_t *)expect, i, found)
	{
		t.cases++;
		t.failures += !json_is_true(json_object_get(found, "ok"));
	}
	fputs("  ", f);
	put_totals(f, "testsuite", run->name, &t);
	if (run->summary) {
		json_t *rows = table_flatten(run->summary);

		j->out_of_memory |= !rows;
		put_properties(f, rows);
		json_decref(rows);
	}
	put_run(f, run);
	json_array_foreach((json_t *)expect, i, found) put_expectation(f, run->name, found);
	fputs("  </testsuite>\n", f);
	j->totals.cases += t.cases;
	j->totals.failures += t.failures;
	j->totals.errors += t.errors;
	j->totals.time_s += t.time_s;
}

bool junit_empty(const struct junit *j)
{
	return j->totals.cases == 0;
}

int junit_close(struct junit *j)
{
	FILE *f;
	int r;

	if (!j)
		return 0;
	f = j->file.out.file;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
	put_totals(f, "testsuites", "fabricbed", &j->totals);
	/* a file that lacks a case would pass for a run that had none */
	r = j->out_of_memory || fflush(j->suites) || ferror(j->suites) ? -ENOMEM : 0;
	if (r == 0) {
		fwrite(j->text, 1, j->length, f);
		fputs("</testsuites>\n", f);
		r = replace_end(&j->file);
	}
	if (r < 0)
		cli_error("can't write %s: %s", j->path, strerror(-r));
	junit_free(j);
	return r;
}
