/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that a scenario names: data, which may be large. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/whole_file.h"
#include "scenario/explain.h"
#include "scenario/schema_use.h"
#include "scenario/text.h"
#include "scenario/tree.h"

void file_release(struct file_text *f)
{
	free(f->path);
	free(f->text);
	*f = (struct file_text){0};
}

/* The file of that name, which may be relative to the scenario's folder. 0 or -errno. */
static int open_named(const char *scenario, const char *name, uint64_t max, struct file_text *f)
{
	const char *slash = scenario && *name != '/' ? strrchr(scenario, '/') : NULL;
	char *path;
	int fd, r;

	if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - scenario) : 0,
		    slash ? scenario : "", name) < 0)
		return -ENOMEM;
	f->path = realpath(path, NULL);
	r = f->path ? 0 : -errno;
	free(path);
	if (r < 0)
		return r;
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	r = whole_file_read(fd, max, &f->text, &f->length);
	close(fd);
	return r;
}

static int take_built_in(const char *name, const char *text, struct file_text *f)
{
	f->path = strdup(name);
	f->text = strdup(text);
	f->length = strlen(text);
	return f->path && f->text ? 0 : -ENOMEM;
}

static bool explain_no_word(struct check *c, const struct key *k, const struct tree *n)
{
	size_t count = 0;

	while (k->words[count])
		count++;
	return explain_unknown_word(c->diags, n, k->words, count);
}

bool file_read(struct check *c, const struct key *k, const struct tree *n, struct file_text *ret)
{
	const char *text = k->built_in ? k->built_in(n->text) : NULL;
	uint64_t max = k->max ? k->max : FILE_TEXT_MAX;
	char shown[TEXT_SHOWN], expected[EXPECTED], size[UNITS_TEXT];
	struct file_text f = {0};
	int r;

	if (!*n->text || !text_printable(n->text, false))
		return explain_unexpected(c->diags, n, expected_value(k, expected));
	if (!text && k->words && !strpbrk(n->text, "./"))
		return explain_no_word(c, k, n);
	r = text ? take_built_in(n->text, text, &f) : open_named(c->path, n->text, max, &f);
	if (r == 0 && text_printable(f.path, false)) {
		file_release(ret);
		*ret = f;
		return true;
	}
	file_release(&f);
	text_shown(shown, n->text);
	if (r == 0)
		return explain_value(c->diags, n,
			"the path of '%s' holds control characters or bytes that are no UTF-8",
			shown);
	if (r == -ENOMEM) {
		c->out_of_memory = true;
		return false;
	}
	if (r == -EISDIR)
		return explain_value(c->diags, n, "'%s' is no regular file", shown);
	if (r == -EFBIG)
		return explain_value(
			c->diags, n, "'%s' is larger than %s", shown, format_bytes(size, max));
	return explain_value(c->diags, n, "cannot read '%s': %s; expected %s", shown, strerror(-r),
		expected_value(k, expected));
}
