/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/scenario.h"

int shape_alloc(struct shape *s, uint32_t hosts, uint32_t switches, uint32_t links)
{
	struct shape made = {.host_count = hosts, .switch_count = switches};

	made.nodes = calloc((size_t)hosts + switches + 1, sizeof(*made.nodes));
	made.links = calloc((size_t)links + 1, sizeof(*made.links));
	if (!made.nodes || !made.links) {
		shape_release(&made);
		return -ENOMEM;
	}
	*s = made;
	return 0;
}

void shape_release(struct shape *s)
{
	free(s->nodes);
	free(s->links);
	memset(s, 0, sizeof(*s));
}

void shape_link(struct shape *s, const struct topology_spec *t, uint32_t a, uint32_t b)
{
	bool host = a < s->host_count || b < s->host_count;

	s->links[s->link_count++] = (struct shape_link){
		.a = a,
		.b = b,
		.rate_bps = host && t->host_rate_bps ? t->host_rate_bps : t->rate_bps,
		.delay_ps = t->delay_ps,
	};
}
