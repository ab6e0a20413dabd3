/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scalars as text that reads as the same value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/units.h"
#include "scenario/schema_use.h"

#define NUMBER_TEXT 64

/* The shortest decimal that reads as the same number: "0.25", "1e-09". */
static const char *number_text(char buf[NUMBER_TEXT], double value)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buf, NUMBER_TEXT, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}

/*
 * The shortest percentage: "25%". The product has more digits than a double, and a percentage has
 * at most 18 decimals.
 */
static const char *percent_text(char buf[NUMBER_TEXT], double share)
{
	double again;

	for (int digits = 0; digits <= 18; digits++) {
		snprintf(buf, NUMBER_TEXT, "%.*Lf%%", digits, (long double)share * 100);
		if (!parse_percent(buf, &again) && again == share)
			break;
	}
	return buf;
}

/* As people write a probability: a percentage, unless that is a long row of zeroes. */
static const char *chance_text(char buf[NUMBER_TEXT], double chance)
{
	return chance >= 1e-4 && strlen(percent_text(buf, chance)) <= 6 ? buf
									: number_text(buf, chance);
}

/* YAML 1.1, 5.7: escapes of double-quoted scalars. Files hold no unprintable characters. */
static void write_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\t')
			fputs("\\t", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

/* Bare as people write it, unless YAML would then take it for nothing or for syntax. */
static void write_name(FILE *out, const char *name)
{
	static const char bare[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

	if (*name && strspn(name, bare) == strlen(name) && strcasecmp(name, "null"))
		fputs(name, out);
	else
		write_quoted(out, name);
}

static void write_integer(FILE *out, const struct key *k, const void *target)
{
	uint64_t value = integer_load(k, target);
	char text[UNITS_TEXT];

	if (k->word && value == k->word_value)
		fputs(k->word, out);
	else
		fputs(integer_kind(k->kind)->format(text, value), out);
}

static void write_double(FILE *out, const struct key *k, double value)
{
	char text[NUMBER_TEXT];

	if (k->word && value == (double)k->word_value)
		fputs(k->word, out);
	else if (k->kind == VALUE_SHARE)
		fputs(percent_text(text, value), out);
	else if (k->kind == VALUE_CHANCE && k->is_share)
		fputs(chance_text(text, value), out);
	else
		fputs(number_text(text, value), out);
}

static void write_quantity(FILE *out, const struct key *k, const struct quantity *q)
{
	char text[NUMBER_TEXT];

	switch (q->unit) {
	case QUANTITY_BYTES:
		fputs(format_bytes(text, (uint64_t)q->value), out);
		break;
	case QUANTITY_BDP:
		fprintf(out, "%s BDP", percent_text(text, q->value));
		break;
	case QUANTITY_TIME:
		fputs(format_time(text, (uint64_t)q->value), out);
		break;
	case QUANTITY_AUTO:
		fputs(k->word, out);
		break;
	}
}

void value_write(FILE *out, const struct key *k, const void *target)
{
	switch (k->kind) {
	case VALUE_TEXT:
		write_quoted(out, *(char *const *)target);
		break;
	case VALUE_FILE:
		write_name(out, ((const struct file_text *)target)->path);
		break;
	case VALUE_LABEL:
		write_name(out, *(char *const *)target);
		break;
	case VALUE_QUANTITY:
		write_quantity(out, k, target);
		break;
	case VALUE_SHARE:
	case VALUE_CHANCE:
	case VALUE_NUMBER:
		write_double(out, k, *(const double *)target);
		break;
	case VALUE_WORD:
		fputs(k->words[*(const unsigned *)target - k->min], out);
		break;
	case VALUE_FLAG:
		fputs(k->words[*(const bool *)target], out);
		break;
	default:
		write_integer(out, k, target);
	}
}
