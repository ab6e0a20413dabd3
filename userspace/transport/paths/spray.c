/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The next path for each packet, whatever became of those before. Load Balancing for AI Training
 * Workloads, section 4, "Per-Packet LB": hosts increment the flow label.
 */
#include "transport/paths/paths.h"

struct spray_options {
	char none;
};

struct spray {
	uint64_t next;
};

static uint16_t choose(void *state, const struct path_request *request)
{
	struct spray *s = state;

	(void)request;
	return (uint16_t)(s->next++ % PATHS_ALL);
}

const struct paths_kind paths_kind_spray = {
	.name = "spray",
	.map = {.size = sizeof(struct spray_options), .help = "another path for each packet"},
	.state_bytes = sizeof(struct spray),
	.choose = choose,
	.reorders = true,
};
