/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The expected outcome of a frame: by the standards' bytes, and by separate accounts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"

#define DICE_STEP 0x9e3779b97f4a7c15ull /* SplitMix64's increment */

void trial_init(struct trial *t, const struct packet_spec *spec)
{
	struct packet_spec own = *spec; /* which may be t's */

	memset(t, 0, sizeof(*t));
	t->spec = own;
	packet_build(&t->in, &own);
	t->at = BENCH_IN;
	t->hop = (struct hop){
		.magic = HOP_MAGIC,
		.length = t->in.length,
		.now_ps = 2000000,
		.started_ps = 1000000,
	};
}

struct queue *trial_queue(struct switch_bench *b, const struct trial *t, uint32_t port)
{
	return bench_queue(b, port, bench_class(b, packet_tos(&t->in) >> 2));
}

struct verdict trial_run(struct switch_bench *b, const struct trial *t, struct packet *ret_out)
{
	/* of exactly its size, so that the sanitizer sees a step too far */
	struct frame *frame = calloc(1, sizeof(*frame) + t->in.captured);
	struct frame_ref ref = {frame, t->in.captured};
	struct verdict v;

	assert_non_null(frame);
	frame->hop = t->hop;
	memcpy(frame->bytes, t->in.bytes, t->in.captured);
	assert_int_equal(b->dp->ops->submit(b->dp, t->at, &ref, 1), 0);
	assert_int_equal(ref.captured, t->in.captured);
	v = frame->verdict;
	if (ret_out) {
		*ret_out = t->in;
		memcpy(ret_out->bytes, frame->bytes, t->in.captured);
	}
	free(frame);
	return v;
}

static void verdict_assert_equal(const struct verdict *v, const struct verdict *want)
{
	static const uint8_t zeros[sizeof(v->reserved)];

	assert_int_equal(v->magic, VERDICT_MAGIC);
	assert_int_equal(v->reason, want->reason);
	assert_int_equal(v->action, want->action);
	assert_int_equal(v->flags, want->flags);
	assert_int_equal(v->queue, want->queue);
	assert_int_equal(v->in_queue, want->in_queue);
	assert_int_equal(v->port, want->port);
	assert_int_equal(v->length, want->length);
	assert_memory_equal(v->reserved, zeros, sizeof(zeros));
	assert_int_equal(v->reserved2, 0);
}

void trial_makes(struct switch_bench *b, const struct trial *t, const struct packet *out,
	const struct verdict *want)
{
	struct packet got;
	struct verdict v = trial_run(b, t, &got);

	packet_assert_equal("the frame", got.bytes, out->bytes, t->in.captured);
	verdict_assert_equal(&v, want);
	tables_assert_equal(&b->dp->tables, &b->want);
}

void trial_becomes(struct switch_bench *b, const struct trial *t, const struct packet *out,
	const struct verdict *want)
{
	struct port *in = &b->want.ports[t->at];

	in->rx_frames++;
	in->rng += t->dice * DICE_STEP;
	in->marked_frames += !!(t->flags & VERDICT_MARKED);
	trial_makes(b, t, out, want);
}

static uint64_t beyond(uint64_t bytes, uint32_t own)
{
	return bytes > own ? bytes - own : 0;
}

/* In b->want: one that holds `held` takes so much more, beyond its reserve out of the pool. */
static void want_share(
	struct switch_bench *b, uint32_t held, uint32_t own, uint32_t alpha, uint32_t length)
{
	struct switch_state *sw = &b->want.switches[0];

	if (!alpha)
		return;
	sw->pool_used += beyond((uint64_t)held + length, own) - beyond(held, own);
	if (sw->pool_max < sw->pool_used)
		sw->pool_max = sw->pool_used;
}

void want_enter(struct switch_bench *b, uint32_t port, uint32_t class, uint32_t length)
{
	struct queue *q = &b->want.queues[port * CLASSES + class];

	want_share(b, q->depth_bytes, q->limit_bytes, q->alpha, length);
	q->depth_bytes += length;
	q->depth_frames++;
	if (q->max_depth_bytes < q->depth_bytes)
		q->max_depth_bytes = q->depth_bytes;
}

/* In b->want: an ingress takes a frame. */
static void want_hold(struct switch_bench *b, const struct trial *t, uint32_t class)
{
	struct ingress *in = &b->want.ingresses[t->at * CLASSES + class];

	if (t->above) {
		in->headroom_bytes += t->hop.length;
		b->want.switches[0].headroom_used[class] += t->hop.length;
	} else {
		want_share(b, in->bytes, in->xoff_bytes, in->alpha, t->hop.length);
		in->bytes += t->hop.length;
	}
	if (in->max_bytes < in->bytes + in->headroom_bytes)
		in->max_bytes = in->bytes + in->headroom_bytes;
}

/* What it is made into, but for what a router does to every packet. */
static struct packet rewritten(const struct trial *t)
{
	struct packet out = t->in;

