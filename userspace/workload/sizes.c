/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/sizes.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/numbers.h"
#include "workload/kind.h"

/* Of scenarios/flow-sizes/, by the Makefile. */
static const struct {
	const char *name, *text;
} shipped[] = {
#include "workload/flow_sizes.inc"
};

const char *sizes_shipped(const char *name)
{
	for (size_t i = 0; i < COUNT(shipped); i++)
		if (!strcmp(shipped[i].name, name))
			return shipped[i].text;
	return NULL;
}

void sizes_release(struct sizes *s)
{
	free(s->points);
	*s = (struct sizes){0};
}

/* A line as it is read: the share is not yet known to be in percent. */
struct read_line {
	double bytes, share;
};

struct reader {
	struct read_line *lines;
	size_t count;
	size_t line; /* of the text, from 1 */
	char *why;
};

static __attribute__((format(printf, 2, 3))) int refuse(struct reader *r, const char *format, ...)
{
	size_t used = (size_t)snprintf(r->why, SIZES_REFUSAL, "line %zu: ", r->line);
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->why + used, SIZES_REFUSAL - used, format, ap);
	va_end(ap);
	return -EINVAL;
}

/* Two plain numbers and nothing else. */
static bool split_line(const char *text, struct read_line *ret)
{
	char *end, *rest;

	if (strspn(text, "0123456789.+eE \t\r") != strlen(text))
		return false;
	ret->bytes = strtod(text, &end);
	ret->share = strtod(end, &rest);
	return end != text && rest != end && !rest[strspn(rest, " \t\r")] && isfinite(ret->bytes) &&
	       isfinite(ret->share);
}

static int read_line(struct reader *r, char *text)
{
	const struct read_line *before = r->count ? &r->lines[r->count - 1] : NULL;
	struct read_line l;

	text[strcspn(text, "#")] = '\0';
	if (!text[strspn(text, " \t\r")])
		return 0;
	if (!split_line(text, &l))
		return refuse(
			r, "'%.40s'; expected a size in bytes and a share, such as 10000 15", text);
	if (l.bytes > (double)MESSAGE_BYTES_MAX || l.bytes != floor(l.bytes))
		return refuse(r, "a size of %.15g; expected whole bytes, up to 2^40", l.bytes);
	if (l.bytes < 1 && (before || l.share > 0))
		return refuse(r, "a size of 0; only a first line with the share 0 may have it");
	if (before && l.bytes <= before->bytes)
		return refuse(r, "a size of %.15g after %.15g; expected a larger one", l.bytes,
			before->bytes);
	if (before && l.share < before->share)
		return refuse(r, "a share of %.15g after %.15g; it falls", l.share, before->share);
	return ARRAY_ADD(r->lines, r->count, l);
}

static int read_lines(struct reader *r, const char *text, size_t length)
{
	char copy[256];
	int err = 0;

	for (const char *end = text + length, *next; !err && text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t bytes = (size_t)((newline ? newline : end) - text);

		next = newline ? newline + 1 : end;
		r->line++;
		if (bytes >= sizeof(copy))
			return refuse(r, "it has %zu bytes; expected a size and a share", bytes);
		memcpy(copy, text, bytes);
		copy[bytes] = '\0';
		err = strlen(copy) == bytes ? read_line(r, copy)
					    : refuse(r, "it holds a zero byte");
	}
	if (!err && !r->count)
		err = refuse(r, "there is no size; expected lines such as 10000 15");
	return err;
}

static int scale_lines(struct reader *r, struct sizes *ret)
{
	double whole = r->lines[r->count - 1].share;

	if (whole != 100 && whole != 1)
		return refuse(r, "the last share is %.15g; expected 100 (percent) or 1", whole);
	*ret = (struct sizes){calloc(r->count, sizeof(*ret->points)), r->count};
	if (!ret->points)
		return -ENOMEM;
	for (size_t i = 0; i < r->count; i++)
		ret->points[i] = (struct size_point){(uint64_t)r->lines[i].bytes,
			(uint64_t)llround(r->lines[i].share / whole * (double)SIZES_ONE)};
	return 0;
}

int sizes_parse(struct sizes *ret, const char *text, size_t length, char why[SIZES_REFUSAL])
{
	struct reader r = {.why = why};
	int err = read_lines(&r, text, length);

	if (!err)
		err = scale_lines(&r, ret);
	free(r.lines);
	return err;
}

/* In integers: half a distribution's line is a trapezoid. */
double sizes_mean(const struct sizes *s)
{
	unsigned __int128 twice = 2 * (unsigned __int128)s->points[0].bytes * s->points[0].share;

	for (size_t i = 1; i < s->count; i++) {
		const struct size_point *p = &s->points[i], *before = p - 1;

		twice += (unsigned __int128)(p->share - before->share) * (p->bytes + before->bytes);
	}
	return (double)twice / (2.0 * (double)SIZES_ONE);
}

uint64_t sizes_draw(const struct sizes *s, uint64_t bits)
{
	uint64_t share = bits >> 32, bytes;
	size_t low = 0, high = s->count - 1;

	/* the first point that lies above */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->points[middle].share > share)
			high = middle;
		else
			low = middle + 1;
	}
	bytes = s->points[low].bytes;
	if (low) {
		const struct size_point *p = &s->points[low], *before = p - 1;
		uint64_t span = p->share - before->share;
		/* the middle of the draw's 2^-32, and rounding to the nearest */
		unsigned __int128 twice = (unsigned __int128)(p->bytes - before->bytes) *
						  (2 * (share - before->share) + 1) +
					  span;

		bytes = before->bytes + (uint64_t)(twice / (2 * span));
	}
	return max_u64(bytes, 1);
}
