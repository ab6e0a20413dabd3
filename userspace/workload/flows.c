/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Flow lists: lines of comma-separated values below a line of their names. A list is read when it
 * is asked for: to find out whether the fabric has what it names, and to make its operations. Lines
 * that wait for later ones come after these.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/shared_state.h"
#include "base/fnv.h"
#include "workload/cell.h"

enum column { SRC, DST, BYTES, START, DSCP, TAG, AFTER, COLUMNS };

static const char *const names[COLUMNS] = {"src", "dst", "bytes", "start", "dscp", "tag", "after"};
static const char *const start_units[] = {"", "ps", "ns", "us", "ms", "s"};

#define FIELDS_MAX 32
#define NO_ROW     UINT32_MAX

/* A flow of the list. Offsets are of the text, whose size has a limit. */
struct row {
	uint32_t offset, line;
	uint32_t cursor;    /* behind those visited that it waits for; 0: none has been */
	uint32_t waiter;    /* who has made it be visited; NO_ROW: nobody */
	uint32_t operation; /* NO_ROW: not made yet */
};

struct flow_list {
	const struct file_text *file;
	const struct workload_hosts *hosts;
	struct operations *m;
	const struct workload_params *p;
	uint64_t start_ps;
	int column[COLUMNS]; /* which field it is; -1: none */
	unsigned fields;
	const char *start_unit; /* behind a bare number */
	struct row *rows;
	uint32_t row_count;
	uint32_t *tags; /* rows by the hash of their tags */
	uint32_t tag_slots;
	char *why; /* WORKLOAD_REFUSAL bytes */
};

static __attribute__((format(printf, 3, 4))) int refuse_line(
	const struct flow_list *l, uint32_t line, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = cell_refuse(l->why, l->file, "line", line, format, ap);
	va_end(ap);
	return r;
}

/* ---- cells ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct cell trim(const char *from, const char *to)
{
	while (from < to && is_blank(*from))
		from++;
	while (to > from && is_blank(to[-1]))
		to--;
	return (struct cell){from, (size_t)(to - from)};
}

static const char *line_end(const struct flow_list *l, const char *line)
{
	const char *end = l->file->text + l->file->length;
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	return newline ? newline : end;
}

/* Cuts a line at its commas; returns the number of cells, of which ret has FIELDS_MAX at most. */
static unsigned split(const char *line, const char *end, struct cell ret[FIELDS_MAX])
{
	unsigned count = 0;

	for (const char *comma;; line = comma + 1) {
		comma = memchr(line, ',', (size_t)(end - line));
		if (count < FIELDS_MAX)
			ret[count] = trim(line, comma ? comma : end);
		count++;
		if (!comma)
			return count;
	}
}

/* A whole number up to max; false: it is none. */
static bool whole(const struct cell *c, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (!c->length || c->length > 18)
		return false;
	for (size_t i = 0; i < c->length; i++) {
		if (c->text[i] < '0' || c->text[i] > '9')
			return false;
		value = 10 * value + (uint64_t)(c->text[i] - '0');
	}
	*ret = value;
	return value <= max;
}

/* A quantity as a scenario has it; a bare number has the unit. */
static int quantity(const struct cell *c, const char *unit,
	int (*parse)(const char *text, uint64_t *ret), uint64_t *ret)
{
	bool bare = c->length && c->text[c->length - 1] >= '0' && c->text[c->length - 1] <= '9';
	char text[CELL_SHOWN + 4];

	if (c->length >= CELL_SHOWN)
		return -EINVAL;
	snprintf(text, sizeof(text), "%.*s%s", (int)c->length, c->text, bare ? unit : "");
	return parse(text, ret);
}

/* ---- the first line ---- */

