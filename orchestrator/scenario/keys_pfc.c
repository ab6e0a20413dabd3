/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include "scenario/check.h"

#define PFC_KEY(word, kind, member, ...)                                                           \
	KEY(word, kind, struct switch_spec, pfc.member, __VA_ARGS__)

static const struct key pfc_keys[] = {
	PFC_KEY("quanta", COUNT, quanta, .fallback = "65535", .min = 1, .max = 65535,
		.help = "length of a pause, in the 512 bit times of 802.1Qbb"),
	PFC_KEY("response", TIME, response_ps, .fallback = "0", .max = DELAY_MAX,
		.help = "from the arrival of a PFC frame to its effect"),
	PFC_KEY("watchdog", TIME, watchdog_ps, .fallback = "off", .word = "off", .min = PS_PER_NS,
		.max = TIME_MAX,
		.help = "a queue that was paused so long is flushed and ignores further pauses"),
};

const struct map pfc_map = {KEYS(pfc_keys), .on = FIELD(struct switch_spec, pfc.on)};

bool check_lossless(struct check *c, const struct tree *n, struct switch_spec *s)
{
	const struct tree *classes = tree_get(n, "classes");
	bool any = false, valid = true;

	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		if (!s->classes[i].used || !s->classes[i].lossless)
			continue;
		any = true;
		if (!s->pfc.on)
			valid = explain_path(c, class_item(n, i), "lossless",
				"class %u cannot be lossless without PFC; add switch.pfc: on", i);
	}
	if (any || !s->pfc.on)
		return valid;
	if (classes && !tree_is_null(classes))
		return explain_value(c->diags, tree_get(n, "pfc"),
			"no class is lossless, so that nothing would be paused; add lossless: yes to one in switch.classes");
	s->classes[0].lossless = true;
	return valid;
}

/* One of "3: 4". */
static bool read_move(struct check *c, const struct tree *item, uint8_t to[SCENARIO_CLASSES])
{
	uint32_t from, target;

	if (strlen(item->key) != 1 || item->key[0] < '0' || item->key[0] > '0' + CLASS_MAX)
		return explain_value(c->diags, item,
			"the key is no class; expected one from 0 to %u", CLASS_MAX);
	from = (uint32_t)(item->key[0] - '0');
	if (!read_small(c, item, CLASS_MAX, &target))
		return false;
	if (target == from)
		return explain_value(c->diags, item, "class %u to itself; expected another", from);
	to[from] = (uint8_t)target;
	return true;
}

#define REMAP_EXPECTED "classes and where they move to, such as {3: 4}"

static bool read_remap(struct check *c, const struct tree *n, void *to)
{
	bool valid = true;

	if (n->kind != TREE_MAP)
		return explain_unexpected(c->diags, n, REMAP_EXPECTED);
	if (!n->count)
		return explain_value(c->diags, n, "empty; expected classes and where they move to");
	for (size_t i = 0; i < n->count; i++)
		if (!n->items[i]->again)
			valid &= read_move(c, n->items[i], to);
	return valid;
}

static void write_remap(FILE *out, const void *target, int indent)
{
	const uint8_t *to = target;
	const char *between = "{";

	(void)indent;
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		if (to[i] == i)
			continue;
		fprintf(out, "%s%u: %u", between, i, to[i]);
		between = ", ";
	}
	fputc('}', out);
}

static const struct form remap_form = {
	.read = read_remap, .write = write_remap, .expected = REMAP_EXPECTED};

static const struct key roles_keys[] = {
	KEY("remap", FORM, struct switch_spec, roles.to, .required = true, .form = &remap_form,
		.expected = REMAP_EXPECTED,
		.help = "classes, and the class that packets from uplink to uplink change to"),
};

const struct map roles_map = {KEYS(roles_keys), .on = FIELD(struct switch_spec, roles.on),
	.expected = "off, or {remap: {3: 4}}"};

static bool check_end(
	struct check *c, const struct tree *item, const struct switch_spec *s, uint32_t class)
{
	if (!s->classes[class].used)
		return explain_value(
			c->diags, item, "there is no class %u; add it to switch.classes", class);
	if (s->classes[class].lossless)
		return true;
	return explain_value(c->diags, item,
		"class %u is not lossless; only lossless classes can deadlock, and moving into another would drop",
		class);
}

/* Whether packets that are moved time and again come back to where they were. */
static bool comes_back(const struct switch_spec *s, uint32_t class)
{
	uint32_t at = class;

	for (uint32_t i = 0; i < SCENARIO_CLASSES && s->roles.to[at] != at; i++) {
		at = s->roles.to[at];
		if (at == class)
			return true;
	}
	return false;
}

static bool check_move(
	struct check *c, const struct tree *item, const struct switch_spec *s, uint32_t from)
{
	uint32_t to = s->roles.to[from];

	if (!check_end(c, item, s, from) || !check_end(c, item, s, to))
		return false;
	if (!s->classes[to].dscp)
		return explain_value(c->diags, item,
			"class %u has no DSCP, by which later switches would know what was moved; give it one",
			to);
	if (!comes_back(s, from))
		return true;
	return explain_value(c->diags, item,
		"class %u comes back to itself, and with it the deadlock; expected a way that ends",
		from);
}

bool check_roles_known(struct check *c, const struct tree *n, const struct switch_spec *s)
{
	if (!s->roles.on || s->lldp_ps)
		return true;
	return explain_value(c->diags, tree_get(n, "roles"),
		"ports learn their roles by LLDP, which is off; add switch.lldp: on");
}

bool check_remap(struct check *c, const struct tree *n, const struct switch_spec *s)
{
	const struct tree *remap = tree_get(n, "roles.remap");
	bool valid = true;

	if (!s->roles.on)
		return true;
	for (size_t i = 0; i < remap->count; i++)
		valid &= check_move(
			c, remap->items[i], s, (uint32_t)(remap->items[i]->key[0] - '0'));
	return valid;
}
