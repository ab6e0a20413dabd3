/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "scenario/text.h"

struct anchor {
	char *name;
	const struct tree *node;
};

struct parse {
	yaml_parser_t yaml;
	const char *text;
	size_t length;
	struct diags *diags;
	struct anchor *anchors; /* a name may come again; the last one counts */
	size_t anchor_count;
	unsigned nodes;
};

static struct diag_pos pos_of(yaml_mark_t mark)
{
	return (struct diag_pos){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

/* libyaml tells no line where the bytes themselves are wrong, only an offset. */
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

static int next_event(struct parse *p, yaml_event_t *event)
{
	return yaml_parser_parse(&p->yaml, event) ? 0 : explain_syntax(p);
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

static int remember_anchor(struct parse *p, const yaml_char_t *name, const struct tree *node)
{
	struct anchor *anchors;

	if (!name)
		return 0;
	if (p->anchor_count == TREE_ANCHOR_LIMIT) {
		diags_add(p->diags, node->pos, "more than %u anchors", TREE_ANCHOR_LIMIT);
		return -EINVAL;
	}
	anchors = reallocarray(p->anchors, p->anchor_count + 1, sizeof(*anchors));
	if (!anchors)
		return -ENOMEM;
	p->anchors = anchors;
	anchors[p->anchor_count].name = strdup((const char *)name);
	if (!anchors[p->anchor_count].name)
		return -ENOMEM;
	anchors[p->anchor_count++].node = node;
	return 0;
}

static int copy_node(struct parse *p, struct tree **ret, const struct tree *from, unsigned depth)
{
	struct tree *t;
	int r = count_node(p, from->pos, depth);

	if (r)
		return r;
	t = from->kind == TREE_SCALAR ? tree_new_scalar(from->text, from->quoted, from->pos)
				      : tree_new(from->kind, from->pos);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++) {
		const struct tree *item = from->items[i];
		struct tree *copy;

		r = copy_node(p, &copy, item, depth + 1);
		if (r)
			goto undo;
		r = tree_append(t, item->key, item->key_pos, copy);
		if (r) {
			tree_free(copy);
			goto undo;
		}
		copy->again = item->again;
	}
	*ret = t;
	return 0;
undo:
	tree_free(t);
	return r;
}

static int resolve_alias(
	struct parse *p, struct tree **ret, const char *name, struct diag_pos pos, unsigned depth)
{
	char shown[TEXT_SHOWN];

	for (size_t i = p->anchor_count; i-- > 0;)
		if (!strcmp(p->anchors[i].name, name))
			return copy_node(p, ret, p->anchors[i].node, depth);
	diags_add(p->diags, pos, "alias *%s: no anchor &%s before it", text_shown(shown, name),
		shown);
	return -EINVAL;
}

static int parse_node(
	struct parse *p, const yaml_event_t *event, unsigned depth, struct tree **ret);

static int parse_scalar(struct parse *p, const yaml_event_t *event, struct tree **ret)
{
	const char *text = (const char *)event->data.scalar.value;
	struct diag_pos pos = pos_of(event->start_mark);

	if (strlen(text) != event->data.scalar.length) {
		diags_add(p->diags, pos, "a NUL character (\\0) inside a value");
		return -EINVAL;
	}
	*ret = tree_new_scalar(text, event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE, pos);
	return *ret ? 0 : -ENOMEM;
}

static int parse_key(struct parse *p, const yaml_event_t *event, struct tree **ret)
{
	if (event->type != YAML_SCALAR_EVENT) {
		diags_add(p->diags, pos_of(event->start_mark), "a key must be a word");
		return -EINVAL;
	}
	return parse_scalar(p, event, ret);
}

/* Reads the value that `event` starts, in a list or a map, and appends it under the key. */
static int parse_item(struct parse *p, struct tree *parent, const struct tree *key, unsigned depth)
{
	struct tree *item;
	yaml_event_t event;
	int r = next_event(p, &event);

	if (r)
		return r;
	r = parse_node(p, &event, depth, &item);
	yaml_event_delete(&event);
	if (r)
		return r;
	r = tree_append(parent, key->text, key->pos, item);
	if (r)
		tree_free(item);
	return r;
}

static int parse_map(struct parse *p, struct tree *map, unsigned depth)
{
	for (;;) {
		struct tree *key;
		yaml_event_t event;
		bool end;
		int r = next_event(p, &event);

		if (r)
			return r;
		end = event.type == YAML_MAPPING_END_EVENT;
		r = end ? 0 : parse_key(p, &event, &key);
		yaml_event_delete(&event);
		if (end || r)
			return r;
		r = parse_item(p, map, key, depth + 1);
		tree_free(key);
		if (r)
			return r;
	}
}

static int parse_list(struct parse *p, struct tree *list, unsigned depth)
{
	for (;;) {
		struct tree *item;
		yaml_event_t event;
		bool end;
		int r = next_event(p, &event);

		if (r)
			return r;
		end = event.type == YAML_SEQUENCE_END_EVENT;
		r = end ? 0 : parse_node(p, &event, depth + 1, &item);
		yaml_event_delete(&event);
		if (end || r)
			return r;
		r = tree_append(list, NULL, (struct diag_pos){0}, item);
		if (r) {
			tree_free(item);
			return r;
		}
	}
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

static int parse_node(struct parse *p, const yaml_event_t *event, unsigned depth, struct tree **ret)
{
	struct diag_pos pos = pos_of(event->start_mark);
	const yaml_char_t *anchor = NULL;
	struct tree *t = NULL;
	int r;

	if (event->type == YAML_ALIAS_EVENT)
		return resolve_alias(p, ret, (const char *)event->data.alias.anchor, pos, depth);
	r = count_node(p, pos, depth);
	if (r)
		return r;
	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		r = parse_scalar(p, event, &t);
	} else {
		bool is_map = event->type == YAML_MAPPING_START_EVENT;

		anchor = is_map ? event->data.mapping_start.anchor
				: event->data.sequence_start.anchor;
		t = tree_new(is_map ? TREE_MAP : TREE_LIST, pos);
		if (!t)
			return -ENOMEM;
		r = is_map ? parse_map(p, t, depth) : parse_list(p, t, depth);
		if (!r && is_map)
			r = explain_duplicates(p, t);
	}
	if (!r)
		r = remember_anchor(p, anchor, t);
	if (r) {
		tree_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/* Skips to the next event that is not the start or the end of a stream or document. */
static int next_content(struct parse *p, yaml_event_t *event, bool *ret_end)
{
	for (;;) {
		int r = next_event(p, event);

		if (r)
			return r;
		*ret_end = event->type == YAML_STREAM_END_EVENT;
		if (*ret_end || (event->type != YAML_STREAM_START_EVENT &&
					event->type != YAML_DOCUMENT_START_EVENT &&
					event->type != YAML_DOCUMENT_END_EVENT))
			return 0;
		yaml_event_delete(event);
	}
}

static int parse_document(struct parse *p, struct tree **ret)
{
	struct tree *root = NULL;
	yaml_event_t event;
	bool end;
	int r = next_content(p, &event, &end);

	if (r)
		return r;
	if (end)
		diags_add(p->diags, (struct diag_pos){0},
			"holds no scenario, only comments or blanks");
	r = end ? -EINVAL : parse_node(p, &event, 0, &root);
	yaml_event_delete(&event);
	if (r)
		return r;
	r = next_content(p, &event, &end);
	if (!r) {
		if (!end) {
			diags_add(p->diags, pos_of(event.start_mark),
				"a second document; a file holds one scenario");
			r = -EINVAL;
		}
		yaml_event_delete(&event);
	}
	if (r) {
		tree_free(root);
		return r;
	}
	*ret = root;
	return 0;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

int tree_parse(struct tree **ret, const char *text, size_t length, struct diags *diags)
{
	const size_t mark = strlen(BYTE_ORDER_MARK);
	struct parse p = {.text = text, .length = length, .diags = diags};
	int r;

	/* YAML 1.1, 5.2, allows it; libyaml skips it only where it has to find the encoding out itself */
	if (length >= mark && !memcmp(text, BYTE_ORDER_MARK, mark)) {
		p.text += mark;
		p.length -= mark;
	}

	if (!yaml_parser_initialize(&p.yaml))
		return -ENOMEM;
	yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p.yaml, (const unsigned char *)p.text, p.length);
	r = parse_document(&p, ret);
	for (size_t i = 0; i < p.anchor_count; i++)
		free(p.anchors[i].name);
	free(p.anchors);
	yaml_parser_delete(&p.yaml);
	return r;
}
