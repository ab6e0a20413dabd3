/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/placement.h"

#include <string.h>
#include "workload/list.h"

const char *const placement_words[] = {"in_order", "random", "by_nic", NULL};

const struct key placement_host = {.kind = VALUE_LABEL,
	.max = NODE_NAME_LIMIT,
	.is_host = true,
	.expected = "the name of a host such as h0"};

bool placement_check_names(struct check *c, const struct tree *n, const char *key,
	char *const *names, size_t count, uint32_t most, const char *why)
{
	bool fine = true;
	char path[32];

	for (size_t i = 0; i < count; i++) {
		uint32_t before = 0;

		for (size_t k = 0; k < i; k++)
			before += !strcmp(names[i], names[k]);
		snprintf(path, sizeof(path), "%s.%zu", key, i);
		if (before >= most)
			fine = c->wrong(c, n, path, "'%s' again; %s", names[i], why);
	}
	return fine;
}

bool placement_check(struct check *c, const struct tree *n, const struct placement *p)
{
	char why[40];
	bool fine;

	snprintf(why, sizeof(why), "ranks_per_host is %u", p->ranks_per_host);
	fine = placement_check_names(
		c, n, "hosts", p->hosts, p->host_count, p->ranks_per_host, why);
	if (p->ranks_per_host > 1 && !p->inside.rate_bps)
		fine = c->wrong(c, n, "ranks_per_host",
			"ranks of a host send to each other inside it; give the rate of that too, such as inside: {rate: 3.6Tbps}");
	if (p->ranks_per_host == 1 && p->inside.rate_bps)
		fine = c->wrong(c, n, "inside",
			"no ranks share a host; give ranks_per_host: 2 or more, or leave it out");
	return fine;
}

/* Of planes, those of one after those of another. */
void placement_hosts(uint32_t *ret, const struct placement *p, uint32_t ranks, uint64_t rng,
	const struct workload_hosts *hosts)
{
	uint32_t each = p->ranks_per_host, filled = (ranks + each - 1) / each;
	uint32_t groups = workload_groups(hosts, p->order == BY_NIC);
	uint32_t size = hosts->count / groups;

	for (uint32_t i = 0; i < hosts->count; i++)
		ret[i] = workload_host(hosts, groups, i);
	if (p->order == RANDOM && !p->host_count)
		for (uint32_t i = 0; i < filled; i += size)
			workload_sample(ret + i, size, filled - i < size ? filled - i : size, &rng);
	/* from the last on: what is read yet is not written before */
	for (uint32_t i = ranks; i-- > 0;)
		ret[i] = ret[i / each];
	for (size_t i = 0; i < p->host_count; i++)
		ret[i] = hosts->number(hosts->fabric, p->hosts[i]);
}
