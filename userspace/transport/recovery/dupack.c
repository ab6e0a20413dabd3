/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP's loss recovery: fast retransmit after duplicate ACKs (RFC 5681, 3.2), NewReno's partial ACKs
 * (RFC 6582, 3.2), timeouts (RFC 6298, section 5). What is lost changes no rate here. A flow is one
 * sequence of packets, or its packets are dealt in turn to subflows, which have sequence numbers
 * and duplicate ACKs of their own (Load Balancing for AI Training Workloads, section 7).
 */
#include "transport/recovery/dupack.h"
#include "base/numbers.h"
#include "transport/recovery/arrivals.h"
#include "transport/recovery/cumulative.h"

#define THRESHOLD_MAX 1000

/* A sender's. */
struct subflow {
	struct cumulative c;
	uint32_t duplicates; /* ACKs since the last that acknowledged something */
	uint32_t recover;    /* RFC 6582: where recovery ends; none begins before */
	bool recovering;
	bool repeat; /* c.una is to be sent again now, out of turn */
};

struct dupack {
	struct recovery r;
	uint32_t count;  /* of subflows */
	uint32_t window; /* packets of one that may be out */
	/* receiver */
	struct arrivals *arrivals;
	/* sender */
	struct subflow *subflows;
	struct ring again; /* those that have something to send again */
	uint32_t again_count;
	uint32_t turn;      /* of them, the one that is served next */
	uint32_t fresh;     /* packets that were sent at all */
	uint32_t acked;     /* packets acknowledged */
	uint32_t under_way; /* packets believed to be */
	uint32_t threshold; /* UINT32_MAX: none */
	uint64_t least_ps;  /* no timeout is due before; 0: none is running */
	uint64_t words[];
};

/* ---- options ---- */

static const char *const on_off[] = {"on", "off", NULL};

#define DUPACK(word, kind, member, ...) KEY(word, kind, struct dupack_options, member, __VA_ARGS__)

#define THRESHOLD_KEY                                                                              \
	DUPACK("threshold", COUNT, threshold, .fallback = "3", .min = 1, .max = THRESHOLD_MAX,     \
		.help = "duplicate ACKs after which a packet counts as lost")
#define RTO_KEY RECOVERY_RTO("retransmission timeout", "100us")

static const struct key dupack_keys[] = {
	THRESHOLD_KEY,
	DUPACK("fast_retransmit", FLAG, timeouts_only, .fallback = "on", .words = on_off,
		.help = "off: duplicate ACKs show nothing, and losses wait for the timeout"),
	RTO_KEY,
};

static const struct key subflow_keys[] = {
	THRESHOLD_KEY,
	DUPACK("subflows", COUNT, subflows, AUTO, .min = 1, .max = SUBFLOWS_MAX,
		.help = "sequences that a flow's packets are dealt to; auto: as many as the switches' queues call for"),
	RTO_KEY,
};

static bool one_sequence(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	(void)c;
	(void)n;
	(void)good;
	((struct dupack_options *)options)->subflows = 1;
	return true;
}

/* ceil(4 q / (n d s)), n = host_rate / fair */
uint32_t subflows_needed(uint64_t queue_bytes, uint32_t packet_bytes, uint32_t threshold,
	uint64_t host_rate_bps, uint64_t fair_bps)
{
	uint64_t fair = fair_bps && fair_bps < host_rate_bps ? fair_bps : host_rate_bps;
	unsigned __int128 spread = (unsigned __int128)queue_bytes * 4 * fair;
	unsigned __int128 each = (unsigned __int128)host_rate_bps * threshold * packet_bytes;
	unsigned __int128 k = (spread + each - 1) / each;

	return k < 1 ? 1 : k > SUBFLOWS_MAX ? SUBFLOWS_MAX : (uint32_t)k;
}