static int find_column(struct flow_list *l, const struct cell *c, unsigned field, uint32_t line)
{
	char shown[CELL_SHOWN];
	int found = -1;

	for (int i = 0; i < COLUMNS; i++)
		if (cell_is(c, names[i]))
			found = i;
	for (size_t i = 1; i < COUNT(start_units); i++) {
		char name[16];

		snprintf(name, sizeof(name), "start_%s", start_units[i]);
		if (!cell_is(c, name))
			continue;
		found = START;
		l->start_unit = start_units[i];
	}
	if (found < 0)
		return refuse_line(l, line,
			"no column is called '%s'; expected src, dst, bytes, start (or start_us, ...), dscp, tag, after",
			cell_show(c, shown));
	if (l->column[found] >= 0)
		return refuse_line(l, line, "two columns are called %s", names[found]);
	l->column[found] = (int)field;
	return 0;
}

static int read_header(struct flow_list *l, const char *at, uint32_t line)
{
	struct cell cells[FIELDS_MAX];
	int r = 0;

	l->start_unit = "";
	for (int i = 0; i < COLUMNS; i++)
		l->column[i] = -1;
	l->fields = split(at, line_end(l, at), cells);
	for (unsigned i = 0; r == 0 && i < l->fields && i < FIELDS_MAX; i++)
		r = find_column(l, &cells[i], i, line);
	for (int i = 0; r == 0 && i < START; i++)
		if (l->column[i] < 0)
			r = refuse_line(l, line,
				"there is no column %s; the first line names the columns, such as src,dst,bytes,start_us",
				names[i]);
	return r;
}

/* ---- which lines there are, and their tags ---- */

static struct cell cell_of(const struct flow_list *l, const struct row *row, enum column column)
{
	const char *at = l->file->text + row->offset, *end = line_end(l, at);

	for (int field = 0;; field++) {
		const char *comma = memchr(at, ',', (size_t)(end - at));

		if (field == l->column[column])
			return trim(at, comma ? comma : end);
		if (!comma)
			return (struct cell){end, 0};
		at = comma + 1;
	}
}

/* The place of a tag: with the row that has it, or free. */
static uint32_t *tag_slot(const struct flow_list *l, const struct cell *tag)
{
	uint64_t hash = fnv_hash(tag->text, tag->length);

	for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
		uint32_t *slot = &l->tags[i & (l->tag_slots - 1)];
		struct cell other;

		if (*slot == NO_ROW)
			return slot;
		other = cell_of(l, &l->rows[*slot], TAG);
		if (other.length == tag->length && !memcmp(other.text, tag->text, tag->length))
			return slot;
	}
}

static int read_tag(struct flow_list *l, uint32_t i)
{
	struct cell tag = cell_of(l, &l->rows[i], TAG);
	char shown[CELL_SHOWN];
	uint64_t number;
	uint32_t *slot;

	if (!tag.length)
		return 0;
	if (whole(&tag, UINT64_MAX, &number) || memchr(tag.text, ' ', tag.length) ||
		memchr(tag.text, ';', tag.length))
		return refuse_line(l, l->rows[i].line,
			"tag: '%s'; expected a word that is no number, without blanks and ';'",
			cell_show(&tag, shown));
	slot = tag_slot(l, &tag);
	if (*slot != NO_ROW)
		return refuse_line(l, l->rows[i].line, "tag: '%s' again; line %u has it",
			cell_show(&tag, shown), l->rows[*slot].line);
	*slot = i;
	return 0;
}

static int read_tags(struct flow_list *l)
{
	int r = 0;

	if (l->column[TAG] < 0)
		return 0;
	for (l->tag_slots = 16; l->tag_slots < 2 * l->row_count;)
		l->tag_slots *= 2;
	l->tags = malloc(l->tag_slots * sizeof(*l->tags));
	if (!l->tags)
		return -ENOMEM;
	memset(l->tags, 0xff, l->tag_slots * sizeof(*l->tags));
	for (uint32_t i = 0; r == 0 && i < l->row_count; i++)
		r = read_tag(l, i);
	return r;
}

