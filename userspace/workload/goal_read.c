/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Graphs of GOAL, whichever form their file has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "workload/goal.h"

void goal_release(struct goal *g)
{
	free(g->ops);
	free(g->dependences);
	*g = (struct goal){0};
}

int goal_refuse(const struct goal *g, uint32_t line, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = cell_refuse(g->why, g->file, g->unit, line, format, ap);
	va_end(ap);
	return r;
}

int goal_refuse_file(const struct goal *g, const char *format, ...)
{
	size_t used = (size_t)snprintf(
		g->why, WORKLOAD_REFUSAL, "file: %.60s: ", file_text_name(g->file));
	va_list ap;

	va_start(ap, format);
	vsnprintf(g->why + used, WORKLOAD_REFUSAL - used, format, ap);
	va_end(ap);
	return -EINVAL;
}

const char *goal_op_name(const struct goal *g, uint32_t op, char buf[CELL_SHOWN])
{
	static const char *const kinds[] = {"a send", "a receive", "a calc"};
	const struct goal_op *o = &g->ops[op];
	struct cell label = goal_word(g->file->text + o->label);

	if (!o->label)
		label = (struct cell){kinds[o->kind], strlen(kinds[o->kind])};
	return cell_show(&label, buf);
}

int goal_add_dependence(struct goal *g, uint32_t from, uint32_t to, bool begun)
{
	struct goal_dependence d = {
		from, to, g->ops[from].first_after, g->ops[to].first_before, begun};

	if (g->dependence_count == GOAL_NONE)
		return -E2BIG;
	if (ARRAY_ADD(g->dependences, g->dependence_count, d) < 0)
		return -ENOMEM;
	g->ops[from].first_after = g->ops[to].first_before = g->dependence_count - 1;
	return 0;
}

int goal_read(struct goal *g, const struct file_text *file, char why[WORKLOAD_REFUSAL])
{
	bool binary = goal_is_binary(file);
	int err;

	*g = (struct goal){.file = file, .unit = binary ? "operation" : "line", .why = why};
	err = binary ? goal_read_binary(g) : goal_read_text(g);
	return err == 0 && !g->op_count ? goal_refuse_file(g, "no rank does anything") : err;
}