/* Each has a packet at least. */
static uint32_t subflows_of(const struct transport_env *env, const struct dupack_options *o,
	uint64_t fair_bps, uint32_t packets)
{
	uint32_t k = o->subflows ? o->subflows
				 : subflows_needed(env->queue_bytes, env->mtu, o->threshold,
					   env->host_rate_bps, fair_bps);

	return k < packets ? k : packets;
}

/* ---- both ends ---- */

/* Bits of the set of subflows that have something to send again. */
static uint32_t again_bits(uint32_t subflows)
{
	uint32_t bits = 64;

	while (bits < subflows)
		bits *= 2;
	return bits;
}

/*
 * Memory is asked for before shares are known, with the most subflows; of fewer of them the bitmaps
 * of arrivals, which are powers of two, may take more.
 */
static size_t size(const struct transport_env *env, const void *options,
	const struct flow_spec *flow, bool sender)
{
	const struct dupack_options *o = options;
	uint32_t packets = packets_of_flow(env, flow).count;
	uint32_t k = subflows_of(env, o, flow->fair_bps, packets);
	uint32_t bits = sender        ? again_bits(k)
			: o->subflows ? k * arrivals_window(env, packets, k)
				      : arrivals_bits_most(env, packets, k);

	return sizeof(struct dupack) +
	       k * (sender ? sizeof(struct subflow) : sizeof(struct arrivals)) +
	       ring_words(bits) * sizeof(uint64_t);
}

static void open(struct recovery *r, bool sender, uint64_t now)
{
	struct dupack *d = (struct dupack *)r;
	const struct dupack_options *o = r->options;
	uint64_t *words = d->words;

	(void)now;
	d->count = subflows_of(r->env, o, r->fair_bps, r->packets.count);
	d->window = arrivals_window(r->env, r->packets.count, d->count);
	if (sender) {
		d->subflows = (struct subflow *)d->words;
		d->again = (struct ring){(uint64_t *)&d->subflows[d->count], again_bits(d->count)};
		d->threshold = o->timeouts_only ? UINT32_MAX : o->threshold;
		for (uint32_t i = 0; i < d->count; i++)
			d->subflows[i].c.rto.ps = r->rto_ps;
		return;
	}
	d->arrivals = (struct arrivals *)d->words;
	words = (uint64_t *)&d->arrivals[d->count];
	for (uint32_t i = 0; i < d->count; i++, words += ring_words(d->window))
		d->arrivals[i].ring = (struct ring){words, d->window};
}

/* The first packet of all messages that subflow i lacks, be it beyond the last. */
static uint64_t lacks(const struct dupack *d, uint32_t i)
{
	uint32_t psn = d->subflows ? d->subflows[i].c.una : d->arrivals[i].expected;

	return (uint64_t)psn * d->count + i;
}

/*
 * Subflow i has moved on from packet `before` of all messages. What all have is looked for only
 * when it leaves the message that is not done.
 */
static void count_done(struct dupack *d, uint32_t i, uint64_t before)
{
	uint32_t each = d->r.packets.of_message;
	uint64_t end = (uint64_t)(d->r.ep->done + 1) * each, least = d->r.packets.count;

	if (before >= end || lacks(d, i) < end)
		return;
	for (i = 0; i < d->count; i++)
		least = min_u64(least, lacks(d, i));
	d->r.ep->done = (uint32_t)(least / each);
}

/* ---- the sender ---- */

static uint32_t under_way(const struct subflow *f)
{
	uint32_t sent = f->c.next - f->c.una;

	return sent > f->duplicates ? sent - f->duplicates : 0;
}

/* Enters what may have changed of subflow i; had: what under_way() said before. */
static void settle(struct dupack *d, uint32_t i, uint32_t had)
{
	const struct subflow *f = &d->subflows[i];
	bool again = f->repeat || f->c.next < f->c.high, was = ring_test(&d->again, i);
	uint64_t at = cumulative_due(&f->c);

	d->under_way += under_way(f) - had;
	if (again && !was)
		ring_set(&d->again, i);
	if (!again && was)
		ring_clear(&d->again, i);
	d->again_count += (uint32_t)again - (uint32_t)was;
	if (at && (!d->least_ps || at < d->least_ps))
		d->least_ps = at;
}

