/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scalars: read, and judged by the range of their key. */
#include "scenario/schema_use.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/units.h"
#include "scenario/explain.h"
#include "scenario/scenario.h"
#include "scenario/text.h"
#include "scenario/tree.h"

#define SHARE_OF_BDP_LIMIT  1000.0 /* 100000% BDP */
#define TIME_OF_QUEUE_LIMIT 1e12   /* a second */

static bool means_off(const char *text)
{
	return !strcasecmp(text, "off") || !strcasecmp(text, "no") || !strcasecmp(text, "false");
}

static bool means_on(const char *text)
{
	return !strcasecmp(text, "on") || !strcasecmp(text, "yes") || !strcasecmp(text, "true");
}

bool value_is_word(const struct tree *n, const char *word)
{
	return n->kind == TREE_SCALAR &&
	       (!strcasecmp(n->text, word) || (means_off(word) && means_off(n->text)) ||
		       (means_on(word) && means_on(n->text)));
}

/* 0; -EINVAL: no whole number; -ERANGE: negative or beyond 64 bits. */
static int parse_whole(const char *text, uint64_t *ret)
{
	bool negative = *text == '-', too_large = false;
	uint64_t value = 0;

	text += negative;
	if (!*text || strspn(text, "0123456789") != strlen(text))
		return -EINVAL;
	for (; *text; text++)
		too_large |= __builtin_mul_overflow(value, 10u, &value) ||
			     __builtin_add_overflow(value, (unsigned)(*text - '0'), &value);
	if (negative || too_large)
		return -ERANGE;
	*ret = value;
	return 0;
}

static const char *format_whole(char *buf, uint64_t value)
{
	snprintf(buf, UNITS_TEXT, "%llu", (unsigned long long)value);
	return buf;
}

const struct integer_kind *integer_kind(enum value_kind kind)
{
	static const struct integer_kind kinds[] = {
		[VALUE_COUNT] = {"a whole number", NULL, parse_whole, format_whole},
		[VALUE_SEED] = {"a whole number", NULL, parse_whole, format_whole},
		[VALUE_RATE] = {"a rate", "100Gbps", parse_rate, format_rate},
		[VALUE_TIME] = {"a time", "1us", parse_time, format_time},
		[VALUE_BYTES] = {"a size", "2MB", parse_bytes, format_bytes},
	};

	return &kinds[kind];
}

static int parse_number(const char *text, double *ret)
{
	char *end;
	double value;

	/* strtod() also takes hexadecimal, "inf" and "nan". */
	if (strspn(text, "0123456789.+-eE") != strlen(text))
		return -EINVAL;
	value = strtod(text, &end);
	if (end == text || *end)
		return -EINVAL;
	if (!isfinite(value))
		return -ERANGE;
	*ret = value;
	return 0;
}

/* Bytes, or a time. */
static int parse_plain_quantity(const char *text, bool times, struct quantity *ret)
{
	uint64_t value;
	int r = parse_bytes(text, &value);

	if (!r)
		*ret = (struct quantity){(double)value, QUANTITY_BYTES};
	if (r != -EINVAL || !times)
		return r;
	r = parse_time(text, &value);
	if (!r)
		*ret = (struct quantity){(double)value, QUANTITY_TIME};
	return r;
}

/* "25% BDP", or bytes, or a time. */
static int parse_any_quantity(const char *text, bool times, struct quantity *ret)
{
	const char *sign = strchr(text, '%'), *base;
	char percent[64];
	double share;
	int r;

	if (!sign)
		return parse_plain_quantity(text, times, ret);
	base = sign + 1 + strspn(sign + 1, " ");
	if (strcasecmp(base, "BDP") || (size_t)(sign - text) + 2 > sizeof(percent))
		return -EINVAL;
	memcpy(percent, text, (size_t)(sign - text) + 1);
	percent[sign - text + 1] = '\0';
	r = parse_percent(percent, &share);
	if (!r)
		*ret = (struct quantity){share, QUANTITY_BDP};
	return r;
}

static bool explain_kind(struct check *c, const struct key *k, const struct tree *n)
{
	char expected[EXPECTED];

	return explain_unexpected(c->diags, n, expected_value(k, expected));
}

static bool explain_range(
	struct check *c, const struct key *k, const struct tree *n, const char *problem)
{
	char expected[EXPECTED], shown[TEXT_SHOWN];

	return explain_value(c->diags, n, "%s is %s; expected %s", text_shown(shown, n->text),
		problem, expected_value(k, expected));
}

/* What a parser of quantities returned, and whether the value lies in the key's range. */
static bool judge(struct check *c, const struct key *k, const struct tree *n, int r, bool too_small,
	bool too_large)
{
	if (r == -EINVAL)
		return explain_kind(c, k, n);
	if (r && n->text[0] == '-')
		return explain_range(c, k, n, "negative");
	if (!r && too_small)
		return explain_range(c, k, n, "too small");
	if (r || too_large)
		return explain_range(c, k, n, "too large");
	return true;
}

