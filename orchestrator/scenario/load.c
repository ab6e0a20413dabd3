/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/scenario.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "scenario/check.h"
#include "scenario/text.h"

#define FILE_LIMIT (1u << 20)

static int read_file(char **ret, size_t *ret_length, const char *path, struct diags *diags)
{
	const struct diag_pos whole = {0};
	FILE *in = fopen(path, "re");
	struct stat st;
	char *buf;
	int r = -EINVAL;

	if (!in) {
		diags_add(diags, whole, "cannot open it: %s", strerror(errno));
		return -EINVAL;
	}
	buf = malloc(FILE_LIMIT + 1);
	if (!buf) {
		r = -ENOMEM;
	} else if (!fstat(fileno(in), &st) && S_ISDIR(st.st_mode)) {
		diags_add(diags, whole, "it is a directory; expected a scenario file");
	} else {
		*ret_length = fread(buf, 1, FILE_LIMIT + 1, in);
		r = ferror(in) ? -EINVAL : 0;
		if (r)
			diags_add(diags, whole, "cannot read it: %s", strerror(errno));
	}
	fclose(in);
	if (r)
		free(buf);
	else
		*ret = buf;
	return r;
}

/* The tree of a text that is no longer than a file may be. */
static int parse_text(
	struct tree **ret, const char *text, size_t length, const char *what, struct diags *diags)
{
	if (!length || length > FILE_LIMIT) {
		diags_add(diags, (struct diag_pos){0}, "the file is %s; expected %s",
			length ? "larger than 1 MB" : "empty", what);
		return -EINVAL;
	}
	return tree_parse(ret, text, length, diags);
}

/* *ret is set to what is valid even if not all is. */
static int check_tree(struct scenario **ret, const char *name, const struct tree *root,
	size_t before, struct diags *diags)
{
	struct check c = {.diags = diags, .wrong = explain_path, .path = name};
	struct scenario *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->path = strdup(name);
	c.out_of_memory = !s->path;
	map_read(&c, &scenario_map, root, s);
	if (!c.out_of_memory && s->topology.valid)
		*ret = s;
	else
		scenario_free(s);
	if (c.out_of_memory)
		return -ENOMEM;
	return diags->count == before ? 0 : -EINVAL;
}

/* Keys that say nothing of what `about` is about. */
static bool leaves_about(const char *set)
{
	static const char *const keys[] = {
		"name", "seed", "clock", "telemetry", "until", "expect", "compare", "sweep"};
	size_t length = strcspn(set, ".=");

	for (size_t i = 0; i < COUNT(keys); i++)
		if (length == strlen(keys[i]) && !strncmp(set, keys[i], length))
			return true;
	return false;
}

#define CHANGES_SHOWN 4

/* The file's `about` may be false of the overridden scenario: the overrides take its place. */
static int replace_about(struct scenario *s, const char *const *sets, size_t count)
{
	char shown[TEXT_SHOWN], *text = NULL;
	size_t length = 0, changes = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (!leaves_about(sets[i]) && ++changes <= CHANGES_SHOWN)
			fprintf(out, "%s%s", changes == 1 ? "with " : ", ",
				text_shown(shown, sets[i]));
	if (changes > CHANGES_SHOWN)
		fprintf(out, " and %zu more", changes - CHANGES_SHOWN);
	if (fclose(out) || !changes) {
		free(text);
		return changes ? -ENOMEM : 0;
	}
	free(s->about);
	s->about = text;
	return 0;
}

/* Whoever sets `about` knows. */
static int apply_about(struct scenario *s, const char *const *sets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(sets[i], "about=", strlen("about=")))
			return 0;
	return s ? replace_about(s, sets, count) : 0;
}

