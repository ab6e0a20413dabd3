/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/policy_swap.h"

#include <errno.h>
#include "base/units.h"
#include "control/ports.h"
#include "policy/verify.h"
#include "session/session_internal.h"
#include "topology/fabric.h"

static int swap_dataplane(
	struct session *s, const struct policy_program *p, int *ret_lost, struct error *why)
{
	const struct policy_program *now = p ? p : s->policy;

	*ret_lost = 0;
	if (s->built)
		return build_swap(s->built, s->params.fabric, p ? &p->code : NULL, ret_lost, why);
	dataplane_inline_swap(s->dp, now ? &now->code : NULL);
	return 0;
}

uint32_t session_policy_swaps(const struct session *s)
{
	return s->policy_swaps;
}

const char *session_policy_file(const struct session *s)
{
	const struct policy_program *p = s->swapped ? s->swapped : s->policy;

	return p ? p->source.name : NULL;
}

/* The dataplane has it. */
static void take_place(struct session *s, struct policy_program *p)
{
	policy_close(s->swapped);
	s->swapped = p;
	s->policy_swaps++;
	session_note(
		s, json_pack("{s:s, s:s?}", "event", "policy", "file", p ? p->source.name : NULL));
}

json_t *session_swap_policy(
	struct session *s, const struct policy_source *source, int *ret_error, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	struct policy_program *p = NULL;
	int r = session_follow(s), lost = 0;

	if (r == 0 && source)
		r = policy_open(&p, source, s->built, why);
	if (r == 0)
		r = swap_dataplane(s, p, &lost, why);
	if (r == 0 || lost)
		ports_swap_policy(&s->dp->tables, &f->net, &f->switching, r == 0 && p);
	*ret_error = r;
	if (r < 0) {
		if (p)
			*ret_error = policy_explain(&p->source, r, why);
		policy_close(p);
		if (lost) {
			take_place(s, NULL);
			const struct error was = *why;

			error_set(why, r, "%.400s; the switches have their own policies again",
				was.text);
		}
		return NULL;
	}
	take_place(s, p);
	return json_pack("{s:f, s:s?}", "model_time_us", (double)engine_now(s->engine) / PS_PER_US,
		"file", p ? p->source.name : NULL);
}
