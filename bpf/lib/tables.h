/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_TABLES_H
#define FABRICBED_LIB_TABLES_H

/*
 * Access to the shared tables: BPF maps in the kernel, arrays in a process. Each accessor returns
 * NULL for an index outside its table. `t` is unused in BPF, where the maps are the program's own.
 */
#include "abi/state.h"
#include "lib/compiler.h"

#ifdef __bpf__

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Weak: switch.bpf.c and host.bpf.c are linked into one object and share them. User space sets
 * max_entries from the fabric before it loads.
 */
#define SW_TABLE(name, element)                                                                    \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, element);                                                            \
	} name SEC(".maps") __weak

SW_TABLE(ports, struct port);
SW_TABLE(drops, struct port_drops);
SW_TABLE(queues, struct queue);
SW_TABLE(ingresses, struct ingress);
SW_TABLE(faults, struct fault);
SW_TABLE(flows, struct flow_mark);
SW_TABLE(switches, struct switch_state);
SW_TABLE(routes, struct route_block);
SW_TABLE(groups, struct group);

/* Read-only once loaded: the verifier knows its values, and leaves out what they rule out. */
const volatile struct sw_config config __weak = {0};

static __always_inline const volatile struct sw_config *table_config(const struct sw_tables *t)
{
	(void)t;
	return &config;
}

#define SW_LOOKUP(type, name)                                                                      \
	static __always_inline type *table_##name(const struct sw_tables *t, __u32 index)          \
	{                                                                                          \
		(void)t;                                                                           \
		return bpf_map_lookup_elem(&name, &index);                                         \
	}

#else

static __always_inline const struct sw_config *table_config(const struct sw_tables *t)
{
	return &t->config;
}

#define SW_LOOKUP(type, name)                                                                      \
	static __always_inline type *table_##name(const struct sw_tables *t, __u32 index)          \
	{                                                                                          \
		return sw_likely(index < t->SW_COUNT_##name) ? &t->name[index] : 0;                \
	}
#define SW_COUNT_ports     port_count
#define SW_COUNT_drops     port_count
#define SW_COUNT_queues    queue_count
#define SW_COUNT_ingresses queue_count
#define SW_COUNT_faults    fault_count
#define SW_COUNT_switches  switch_count
#define SW_COUNT_routes    route_count
#define SW_COUNT_groups    group_count
#define SW_COUNT_flows     flow_count

#endif

SW_LOOKUP(struct port, ports)
SW_LOOKUP(struct port_drops, drops)
SW_LOOKUP(struct queue, queues)
SW_LOOKUP(struct ingress, ingresses)
SW_LOOKUP(struct fault, faults)
SW_LOOKUP(struct switch_state, switches)
SW_LOOKUP(struct route_block, routes)
SW_LOOKUP(struct group, groups)
SW_LOOKUP(struct flow_mark, flows)

#endif
