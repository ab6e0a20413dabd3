/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void policy_close(struct policy_program *p)
{
	if (!p)
		return;
	policy_release(&p->build);
	free((char *)p->source.name);
	free((char *)p->source.text);
	free(p);
}

static int copy_source(struct policy_source *ret, const struct policy_source *source)
{
	char *name = strdup(source->name), *text = malloc(source->length + 1);

	*ret = (struct policy_source){name, text, source->length};
	if (!name || !text)
		return -ENOMEM;
	memcpy(text, source->text, source->length);
	text[source->length] = '\0';
	return 0;
}

static int load(struct policy_program *p, struct error *why)
{
	struct error refused = ERROR_INIT;

	/* no privilege, no such kernel: the process needs neither */
	if (policy_be_verified(&p->build, &p->source, &refused) == -EINVAL)
		return error_set(why, -EINVAL, "%s", refused.text);
	return policy_load(&p->build, &p->code.function, why);
}

int policy_open(struct policy_program **ret, const struct policy_source *source, bool kernel,
	struct error *why)
{
	struct policy_program *p = calloc(1, sizeof(*p));
	int r = p ? copy_source(&p->source, source) : -ENOMEM;

	if (r < 0)
		error_set(why, r, "out of memory for a policy");
	else
		r = policy_build(&p->build, &p->source, NULL, why);
	if (r == 0) {
		p->code = policy_code_of(&p->build, &p->source);
		r = kernel ? 0 : load(p, why);
	}
	if (r < 0)
		policy_close(p);
	else
		*ret = p;
	return r;
}
