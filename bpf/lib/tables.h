/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_TABLES_H
#define FABRICBED_LIB_TABLES_H

/*
 * Access to the shared tables: BPF maps in the kernel, arrays in a process. Each accessor returns
 * NULL for an index outside its table. `t` is unused in BPF, where the maps are the program's own.
 */
#include "abi/shared_state.h"
#include "lib/compiler.h"

#ifdef __bpf__

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/*
 * Weak: switch.bpf.c and host.bpf.c are linked into one object and share them. User space sets
 * max_entries from the fabric before it loads.
 */
#define X(table, element, bytes, elements)                                                         \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, element);                                                            \
	} table SEC(".maps") __weak;
SW_TABLES(X)
#undef X

/* Read-only once loaded: the verifier knows its values, and leaves out what they rule out. */
const volatile struct sw_config config __weak = {0};

static __always_inline const volatile struct sw_config *table_config(const struct sw_tables *t)
{
	(void)t;
	return &config;
}

#define SW_LOOKUP(t, table, index) ((void)(t), bpf_map_lookup_elem(&table, &index))

#else

static __always_inline const struct sw_config *table_config(const struct sw_tables *t)
{
	return &t->config;
}

#define SW_LOOKUP(t, table, index) (sw_likely(index < t->count.table) ? &t->table[index] : 0)

#endif

#define X(table, element, bytes, elements)                                                         \
	static __always_inline element *table_##table(const struct sw_tables *t, __u32 index)      \
	{                                                                                          \
		return SW_LOOKUP(t, table, index);                                                 \
	}
SW_TABLES(X)
#undef X

#endif
