/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/missing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first link up from each tier, as examples of names. */
static void example_names(const struct fabric *f, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = 0;
	for (uint32_t tier = 0; tier < f->tier_count; tier++) {
		for (uint32_t l = 0; l < f->net.link_count && used < size; l++) {
			char name[LINK_NAME];

			if (f->nodes[f->net.ports[f->links[l].a].node].tier != tier)
				continue;
			used += (size_t)snprintf(buf + used, size - used, "%s%s", tier ? ", " : "",
				fabric_link_name(f, l, name));
			break;
		}
	}
}

static const char *nearest_link(const struct fabric *f, const char *word, char buf[LINK_NAME])
{
	uint32_t count = f->net.link_count;
	char(*names)[LINK_NAME] = calloc(count, sizeof(*names));
	const char **words = calloc(count, sizeof(*words));
	const char *near = NULL;

	for (uint32_t l = 0; names && words && l < count; l++)
		words[l] = fabric_link_name(f, l, names[l]);
	if (names && words)
		near = nearest_word(word, words, count);
	if (near)
		near = strcpy(buf, near);
	free(names);
	free(words);
	return near;
}

void report_no_link(const struct fabric *f, const char *key, const char *glob, struct diag_pos pos,
	struct diags *diags)
{
	char examples[4 * LINK_NAME];
	char name[LINK_NAME];

	if (!strpbrk(glob, "*?[\\") && nearest_link(f, glob, name)) {
		diags_add(diags, pos, "%s: there is no link \"%s\"; did you mean \"%s\"?", key,
			glob, name);
		return;
	}
	example_names(f, examples, sizeof(examples));
	diags_add(
		diags, pos, "%s: \"%s\" matches no link; links are called %s", key, glob, examples);
}
