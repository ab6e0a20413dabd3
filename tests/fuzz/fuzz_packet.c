/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arbitrary bytes as hop header and frame, into the switch's pipeline and the host's. Whatever
 * they are, the accounts must balance, and only what a router may change has changed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "abi/drop.h"
#include "abi/wire.h"
#include "dataplane/dataplane.h"

#define HOST_PORT   2u
#define SWITCH_PORT 3u /* the switch's port 0 */
#define PORT_COUNT  7u
#define FRAME_MAX   2048u
#define ETH         14u

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

/*
 * The head of an input: what the tables hold when the frame comes. Then the hop header and the
 * frame.
 */
struct setting {
	uint32_t up_since_ps;
	uint32_t kmin_bytes, kmax_bytes, pmax;
	uint32_t depth_bytes, buffer_bytes;
	uint16_t route, group_count;
	uint8_t down, pad[3];
};

/* What the tables say of drops and arrivals. */
struct tally {
	uint64_t dropped, rx, marked;
};

static void fill(const struct sw_tables *t, const struct setting *s)
{
	t->switches[0] = (struct switch_state){
		.first_port = SWITCH_PORT, .port_count = 4, .host_count = 40, .hash_seed = 1};
	memset(t->routes, 0, t->route_count * sizeof(*t->routes));
	t->routes[1].group[1] = s->route;
	t->groups[0] = (struct group){.count = 3, .port = {1, 2, 3}};
	t->groups[1] = (struct group){.count = s->group_count, .port = {1, 2, 3, 200}};
	for (uint32_t id = HOST_PORT; id < PORT_COUNT; id++) {
		struct port *p = &t->ports[id];

		p->kind = id == HOST_PORT ? PORT_HOST : PORT_SWITCH;
		p->host = 6;
		p->up = !(s->down & 1);
		p->up_since_ps = s->up_since_ps;
		p->kmin_bytes = s->kmin_bytes;
		p->kmax_bytes = s->kmax_bytes;
		p->pmax = s->pmax & 0x1ffff;
		p->buffer_bytes = s->buffer_bytes;
		p->depth_bytes = s->depth_bytes;
		memset(p->mac, 0x10 + (int)id, 6);
		memset(p->peer_mac, 0x20 + (int)id, 6);
	}
}

static struct tally count(const struct sw_tables *t)
{
	struct tally sum = {0};

	for (uint32_t id = 0; id < t->port_count; id++) {
		for (unsigned reason = 0; reason < DROP_SLOTS; reason++)
			sum.dropped += t->drops[id].frames[reason];
		sum.rx += t->ports[id].rx_frames;
		sum.marked += t->ports[id].marked_frames;
	}
	return sum;
}

static uint32_t ip4_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Byte i of the frame may only differ if a router may change it there. */
static bool may_change(uint32_t i, bool ip6, const struct verdict *v)
{
	bool marked = v->flags & VERDICT_MARKED, forwarded = v->action == VERDICT_FORWARD;

	if (i < 12)
		return forwarded;
	if (i == ETH + 1)
		return marked; /* TOS, or the part of the class that ECN is in */
	if (ip6)
		return i == ETH + 7 && forwarded;
	return (i == ETH + 8 && forwarded) ||
	       ((i == ETH + 10 || i == ETH + 11) && (forwarded || marked));
}

static void check_frame(
	const uint8_t *before, const uint8_t *after, uint32_t bytes, const struct verdict *v)
{
	bool ip6 = bytes > ETH && before[ETH] >> 4 == 6;
	const uint8_t *ip = after + ETH;

	for (uint32_t i = 0; i < bytes; i++)
		must(before[i] == after[i] || may_change(i, ip6, v));
	if (v->action == VERDICT_DROP)
		return;
	must(bytes >= ETH + 20);
	if (ip[0] == 0x45)
		must(ip4_sum(ip) == 0xffff);
	if (v->action == VERDICT_FORWARD) {
		uint32_t life = ETH + (ip6 ? 7 : 8);

		must(after[life] > 0 && after[life] == before[life] - 1);
		must(after[0] == 0x20 + v->port && after[6] == 0x10 + v->port);
	}
}

static void check_tables(const struct sw_tables *t, const struct setting *s, uint32_t port,
	const struct hop *hop, const struct verdict *v)
{
	struct tally sum = count(t);
	bool dropped = v->action == VERDICT_DROP;

	must(v->magic == VERDICT_MAGIC && v->length == hop->length);
	must(v->action == (dropped                    ? VERDICT_DROP
				  : port == HOST_PORT ? VERDICT_DELIVER
						      : VERDICT_FORWARD));
	must(sum.rx == 1 && t->ports[port].rx_frames == 1);
	must(sum.marked == !!(v->flags & VERDICT_MARKED));
	must(sum.dropped == dropped);
	must(dropped == (v->reason != DROP_NONE) && v->reason < DROP_REASON_COUNT);
	if (dropped)
		must(t->drops[v->reason == DROP_BUFFER ? v->port : port].frames[v->reason] == 1);
	for (uint32_t id = HOST_PORT; id < PORT_COUNT; id++) {
		/* of a frame that runs ahead of its arrival the engine takes the space */
		bool entered =
			v->action == VERDICT_FORWARD && v->port == id && !(hop->flags & HOP_ROOM);
		uint64_t depth = (uint64_t)s->depth_bytes + (entered ? hop->length : 0);

		must(t->ports[id].depth_bytes == depth && t->ports[id].depth_frames == entered);
		must(!entered || depth <= s->buffer_bytes);
	}
}

static void run(uint32_t port, const struct setting *s, const struct hop *hop, const uint8_t *bytes,
	uint32_t captured)
{
	const struct sw_tables sizes = {
		.port_count = PORT_COUNT, .switch_count = 1, .route_count = 2, .group_count = 2};
	/* of exactly its size, so that a step too far is seen */
	struct frame *frame = malloc(sizeof(*frame) + captured);
	struct frame_ref ref = {frame, captured};
	struct dataplane *dp;

	must(frame && !dataplane_inline_open(&dp, &sizes, FRAME_MAX));
	fill(&dp->tables, s);
	frame->hop = *hop;
	memcpy(frame->bytes, bytes, captured);
	must(!dp->ops->submit(dp, port, &ref, 1) && ref.captured == captured);
	check_tables(&dp->tables, s, port, hop, &frame->verdict);
	check_frame(bytes, frame->bytes, captured, &frame->verdict);
	dp->ops->close(dp);
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct setting s;
	struct hop hop;

	if (size < sizeof(s) + sizeof(hop) || size > sizeof(s) + sizeof(hop) + FRAME_MAX)
		return 0;
	memcpy(&s, data, sizeof(s));
	memcpy(&hop, data + sizeof(s), sizeof(hop));
	data += sizeof(s) + sizeof(hop);
	size -= sizeof(s) + sizeof(hop);
	run(SWITCH_PORT, &s, &hop, data, (uint32_t)size);
	run(HOST_PORT, &s, &hop, data, (uint32_t)size);
	return 0;
}
