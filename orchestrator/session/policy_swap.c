/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/policy_swap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "control/ports.h"
#include "policy/build.h"
#include "policy/verify.h"
#include "session/session_internal.h"
#include "topology/fabric.h"

struct swapped_policy {
	struct policy_source source; /* its own copy */
	struct policy_build build;
	struct policy_code code;
};

void swapped_policy_free(struct swapped_policy *p)
{
	if (!p)
		return;
	policy_release(&p->build);
	free((char *)p->source.name);
	free((char *)p->source.text);
	free(p);
}

/* Built, and loaded where this dataplane needs it. */
static int swapped_new(struct swapped_policy **ret, const struct policy_source *source, bool kernel,
	struct error *why)
{
	struct swapped_policy *p = calloc(1, sizeof(*p));
	char *text = malloc(source->length + 1), *name = strdup(source->name);
	int r;

	if (!p || !text || !name) {
		free(p);
		free(text);
		free(name);
		return error_set(why, -ENOMEM, "out of memory for a policy");
	}
	memcpy(text, source->text, source->length);
	text[source->length] = '\0';
	p->source = (struct policy_source){name, text, source->length};
	r = policy_build(&p->build, &p->source, NULL, why);
	if (r < 0) {
		p->build = (struct policy_build){0};
	} else {
		p->code = policy_code_of(&p->build, &p->source);
		if (!kernel)
			r = policy_load(&p->build, &p->code.function, why);
	}
	if (r < 0)
		swapped_policy_free(p);
	else
		*ret = p;
	return r;
}

static int swap_dataplane(
	struct session *s, const struct swapped_policy *p, int *ret_lost, struct error *why)
{
	const struct policy_code *code = p ? &p->code : s->policy;

	*ret_lost = 0;
	if (s->built)
		return build_swap(s->built, s->params.fabric, p ? code : NULL, ret_lost, why);
	dataplane_inline_swap(s->dp, code);
	return 0;
}

uint32_t session_policy_swaps(const struct session *s)
{
	return s->policy_swaps;
}

json_t *session_swap_policy(
	struct session *s, const struct policy_source *source, int *ret_error, struct error *why)
{
	const struct fabric *f = s->params.fabric;
	struct swapped_policy *p = NULL;
	int r = session_follow(s), lost = 0;

	if (r == 0 && source)
		r = swapped_new(&p, source, s->built, why);
	if (r == 0)
		r = swap_dataplane(s, p, &lost, why);
	if (r == 0 || lost)
		ports_swap_policy(&s->dp->tables, &f->net, &f->switching, r == 0 && p);
	*ret_error = r;
	if (r < 0) {
		if (p)
			*ret_error = policy_explain(&p->source, r, why);
		swapped_policy_free(p);
		return NULL;
	}
	swapped_policy_free(s->swapped);
	s->swapped = p;
	s->policy_swaps++;
	session_note(
		s, json_pack("{s:s, s:s?}", "event", "policy", "file", p ? p->source.name : NULL));
	return json_pack("{s:f, s:s?}", "model_time_us", (double)engine_now(s->engine) / PS_PER_US,
		"file", p ? p->source.name : NULL);
}
