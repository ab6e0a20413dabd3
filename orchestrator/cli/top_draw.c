/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_draw.h"

#include <curses.h>
#include <string.h>
#include "cli/term.h"
#include "cli/top_header.h"
#include "cli/top_table.h"
#include "report/number.h"

enum { PAIR_GOOD = 1, PAIR_BAD, PAIR_WARM };

/* Fewer lines than this, and the header keeps to its first two. */
#define LINES_FOR_HEADER 14

static bool colours(void)
{
	return has_colors() && !term_no_colour();
}

void top_draw_init(void)
{
	if (!colours())
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_GOOD, COLOR_GREEN, -1);
	init_pair(PAIR_BAD, COLOR_RED, -1);
	init_pair(PAIR_WARM, COLOR_YELLOW, -1);
}

static attr_t tone_attributes(enum top_tone tone)
{
	if (tone == TOP_PLAIN)
		return A_NORMAL;
	if (!colours())
		return A_BOLD;
	return tone == TOP_GOOD ? (attr_t)COLOR_PAIR(PAIR_GOOD)
				: (attr_t)COLOR_PAIR(PAIR_BAD) | A_BOLD;
}

static void draw_at(int y, int x, attr_t attributes, const char *text)
{
	if (y < 0 || y >= LINES || x < 0 || x >= COLS)
		return;
	attrset(attributes);
	mvaddnstr(y, x, text, COLS - x);
	if ((int)strlen(text) > COLS - x)
		mvaddch(y, COLS - 1, '~'); /* there is more */
	attrset(A_NORMAL);
}

/* At the end of the line, and before whatever stands there. */
static void draw_right(int y, attr_t attributes, const char *text)
{
	int n = (int)strlen(text);

	draw_at(y, n < COLS ? COLS - n : 0, attributes, text);
}

static int draw_header(const struct top_look *l, const struct top_picture *p)
{
	int count = LINES < LINES_FOR_HEADER ? 2 : TOP_HEADER_LINES;
	struct top_line lines[TOP_HEADER_LINES];

	top_header_make(lines, p->status);
	for (int i = 0; i < count; i++)
		draw_at(i, 0, tone_attributes(lines[i].tone), lines[i].text);
	if (*p->alarm)
		draw_right(0, tone_attributes(TOP_BAD) | A_REVERSE, p->alarm);
	else if (l->frozen)
		draw_right(0, A_REVERSE, " SCREEN PAUSED ");
	return count;
}

/* " 1 links  2 queues ..." and then what is seen of it; rows NULL: there is no sample yet. */
static void draw_tabs(int y, const struct top_look *l, const json_t *rows, size_t total)
{
	const struct top_column *c = &top_view_spec(l->view)->columns[l->sorted[l->view]];
	char text[256];
	int x = 0;

	for (int i = 0; i < TOP_VIEWS; i++) {
		snprintf(text, sizeof(text), " %d %s ", i + 1,
			top_view_spec((enum top_view)i)->name);
		draw_at(y, x, (enum top_view)i == l->view ? A_REVERSE | A_BOLD : A_NORMAL, text);
		x += (int)strlen(text);
	}
	snprintf(text, sizeof(text), " sorted by %s%s", c->shown.title,
		l->reversed[l->view] ? ", reversed" : "");
	draw_at(y, x, A_NORMAL, text);
	x += (int)strlen(text) + 2;
	if (rows && *l->filter)
		snprintf(text, sizeof(text), "%zu of %zu match %s", json_array_size(rows), total,
			l->filter);
	else if (rows)
		snprintf(text, sizeof(text), "%zu in all", total);
	else
		*text = 0;
	draw_at(y, x, *l->filter ? A_BOLD : A_NORMAL, text);
}

/* Losses and what is down in red, full and paused in yellow, zeros dimmed. */
static attr_t cell_attributes(const struct top_column *c, const json_t *cell)
{
	bool is_drop = strstr(c->shown.key, "drop"), is_share = c->shown.format == NUMBER_PERCENT;
	const char *text = json_string_value(cell);
	double number = json_number_value(cell);

	if (text)
		return strcmp(text, "down") && strcmp(text, "in force") ? A_NORMAL
									: tone_attributes(TOP_BAD);
	if (!(number > 0))
		return A_DIM;
	if (is_drop)
		return tone_attributes(TOP_BAD);
	if (is_share && (number >= 90 || c->measure == TOP_SHARE))
		return colours() ? (attr_t)COLOR_PAIR(PAIR_WARM) | A_BOLD : A_BOLD;
	return A_NORMAL;
}