/* Faults in the text or in an override are messages, and the rest is checked all the same. */
static int inspect_text(struct scenario **ret, const char *name, const char *text, size_t length,
	const char *const *sets, size_t set_count, struct diags *diags)
{
	size_t before = diags->count;
	struct tree *root = NULL;
	int r = parse_text(&root, text, length, "a scenario", diags);

	if (!r && root->kind != TREE_MAP) {
		explain_unexpected(diags, root, "a mapping that starts with name: and topology:");
		r = -EINVAL;
	}
	for (size_t i = 0; !r && i < set_count; i++)
		if (tree_set(root, sets[i], diags) == -ENOMEM)
			r = -ENOMEM;
	if (!r)
		r = check_tree(ret, name, root, before, diags);
	if (!r)
		r = apply_about(*ret, sets, set_count);
	tree_free(root);
	diags_sort(diags);
	return r && diags->out_of_memory ? -ENOMEM : r;
}

/* Keeps only what is valid as a whole. */
static int only_whole(struct scenario **ret, struct scenario *s, int r)
{
	if (r)
		scenario_free(s);
	else
		*ret = s;
	return r;
}

int scenario_load_text(struct scenario **ret, const char *name, const char *text, size_t length,
	const char *const *sets, size_t set_count, struct diags *diags)
{
	struct scenario *s = NULL;
	int r = inspect_text(&s, name, text, length, sets, set_count, diags);

	return only_whole(ret, s, r);
}

int scenario_inspect(struct scenario **ret, const char *path, const char *const *sets,
	size_t set_count, struct diags *diags)
{
	size_t length;
	char *text;
	int r = read_file(&text, &length, path, diags);

	*ret = NULL;
	if (r)
		return r;
	r = inspect_text(ret, path, text, length, sets, set_count, diags);
	free(text);
	return r;
}

int scenario_load(struct scenario **ret, const char *path, const char *const *sets,
	size_t set_count, struct diags *diags)
{
	struct scenario *s = NULL;
	int r = scenario_inspect(&s, path, sets, set_count, diags);

	return only_whole(ret, s, r);
}

#define WORKLOAD "workload"

/* A list at the top level is put where a scenario has it. */
static int wrap_list(struct tree **root)
{
	struct tree *list = *root, *map;

	if (list->kind != TREE_LIST)
		return 0;
	map = tree_new(TREE_MAP, NULL, list->pos);
	if (!map)
		return -ENOMEM;
	*root = map;
	return tree_append(map, WORKLOAD, list->pos, list);
}

/* s gets nothing but the workloads. */
static int read_workloads(
	struct scenario *s, const char *path, const struct tree *root, struct diags *diags)
{
	const struct tree *list = tree_get(root, WORKLOAD);
	const struct key *key = map_key(&scenario_map, WORKLOAD);
	struct check c = {.diags = diags, .wrong = explain_path, .path = path};
	char expected[EXPECTED];
	bool valid = false;

	snprintf(expected, sizeof(expected), "a mapping with the key " WORKLOAD ", or %s",
		key->expected);
	if (root->kind != TREE_MAP)
		explain_unexpected(diags, root, expected);
	else if (!list)
		explain_missing(diags, root, WORKLOAD, key->expected);
	else
		valid = key_read(&c, key, list, s);
	if (valid && !s->workload_count)
		valid = explain_value(diags, list, "empty; expected at least one entry");
	return c.out_of_memory ? -ENOMEM : valid ? 0 : -EINVAL;
}

int scenario_workloads(struct workload_spec **ret, size_t *ret_count, const char *path,
	const char *text, size_t length, struct diags *diags)
{
	size_t before = diags->count;
	struct scenario s = {0};
	struct tree *root = NULL;
	int r = parse_text(&root, text, length, "one with a workload", diags);
	if (!r)
		r = wrap_list(&root);
	if (!r)
		r = read_workloads(&s, path, root, diags);
	tree_free(root);
	if (!r && diags->count != before)
		r = -EINVAL; /* a key came twice */
	diags_sort(diags);
	if (!r) {
		*ret = s.workloads;
		*ret_count = s.workload_count;
		return 0;
	}
	map_release(&scenario_map, &s);
	return r == -EINVAL && diags->out_of_memory ? -ENOMEM : r;
}
