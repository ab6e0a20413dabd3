/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/switch_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"

/* Mostly DSCPs by which a class is meant. */
static uint8_t random_tos(uint64_t *rng)
{
	static const uint8_t dscps[] = {DSCP_PLAIN, DSCP_TRIM, DSCP_TRIM, DSCP_LOSSLESS,
		DSCP_BOUNCED, DSCP_TRIMMED, DSCP_RETURNED};

	if (!rng_below(rng, 4))
		return (uint8_t)rng_take(rng);
	return (uint8_t)(dscps[rng_below(rng, sizeof(dscps))] << 2 | rng_below(rng, 4));
}

static struct packet_spec random_spec(uint64_t *rng)
{
	static const uint8_t protocols[] = {17, 17, 17, 17, 6, 58};
	struct packet_spec s = packet_spec_default;

	s.ip6 = rng_below(rng, 2);
	s.tos = random_tos(rng);
	/* some are of few flows, as one that is congested, or kept in mind, must be seen twice */
	if (!rng_below(rng, 3)) {
		s.tos |= 3;
		s.dst_host = rng_below(rng, 2) ? s.dst_host : TO_2;
		return s;
	}
	s.src_host = rng_below(rng, 2) ? rng_below(rng, 130) : rng_below(rng, 1 << 16);
	s.dst_host = rng_below(rng, 2) ? rng_below(rng, 130) : BENCH_HOST + rng_below(rng, 14);
	s.dst_host = rng_below(rng, 4) ? s.dst_host : TO_64;
	s.ttl = (uint8_t)(rng_below(rng, 8) ? rng_below(rng, 256) : rng_below(rng, 3));
	s.protocol = protocols[rng_below(rng, sizeof(protocols))];
	s.options = (uint8_t)(rng_below(rng, 8) ? 0 : rng_below(rng, 11));
	s.id = (uint16_t)rng_take(rng);
	s.fragment = (uint16_t)(rng_below(rng, 8) ? 0x4000 : rng_take(rng));
	s.flow_label = rng_below(rng, 1 << 20);
	s.src_port = (uint16_t)rng_take(rng);
	s.payload = (uint16_t)rng_below(rng, 9000);
	return s;
}

/* A port, and often one of those that most packets pass. */
static uint32_t random_port(uint64_t *rng)
{
	return BENCH_HOST_PORT + rng_below(rng, rng_below(rng, 2) ? 5 : BENCH_PORTS);
}

/* Another kind of frame in its place: PFC, LLDP, or one that is to be made. */
static void random_control(struct trial *t, uint64_t *rng)
{
	uint16_t quanta[8];

	for (int i = 0; i < 8; i++)
		quanta[i] = (uint16_t)(rng_below(rng, 3) ? rng_below(rng, 1000) : 0);
	switch (rng_below(rng, 5)) {
	case 0:
		packet_build_pfc(
			&t->in, packet_spec_default.src_mac, (uint8_t)rng_take(rng), quanta);
		t->hop.length = t->in.length;
		break;
	case 1:
		packet_put16(t->in.bytes + 12, 0x88cc);
		break;
	case 2:
	case 3:
		/* of few flows, so that some repeat, with times around an interval */
		if (rng_below(rng, 4)) {
			t->spec = packet_spec_default;
			t->spec.ip6 = rng_below(rng, 2);
			t->spec.tos = rng_below(rng, 2) ? DSCP_LOSSLESS << 2 : random_tos(rng);
			packet_build(&t->in, &t->spec);
			t->hop.length = t->in.length;
			packet_put16(
				t->in.bytes + packet_bth(&t->in) + 10, (uint16_t)rng_take(rng));
		}
		t->hop.flags |= HOP_MAKE_CNP;
		t->hop.out_port = BENCH_LOCAL(1);
		t->hop.now_ps += rng_below(rng, 6) * (uint64_t)BENCH_INTERVAL;
		break;
	default:
		t->hop.flags |= (uint16_t)(HOP_MAKE_PFC << rng_below(rng, 2));
		t->hop.classes = (uint8_t)rng_take(rng);
	}
}