/* A line of the table; row NULL: the headings. */
static void draw_line(
	int y, const struct top_look *l, const struct layout *layout, const json_t *row)
{
	const struct top_column *columns = top_view_spec(l->view)->columns;
	char buf[LAYOUT_CELL];
	int x = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const struct layout_field *f = &layout->fields[i];
		const struct top_column *c = &columns[f->column];
		const json_t *cell = json_object_get(row, c->shown.key);
		bool sorted = f->column == l->sorted[l->view];

		if (row)
			draw_at(y, x, cell_attributes(c, cell),
				layout_cell(buf, &c->shown, cell, f->width));
		else
			draw_at(y, x, A_REVERSE | (sorted ? A_BOLD | A_UNDERLINE : 0),
				layout_title(buf, &c->shown, f->width));
		x += f->width + layout->gap;
	}
}

static void make_layout(struct layout *ret, const struct top_look *l, const json_t *rows)
{
	const struct top_column *columns = top_view_spec(l->view)->columns;
	struct layout_column shown[LAYOUT_COLUMNS_MAX];
	size_t count = top_column_count(l->view);

	for (size_t i = 0; i < count; i++)
		shown[i] = columns[i].shown;
	layout_make(ret, shown, count, rows, COLS, l->sorted[l->view], true);
}

/* The headings and the rows between two lines of the screen. */
static void draw_table(int y, size_t page, struct top_look *l, json_t *rows, const char *refusal)
{
	size_t count = json_array_size(rows);
	struct layout layout;

	top_sort(rows, l->view, l->sorted[l->view], l->reversed[l->view]);
	top_look_settle(l, count, page);
	make_layout(&layout, l, rows);
	attrset(A_REVERSE);
	mvhline(y, 0, ' ' | A_REVERSE, COLS);
	draw_line(y, l, &layout, NULL);
	for (size_t i = 0; i < page && l->scroll + i < count; i++)
		draw_line(y + 1 + (int)i, l, &layout, json_array_get(rows, l->scroll + i));
	if (*refusal)
		draw_at(y + 1, 0, tone_attributes(TOP_BAD), refusal);
	else if (!count)
		draw_at(y + 1, 0, A_DIM, *l->filter ? "(no row matches the filter)" : "(none)");
}

static void draw_footer(const struct top_look *l)
{
	char text[TOP_FILTER_MAX + 64];
	int y = LINES - 1;

	if (l->typing) {
		snprintf(text, sizeof(text), "filter (Enter sets, Esc clears): %s", l->typed);
		draw_at(y, 0, A_BOLD, text);
		draw_at(y, (int)strlen(text), A_REVERSE, " ");
		return;
	}
	draw_at(y, 0, A_DIM,
		COLS < 74
			? "q quit  h help  1-5 view  < > sort  / filter"
			: "q quit  h help  1-5 view  udbmpn<> sort  r reverse  / filter  space pause");
}

static size_t draw_help(void)
{
	static const char *const lines[] = {
		"fabricbed top",
		"",
		"1-5, Tab      links, queues, flows, faults, nodes",
		"u d b m p n   sort by utilisation, drops, backlog of the queue, marks,",
		"              pauses, name, where the table has it",
		"< >           sort by the column to the left or right",
		"r             reverse",
		"/             filter: *core*, tor?.0*; a word may stand anywhere in a name",
		"Esc           no filter",
		"arrows, PgUp, PgDn, Home, End: scroll",
		"space         pause this screen (the fabric goes on)",
		"q             quit",
		"",
		"A link has two ports, one a direction: a->b is what leaves a towards b.",
		"Rates are a second of model time; 100% is a wire that is never idle.",
		"While model time stands still, the rates of its last step stay.",
		"max, drops, packets: since the fabric came up.",
		"",
		"any key goes back",
	};

	for (int i = 0; i < (int)(sizeof(lines) / sizeof(lines[0])); i++)
		draw_at(i, 0, i ? A_NORMAL : A_BOLD, lines[i]);
	return 1;
}

size_t top_draw(struct top_look *l, const struct top_picture *p)
{
	size_t page, total;
	json_t *rows;
	int y;

	erase();
	if (l->help) {
		page = draw_help();
		refresh();
		return page;
	}
	y = draw_header(l, p);
	page = LINES > y + 3 ? (size_t)(LINES - y - 3) : 0;
	rows = p->samples->now ? top_rows(l->view, p->samples) : NULL;
	total = json_array_size(rows);
	if (rows && *l->filter)
		top_filter(rows, l->view, l->filter);
	draw_tabs(y, l, rows, total);
	if (rows)
		draw_table(y + 1, page, l, rows, p->refusal);
	else
		draw_at(y + 1, 0, A_DIM,
			*p->refusal ? p->refusal : "(waiting for the first sample)");
	json_decref(rows);
	draw_footer(l);
	refresh();
	return page;
}
