/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One path for all packets, as ECMP gives it to a flow. */
#include "transport/paths/paths.h"

struct single_options {
	char none;
};

static uint32_t count(const void *options)
{
	(void)options;
	return 1;
}

static uint16_t choose(void *state, const struct path_request *request)
{
	(void)state;
	(void)request;
	return 0;
}

const struct paths_kind paths_kind_single = {
	.name = "single",
	.map = {.size = sizeof(struct single_options),
		.help = "one path for all packets of a flow"},
	.count = count,
	.choose = choose,
};