/* The subflow of the next packet that is sent for the first time. */
static const struct subflow *fresh_subflow(const struct dupack *d)
{
	return &d->subflows[d->fresh % d->count];
}

static bool has(const struct recovery *r, uint64_t now)
{
	const struct dupack *d = (const struct dupack *)r;

	(void)now;
	return d->again_count ||
	       (d->fresh < recovery_sendable(r) &&
		       fresh_subflow(d)->c.next - fresh_subflow(d)->c.una < d->window);
}

static uint32_t choose_subflow(struct dupack *d)
{
	uint32_t i;

	if (!d->again_count)
		return d->fresh++ % d->count;
	i = ring_first_set(&d->again, d->turn, d->count);
	if (i == d->count)
		i = ring_first_set(&d->again, 0, d->turn);
	d->turn = i + 1;
	return i;
}

static void next(struct recovery *r, struct recovery_data *ret, uint64_t now)
{
	struct dupack *d = (struct dupack *)r;
	uint32_t i = choose_subflow(d);
	struct subflow *f = &d->subflows[i];
	uint32_t had = under_way(f);

	ret->psn = f->repeat ? f->c.una : f->c.next;
	ret->again = ret->psn < f->c.high;
	ret->subflow = (uint16_t)i;
	ret->number = ret->psn * d->count + i;
	ret->message = ret->number / r->packets.of_message;
	f->repeat = false;
	cumulative_send(&f->c, ret->psn, now);
	settle(d, i, had);
}

static uint64_t unacked(const struct recovery *r)
{
	const struct dupack *d = (const struct dupack *)r;
	uint32_t last = r->packets.count - 1;
	const struct subflow *f = &d->subflows[last % d->count];
	uint64_t bytes = (uint64_t)d->under_way * r->packets.mtu;

	if (under_way(f) && f->c.next > last / d->count)
		bytes -= r->packets.mtu - r->packets.last_bytes;
	return bytes;
}

/* The first packet that is missing is lost, as what came after it shows. */
static void lose(struct dupack *d, uint32_t i, struct recovery_news *news)
{
	struct subflow *f = &d->subflows[i];

	f->repeat = true;
	news->lost_bytes += packets_payload(&d->r.packets, (uint32_t)lacks(d, i));
}

/* RFC 6582, 3.2, step 2; it does not begin again for what was sent before the last one. */
static void on_duplicate(struct dupack *d, uint32_t i, struct recovery_news *news)
{
	struct subflow *f = &d->subflows[i];

	f->duplicates++;
	if (f->recovering || f->duplicates != d->threshold || f->c.una < f->recover)
		return;
	f->recovering = true;
	f->recover = f->c.high;
	lose(d, i, news);
}

/* Step 3: an ACK of all that was sent before recovery ends it, one of less shows the next loss. */
static void on_progress(
	struct dupack *d, uint32_t i, uint32_t expected, struct recovery_news *news, uint64_t now)
{
	struct subflow *f = &d->subflows[i];
	uint32_t came = expected - f->c.una, last = d->r.packets.count - 1;
	uint64_t before = lacks(d, i);

	cumulative_acknowledge(&f->c, expected, now);
	f->repeat = false;
	if (f->recovering && expected < f->recover) {
		/* of those that came all but the first were duplicate ACKs */
		f->duplicates -= came - 1 < f->duplicates ? came - 1 : f->duplicates;
		lose(d, i, news);
	} else {
		f->recovering = false;
		f->duplicates = 0;
	}
	news->acked_bytes = (uint64_t)came * d->r.packets.mtu;
	if (lacks(d, i) > last && last % d->count == i)
		news->acked_bytes -= d->r.packets.mtu - d->r.packets.last_bytes;
	d->acked += came;
	count_done(d, i, before);
	if (d->acked == d->r.packets.count)
		d->r.ep->finished_ps = now;
}

