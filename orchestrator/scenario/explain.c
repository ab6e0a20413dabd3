/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/schema_use.h"
#include "scenario/text.h"

#define PATH_SHOWN 256

static size_t put_path(char buf[PATH_SHOWN], const struct tree *n)
{
	char shown[TEXT_SHOWN];
	size_t used;
	int more;

	if (!n->parent) {
		buf[0] = '\0';
		return 0;
	}
	used = put_path(buf, n->parent);
	if (n->key)
		more = snprintf(buf + used, PATH_SHOWN - used, "%s%s", used ? "." : "",
			text_shown(shown, n->key));
	else
		more = snprintf(buf + used, PATH_SHOWN - used, "%s%zu", used ? "." : "", n->index);
	return used + (size_t)more < PATH_SHOWN ? used + (size_t)more : PATH_SHOWN - 1;
}

/* The path is n's, with ".key" behind it where a key is given. */
static void add_message(struct diags *diags, const struct tree *n, const char *key,
	struct diag_pos pos, const char *text)
{
	char path[PATH_SHOWN], shown[TEXT_SHOWN];
	size_t used = put_path(path, n);

	diags_add(diags, pos, "%s%s%s%s%s%s%s%s", path, key && used ? "." : "", key ? key : "",
		key || used ? ": " : "", text, n->origin ? " (--set " : "",
		n->origin ? text_shown(shown, n->origin) : "", n->origin ? ")" : "");
}

static __attribute__((format(printf, 3, 0))) void explain_arguments(
	struct diags *diags, const struct tree *n, const char *format, va_list ap)
{
	char *text;

	if (vasprintf(&text, format, ap) < 0) {
		diags->out_of_memory = true;
		return;
	}
	add_message(diags, n, NULL, n->pos, text);
	free(text);
}

bool explain_value(struct diags *diags, const struct tree *n, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	explain_arguments(diags, n, format, ap);
	va_end(ap);
	return false;
}

/* What lies on the path as far as there is something. */
static const struct tree *walk(const struct tree *n, const char *path)
{
	for (const struct tree *item; *path && (item = tree_item(n, path)); n = item)
		path = tree_next_step(path);
	return n;
}

bool explain_path(struct check *c, const struct tree *n, const char *path, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	explain_arguments(c->diags, walk(n, path), format, ap);
	va_end(ap);
	return false;
}

bool explain_both(struct diags *diags, const struct tree *a, const struct tree *b)
{
	return explain_value(diags, a->index > b->index ? a : b,
		"%s and %s exclude each other; keep one", a->key, b->key);
}

void explain_missing(
	struct diags *diags, const struct tree *map, const char *key, const char *expected)
{
	char text[EXPECTED + 32];

	snprintf(text, sizeof(text), "missing; expected %s", expected);
	add_message(diags, map, key, map->pos, text);
}

const char *explain_unknown_key(
	struct diags *diags, const struct tree *item, const char *const *names, size_t count)
{
	const char *hint = nearest_word(item->key, names, count);
	char text[EXPECTED + 32], list[EXPECTED];

	if (hint)
		snprintf(text, sizeof(text), "no such key; did you mean '%s'?", hint);
	else
		snprintf(text, sizeof(text), "no such key; valid here: %s",
			expected_names(names, count, list));
	add_message(diags, item, NULL, item->key_pos, text);
	return hint;
}

bool explain_unknown_word(
	struct diags *diags, const struct tree *n, const char *const *words, size_t count)
{
	const char *hint = nearest_word(n->text, words, count);
	char shown[TEXT_SHOWN], list[EXPECTED];

	text_shown(shown, n->text);
	expected_names(words, count, list);
	if (hint)
		return explain_value(
			diags, n, "'%s' is not known; did you mean '%s'?", shown, hint);
	return explain_value(diags, n, "'%s' is not known; valid here: %s", shown, list);
}

bool explain_unexpected(struct diags *diags, const struct tree *n, const char *expected)
{
	char shown[TEXT_SHOWN];

	if (tree_is_null(n))
		return explain_value(diags, n, "has no value; expected %s", expected);
	if (n->kind == TREE_SCALAR)
		return explain_value(
			diags, n, "expected %s, not '%s'", expected, text_shown(shown, n->text));
	return explain_value(diags, n, "expected %s, not a %s", expected,
		n->kind == TREE_LIST ? "list" : "mapping");
}
