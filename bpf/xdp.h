/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_XDP_H
#define FABRICBED_XDP_H

/* The XDP side of a program: from a frame on the veth to its verdict in the AF_XDP socket. */
#include "sw/pipeline.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps") __weak;

/*
 * Fills c from a frame and gives the place of its verdict. NULL: not from the engine; counted, and
 * not to be redirected.
 */
static __always_inline struct verdict *xdp_enter(struct sw_ctx *c, struct xdp_md *md)
{
	void *data = (void *)(long)md->data;
	struct hop *hop;

	c->t = 0;
	c->cursor.pos = data;
	c->cursor.end = (void *)(long)md->data_end;
	c->in_id = md->ingress_ifindex;
	hop = cursor_pull(&c->cursor, sizeof(*hop));
	c->in = table_ports(c->t, c->in_id);
	if (!hop || !c->in || hop->magic != HOP_MAGIC) {
		sw_drop(c, c->in_id, DROP_FOREIGN);
		return 0;
	}
	c->hop = *hop;
	return data;
}

static __always_inline int xdp_run(struct xdp_md *md, enum port_kind kind)
{
	struct sw_ctx c = {0};
	struct verdict *verdict = xdp_enter(&c, md);

	if (!verdict)
		return XDP_DROP;
	sw_run(&c, verdict, kind);
	return (int)bpf_redirect_map(&sockets, c.in_id, XDP_DROP);
}

#endif
