/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dataplane/table_list.h"

#include <string.h>
#include <sys/mman.h>

void tables_size(struct sw_tables *t, const struct sw_sizes *s)
{
	memset(t, 0, sizeof(*t));
#define X(name, element, bytes, elements) t->count.name = elements;
	SW_TABLES(X)
#undef X
	t->config = s->config;
}

void tables_list(struct sw_tables *t, struct table ret[TABLES])
{
	const struct table list[TABLES] = {
#define X(name, element, bytes, elements)                                                          \
	{#name, (void **)&t->name, t->count.name ? t->count.name : 1, bytes},
		SW_TABLES(X)
#undef X
	};

	memcpy(ret, list, sizeof(list));
}

void tables_unmap(struct sw_tables *t)
{
	struct table tables[TABLES];

	tables_list(t, tables);
	for (int i = 0; i < TABLES; i++)
		if (*tables[i].at)
			munmap(*tables[i].at, table_bytes(&tables[i]));
}
