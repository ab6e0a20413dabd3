/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* GOAL as text: a statement a line, and comments as in C. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/fnv.h"
#include "workload/goal.h"

struct reader {
	struct goal *g;
	const char *at, *end;
	uint32_t line;
	uint32_t comment;     /* the line of one that does not end; 0: there is none */
	uint32_t *rank_lines; /* where each rank begins; 0: it has not yet */

	/* the present rank */
	uint32_t rank, first_op;
	/*
	 * Numbers of operations, plus 1, by the hash of their labels. What is not above first_op is
	 * of an earlier rank, and counts as free.
	 */
	uint32_t *labels;
	uint32_t label_count, slot_count;
};

/* ---- words ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

struct cell goal_word(const char *at)
{
	struct cell word = {at, 0};

	if (is_letter(*at))
		while (is_letter(at[word.length]) || is_digit(at[word.length]))
			word.length++;
	return word;
}

/* A comment of several lines is a blank. */
static void skip_comment(struct reader *r)
{
	uint32_t line = r->line;
	const char *close = memmem(r->at + 2, (size_t)(r->end - r->at - 2), "*/", 2);

	if (!close)
		r->comment = line;
	for (const char *stop = close ? close : r->end; r->at < stop; r->at++)
		r->line += *r->at == '\n';
	r->at = close ? close + 2 : r->end;
}

/* Up to the next word, number or sign, or to the end of the line. */
static void skip_blanks(struct reader *r)
{
	for (;;) {
		while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
			r->at++;
		if (r->at[0] != '/')
			return;
		if (r->at[1] == '*') {
			skip_comment(r);
		} else if (r->at[1] == '/') {
			const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));

			r->at = newline ? newline : r->end;
		} else {
			return;
		}
	}
}

static void skip_lines(struct reader *r)
{
	for (skip_blanks(r); *r->at == '\n'; skip_blanks(r)) {
		r->at++;
		r->line++;
	}
}

static struct cell take_word(struct reader *r)
{
	struct cell word;

	skip_blanks(r);
	word = goal_word(r->at);
	r->at += word.length;
	return word;
}

static bool take_sign(struct reader *r, char sign)
{
	skip_blanks(r);
	if (*r->at != sign)
		return false;
	r->at++;
	return true;
}

static int refuse_here(struct reader *r, const char *expected)
{
	struct cell found;
	char shown[CELL_SHOWN];

	if (r->comment)
		return goal_refuse(r->g, r->comment, "a comment that does not end");
	skip_blanks(r);
	found = (struct cell){r->at, 0};
	while (is_letter(r->at[found.length]) || is_digit(r->at[found.length]))
		found.length++;
	found.length += !found.length;
	if (r->at == r->end)
		return goal_refuse(r->g, r->line, "expected %s; the file ends", expected);
	if (*r->at == '\n')
		return goal_refuse(r->g, r->line, "expected %s; the line ends", expected);
	return goal_refuse(
		r->g, r->line, "expected %s; it says '%s'", expected, cell_show(&found, shown));
}

static int take_number(struct reader *r, const char *what, uint64_t max, uint64_t *ret)
{
	const char *from;
	uint64_t value = 0;

	skip_blanks(r);
	from = r->at;
	while (is_digit(*r->at)) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*r->at - '0'), &value) ||
			value > max)
			return goal_refuse(
				r->g, r->line, "%s is above %llu", what, (unsigned long long)max);
		r->at++;
	}
	*ret = value;
	return r->at > from ? 0 : refuse_here(r, what);
}

/* A number, or -1 if `any` is fine. */
static int take_choice(struct reader *r, const char *what, uint64_t max, bool any, uint32_t *ret)
{
	uint64_t value = GOAL_ANY;
	int err = 0;

	skip_blanks(r);
	if (any && r->at[0] == '-' && r->at[1] == '1' && !is_digit(r->at[2]))
		r->at += 2;
	else
		err = take_number(r, what, max, &value);
	*ret = (uint32_t)value;
	return err;
}

/* ---- labels of a rank ---- */

/* The place of a label: with the operation that has it, or free. */
static uint32_t *label_slot(const struct reader *r, const struct cell *label)
{
	uint64_t hash = fnv_hash(label->text, label->length);

	for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
		uint32_t *slot = &r->labels[i & (r->slot_count - 1)];
		const char *other;

		if (*slot <= r->first_op)
			return slot;
		other = r->g->file->text + r->g->ops[*slot - 1].label;
		if (!memcmp(other, label->text, label->length) &&
			!is_letter(other[label->length]) && !is_digit(other[label->length]))
			return slot;
	}
}

