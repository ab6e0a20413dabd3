/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/text.h"

#define STEP_LIMIT 16 /* no key lies deeper */

static const struct diag_pos nowhere;

static void mark_origin(struct tree *t, const char *set)
{
	t->origin = set;
	t->pos = t->key_pos = nowhere;
	for (size_t i = 0; i < t->count; i++)
		mark_origin(t->items[i], set);
}

static bool is_index(const char *step)
{
	return *step && strlen(step) <= 6 && strspn(step, "0123456789") == strlen(step);
}

static __attribute__((format(printf, 3, 4))) int explain_set(
	struct diags *diags, const char *set, const char *format, ...)
{
	char shown[TEXT_SHOWN], text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diags_add(diags, nowhere, "--set %s: %s", text_shown(shown, set), text);
	return -EINVAL;
}

static int parse_value(struct tree **ret, const char *set, const char *value, struct diags *diags)
{
	struct diags inner = DIAGS_INIT;
	struct tree *t = NULL;
	int r = 0;

	if (!*value || !strchr("{[\"'", *value))
		t = tree_new(TREE_SCALAR, value, nowhere);
	else
		r = tree_parse(&t, value, strlen(value), &inner);
	if (inner.count)
		r = explain_set(diags, set, "the value is %s", inner.items[0].text);
	else if (!t)
		r = -ENOMEM;
	diags_release(&inner);
	if (r) {
		tree_free(t);
		return r;
	}
	mark_origin(t, set);
	*ret = t;
	return 0;
}

/* Appends an empty value that a later step or the value itself replaces. */
static int append_empty(struct tree *parent, const char *key, const char *set, struct tree **ret)
{
	struct tree *t = tree_new(TREE_SCALAR, "", nowhere);

	if (!t)
		return -ENOMEM;
	t->origin = set;
	*ret = t;
	return tree_append(parent, key, nowhere, t);
}

/* Finds or creates the item of a list or map that the step names. */
static int take_step(
	struct tree *t, const char *step, const char *set, struct diags *diags, struct tree **ret)
{
	char shown[TEXT_SHOWN];
	size_t i;

	if (t->kind == TREE_MAP) {
		*ret = tree_get(t, step);
		return *ret ? 0 : append_empty(t, step, set, ret);
	}
	i = is_index(step) ? strtoul(step, NULL, 10) : t->count + 1;
	if (i > t->count)
		return explain_set(diags, set,
			"'%s' in a list of %zu; expected a number from 0 to %zu (%zu appends)",
			text_shown(shown, step), t->count, t->count, t->count);
	if (i == t->count)
		return append_empty(t, NULL, set, ret);
	*ret = t->items[i];
	return 0;
}

/* A map's word is told of in messages as what stands where the map is. 0 or -ENOMEM. */
static int keep_word(struct tree *t)
{
	struct tree *word = tree_new(TREE_SCALAR, t->text, t->pos);

	if (!word)
		return -ENOMEM;
	t->word = word;
	word->parent = t->parent;
	word->index = t->index;
	word->origin = t->origin;
	word->key = t->key ? strdup(t->key) : NULL;
	return t->key && !word->key ? -ENOMEM : 0;
}

/* What is below a scalar has room: it becomes a list where the step is a number, else a map. */
static int open_container(struct tree *t, const char *step, const char *set)
{
	int r = 0;

	if (t->kind != TREE_SCALAR)
		return 0;
	if (!is_index(step) && !tree_is_null(t))
		r = keep_word(t);
	free(t->text);
	t->text = NULL;
	t->kind = is_index(step) ? TREE_LIST : TREE_MAP;
	t->pos = nowhere;
	t->origin = set;
	return r;
}

static int split_path(char *path, char *steps[STEP_LIMIT], size_t *ret_count)
{
	size_t n = 0;

	for (char *step; (step = strsep(&path, "."));) {
		if (!*step || n == STEP_LIMIT || !text_printable(step, false))
			return -EINVAL;
		steps[n++] = step;
	}
	*ret_count = n;
	return 0;
}

static int set_at(struct tree *t, char *steps[], size_t count, const char *set, struct tree *value,
	struct diags *diags)
{
	for (size_t i = 0; i < count; i++) {
		int r = i ? open_container(t, steps[i], set) : 0;

		if (!r)
			r = take_step(t, steps[i], set, diags, &t);
		if (r)
			return r;
	}
	tree_replace(t->parent, t->index, value);
	return 0;
}

int tree_set(struct tree *root, const char *set, struct diags *diags)
{
	const char *equals = strchr(set, '=');
	char *steps[STEP_LIMIT], *path;
	struct tree *value = NULL;
	size_t count = 0;
	int r;

	path = strndup(set, equals ? (size_t)(equals - set) : 0);
	if (!path)
		return -ENOMEM;
	if (!equals || split_path(path, steps, &count))
		r = explain_set(diags, set,
			"expected key.path=value, such as switch.buffer.per_port=400KB");
	else
		r = parse_value(&value, set, equals + 1, diags);
	if (!r) {
		r = set_at(root, steps, count, set, value, diags);
		if (r)
			tree_free(value);
	}
	free(path);
	return r;
}
