/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ACKs, SACKs and CNPs that wait among data would make a sender take the queues of the reverse path
 * for its own. So without classes in the file they get the highest one to themselves.
 */
#include "scenario/check.h"

#define ANSWERS_DSCP 48 /* class selector 6 (RFC 2474) */

static uint32_t answers_class(const struct switch_spec *s)
{
	uint32_t class = SCENARIO_CLASSES - 1;

	return s->trim.to != TRIM_OFF && s->trim.class == class ? class - 1 : class;
}

/* Whether that DSCP, which host.dscp gives under `key`, is free; only trimmed headers have some. */
static bool is_free(struct check *c, const struct tree *root, const struct scenario *s,
	const char *key, uint32_t dscp)
{
	const struct tree *trim = tree_get(root, "switch.trim"),
			  *item = tree_get(tree_get(root, "host.dscp"), key);

	if (!(s->sw.classes[s->sw.trim.class].dscp >> dscp & 1))
		return true;
	return explain_value(c->diags, item ? item : trim,
		"DSCP %u is that of answers too (host.dscp.%s), and headers go by class %u; take another",
		dscp, key, s->sw.trim.class);
}

bool check_answers(struct check *c, const struct tree *root, struct scenario *s)
{
	const struct tree *classes = tree_get(root, "switch.classes");
	bool silent = !classes || tree_is_null(classes);
	struct host_spec *h = &s->host;
	uint64_t dscps;

	if (h->control_dscp == DSCP_AUTO)
		h->control_dscp = silent ? ANSWERS_DSCP : 0;
	if (h->notify_dscp == DSCP_AUTO)
		h->notify_dscp = h->control_dscp;
	dscps = (1ull << h->control_dscp | 1ull << h->notify_dscp) & ~(1ull << h->data_dscp);
	if (!silent || !dscps)
		return true;
	if (h->control_dscp != h->data_dscp && !is_free(c, root, s, "control", h->control_dscp))
		return false;
	if (h->notify_dscp != h->data_dscp && !is_free(c, root, s, "notify", h->notify_dscp))
		return false;
	s->sw.classes[answers_class(&s->sw)] = class_added(dscps, &s->sw.buffer.per_port);
	return true;
}