static void random_trial(struct trial *t, uint64_t *rng)
{
	struct packet_spec spec = random_spec(rng);

	trial_init(t, &spec);
	t->at = rng_below(rng, 4) ? BENCH_IN : BENCH_HOST_PORT;
	t->hop.behind_bytes = rng_below(rng, 40000);
	t->hop.started_ps = rng_below(rng, 2000) * (uint64_t)(rng_below(rng, 2) ? 1 : 1000);
	t->hop.now_ps = t->hop.started_ps + rng_below(rng, 2000);
	t->hop.queue = (uint8_t)rng_below(rng, QUEUE_CONTROL + 1);
	t->hop.flags = rng_below(rng, 8) ? 0 : HOP_ROOM;
	if (spec.protocol == 17) {
		packet_put16(t->in.bytes + packet_bth(&t->in) + 10, (uint16_t)rng_take(rng));
		if (!rng_below(rng, 8))
			packet_put16(t->in.bytes + packet_bth(&t->in) - 6, (uint16_t)rng_take(rng));
	}
	if (!rng_below(rng, 6))
		random_control(t, rng);
	if (!rng_below(rng, 8))
		t->hop.length += rng_below(rng, 100) - 50;
	if (!rng_below(rng, 8))
		t->in.captured = rng_below(rng, t->in.captured + 1);
	for (uint32_t n = rng_below(rng, 4) ? 0 : rng_below(rng, 4); n && t->in.captured; n--)
		t->in.bytes[rng_below(rng, t->in.captured)] = (uint8_t)rng_take(rng);
}

static void random_queue(struct queue *q, uint64_t *rng)
{
	q->limit_bytes = rng_below(rng, 50000);
	q->alpha = rng_below(rng, 2) ? rng_below(rng, 1024) : 0;
	q->depth_bytes -= rng_below(rng, q->depth_bytes + 1);
	q->kmin_bytes = rng_below(rng, 20000);
	q->kmax_bytes = rng_below(rng, 4) ? rng_below(rng, rng_below(rng, 2) ? 40000 : 1000) : 0;
	q->pmax = rng_below(rng, 65537);
	q->average_shift = (uint8_t)(rng_below(rng, 2) ? rng_below(rng, 16) : 0);
	q->stormed = !rng_below(rng, 4);
	q->paused_since_ps = rng_below(rng, 4000) * 1000ull;
}

static void random_ingress(struct ingress *in, uint64_t *rng)
{
	in->bytes -= rng_below(rng, in->bytes + 1);
	in->headroom_bytes -= rng_below(rng, in->headroom_bytes + 1);
	in->xoff_bytes = rng_below(rng, 20000);
	in->xon_bytes = rng_below(rng, 3000);
	in->alpha = rng_below(rng, 2) ? rng_below(rng, 1024) : 0;
	in->headroom_limit = rng_below(rng, 20000);
	in->paused = (uint8_t)rng_below(rng, 2);
}

static void random_fault(struct fault *f, uint64_t *rng)
{
	uint32_t one_in = rng_below(rng, 2) ? 1 : 8;

	memset(f, 0, sizeof(*f));
	f->loss = UINT32_MAX / 8 / one_in;
	f->enter = f->leave = UINT32_MAX / 2;
	f->lost_bad = UINT32_MAX / 4 / one_in;
	f->hazard = (1ull << 56) / 10000 / one_in;
	f->every_ps = 1000ull * one_in;
	f->last_ps = 100;
	f->cell_shift = (uint8_t)(8 + rng_below(rng, 8));
	f->fresh = 1;
	f->burst_seed = rng_take(rng);
	f->frame_seed = rng_take(rng);
}

static void random_balance(const struct sw_tables *t, uint64_t *rng)
{
	struct switch_balance *b = &t->balances[0];

	/* a user's is not there, whatever the mask says */
	do
		t->switches[0].balance = rng_below(rng, BALANCE_COUNT);
	while (t->switches[0].balance != BALANCE_FILE &&
		!(t->config.balances >> t->switches[0].balance & 1));
	b->gap_ps = rng_below(rng, 1000);
	b->lifetime_ps = rng_below(rng, 2) ? rng_below(rng, 4000) : 0;
	b->threshold_bytes = rng_below(rng, 20000);
	b->choices = 1 + rng_below(rng, 8);
	b->remembered = rng_below(rng, 5);
}

/* What control and engine do to the tables between frames. */
static void random_change(const struct sw_tables *t, uint64_t rng)
{
	struct port *in = &t->ports[BENCH_HOST_PORT + rng_below(&rng, 2)];
	struct switch_state *sw = &t->switches[0];

	in->up = rng_below(&rng, 8) > 0;
	in->up_since_ps = rng_below(&rng, 1000);
	in->faulty = t->count.faults && !rng_below(&rng, 4);
	t->ports[random_port(&rng)].role = (uint8_t)rng_below(&rng, 4);
	sw->hash_seed = rng_take(&rng);
	sw->pool_bytes = rng_below(&rng, 100000);
	sw->pool_used = rng_below(&rng, 50000);
	sw->headroom_bytes[rng_below(&rng, CLASSES)] = rng_below(&rng, 100000);
	memset(sw->headroom_used, 0, sizeof(sw->headroom_used));
	for (unsigned i = 0; i < 20; i++) {
		uint32_t at = random_port(&rng) * CLASSES + rng_below(&rng, CLASSES);

		random_queue(&t->queues[at], &rng);
		random_ingress(&t->ingresses[at], &rng);
	}
	for (unsigned i = 0; i < 4; i++)
		t->ports[random_port(&rng)].up = rng_below(&rng, 4) > 0;
	if (t->count.balances)
		random_balance(t, &rng);
	if (in->faulty)
		random_fault(&t->faults[in - t->ports], &rng);
}

