/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "scenario/text.h"

struct parse {
	yaml_parser_t yaml;
	const char *text;
	size_t length;
	struct diags *diags;
	const struct tree *anchored[TREE_ANCHOR_LIMIT]; /* a name may come again; the last counts */
	size_t anchor_count;
	unsigned nodes, depth;
	struct tree *root;
	struct tree *open; /* the innermost list or map that has not ended */
	struct tree *key;  /* of the next value in it */
};

static struct diag_pos pos_of(yaml_mark_t mark)
{
	return (struct diag_pos){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

/* For invalid bytes libyaml gives no line, only an offset. */
static struct diag_pos pos_of_offset(const struct parse *p, size_t offset)
{
	struct diag_pos pos = {1, 1};

	for (size_t i = 0; i < offset && i < p->length; i++) {
		if (p->text[i] == '\n') {
			pos.line++;
			pos.column = 1;
		} else if ((p->text[i] & 0xc0) != 0x80) {
			pos.column++;
		}
	}
	return pos;
}

static int explain_syntax(struct parse *p)
{
	const yaml_parser_t *yaml = &p->yaml;

	switch (yaml->error) {
	case YAML_MEMORY_ERROR:
		return -ENOMEM;
	case YAML_READER_ERROR:
		diags_add(p->diags, pos_of_offset(p, yaml->problem_offset),
			"not text that YAML allows: %s", yaml->problem);
		break;
	default:
		diags_add(p->diags, pos_of(yaml->problem_mark), "not YAML: %s%s%s", yaml->problem,
			yaml->context ? " " : "", yaml->context ? yaml->context : "");
	}
	return -EINVAL;
}

static int count_node(struct parse *p, struct diag_pos pos, unsigned depth)
{
	if (depth > TREE_DEPTH_LIMIT) {
		diags_add(p->diags, pos, "nested more than %u deep", TREE_DEPTH_LIMIT);
		return -EINVAL;
	}
	if (++p->nodes > TREE_NODE_LIMIT) {
		diags_add(p->diags, pos, "more than %u values, aliases counted", TREE_NODE_LIMIT);
		return -EINVAL;
	}
	return 0;
}

/* Of a node that is complete, so that none holds itself. */
static int remember_anchor(struct parse *p, const struct tree *node)
{
	if (!node->anchor)
		return 0;
	if (p->anchor_count == TREE_ANCHOR_LIMIT) {
		diags_add(p->diags, node->pos, "more than %u anchors", TREE_ANCHOR_LIMIT);
		return -EINVAL;
	}
	p->anchored[p->anchor_count++] = node;
	return 0;
}

static int copy_node(struct parse *p, struct tree **ret, const struct tree *from, unsigned depth)
{
	struct tree *t;
	int r = count_node(p, from->pos, depth);

	if (r)
		return r;
	t = tree_new(from->kind, from->text, from->pos);
	if (!t)
		return -ENOMEM;
	t->quoted = from->quoted;
	for (size_t i = 0; !r && i < from->count; i++) {
		const struct tree *item = from->items[i];
		struct tree *copy;

		r = copy_node(p, &copy, item, depth + 1);
		if (!r)
			r = tree_append(t, item->key, item->key_pos, copy);
		if (!r)
			copy->again = item->again;
	}
	if (r)
		tree_free(t);
	else
		*ret = t;
	return r;
}

static int resolve_alias(struct parse *p, const char *name, struct diag_pos pos, struct tree **ret)
{
	char shown[TEXT_SHOWN];

	for (size_t i = p->anchor_count; i-- > 0;)
		if (!strcmp(p->anchored[i]->anchor, name))
			return copy_node(p, ret, p->anchored[i], p->depth);
	diags_add(p->diags, pos, "alias *%s: no anchor &%s before it", text_shown(shown, name),
		shown);
	return -EINVAL;
}

static int new_scalar(struct parse *p, const yaml_event_t *event, struct tree **ret)
{
	const char *text = (const char *)event->data.scalar.value;
	struct diag_pos pos = pos_of(event->start_mark);

	if (strlen(text) != event->data.scalar.length) {
		diags_add(p->diags, pos, "a NUL character (\\0) inside a value");
		return -EINVAL;
	}
	*ret = tree_new(TREE_SCALAR, text, pos);
	if (!*ret)
		return -ENOMEM;
	(*ret)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static int new_node(struct parse *p, const yaml_event_t *event, struct tree **ret)
{
	struct diag_pos pos = pos_of(event->start_mark);
	bool is_map = event->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *anchor =
		is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
	struct tree *t = NULL;
	int r = count_node(p, pos, p->depth);

	if (r)
		return r;
	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		r = new_scalar(p, event, &t);
	} else {
		t = tree_new(is_map ? TREE_MAP : TREE_LIST, NULL, pos);
	}
	if (t && anchor)
		t->anchor = strdup((const char *)anchor);
	if (!r && (!t || (anchor && !t->anchor)))
		r = -ENOMEM;
	if (r)
		tree_free(t);
	else
		*ret = t;
	return r;
}

static int compare_keys(const void *a, const void *b)
{
	const struct tree *x = *(struct tree *const *)a, *y = *(struct tree *const *)b;
	int r = strcmp(x->key, y->key);

	return r ? r : (x->index > y->index) - (x->index < y->index);
}

/* Sorted, since a map of a hundred thousand keys must not take ten billion comparisons. */
static int explain_duplicates(struct parse *p, const struct tree *map)
{
	struct tree **sorted;
	char shown[TEXT_SHOWN];

	if (map->count < 2)
		return 0;
	sorted = reallocarray(NULL, map->count, sizeof(struct tree *));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, map->items, map->count * sizeof(struct tree *));
	qsort(sorted, map->count, sizeof(struct tree *), compare_keys);
	for (size_t i = 1; i < map->count; i++) {
		if (strcmp(sorted[i]->key, sorted[i - 1]->key))
			continue;
		sorted[i]->again = true;
		diags_add(p->diags, sorted[i]->key_pos, "key '%s' again; line %u has it already",
			text_shown(shown, sorted[i]->key), sorted[i - 1]->key_pos.line);
	}
	free(sorted);
	return 0;
}

static int end_node(struct parse *p)
{
	struct tree *t = p->open;
	int r = t->kind == TREE_MAP ? explain_duplicates(p, t) : 0;

	p->open = t->parent;
	p->depth--;
	return r ? r : remember_anchor(p, t);
}

static int take_key(struct parse *p, const yaml_event_t *event)
{
	if (event->type == YAML_SCALAR_EVENT)
		return new_scalar(p, event, &p->key);
	diags_add(p->diags, pos_of(event->start_mark), "a key must be a word");
	return -EINVAL;
}

/* Puts a value behind those before it, under its key; takes it. */
static int place(struct parse *p, struct tree *item)
{
	const struct tree *key = p->key;
	int r = 0;

	if (p->open)
		r = tree_append(p->open, key ? key->text : NULL,
			key ? key->pos : (struct diag_pos){0}, item);
	else
		p->root = item;
	tree_free(p->key);
	p->key = NULL;
	return r;
}

/* A key, a value, or the start of a value that has parts. */
static int take_node(struct parse *p, const yaml_event_t *event)
{
	struct diag_pos pos = pos_of(event->start_mark);
	struct tree *item = NULL;
	int r;

	if (p->root && !p->open) {
		diags_add(p->diags, pos, "a second document; a file holds one scenario");
		return -EINVAL;
	}
	if (p->open && p->open->kind == TREE_MAP && !p->key)
		return take_key(p, event);
	if (event->type == YAML_ALIAS_EVENT)
		r = resolve_alias(p, (const char *)event->data.alias.anchor, pos, &item);
	else
		r = new_node(p, event, &item);
	if (!r)
		r = place(p, item);
	if (r)
		return r;
	if (event->type == YAML_SCALAR_EVENT || event->type == YAML_ALIAS_EVENT)
		return remember_anchor(p, item);
	p->open = item;
	p->depth++;
	return 0;
}

static int take_event(struct parse *p, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
	case YAML_ALIAS_EVENT:
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		return take_node(p, event);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return end_node(p);
	default:
		return 0; /* of the stream or a document */
	}
}

