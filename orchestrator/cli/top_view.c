/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_view.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#define KEY_ESC   27
#define KEY_FLUSH ('u' & 31) /* Ctrl-U */

void top_look_init(struct top_look *l)
{
	*l = (struct top_look){.view = TOP_LINKS};
	for (int i = 0; i < TOP_VIEWS; i++)
		l->sorted[i] = top_view_spec((enum top_view)i)->sorted;
}

static void type_key(struct top_look *l, int key)
{
	size_t n = strlen(l->typed);

	switch (key) {
	case '\n':
	case '\r':
	case KEY_ENTER:
		memcpy(l->filter, l->typed, sizeof(l->filter));
		l->typing = false;
		l->scroll = 0;
		break;
	case KEY_ESC:
		*l->filter = 0;
		l->typing = false;
		l->scroll = 0;
		break;
	case KEY_FLUSH:
		*l->typed = 0;
		break;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		if (n)
			l->typed[n - 1] = 0;
		break;
	default:
		if (key >= ' ' && key <= '~' && n + 1 < sizeof(l->typed)) {
			l->typed[n] = (char)key;
			l->typed[n + 1] = 0;
		}
	}
}

static enum top_deed look_at(struct top_look *l, unsigned view)
{
	l->scroll = 0;
	if (l->view == (enum top_view)view)
		return TOP_STAY;
	l->view = (enum top_view)view;
	return TOP_LOOK;
}

static void sort_by(struct top_look *l, size_t column)
{
	l->sorted[l->view] = column;
	l->reversed[l->view] = false;
	l->scroll = 0;
}

static void sort_by_letter(struct top_look *l, int letter)
{
	const struct top_column *c = top_view_spec(l->view)->columns;

	for (size_t i = 0; c[i].shown.key; i++)
		if (c[i].letter && c[i].letter == letter)
			sort_by(l, i);
}

static void scroll_by(struct top_look *l, size_t down, size_t up)
{
	l->scroll = l->scroll + down > up ? l->scroll + down - up : 0;
}

static void move_key(struct top_look *l, int key, size_t page)
{
	size_t count = top_column_count(l->view), sorted = l->sorted[l->view];

	switch (key) {
	case KEY_UP:
		scroll_by(l, 0, 1);
		break;
	case KEY_DOWN:
		scroll_by(l, 1, 0);
		break;
	case KEY_PPAGE:
		scroll_by(l, 0, page);
		break;
	case KEY_NPAGE:
		scroll_by(l, page, 0);
		break;
	case KEY_HOME:
		l->scroll = 0;
		break;
	case KEY_END:
		l->scroll = SIZE_MAX / 2; /* until it is settled */
		break;
	case '<':
	case KEY_LEFT:
		sort_by(l, (sorted + count - 1) % count);
		break;
	case '>':
	case KEY_RIGHT:
		sort_by(l, (sorted + 1) % count);
		break;
	default:
		sort_by_letter(l, key);
	}
}

enum top_deed top_look_key(struct top_look *l, int key, size_t page)
{
	if (l->typing) {
		type_key(l, key);
		return TOP_STAY;
	}
	if (l->help) { /* any key leaves it */
		l->help = key == KEY_RESIZE;
		return TOP_STAY;
	}
	if (key >= '1' && key < '1' + TOP_VIEWS)
		return look_at(l, (unsigned)(key - '1'));
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case '\t':
		return look_at(l, (l->view + 1u) % TOP_VIEWS);
	case KEY_BTAB:
		return look_at(l, (l->view + TOP_VIEWS - 1u) % TOP_VIEWS);
	case 'h':
	case '?':
		l->help = true;
		break;
	case ' ':
		l->frozen = !l->frozen;
		break;
	case 'r':
		l->reversed[l->view] = !l->reversed[l->view];
		l->scroll = 0;
		break;
	case '/':
		l->typing = true;
		memcpy(l->typed, l->filter, sizeof(l->typed));
		break;
	case KEY_ESC:
		*l->filter = 0;
		l->scroll = 0;
		break;
	default:
		move_key(l, key, page);
	}
	return TOP_STAY;
}

void top_look_settle(struct top_look *l, size_t rows, size_t page)
{
	size_t last = rows > page ? rows - page : 0;

	if (l->scroll > last)
		l->scroll = last;
}