/* The switch's policy, of a frame for which it had more than one port; BALANCE_COUNT: none. */
static unsigned asked_policy(
	const struct switch_bench *b, const struct trial *t, const struct verdict *v)
{
	uint32_t to = t->spec.dst_host;

	if (!bench_has(b, SW_BALANCE) || t->at != BENCH_IN || t->hop.flags & HOP_MAKE ||
		to < TO_2 || to > TO_64 ||
		(v->action != VERDICT_FORWARD && v->reason != DROP_POLICY))
		return BALANCE_COUNT;
	return b->dp->tables.switches[0].balance;
}

static void assert_balanced(const struct switch_bench *b, const struct stream_seen *seen)
{
	const struct switch_balance *s = &b->dp->tables.balances[0];
	unsigned written = 0;

	for (unsigned policy = 0; policy < BALANCE_COUNT; policy++)
		assert_in_range(seen->asked[policy], 25, UINT32_MAX);
	for (unsigned i = 0; i < BALANCE_MEMORY; i++)
		written += s->memory[i] > 0;
	assert_in_range(written, 5, BALANCE_MEMORY);
	assert_in_range(s->flows, 100, UINT32_MAX);
	assert_in_range(s->forgotten, 20, s->flows - 20);
}

void stream_assert_seen(const struct switch_bench *b, const struct stream_seen *seen)
{
	const struct sw_tables *t = &b->dp->tables;
	bool full = t->config.features;
	bool returns = t->config.trim_to_sender || t->config.trim_or_return;
	uint64_t marked = 0, depth = 0;

	for (unsigned reason = DROP_NONE + 1; reason < DROP_SWITCH_DOWN; reason++) {
		uint64_t sum = 0;

		if (reason == DROP_FOREIGN || (reason > DROP_FOREIGN && !full))
			continue;
		for (uint32_t port = 0; port < t->count.ports; port++)
			sum += t->drops[port].frames[reason];
		if (!sum)
			print_error("reason %u was not seen\n", reason);
		assert_true(sum > 0);
	}
	for (uint32_t port = 0; port < t->count.ports; port++)
		marked += t->ports[port].marked_frames;
	for (uint32_t queue = 0; queue < t->count.queues; queue++)
		depth += t->queues[queue].max_depth_bytes > 0;
	assert_true(marked > 0 && depth > BENCH_PORTS / 2);
	assert_int_equal(seen->actions,
		(full ? 0x3f : 0x07) | (bench_has(b, SW_STACK) ? 1u << VERDICT_STACK : 0));
	assert_int_equal(
		seen->flags, full ? 0x7f & ~(returns ? 0 : VERDICT_RETURNED) : VERDICT_MARKED);
	if (full)
		assert_in_range(seen->notified, 5, UINT32_MAX);
	if (full)
		assert_balanced(b, seen);
}

struct stream_seen stream_run(struct switch_bench *one, struct switch_bench *other, unsigned n)
{
	uint64_t rng = rng_stream(1, "stream", 0);
	struct stream_seen seen = {0};

	for (unsigned i = 0; i < n; i++) {
		struct verdict a, b;
		struct packet out_a, out_b;
		struct trial t;

		random_trial(&t, &rng);
		a = trial_run(other, &t, &out_a);
		b = trial_run(one, &t, &out_b);
		packet_assert_equal("the verdict", (uint8_t *)&b, (uint8_t *)&a, sizeof(a));
		packet_assert_equal("the frame", out_b.bytes, out_a.bytes, t.in.captured);
		tables_assert_equal(&one->dp->tables, &other->dp->tables);
		seen.actions |= 1u << a.action;
		seen.asked[asked_policy(other, &t, &a)]++;
		seen.flags |= a.flags;
		seen.notified += t.hop.flags & HOP_MAKE_CNP && a.queue == CLASS_CNP &&
				 a.action == VERDICT_FORWARD;
		if (i % 10 == 0) {
			uint64_t change = rng_take(&rng);

			random_change(&other->dp->tables, change);
			random_change(&one->dp->tables, change);
		}
	}
	return seen;
}