/* The value that the key's word stands for. */
static void store_word(const struct key *k, void *target)
{
	switch (k->kind) {
	case VALUE_QUANTITY:
		*(struct quantity *)target = (struct quantity){.unit = QUANTITY_AUTO};
		break;
	case VALUE_SHARE:
	case VALUE_CHANCE:
	case VALUE_NUMBER:
		*(double *)target = (double)k->word_value;
		break;
	default:
		integer_store(k, target, k->word_value);
	}
}

static bool read_integer(struct check *c, const struct key *k, const struct tree *n, void *target)
{
	uint64_t value = 0;
	int r = integer_kind(k->kind)->parse(n->text, &value);
	bool too_small = value<k->min, too_large = value> k->max;

	if (!judge(c, k, n, r, too_small, too_large))
		return false;
	integer_store(k, target, value);
	return true;
}

static bool read_quantity(struct check *c, const struct key *k, const struct tree *n, void *target)
{
	struct quantity q = {0};
	double max[] = {
		[QUANTITY_BYTES] = (double)k->max,
		[QUANTITY_BDP] = SHARE_OF_BDP_LIMIT,
		[QUANTITY_TIME] = TIME_OF_QUEUE_LIMIT,
	};
	bool too_small;
	int r;

	r = parse_any_quantity(n->text, k->times, &q);
	too_small = q.unit == QUANTITY_BYTES ? q.value < (double)k->min : k->min && q.value <= 0;
	if (!judge(c, k, n, r, too_small, q.value > max[q.unit]))
		return false;
	*(struct quantity *)target = q;
	return true;
}

static bool read_double(struct check *c, const struct key *k, const struct tree *n, void *target)
{
	bool too_small = false, too_large = false;
	double value = 0;
	int r = 0;

	if (k->kind == VALUE_SHARE) {
		r = parse_percent(n->text, &value);
		too_small = value <= 0;
		too_large = k->max ? value > 1 : value >= 1;
	} else if (k->kind == VALUE_CHANCE) {
		bool percent = strchr(n->text, '%');

		r = percent ? parse_percent(n->text, &value) : parse_number(n->text, &value);
		if (!r && !percent && value == 1 && k->is_share) {
			/* whoever writes it may well mean 1% */
			return explain_value(c->diags, n,
				"%s would be all of them; write 1%% or 100%%", n->text);
		}
		too_small = k->min ? value <= 0 : value < 0;
		too_large = k->most > 0 ? value >= k->most : value > 1;
	} else {
		r = parse_number(n->text, &value);
		if (k->least < k->most) {
			too_small = value < k->least;
			too_large = value > k->most;
		}
	}
	if (!judge(c, k, n, r, too_small, too_large))
		return false;
	*(double *)target = value;
	return true;
}

static bool read_word(struct check *c, const struct key *k, const struct tree *n, void *target)
{
	unsigned i = 0;

	while (k->words[i] && !value_is_word(n, k->words[i]))
		i++;
	if (!k->words[i])
		return explain_unknown_word(c->diags, n, k->words, i);
	if (k->kind == VALUE_FLAG)
		*(bool *)target = i;
	else
		*(unsigned *)target = i + (unsigned)k->min;
	return true;
}

static bool is_label(const char *text, uint64_t max)
{
	return *text && strlen(text) <= max && !strchr(text, ' ') && text_printable(text, false);
}

static bool read_text(struct check *c, const struct key *k, const struct tree *n, void *target)
{
	char *copy;

	if (k->kind == VALUE_LABEL &&
		(!is_label(n->text, k->max) || (k->is_valid && !k->is_valid(n->text))))
		return explain_kind(c, k, n);
	if (k->kind == VALUE_TEXT && !text_printable(n->text, true))
		return explain_value(c->diags, n,
			"holds control characters or bytes that are no UTF-8; expected text");
	copy = strdup(tree_is_null(n) ? "" : n->text);
	if (!copy) {
		c->out_of_memory = true;
		return false;
	}
	free(*(char **)target); /* a default */
	*(char **)target = copy;
	return true;
}

bool value_read(struct check *c, const struct key *k, const struct tree *n, void *target)
{
	if (n->kind != TREE_SCALAR || (tree_is_null(n) && k->kind != VALUE_TEXT))
		return explain_kind(c, k, n);
	if (k->word && value_is_word(n, k->word)) {
		store_word(k, target);
		return true;
	}
	switch (k->kind) {
	case VALUE_TEXT:
	case VALUE_LABEL:
		return read_text(c, k, n, target);
	case VALUE_QUANTITY:
		return read_quantity(c, k, n, target);
	case VALUE_SHARE:
	case VALUE_CHANCE:
	case VALUE_NUMBER:
		return read_double(c, k, n, target);
	case VALUE_WORD:
	case VALUE_FLAG:
		return read_word(c, k, n, target);
	case VALUE_FILE:
		return file_read(c, k, n, target);
	default:
		return read_integer(c, k, n, target);
	}
}