static struct cell label_of(const struct reader *r, uint32_t op)
{
	return goal_word(r->g->file->text + r->g->ops[op].label);
}

/* At most half of the slots are used. */
static int grow_labels(struct reader *r)
{
	uint32_t *slots;

	if (2 * r->label_count < r->slot_count)
		return 0;
	slots = calloc(r->slot_count ? 2 * r->slot_count : 64, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(r->labels);
	r->labels = slots;
	r->slot_count = r->slot_count ? 2 * r->slot_count : 64;
	for (uint32_t i = r->first_op; i < r->g->op_count; i++)
		if (r->g->ops[i].label) {
			struct cell label = label_of(r, i);

			*label_slot(r, &label) = i + 1;
		}
	return 0;
}

/* The latest operation has that label. */
static int add_label(struct reader *r, const struct cell *label)
{
	uint32_t *slot;
	char shown[CELL_SHOWN];
	int err = grow_labels(r);

	if (err < 0)
		return err;
	slot = label_slot(r, label);
	if (*slot > r->first_op)
		return goal_refuse(r->g, r->line, "rank %u: the label '%s' again; line %u has it",
			r->rank, cell_show(label, shown), r->g->ops[*slot - 1].line);
	*slot = r->g->op_count;
	r->g->ops[r->g->op_count - 1].label = (uint32_t)(label->text - r->g->file->text);
	r->label_count++;
	return 0;
}

static int find_label(struct reader *r, const struct cell *label, uint32_t *ret)
{
	uint32_t *slot = r->slot_count ? label_slot(r, label) : NULL;
	char shown[CELL_SHOWN];

	if (!slot || *slot <= r->first_op)
		return goal_refuse(r->g, r->line,
			"rank %u: there is no label '%s' in the lines above", r->rank,
			cell_show(label, shown));
	*ret = *slot - 1;
	return 0;
}

/* ---- statements ---- */

/* tag, cpu and nic, in any order. */
static int read_options(struct reader *r, struct goal_op *o)
{
	struct cell option;
	int err = 0;

	for (option = take_word(r); err == 0 && option.length; option = take_word(r)) {
		uint32_t value;

		if (cell_is(&option, "tag") && o->kind != GOAL_CALC) {
			err = take_choice(r, "a tag", GOAL_ANY - 1, o->kind == GOAL_RECV, &o->tag);
		} else if (cell_is(&option, "cpu")) {
			err = take_choice(r, "the number of a cpu", UINT8_MAX, false, &value);
			o->cpu = err == 0 ? (uint8_t)value : 0;
		} else if (cell_is(&option, "nic")) {
			err = take_choice(r, "the number of a nic", UINT8_MAX, false, &value);
		} else {
			r->at = option.text;
			err = refuse_here(r, o->kind == GOAL_CALC
						     ? "cpu, nic or the line's end"
						     : "tag, cpu, nic or the line's end");
		}
	}
	return err;
}

/* "<N>b to <R>" */
static int read_message(struct reader *r, struct goal_op *o)
{
	bool sends = o->kind == GOAL_SEND;
	struct cell word;
	int err = take_number(r, "a number of bytes", MESSAGE_BYTES_MAX, &o->amount);

	if (err < 0)
		return err;
	word = take_word(r);
	if (!cell_is(&word, "b")) {
		r->at = word.text;
		return refuse_here(r, "b, for bytes");
	}
	word = take_word(r);
	if (!cell_is(&word, sends ? "to" : "from")) {
		r->at = word.text;
		return refuse_here(r, sends ? "to, and a rank" : "from, and a rank");
	}
	err = take_choice(r, "a rank", GOAL_ANY - 1, !sends, &o->peer);
	if (err == 0 && o->peer >= r->g->ranks && o->peer != GOAL_ANY)
		return goal_refuse(r->g, r->line, "rank %u: there is no rank %u; num_ranks is %u",
			r->rank, o->peer, r->g->ranks);
	return err;
}

static int kind_of(const struct cell *word)
{
	static const char *const kinds[] = {
		[GOAL_SEND] = "send", [GOAL_RECV] = "recv", [GOAL_CALC] = "calc"};

	for (int i = 0; i < (int)COUNT(kinds); i++)
		if (cell_is(word, kinds[i]))
			return i;
	return -1;
}

static int read_op(struct reader *r, int kind, const struct cell *label)
{
	struct goal_op o = {.rank = r->rank,
		.line = r->line,
		.first_after = GOAL_NONE,
		.first_before = GOAL_NONE,
		.kind = (uint8_t)kind};
	int err = kind == GOAL_CALC ? take_number(r, "a time", UINT64_MAX, &o.amount)
				    : read_message(r, &o);

	if (err == 0)
		err = read_options(r, &o);
	if (err == 0 && r->g->op_count == OPERATIONS_MAX)
		err = -E2BIG;
	if (err == 0)
		err = ARRAY_ADD(r->g->ops, r->g->op_count, o);
	return err == 0 && label->length ? add_label(r, label) : err;
}

/* "l2 requires l1", of which the first word is read. */
static int read_dependence(struct reader *r, const struct cell *waits)
{
	struct cell word = take_word(r), other;
	bool begun = cell_is(&word, "irequires");
	uint32_t from = 0, to = 0;
	int err;

	if (!begun && !cell_is(&word, "requires")) {
		r->at = word.text;
		return refuse_here(r, "':', requires or irequires behind a label");
	}
	other = take_word(r);
	if (!other.length)
		return refuse_here(r, "a label");
	err = find_label(r, waits, &to);
	if (err == 0)
		err = find_label(r, &other, &from);
	return err == 0 ? goal_add_dependence(r->g, from, to, begun) : err;
}

static int read_statement(struct reader *r)
{
	static const char expected[] = "send, recv, calc, a label or '}'";
	struct cell none = {"", 0}, label = take_word(r), word;
	int kind = kind_of(&label), err;

	if (!label.length)
		return refuse_here(r, expected);
	if (kind >= 0) {
		err = read_op(r, kind, &none);
	} else if (take_sign(r, ':')) {
		word = take_word(r);
		kind = kind_of(&word);
		if (kind < 0) {
			r->at = word.text;
			return refuse_here(r, "send, recv or calc");
		}
		err = read_op(r, kind, &label);
	} else {
		err = read_dependence(r, &label);
	}
	skip_blanks(r);
	if (err == 0 && *r->at != '\n' && *r->at != '}' && r->at != r->end)
		err = refuse_here(r, "the end of the line");
	return err;
}

/* "rank <R> {" ... "}", of which the first word is read. */
static int read_rank(struct reader *r)
{
	int err = take_choice(r, "the number of a rank", GOAL_ANY - 1, false, &r->rank);

	if (err == 0 && r->rank >= r->g->ranks)
		err = goal_refuse(r->g, r->line, "there is no rank %u; num_ranks is %u", r->rank,
			r->g->ranks);
	if (err == 0 && r->rank_lines[r->rank])
		err = goal_refuse(r->g, r->line, "rank %u again; it begins in line %u", r->rank,
			r->rank_lines[r->rank]);
	if (err == 0 && !take_sign(r, '{'))
		err = refuse_here(r, "'{'");
	if (err < 0)
		return err;
	r->rank_lines[r->rank] = r->line;
	r->first_op = r->g->op_count;
	r->label_count = 0;
	for (skip_lines(r); err == 0 && !take_sign(r, '}'); skip_lines(r)) {
		if (r->at == r->end && !r->comment)
			return goal_refuse(r->g, r->rank_lines[r->rank],
				"rank %u: there is no '}' that ends it", r->rank);
		err = read_statement(r);
	}
	return err;
}

/* "num_ranks <N>" */
static int read_ranks(struct reader *r)
{
	struct cell word;
	uint64_t ranks;
	int err;

	skip_lines(r);
	word = take_word(r);
	if (!cell_is(&word, "num_ranks")) {
		r->at = word.text;
		return refuse_here(r, "num_ranks and how many there are");
	}
	err = take_number(r, "the number of ranks", TIMES_MAX, &ranks);
	if (err < 0)
		return err;
	if (!ranks)
		return goal_refuse(r->g, r->line, "num_ranks 0; expected at least 1");
	r->g->ranks = (uint32_t)ranks;
	r->rank_lines = calloc(ranks, sizeof(*r->rank_lines));
	return r->rank_lines ? 0 : -ENOMEM;
}

int goal_read_text(struct goal *g)
{
	struct reader r = {
		.g = g, .at = g->file->text, .end = g->file->text + g->file->length, .line = 1};
	int err = read_ranks(&r);

	for (skip_lines(&r); err == 0 && (r.at < r.end || r.comment); skip_lines(&r)) {
		struct cell word = take_word(&r);

		if (!cell_is(&word, "rank")) {
			r.at = word.text;
			err = refuse_here(&r, "rank");
		} else {
			err = read_rank(&r);
		}
	}
	free(r.rank_lines);
	free(r.labels);
	return err;
}
