/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "scenario/check.h"
#include "scenario/explain.h"
#include "scenario/tree.h"

#define FILE_LIMIT (1u << 20)

static int explain_file(struct diags *diags, const char *what)
{
	diags_add(diags, (struct diag_pos){0}, "%s", what);
	return -EINVAL;
}

/* Reads up to size bytes, fewer only at the end of the file. Returns the number, or -errno. */
static ssize_t read_up_to(int fd, char *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static int read_file(char **ret, size_t *ret_length, const char *path, struct diags *diags)
{
	char *buf;
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		diags_add(diags, (struct diag_pos){0}, "cannot open it: %s", strerror(errno));
		return -EINVAL;
	}
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		close(fd);
		return explain_file(diags, "it is a directory; expected a scenario file");
	}
	buf = malloc(FILE_LIMIT + 1);
	if (!buf) {
		close(fd);
		return -ENOMEM;
	}
	n = read_up_to(fd, buf, FILE_LIMIT + 1);
	close(fd);
	if (n >= 0) {
		*ret = buf;
		*ret_length = (size_t)n;
		return 0;
	}
	free(buf);
	diags_add(diags, (struct diag_pos){0}, "cannot read it: %s", strerror((int)-n));
	return -EINVAL;
}

/* The tree with its overrides; faults in either are messages, and the rest is checked all the same.
 */
static int load_tree(struct tree **ret, const char *text, size_t length, const char *const *sets,
	size_t set_count, struct diags *diags)
{
	struct tree *root;
	int r;

	if (!length)
		return explain_file(diags, "the file is empty; expected a scenario");
	if (length > FILE_LIMIT)
		return explain_file(diags, "the file is larger than 1 MB; expected a scenario");
	r = tree_parse(&root, text, length, diags);
	if (r)
		return r;
	if (root->kind != TREE_MAP) {
		explain_unexpected(diags, root, "a mapping that starts with name: and topology:");
		tree_free(root);
		return -EINVAL;
	}
	for (size_t i = 0; i < set_count; i++) {
		if (tree_set(root, sets[i], diags) == -ENOMEM) {
			tree_free(root);
			return -ENOMEM;
		}
	}
	*ret = root;
	return 0;
}

/* *ret is set to what is sound even if not all is. */
static int check_tree(struct scenario **ret, const char *name, const struct tree *root,
	size_t before, struct diags *diags)
{
	bool topology_sound;
	struct check c = {.diags = diags};
	struct scenario *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->path = strdup(name);
	c.out_of_memory = !s->path;
	topology_sound = scenario_check(&c, root, s);
	if (!c.out_of_memory && topology_sound)
		*ret = s;
	else
		scenario_free(s);
	if (c.out_of_memory)
		return -ENOMEM;
	return diags->count == before ? 0 : -EINVAL;
}

static int inspect_text(struct scenario **ret, const char *name, const char *text, size_t length,
	const char *const *sets, size_t set_count, struct diags *diags)
{
	size_t before = diags->count;
	struct tree *root;
	int r = load_tree(&root, text, length, sets, set_count, diags);

	if (!r) {
		r = check_tree(ret, name, root, before, diags);
		tree_free(root);
	}
	diags_sort(diags);
	return r && diags->out_of_memory ? -ENOMEM : r;
}

/* Keeps only what is sound as a whole. */
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
