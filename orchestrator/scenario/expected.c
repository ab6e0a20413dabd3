/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/schema_use.h"

#include <stdio.h>
#include <string.h>
#include "base/units.h"

const char *expected_names(const char *const *names, size_t count, char buf[EXPECTED])
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count && used < EXPECTED; i++)
		used += (size_t)snprintf(
			buf + used, EXPECTED - used, "%s%s", i ? ", " : "", names[i]);
	return buf;
}

const char *expected_map(const struct map *map, char buf[EXPECTED])
{
	const char *between = "";
	size_t used;

	if (map->expected) {
		snprintf(buf, EXPECTED, "%s", map->expected);
		return buf;
	}
	used = (size_t)snprintf(buf, EXPECTED,
		"%s%s%sa mapping of these keys: ", map->on.size ? "off, " : "",
		map_takes_on(map) ? "on, " : "", map->on.size ? "or " : "");
	for (size_t i = 0; i < map->count && used < EXPECTED; i++) {
		if (map->keys[i].kind == VALUE_NONE)
			continue;
		used += (size_t)snprintf(
			buf + used, EXPECTED - used, "%s%s", between, map->keys[i].name);
		between = ", ";
	}
	return buf;
}

/* "a size from 1B to 4GB, such as 400KB" */
static void put_range(char buf[EXPECTED], const struct key *k, const struct integer_kind *kind,
	const char *example)
{
	char min[UNITS_TEXT], max[UNITS_TEXT];

	kind->format(min, k->min);
	kind->format(max, k->max);
	if (k->min || !example)
		snprintf(buf, EXPECTED, "%s from %s to %s", kind->what, min, max);
	else
		snprintf(buf, EXPECTED, "%s up to %s", kind->what, max);
	if (example)
		snprintf(buf + strlen(buf), EXPECTED - strlen(buf), ", such as %s", example);
}

static void put_words(const struct key *k, char buf[EXPECTED])
{
	size_t count = 0, used;

	while (k->words[count])
		count++;
	used = (size_t)snprintf(buf, EXPECTED, count > 1 ? "one of: " : "");
	expected_names(k->words, count, buf + used);
}

const char *expected_value(const struct key *k, char buf[EXPECTED])
{
	if (k->expected) {
		snprintf(buf, EXPECTED, "%s", k->expected);
		return buf;
	}
	switch (k->kind) {
	case VALUE_TEXT:
		snprintf(buf, EXPECTED, "text");
		break;
	case VALUE_LABEL:
		snprintf(buf, EXPECTED, "a word without blanks, of at most %llu bytes",
			(unsigned long long)k->max);
		break;
	case VALUE_COUNT:
	case VALUE_SEED:
	case VALUE_RATE:
	case VALUE_TIME:
	case VALUE_BYTES:
		put_range(buf, k, integer_kind(k->kind), integer_kind(k->kind)->example);
		break;
	case VALUE_QUANTITY:
		put_range(buf, k, integer_kind(VALUE_BYTES),
			k->times ? "400KB, a share such as 25% BDP, or a time such as 2us"
				 : "400KB, or a share such as 25% BDP");
		break;
	case VALUE_SHARE:
		snprintf(buf, EXPECTED, "a percentage %s, such as 25%%",
			k->max ? "above 0% and up to 100%" : "between 0% and 100%");
		break;
	case VALUE_CHANCE:
		snprintf(buf, EXPECTED, "a probability %s %s, such as 0.1%% or 1e-3",
			k->min ? "above 0 and up to" : "from 0 to", k->is_share ? "100%" : "1");
		break;
	case VALUE_NUMBER:
		if (k->least == k->most)
			snprintf(buf, EXPECTED, "a number");
		else
			snprintf(buf, EXPECTED, "a number from %g to %g", k->least, k->most);
		break;
	case VALUE_WORD:
	case VALUE_FLAG:
		put_words(k, buf);
		break;
	case VALUE_FILE:
		snprintf(buf, EXPECTED, "the name of a file");
		break;
	default:
		snprintf(buf, EXPECTED, "a mapping");
		break;
	}
	if (k->word)
		snprintf(buf + strlen(buf), EXPECTED - strlen(buf), ", or %s", k->word);
	return buf;
}
