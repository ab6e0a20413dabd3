/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/explain.h"

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define VARIANTS_LIMIT 32
#define SETS_LIMIT     32 /* of a variant; the command line has room for as many of its own */

/* Each key and value as --set would have them. */
static bool read_set(struct check *c, const struct tree *n, void *variant)
{
	struct variant_spec *v = variant;
	bool good = true;

	if (n->kind != TREE_MAP || n->count > SETS_LIMIT) {
		explain_unexpected(
			c->diags, n, "a mapping of up to 32 keys, as in {host.transport: strack}");
		return false;
	}
	v->sets = calloc(n->count + 1, sizeof(*v->sets));
	if (!v->sets) {
		c->out_of_memory = true;
		return false;
	}
	for (size_t i = 0; i < n->count; i++) {
		const struct tree *item = n->items[i];

		if (item->kind != TREE_SCALAR) {
			explain_unexpected(
				c->diags, item, "a single value; name the key whole, as a.b.c");
			good = false;
		} else if (asprintf(&v->sets[v->set_count], "%s=%s", item->key, item->text) < 0) {
			c->out_of_memory = true;
			return false;
		} else {
			v->set_count++;
		}
	}
	return good;
}

static bool read_variant(struct check *c, const struct tree *n, void *variant)
{
	static const struct key keys[] = {
		{.name = "name",
			.type = VALUE_READ,
			.read = check_name, /* a folder of the results has it */
			.required = true,
			.offset = offsetof(struct variant_spec, name),
			.expected = "1 to 24 of a-z, 0-9 and '-', the first no '-'"},
		{.name = "set",
			.type = VALUE_READ,
			.read = read_set,
			.required = true,
			.expected = "a mapping such as {host.transport: strack}"},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), variant), COUNT(keys));
}

bool check_compare(struct check *c, const struct tree *n, void *scenario)
{
	struct scenario *s = scenario;
	bool good;

	if (n->kind == TREE_LIST && n->count > VARIANTS_LIMIT) {
		explain_value(c->diags, n, "%zu variants; a scenario compares at most %d", n->count,
			VARIANTS_LIMIT);
		return false;
	}
	good = list_read(c, n, "a list of {name, set}", sizeof(*s->variants), read_variant,
		(void **)&s->variants, &s->variant_count);

	for (size_t i = 0; good && i < s->variant_count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(s->variants[i].name, s->variants[j].name)) {
				explain_value(c->diags, tree_get(n->items[i], "name"),
					"two variants are called '%s'", s->variants[i].name);
				good = false;
			}
	return good;
}
