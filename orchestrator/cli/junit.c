/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/junit.h"

#include <errno.h>
#include <libxml/tree.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/parents.h"
#include "cli/replace.h"

struct totals {
	unsigned int cases, failures, errors;
	double time_s;
};

struct junit {
	struct replacement file;
	char *path;
	xmlDocPtr doc;
	xmlNodePtr suites;
	struct totals totals;
	bool out_of_memory;
};

static void junit_free(struct junit *j)
{
	xmlFreeDoc(j->doc);
	if (j->file.out.file)
		replace_drop(&j->file);
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
	j->doc = xmlNewDoc(BAD_CAST "1.0");
	j->suites = xmlNewDocNode(j->doc, NULL, BAD_CAST "testsuites", NULL);
	if (!j->path || !j->doc || !j->suites)
		goto fail;
	xmlDocSetRootElement(j->doc, j->suites);
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

static xmlNodePtr add_element(struct junit *j, xmlNodePtr parent, const char *name)
{
	xmlNodePtr element = parent ? xmlNewChild(parent, NULL, BAD_CAST name, NULL) : NULL;

	j->out_of_memory |= !element;
	return element;
}

/* XML has no way to write most control characters, nor what is no UTF-8: messages may quote either. */
static void make_clean(char *text)
{
	bool utf8 = xmlCheckUTF8(BAD_CAST text);

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && !utf8))
			*text = '?';
	}
}

__attribute__((format(printf, 4, 5))) static void set(
	struct junit *j, xmlNodePtr element, const char *name, const char *format, ...)
{
	char *value;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&value, format, ap);
	va_end(ap);
	if (r < 0) {
		j->out_of_memory = true;
		return;
	}
	make_clean(value);
	if (!element || !xmlNewProp(element, BAD_CAST name, BAD_CAST value))
		j->out_of_memory = true;
	free(value);
}

/* As summary.json has it, but words without their quotes. */
static void set_value(struct junit *j, xmlNodePtr element, const json_t *value)
{
	char *text;

	if (json_is_string(value)) {
		set(j, element, "value", "%s", json_string_value(value));
		return;
	}
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	if (text)
		set(j, element, "value", "%s", text);
	else
		j->out_of_memory = true;
	free(text);
}

/* What the summary says, by the names that `expect` has for it; lists are left to summary.json. */
static void add_properties(
	struct junit *j, xmlNodePtr parent, const char *prefix, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		char name[128];
		xmlNodePtr property;

		snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);
		if (json_is_object(value)) {
			add_properties(j, parent, name, value);
		} else if (!json_is_array(value)) {
			property = add_element(j, parent, "property");
			set(j, property, "name", "%s", name);
			set_value(j, property, value);
		}
	}
}

static xmlNodePtr add_case(
	struct junit *j, xmlNodePtr suite, const struct junit_run *run, double time_s)
{
	xmlNodePtr element = add_element(j, suite, "testcase");

	set(j, element, "classname", "%s", run->name);
	set(j, element, "time", "%.3f", time_s);
	return element;
}

static void add_expectation(struct junit *j, xmlNodePtr suite, const struct junit_run *run,
	const json_t *found, struct totals *totals)
{
	const char *metric = json_string_value(json_object_get(found, "metric"));
	void *entry = json_object_iter(json_object_get(found, "bound"));
	const char *bound = json_object_iter_key(entry);
	double limit = json_number_value(json_object_iter_value(entry));
	const json_t *value = json_object_get(found, "value");
	xmlNodePtr element = add_case(j, suite, run, 0), failure;

	totals->cases++;
	set(j, element, "name", "%s %s %.15g%s%s", metric, bound, limit,
		json_object_get(found, "of") ? " of finished" : "",
		json_object_get(found, "implied") ? " (implied)" : "");
	if (json_is_true(json_object_get(found, "ok")))
		return;
	totals->failures++;
	failure = add_element(j, element, "failure");
	set(j, failure, "type", "expect");
	if (json_is_number(value))
		set(j, failure, "message", "%s is %.15g, expected %s %.15g", metric,
			json_number_value(value), bound, limit);
	else
		set(j, failure, "message", "there is no %s: %s; expected %s %.15g", metric,
			json_string_value(json_object_get(found, "reason")), bound, limit);
}

/* A case that is always there: a scenario may expect nothing, and an error needs a place. */
static void add_run(
	struct junit *j, xmlNodePtr suite, const struct junit_run *run, struct totals *totals)
{
	xmlNodePtr element = add_case(j, suite, run, run->wall_s), error;

	totals->cases++;
	totals->time_s += run->wall_s;
	set(j, element, "name", "run");
	if (!run->error)
		return;
	totals->errors++;
	error = add_element(j, element, "error");
	set(j, error, "type", "run");
	set(j, error, "message", "%s", run->error);
}

static void set_totals(struct junit *j, xmlNodePtr element, const struct totals *totals)
{
	set(j, element, "tests", "%u", totals->cases);
	set(j, element, "failures", "%u", totals->failures);
	set(j, element, "errors", "%u", totals->errors);
	set(j, element, "skipped", "0");
	set(j, element, "time", "%.3f", totals->time_s);
}

void junit_add(struct junit *j, const struct junit_run *run)
{
	const json_t *expect = json_object_get(run->summary, "expect");
	xmlNodePtr suite = add_element(j, j->suites, "testsuite");
	struct totals totals = {0};

	set(j, suite, "name", "%s", run->name);
	if (run->summary)
		add_properties(j, add_element(j, suite, "properties"), "", run->summary);
	add_run(j, suite, run, &totals);
	for (size_t i = 0; i < json_array_size(expect); i++)
		add_expectation(j, suite, run, json_array_get(expect, i), &totals);
	set_totals(j, suite, &totals);
	j->totals.cases += totals.cases;
	j->totals.failures += totals.failures;
	j->totals.errors += totals.errors;
	j->totals.time_s += totals.time_s;
}

bool junit_empty(const struct junit *j)
{
	return j->totals.cases == 0;
}

/* By way of memory: libxml2 prints its own messages about files that can't be written. */
static int write_doc(const struct junit *j)
{
	xmlChar *text = NULL;
	int n = 0;

	xmlDocDumpFormatMemoryEnc(j->doc, &text, &n, "UTF-8", 1);
	if (!text)
		return -ENOMEM;
	fwrite(text, 1, (size_t)n, j->file.out.file);
	xmlFree(text);
	return 0;
}

int junit_close(struct junit *j)
{
	int r;

	if (!j)
		return 0;
	set(j, j->suites, "name", "fabricbed");
	set_totals(j, j->suites, &j->totals);
	/* a file that lacks a case would pass for a run that had none */
	r = j->out_of_memory ? -ENOMEM : write_doc(j);
	if (r == 0)
		r = replace_end(&j->file);
	if (r < 0)
		cli_error("can't write %s: %s", j->path, strerror(-r));
	junit_free(j);
	return r;
}
