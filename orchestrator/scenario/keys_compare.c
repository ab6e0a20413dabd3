/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"

#define SETTINGS_LIMIT 32 /* of a variant; the command line has room for as many of its own */

/* Each key and value as --set would have them. */
static bool read_settings(struct check *c, const struct tree *n, void *target)
{
	struct settings *s = target;
	bool valid = true;

	if (!n)
		return true;
	if (n->kind != TREE_MAP || n->count > SETTINGS_LIMIT)
		return explain_unexpected(
			c->diags, n, "a mapping of up to 32 keys, as in {host.transport: strack}");
	s->items = calloc(n->count + 1, sizeof(*s->items));
	if (!s->items) {
		c->out_of_memory = true;
		return false;
	}
	for (size_t i = 0; i < n->count; i++) {
		const struct tree *item = n->items[i];

		if (item->kind != TREE_SCALAR) {
			explain_unexpected(
				c->diags, item, "a single value; name the key whole, as a.b.c");
			valid = false;
		} else if (asprintf(&s->items[s->count], "%s=%s", item->key, item->text) < 0) {
			c->out_of_memory = true;
			return false;
		} else {
			s->count++;
		}
	}
	return valid;
}

static void release_settings(void *target)
{
	struct settings *s = target;

	for (size_t i = 0; i < s->count; i++)
		free(s->items[i]);
	free(s->items);
	*s = (struct settings){0};
}

const struct form settings_form = {.read = read_settings, .release = release_settings};

static const struct key keys[] = {
	KEY("name", LABEL, struct variant_spec, name, .required = true, NAME,
		.help = "a folder of the results has it"),
	{.name = "set",
		.kind = VALUE_FORM,
		.form = &settings_form,
		.offset = offsetof(struct variant_spec, set),
		.required = true,
		.expected = "a mapping such as {host.transport: strack}",
		.help = "keys that are changed, as --set would"},
};

const struct map variant_map = {KEYS(keys)};

void check_variants(struct check *c, const struct tree *list, const struct scenario *s)
{
	for (size_t i = 0; i < s->variant_count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(s->variants[i].name, s->variants[j].name))
				explain_value(c->diags, tree_get(list->items[i], "name"),
					"two variants are called '%s'", s->variants[i].name);
}
