/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TABLE_LIST_H
#define FABRICBED_TABLE_LIST_H

/* What both dataplanes do with all tables alike. */
#include <stddef.h>
#include <stdint.h>
#include "abi/shared_state.h"

/* A table as memory: where sw_tables points to it, and how much it takes. */
struct table {
	const char *name; /* as its BPF map is called */
	void **at;
	uint32_t count; /* at least 1: a BPF map can't be empty, and is as large as an array */
	size_t size;    /* of an element */
};

#define X(name, element, bytes, elements) +1
enum { TABLES = SW_TABLES(X) };
#undef X

/* Sets the counts and the configuration of t, whose tables are not there yet. */
void tables_size(struct sw_tables *t, const struct sw_sizes *sizes);

/* All tables of t. */
void tables_list(struct sw_tables *t, struct table ret[TABLES]);

static inline size_t table_bytes(const struct table *table)
{
	return table->count * table->size;
}

/* Unmaps those that are there. */
void tables_unmap(struct sw_tables *t);

#endif