	if (t->flags & VERDICT_MARKED)
		packet_set_tos(&out, packet_tos(&out) | 3);
	if (t->flags & VERDICT_TRIMMED)
		packet_trim(&out);
	if (t->flags & VERDICT_RETURNED)
		packet_turn(&out);
	if (t->flags & (VERDICT_REMAPPED | VERDICT_TRIMMED | VERDICT_RETURNED))
		packet_set_tos(&out, (uint8_t)(t->dscp << 2 | (packet_tos(&out) & 3)));
	return out;
}

/* Its classes and its length; in b->want what is counted of it on the way. */
static struct verdict begin(
	struct switch_bench *b, const struct trial *t, enum verdict_action action)
{
	struct verdict want = {.action = (uint8_t)action, .flags = t->flags};
	uint8_t was = bench_class(b, packet_tos(&t->in) >> 2);
	uint8_t is = bench_class(b, t->dscp);
	bool cut = t->flags & (VERDICT_TRIMMED | VERDICT_RETURNED);

	want.in_queue = cut ? is : was;
	want.queue = cut || t->flags & VERDICT_REMAPPED ? is : was;
	want.length = t->flags & VERDICT_TRIMMED ? rewritten(t).length : t->hop.length;
	if (t->flags & VERDICT_TRIMMED)
		b->want.ports[t->chosen].trimmed_frames++;
	if (t->flags & VERDICT_ASK_PFC)
		b->want.ingresses[t->at * CLASSES + was].paused = 1;
	return want;
}

/* UDP to 4791, its header in plain sight. */
static bool is_roce(const struct packet *p)
{
	const uint8_t *ip = p->bytes + PACKET_IP;
	bool ip6 = ip[0] >> 4 == 6;
	bool udp = ip6 ? ip[6] == 17
		       : ip[0] == 0x45 && ip[9] == 17 && !(packet_get16(ip + 6) & 0x3fff);

	return udp && packet_get16(ip + (ip6 ? 42 : 22)) == 4791;
}

void trial_forwards(struct switch_bench *b, const struct trial *t, uint32_t port)
{
	struct verdict want = begin(b, t, VERDICT_FORWARD);
	const struct port *p = &b->want.ports[port];
	struct packet out = rewritten(t);
	uint8_t *ip = out.bytes + PACKET_IP;

	memcpy(out.bytes, p->peer_mac, 6);
	memcpy(out.bytes + 6, p->mac, 6);
	ip[ip[0] >> 4 == 6 ? 7 : 8]--;
	if (ip[0] >> 4 == 4)
		packet_seal(&out);
	want.port = port;
	if (bench_has(b, SW_CNP) && !(want.flags & VERDICT_RETURNED) && is_roce(&out) &&
		(packet_tos(&out) & 3) == 3)
		want.flags |= VERDICT_ASK_CNP;
	if (bench_has(b, SW_BUFFERS) &&
		b->want.ingresses[t->at * CLASSES + want.in_queue].lossless) {
		want.flags |= VERDICT_LOSSLESS;
		if (!(t->hop.flags & HOP_ROOM))
			want_hold(b, t, want.in_queue);
	}
	if (!(t->hop.flags & HOP_ROOM))
		want_enter(b, port, want.queue, want.length);
	trial_becomes(b, t, &out, &want);
}

void trial_delivers(struct switch_bench *b, const struct trial *t)
{
	bool stack = bench_has(b, SW_STACK) && !is_roce(&t->in);
	struct verdict want = begin(b, t, stack ? VERDICT_STACK : VERDICT_DELIVER);
	struct packet out = rewritten(t);

	trial_becomes(b, t, &out, &want);
}

/* Whether it is told before any header is looked at. */
static bool is_of_the_wire(enum drop_reason reason)
{
	return reason == DROP_LINK_DOWN || reason == DROP_LOSS || reason == DROP_BURST ||
	       reason == DROP_GILBERT || reason == DROP_FCS;
}

/* Malformed for want of a UDP or TCP header: the IP header, and with it the DSCP, was there. */
static bool ends_in_udp(const struct packet *p)
{
	uint32_t udp = PACKET_IP + (packet_get16(p->bytes + 12) == 0x86dd ? 40 : 20);

	return p->captured >= udp && p->captured < udp + 8;
}

void trial_drops(
	struct switch_bench *b, const struct trial *t, enum drop_reason reason, uint32_t port)
{
	struct verdict want = begin(b, t, VERDICT_DROP);
	struct packet out = rewritten(t);

	want.reason = (uint8_t)reason;
	want.port = t->flags & VERDICT_RETURNED && reason == DROP_HEADERS ? port : t->chosen;
	if (is_of_the_wire(reason) || (reason == DROP_MALFORMED && !ends_in_udp(&t->in)))
		want.queue = want.in_queue = 0;
	if (reason == DROP_HEADROOM)
		want.flags |= VERDICT_LOSSLESS;
	b->want.drops[port].frames[reason]++;
	trial_becomes(b, t, &out, &want);
}

void trial_ends(struct switch_bench *b, const struct trial *t, enum verdict_action action)
{
	struct verdict want = {.action = (uint8_t)action, .length = t->hop.length};

	trial_becomes(b, t, &t->in, &want);
}

uint32_t trial_port(struct switch_bench *b, const struct trial *t)
{
	struct verdict v = trial_run(b, t, NULL);

	assert_int_equal(v.action, VERDICT_FORWARD);
	return v.port;
}