/* Fields that contradict each other, or what was sent. */
static bool plausible(const struct dupack *d, const struct recovery_answer *a)
{
	const struct cumulative *c;

	if (a->subflow >= d->count || a->trimmed || a->nak || a->psn == a->expected)
		return false;
	c = &d->subflows[a->subflow].c;
	if (a->psn >= c->high || a->expected > c->high || (a->psn > a->expected && !a->count))
		return false;
	return !a->count || a->count < c->high - a->expected;
}

static bool on_answer(struct recovery *r, const struct recovery_answer *answer,
	struct recovery_news *news, uint64_t now)
{
	struct dupack *d = (struct dupack *)r;
	struct subflow *f;
	uint32_t had;

	if (!plausible(d, answer))
		return false;
	f = &d->subflows[answer->subflow];
	had = under_way(f);
	if (answer->expected > f->c.una)
		on_progress(d, answer->subflow, answer->expected, news, now);
	else if (answer->expected == f->c.una && f->c.next > f->c.una)
		on_duplicate(d, answer->subflow, news);
	settle(d, answer->subflow, had);
	return true;
}

static uint64_t due(const struct recovery *r)
{
	return ((const struct dupack *)r)->least_ps;
}

/* RFC 6298, 5.4 to 5.7: from the first that is missing; and what RFC 6582, step 4, says. */
static void go_back(struct subflow *f, uint64_t now)
{
	rto_expire(&f->c.rto, now);
	f->c.next = f->c.una;
	f->duplicates = 0;
	f->recover = f->c.high;
	f->recovering = false;
	f->repeat = false;
}

static void on_timer(struct recovery *r, struct recovery_news *news, uint64_t now)
{
	struct dupack *d = (struct dupack *)r;

	d->least_ps = 0;
	for (uint32_t i = 0; i < d->count; i++) {
		struct subflow *f = &d->subflows[i];
		uint32_t had = under_way(f);
		uint64_t at = cumulative_due(&f->c);

		if (at && at <= now) {
			go_back(f, now);
			news->timeout = true;
		}
		settle(d, i, had);
	}
}

/* ---- the receiver ---- */

static bool on_data(struct recovery *r, const struct recovery_data *data,
	struct recovery_answer *ret, uint64_t now)
{
	struct dupack *d = (struct dupack *)r;
	struct arrivals *a;
	uint64_t before;

	if (!arrivals_is(r, data, d->count))
		return false;
	a = &d->arrivals[data->subflow];
	before = lacks(d, data->subflow);
	if (!arrivals_take(r, a, data, d->count, now))
		return false;
	count_done(d, data->subflow, before);
	ret->expected = ret->base = a->expected;
	ret->count = a->count;
	return true;
}

/* ---- what others reckon with ---- */

static uint32_t subflow_threshold(const void *options)
{
	const struct dupack_options *o = options;

	return o->subflows ? 0 : o->threshold;
}

#define OPERATIONS                                                                                 \
	.size = size, .open = open, .has = has, .next = next, .unacked = unacked,                  \
	.on_answer = on_answer, .due = due, .on_timer = on_timer, .on_data = on_data,              \
	.rto_least_ps = RECOVERY_RTO_LEAST_PS

const struct recovery_kind recovery_kind_dupack = {
	.name = "dupack",
	.map = {KEYS(dupack_keys), .size = sizeof(struct dupack_options), .check = one_sequence,
		.help = "TCP's: duplicate ACKs, fast retransmit, NewReno, timeouts"},
	OPERATIONS,
	.order_harm =
		"a packet that as many as the threshold overtake counts as lost, and is sent again",
};

const struct recovery_kind recovery_kind_subflow_dupack = {
	.name = "subflow-dupack",
	.map = {KEYS(subflow_keys), .size = sizeof(struct dupack_options),
		.help = "the same, with each flow's packets dealt to subflows that count on their own"},
	OPERATIONS,
	.subflow_threshold = subflow_threshold,
};
