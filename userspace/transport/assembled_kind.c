/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The assembled transport's options in a scenario, and what others have to know of it. */
#include "abi/wire.h"
#include "transport/assembled.h"
#include "transport/kind.h"

/* A part has its keys beside its code. */
#define PART(kind, word_, symbol)                                                                  \
	KEY(word_, MAP, struct assembled_options, kind##_options, .choice = true,                  \
		.map = &kind##_kind_##symbol.map),
#define PATHS_KEY(symbol, word)    PART(paths, word, symbol)
#define CONTROL_KEY(symbol, word)  PART(control, word, symbol)
#define RECOVERY_KEY(symbol, word) PART(recovery, word, symbol)

static const struct key paths_keys[] = {PATHS(PATHS_KEY)};
static const struct key control_keys[] = {CONTROLS(CONTROL_KEY)};
static const struct key recovery_keys[] = {RECOVERIES(RECOVERY_KEY)};

static const struct map paths_map = {KEYS(paths_keys),
	.chosen = FIELD(struct assembled_options, paths),
	.pos = offsetof(struct assembled_options, paths_pos)};
static const struct map control_map = {KEYS(control_keys),
	.chosen = FIELD(struct assembled_options, control),
	.pos = offsetof(struct assembled_options, control_pos)};
static const struct map recovery_map = {KEYS(recovery_keys),
	.chosen = FIELD(struct assembled_options, recovery),
	.pos = offsetof(struct assembled_options, recovery_pos)};

static const struct key keys[] = {
	SECTION("paths", &paths_map, .fallback = "spray", .help = "which path a packet takes"),
	SECTION("control", &control_map, .fallback = "window", .help = "how fast packets leave"),
	SECTION("recovery", &recovery_map, .fallback = "coding",
		.help = "how losses are found, and what is sent again"),
};

/* what: of it, if there is anything to say. */
static struct transport_part part_if(
	const char *what, const char *key, const char *name, struct diag_pos pos)
{
	return (struct transport_part){key, what ? name : NULL, what, pos};
}

static void facts(const void *options, struct transport_facts *ret)
{
	const struct assembled_options *o = options;
	const struct paths_kind *paths = assembled_paths(o);
	const struct control_kind *control = assembled_control(o);
	const struct recovery_kind *recovery = assembled_recovery(o);

	if (!o->paths_options || !o->control_options || !o->recovery_options)
		return; /* a part could not be read */
	ret->even = recovery->even;
	ret->paths = paths->count ? paths->count(o->paths_options) : PATHS_ALL;
	ret->rto_ps = ((const struct recovery_options *)o->recovery_options)->rto_ps;
	ret->rto_least_ps = recovery->rto_least_ps;
	if (control->window_most.size)
		ret->window = *(const struct quantity *)((const char *)o->control_options +
							 control->window_most.offset);
	ret->least_share = control->least_share;
	ret->unmarked[0] = part_if(control->unmarked, "control", control->name, o->control_pos);
	ret->unmarked[1] = part_if(paths->unmarked, "paths", paths->name, o->paths_pos);
	ret->share = part_if(control->share ? "" : NULL, "control", control->name, o->control_pos);
	ret->paced = control->share ? control->share(o->control_options) : 0;
	ret->subflow_threshold =
		recovery->subflow_threshold ? recovery->subflow_threshold(o->recovery_options) : 0;
	ret->trims = recovery->needs;
	ret->recovery = part_if("", "recovery", recovery->name, o->recovery_pos);
	ret->spreads = paths->reorders && ret->paths > 1 ? paths->name : NULL;
	ret->loss_harm = recovery->loss_harm;
	ret->order_harm = recovery->order_harm;
}

const struct transport_kind transport_kind_assembled = {
	.title = "assembled",
	.map = {KEYS(keys), .size = sizeof(struct assembled_options),
		.help = "made of parts: paths, control, recovery"},
	.ops = &assembled_transport,
	.data_bytes = sizeof(struct assembled_data),
	.answer_bytes = sizeof(struct assembled_answer),
	.facts = facts,
};
