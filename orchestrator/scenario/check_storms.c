/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

void check_storms(struct check *c, const struct tree *root, struct scenario *s)
{
	const struct tree *list = tree_get(root, "faults");

	for (size_t i = 0; i < s->fault_count; i++) {
		struct fault_spec *f = &s->faults[i];
		const struct class_spec *class = &s->sw.classes[f->class % SCENARIO_CLASSES];

		if (!f->sound || f->kind != FAULT_HOST_STORM || (class->used && class->lossless))
			continue;
		f->sound = false;
		explain_value(c->diags, tree_get(tree_get(list->items[i], "do"), "pause"),
			"class %u is not lossless, so that nobody heeds its pauses%s", f->class,
			s->sw.pfc.on ? "; expected one that is" : "; add switch.pfc: on");
	}
}
