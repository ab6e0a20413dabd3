/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/missing.h"

#include <stdlib.h>
#include <string.h>
#include "base/strbuf.h"

/* The first link up from each tier, as examples of names. */
static void example_names(const struct fabric *f, char *buf, size_t size)
{
	struct strbuf b = strbuf_init(buf, size);

	for (uint32_t tier = 0; tier < f->tier_count; tier++) {
		for (uint32_t l = 0; l < f->net.link_count; l++) {
			char name[LINK_NAME];

			if (f->nodes[f->net.ports[f->links[l].a].node].tier != tier)
				continue;
			strbuf_add(&b, "%s%s", tier ? ", " : "", fabric_link_name(f, l, name));
			break;
		}
	}
}

/* "; did you mean ...", or "". */
static void hint_link(char buf[DIAG_HINT], const struct fabric *f, const char *word)
{
	uint32_t count = f->net.link_count;
	char(*names)[LINK_NAME] = calloc(count, sizeof(*names));
	const char **words = calloc(count, sizeof(*words));

	for (uint32_t l = 0; names && words && l < count; l++)
		words[l] = fabric_link_name(f, l, names[l]);
	diag_hint(buf, word, words, names && words ? count : 0, "");
	free(names);
	free(words);
}

void report_no_link(const struct fabric *f, const char *key, const char *glob, struct diag_pos pos,
	struct diags *diags)
{
	char examples[4 * LINK_NAME], hint[DIAG_HINT] = "";

	if (!strpbrk(glob, "*?[\\"))
		hint_link(hint, f, glob);
	if (*hint) {
		diags_add(diags, pos, "%s: there is no link '%s'%s", key, glob, hint);
		return;
	}
	example_names(f, examples, sizeof(examples));
	diags_add(diags, pos, "%s: '%s' matches no link; links are called %s", key, glob, examples);
}
