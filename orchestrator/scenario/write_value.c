/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/write.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/units.h"

/* YAML 1.1, escapes of double-quoted scalars (5.7). What is not printable cannot come from a file.
 */
void write_quoted(FILE *out, const char *text)
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

void write_name(FILE *out, const char *name)
{
	static const char bare[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
	size_t length = strspn(name, bare);

	if (length == strlen(name) && strcasecmp(name, "null"))
		fputs(name, out);
	else
		write_quoted(out, name);
}

void write_rate(FILE *out, const char *key, uint64_t bps, const char *zero)
{
	char text[UNITS_TEXT];

	fprintf(out, "%s: %s", key, zero && !bps ? zero : format_rate(text, bps));
}

void write_time(FILE *out, const char *key, uint64_t ps, uint64_t special, const char *word)
{
	char text[UNITS_TEXT];

	fprintf(out, "%s: %s", key, word && ps == special ? word : format_time(text, ps));
}

const char *number_text(char buf[NUMBER_TEXT], double value)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buf, NUMBER_TEXT, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}

void write_number(FILE *out, double value)
{
	char text[NUMBER_TEXT];

	fputs(number_text(text, value), out);
}

/*
 * The product is taken to more digits than a double has, and a percentage has at most 18 digits behind
 * its point.
 */
const char *percent_text(char buf[NUMBER_TEXT], double share)
{
	double again;

	for (int digits = 0; digits <= 18; digits++) {
		snprintf(buf, NUMBER_TEXT, "%.*Lf%%", digits, (long double)share * 100);
		if (!parse_percent(buf, &again) && again == share)
			break;
	}
	return buf;
}

void write_percent(FILE *out, double share)
{
	char text[NUMBER_TEXT];

	fputs(percent_text(text, share), out);
}

void write_quantity(FILE *out, const char *key, const struct quantity *q)
{
	char text[UNITS_TEXT];

	fprintf(out, "%s: ", key);
	switch (q->unit) {
	case QUANTITY_BYTES:
		fputs(format_bytes(text, (uint64_t)q->value), out);
		break;
	case QUANTITY_BDP:
		write_percent(out, q->value);
		fputs(" BDP", out);
		break;
	case QUANTITY_TIME:
		fputs(format_time(text, (uint64_t)q->value), out);
		break;
	case QUANTITY_AUTO:
		fputs("auto", out);
		break;
	}
}
