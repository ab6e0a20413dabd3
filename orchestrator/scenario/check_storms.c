/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

void check_storms(struct check *c, const struct tree *root, struct scenario *s)
{
	const struct tree *list = tree_get(root, "faults");

	for (size_t i = 0; i < s->fault_count; i++) {
		struct fault_spec *f = &s->faults[i];
		const struct fault_effect *e = &f->effect;
		const struct class_spec *class = &s->sw.classes[e->class % SCENARIO_CLASSES];

		if (!f->sound || !fault_kinds[e->kind].pauses_class ||
			(class->used && class->lossless))
			continue;
		f->sound = false;
		explain_value(c->diags,
			tree_get(tree_get(list->items[i], "do"), fault_keys[e->kind].name),
			"class %u is not lossless, so that nobody heeds its pauses%s", e->class,
			s->sw.pfc.on ? "; expected one that is" : "; add switch.pfc: on");
	}
}
