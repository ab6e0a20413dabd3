/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include "base/fnv.h"
#include "scenario/scenario.h"
#include "scenario/schema_use.h"

/* Keys of the top level that change no packet and no figure of a run. */
static bool is_label(const char *key)
{
	static const char *const labels[] = {"name", "about", "expect", "compare", "sweep"};

	for (size_t i = 0; i < COUNT(labels); i++)
		if (!strcmp(key, labels[i]))
			return true;
	return false;
}

static void write_content(FILE *out, const struct file_text *f)
{
	/* a word, which has no content of its own, as it is in the list of words */
	if (!strcasecmp(f->path, f->text))
		fputs(f->text, out);
	else
		fprintf(out, "%zu bytes, %016llx", f->length,
			(unsigned long long)fnv_hash(f->text, f->length));
}

#define KEYS_MAX 64 /* of a mapping */

int scenario_identity(const struct scenario *s, uint64_t *ret, struct error *why)
{
	struct key keys[KEYS_MAX];
	struct map map = {.keys = keys};
	struct writer w = {.file = write_content};
	char *text = NULL;
	size_t length = 0;
	bool whole;

	for (size_t i = 0; i < scenario_map.count; i++)
		if (!is_label(scenario_map.keys[i].name))
			keys[map.count++] = scenario_map.keys[i];
	w.out = open_memstream(&text, &length);
	if (w.out)
		map_write(&w, &map, s, 0);
	whole = w.out && !ferror(w.out);
	if (w.out && fclose(w.out))
		whole = false;
	if (whole)
		*ret = fnv_hash(text, length);
	free(text);
	return whole ? 0 : error_set(why, -ENOMEM, "out of memory for the scenario's hash");
}