/* Lines with anything on them that is no comment, the first being the names of the columns. */
static int find_rows(struct flow_list *l)
{
	const char *at = l->file->text, *end = at + l->file->length;
	uint32_t lines = 1, line = 0;
	bool header = false;

	for (const char *p = at; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	l->rows = malloc(lines * sizeof(*l->rows));
	if (!l->rows)
		return -ENOMEM;
	for (const char *next; at < end; at = next) {
		const char *stop = line_end(l, at);
		int r = 0;

		next = stop + (stop < end);
		line++;
		if (!trim(at, stop).length || *at == '#')
			continue;
		if (!header)
			r = read_header(l, at, line);
		else
			l->rows[l->row_count++] = (struct row){
				.offset = (uint32_t)(at - l->file->text),
				.line = line,
				.waiter = NO_ROW,
				.operation = NO_ROW,
			};
		header = true;
		if (r < 0)
			return r;
	}
	if (!l->row_count)
		return refuse_line(l, line ? line : 1,
			"no flow; expected a line for each, below one such as src,dst,bytes,start_us");
	return 0;
}

/* ---- what waits for what ---- */

/* The next that a row waits for, from *cursor on, which moves. 0; 1: there are no more; -EINVAL. */
static int next_after(
	const struct flow_list *l, const struct row *row, uint32_t *cursor, uint32_t *ret)
{
	struct cell all = cell_of(l, row, AFTER), one;
	const char *at = *cursor ? l->file->text + *cursor : all.text, *end = all.text + all.length;
	char shown[CELL_SHOWN];
	uint64_t number;

	while (at < end && (is_blank(*at) || *at == ';'))
		at++;
	one.text = at;
	while (at < end && !is_blank(*at) && *at != ';')
		at++;
	one.length = (size_t)(at - one.text);
	*cursor = (uint32_t)(at - l->file->text);
	if (!one.length)
		return 1;
	if (whole(&one, UINT64_MAX, &number)) {
		if (number >= l->row_count)
			return refuse_line(l, row->line,
				"after: there is no flow %s; they count from 0 to %u",
				cell_show(&one, shown), l->row_count - 1);
		*ret = (uint32_t)number;
		return 0;
	}
	*ret = l->tags ? *tag_slot(l, &one) : NO_ROW;
	if (*ret == NO_ROW)
		return refuse_line(
			l, row->line, "after: no flow has the tag '%s'", cell_show(&one, shown));
	return 0;
}

/* Row `last` waits for row `first`, which has been visited for its sake. */
static int refuse_cycle(const struct flow_list *l, uint32_t first, uint32_t last)
{
	uint32_t shown = 0;
	size_t used;

	refuse_line(l, l->rows[last].line, "after: a cycle: line %u", l->rows[first].line);
	for (uint32_t i = last; i != first && shown++ < 8; i = l->rows[i].waiter) {
		used = strlen(l->why);
		snprintf(l->why + used, WORKLOAD_REFUSAL - used, " before %u", l->rows[i].line);
	}
	used = strlen(l->why);
	snprintf(l->why + used, WORKLOAD_REFUSAL - used, "%s before %u",
		shown > 8 ? " before ..." : "", l->rows[first].line);
	return -EINVAL;
}

/* ---- operations ---- */

static int read_host(const struct flow_list *l, const struct row *row, const struct cell *c,
	enum column column, uint32_t *ret)
{
	char name[CELL_SHOWN];
	uint64_t number;

	if (whole(c, l->hosts->count - 1, &number)) {
		*ret = (uint32_t)number;
		return 0;
	}
	*ret = l->hosts->number(l->hosts->fabric, cell_show(c, name));
	if (*ret != UINT32_MAX && c->length < CELL_SHOWN)
		return 0;
	return refuse_line(l, row->line, "%s: there is no host '%s' among the fabric's %u",
		names[column], name, l->hosts->count);
}

static int read_bytes(
	const struct flow_list *l, const struct row *row, const struct cell *c, uint64_t *ret)
{
	char shown[CELL_SHOWN];

	if (!whole(c, UINT64_MAX, ret) && quantity(c, "", parse_bytes, ret) < 0)
		return refuse_line(l, row->line,
			"bytes: '%s'; expected a size such as 2000000 or 2MB", cell_show(c, shown));
	if (!*ret)
		return refuse_line(l, row->line, "bytes: a size of 0; expected at least 1");
	if (*ret > l->hosts->message_max)
		return refuse_line(l, row->line,
			"bytes: '%s' is too large; a flow has at most 2^24 packets, %llu bytes",
			cell_show(c, shown), (unsigned long long)l->hosts->message_max);
	return 0;
}

static int read_start(
	const struct flow_list *l, const struct row *row, const struct cell *c, uint64_t *ret)
{
	char shown[CELL_SHOWN];

	*ret = 0;
	if (!c->length || cell_is(c, "0"))
		return 0;
	if (quantity(c, l->start_unit, parse_time, ret) < 0 || *ret > TIME_MAX)
		return refuse_line(l, row->line, "start: '%s'; expected a time up to ten days%s%s",
			cell_show(c, shown),
			*l->start_unit ? ", in " : " with its unit, such as 1.5us", l->start_unit);
	return 0;
}

static int read_dscp(
	const struct flow_list *l, const struct row *row, const struct cell *c, uint8_t *ret)
{
	char shown[CELL_SHOWN], why[WORKLOAD_REFUSAL];
	uint64_t dscp;

	if (!whole(c, DSCP_COUNT - 1, &dscp))
		return refuse_line(l, row->line, "dscp: '%s'; expected a number from 0 to %d",
			cell_show(c, shown), DSCP_COUNT - 1);
	if (l->hosts->refuse_dscp(l->hosts->fabric, (uint32_t)dscp, why))
		return refuse_line(l, row->line, "dscp: %s", why);
	*ret = (uint8_t)(dscp + 1);
	return 0;
}

/* A line as the operation that it comes to. */
static int read_row(const struct flow_list *l, const struct row *row, struct operation *ret)
{
	const char *at = l->file->text + row->offset;
	struct cell cells[FIELDS_MAX], none = {"", 0};
	unsigned fields = split(at, line_end(l, at), cells);
	int start = l->column[START], dscp = l->column[DSCP], r;

	if (fields != l->fields)
		return refuse_line(l, row->line, "%u values; the first line names %u columns",
			fields, l->fields);
	*ret = (struct operation){.entry = l->p->entry};
	r = read_host(l, row, &cells[l->column[SRC]], SRC, &ret->src_host);
	if (r == 0)
		r = read_host(l, row, &cells[l->column[DST]], DST, &ret->dst_host);
	if (r == 0 && ret->src_host == ret->dst_host)
		r = refuse_line(l, row->line, "host %u sends to itself", ret->src_host);
	if (r == 0)
		r = read_bytes(l, row, &cells[l->column[BYTES]], &ret->bytes);
	if (r == 0)
		r = read_start(l, row, start < 0 ? &none : &cells[start], &ret->start_ps);
	if (r == 0 && dscp >= 0 && cells[dscp].length)
		r = read_dscp(l, row, &cells[dscp], &ret->dscp);
	return r;
}

/* What `waiter` waits for of `o`, if its host knows of it. */
static bool known_event(
	const struct operation *waiter, const struct operation *o, enum operation_event *ret)
{
	*ret = waiter->src_host == o->src_host ? OPERATION_ENDED : OPERATION_DELIVERED;
	return waiter->src_host == o->src_host || waiter->src_host == o->dst_host;
}

/* The latest operation waits for those rows whose event o's host knows of, or does not. */
static void add_waits(
	struct flow_list *l, const struct row *row, const struct operation *o, bool known)
{
	uint32_t cursor = 0, after;

	while (next_after(l, row, &cursor, &after) == 0) {
		enum operation_event event;

		if (known_event(o, &l->m->items[l->rows[after].operation], &event) != known)
			continue;
		operations_wait(l->m, l->rows[after].operation, event);
	}
}

/* How many of those that it waits for its host does not know of, and how many there are. */
static uint32_t count_far(const struct flow_list *l, const struct row *row,
	const struct operation *o, uint32_t *ret_all)
{
	uint32_t cursor = 0, after, far = 0;
	enum operation_event event;

	*ret_all = 0;
	while (next_after(l, row, &cursor, &after) == 0) {
		far += !known_event(o, &l->m->items[l->rows[after].operation], &event);
		++*ret_all;
	}
	return far;
}

/* All that it waits for has been made. What its sender does not know of it is told by a barrier. */
static int make_row(struct flow_list *l, struct row *row)
{
	uint32_t waits = 0, far = 0, barrier = 0;
	struct operation o;
	int r = read_row(l, row, &o);

	if (r == 0 && l->column[AFTER] >= 0)
		far = count_far(l, row, &o, &waits);
	if (r == 0)
		r = operations_reserve(l->m, 1 + (far > 0), waits + (far > 0));
	if (r < 0)
		return r;
	if (far) {
		barrier = operations_add(l->m, &(struct operation){
						       .src_host = OPERATION_BARRIER,
						       .dst_host = OPERATION_BARRIER,
						       .entry = o.entry,
					       });
		add_waits(l, row, &o, false);
	}
	if (!waits)
		o.start_ps += l->start_ps;
	row->operation = operations_add(l->m, &o);
	if (waits > far)
		add_waits(l, row, &o, true);
	if (far)
		operations_wait(l->m, barrier, OPERATION_ENDED);
	return 0;
}

/* A row, but first those that it waits for: depth first, without recursion. */
static int visit_row(struct flow_list *l, uint32_t first)
{
	for (uint32_t at = first, after; at != NO_ROW;) {
		struct row *row = &l->rows[at];
		int r = l->column[AFTER] < 0 ? 1 : next_after(l, row, &row->cursor, &after);

		if (r == 1) {
			r = make_row(l, row);
			at = at == first ? NO_ROW : row->waiter;
		} else if (r == 0 && l->rows[after].operation == NO_ROW) {
			if (after == at || l->rows[after].cursor)
				return refuse_cycle(l, after, at);
			l->rows[after].waiter = at;
			at = after;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

struct flows {
	struct workload_common common;
	struct file_text file;
};

/* Appends to m, or leaves it as it was. 0; -EINVAL with why; an error of operations_reserve(). */
static int read_list(struct operations *m, const struct workload_params *p, const struct flows *o,
	const struct workload_hosts *hosts, char why[WORKLOAD_REFUSAL])
{
	struct flow_list l = {.file = &o->file,
		.hosts = hosts,
		.m = m,
		.p = p,
		.start_ps = o->common.start_ps,
		.why = why};
	size_t before = m->count, waits_before = m->wait_count;
	int r = find_rows(&l);

	if (r == 0)
		r = read_tags(&l);
	if (r == 0)
		r = operations_reserve(m, l.row_count, 0);
	for (uint32_t i = 0; r == 0 && i < l.row_count; i++)
		if (l.rows[i].operation == NO_ROW)
			r = visit_row(&l, i);
	if (r < 0) {
		m->count = before;
		m->wait_count = waits_before;
	}
	free(l.rows);
	free(l.tags);
	return r;
}

static const struct key keys[] = {
	KEY("file", FILE, struct flows, file, .required = true,
		.expected = "the name of a file of comma-separated values",
		.help = "the list: lines of src,dst,bytes,start_us below a line of these names"),
	KEY("start", TIME, struct flows, common.start_ps, .fallback = "0", .max = MOMENT_MAX,
		.help = "added to the starts of the list"),
};

/* As many as it has lines below the first. */
static double count(const void *options, const struct workload_hosts *hosts)
{
	const struct file_text *f = &((const struct flows *)options)->file;
	const char *end = f->text + f->length;
	double lines = 0;

	(void)hosts;
	for (const char *p = f->text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	return lines > 1 ? lines - 1 : lines;
}

static const char *refuse(
	const void *options, const struct workload_hosts *hosts, char buf[WORKLOAD_REFUSAL])
{
	struct operations m = OPERATIONS_INIT;
	int r = read_list(&m, &(struct workload_params){0}, options, hosts, buf);

	operations_release(&m);
	if (r < 0 && r != -EINVAL)
		snprintf(buf, WORKLOAD_REFUSAL, "file: %s",
			r == -ENOMEM ? "out of memory" : "it has too many flows");
	return r < 0 ? buf : NULL;
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	char why[WORKLOAD_REFUSAL];

	return read_list(m, p, options, hosts, why);
}

const struct workload_kind workload_kind_flows = {
	.name = "flows",
	.map = {KEYS(keys), .size = sizeof(struct flows), .help = "flows that a file lists"},
	.own_dscps = true,
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
};