static int parse_events(struct parse *p)
{
	for (bool end = false; !end;) {
		yaml_event_t event;
		int r;

		if (!yaml_parser_parse(&p->yaml, &event))
			return explain_syntax(p);
		end = event.type == YAML_STREAM_END_EVENT;
		r = take_event(p, &event);
		yaml_event_delete(&event);
		if (r)
			return r;
	}
	if (p->root)
		return 0;
	diags_add(p->diags, (struct diag_pos){0}, "holds no scenario, only comments or blanks");
	return -EINVAL;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

int tree_parse(struct tree **ret, const char *text, size_t length, struct diags *diags)
{
	const size_t mark = strlen(BYTE_ORDER_MARK);
	struct parse p = {.text = text, .length = length, .diags = diags};
	int r;

	/* YAML 1.1, 5.2, allows it; libyaml skips it only while it detects the encoding */
	if (length >= mark && !memcmp(text, BYTE_ORDER_MARK, mark)) {
		p.text += mark;
		p.length -= mark;
	}

	if (!yaml_parser_initialize(&p.yaml))
		return -ENOMEM;
	yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p.yaml, (const unsigned char *)p.text, p.length);
	r = parse_events(&p);
	if (r)
		tree_free(p.root);
	else
		*ret = p.root;
	tree_free(p.key);
	yaml_parser_delete(&p.yaml);
	return r;
}
