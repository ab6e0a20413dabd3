/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport/recovery/selective.h"

#include "lib/rng.h"

/* RFC 2018 calls what a SACK says advice: see forget_acked(). */

#define NOBODY  UINT32_MAX
#define SEGMENT 64 /* bits that an answer carries */

/*
 * A packet that was sent and is not known to have arrived, in its place in the sender's window. It
 * is in one of two queues, which are sorted by time.
 */
struct slot {
	uint64_t at_ps;         /* it was sent; if it is lost: it may be sent again from then on */
	uint32_t before, after; /* places of its neighbours in the queue, or NOBODY */
};

struct queue {
	uint32_t first, last; /* places, or NOBODY */
	uint32_t count;
};

struct selective_sender {
	struct recovery r;
	struct rto rto; /* of each packet since it was sent; from_ps: it was doubled last */
	uint64_t desync_ps;
	uint64_t seen_ps; /* the caller knows what may be sent since then */
	uint32_t una;     /* all before it are acknowledged */
	uint32_t next;    /* the next to be sent for the first time */
	uint32_t window;  /* packets that may be out, from una on */
	uint32_t threshold;
	struct queue under_way, lost;
	struct ring acked, is_lost; /* from una to next */
	struct slot *slots;
	uint64_t *latest_ps; /* when those that arrived were sent: the latest, in ascending order */
	uint64_t words[];
};

struct selective_receiver {
	struct recovery r;
	struct arrivals arrivals;
	uint64_t words[];
};

size_t selective_size(const struct transport_env *env, const void *options,
	const struct flow_spec *flow, bool sender)
{
	const struct selective_options *o = options;
	uint32_t window = arrivals_window(env, packets_of_flow(env, flow).count, 1);
	size_t bits = ring_words(window) * sizeof(uint64_t);

	return sender ? sizeof(struct selective_sender) + window * sizeof(struct slot) + 2 * bits +
				o->threshold * sizeof(uint64_t)
		      : sizeof(struct selective_receiver) + bits;
}

void selective_open(struct recovery *r, bool sender, uint64_t now)
{
	struct selective_sender *s = (struct selective_sender *)r;
	struct selective_receiver *v = (struct selective_receiver *)r;
	const struct selective_options *o = r->options;
	uint32_t window = arrivals_window(r->env, r->packets.count, 1);
	uint64_t *words = s->words;

	if (!sender) {
		v->arrivals.ring = (struct ring){v->words, window};
		return;
	}
	s->window = window;
	s->threshold = o->threshold;
	s->seen_ps = now;
	s->desync_ps = o->desync_ps == SELECTIVE_DESYNC_AUTO ? r->base_rtt_ps : o->desync_ps;
	s->rto.ps = r->rto_ps;
	s->under_way = s->lost = (struct queue){NOBODY, NOBODY, 0};
	s->acked = (struct ring){words, window};
	words += ring_words(window);
	s->is_lost = (struct ring){words, window};
	words += ring_words(window);
	s->latest_ps = words;
	s->slots = (struct slot *)(words + s->threshold);
}

/* ---- the sender's two queues ---- */

static uint32_t place_of(const struct selective_sender *s, uint32_t psn)
{
	return psn & (s->window - 1);
}

static uint32_t first_of(const struct selective_sender *s, const struct queue *q)
{
	return s->una + ((q->first - s->una) & (s->window - 1));
}

static uint64_t first_at(const struct selective_sender *s, const struct queue *q)
{
	return s->slots[q->first].at_ps;
}

/* Behind those of the same time and before; few are later, and none when a packet is sent. */
static void queue_insert(struct selective_sender *s, struct queue *q, uint32_t psn, uint64_t at_ps)
{
	uint32_t i = place_of(s, psn), before = q->last, after;

	while (before != NOBODY && s->slots[before].at_ps > at_ps)
		before = s->slots[before].before;
	after = before == NOBODY ? q->first : s->slots[before].after;
	s->slots[i] = (struct slot){at_ps, before, after};
	*(before == NOBODY ? &q->first : &s->slots[before].after) = i;
	*(after == NOBODY ? &q->last : &s->slots[after].before) = i;
	q->count++;
}

static void queue_remove(struct selective_sender *s, struct queue *q, uint32_t psn)
{
	const struct slot *slot = &s->slots[place_of(s, psn)];

	*(slot->before == NOBODY ? &q->first : &s->slots[slot->before].after) = slot->after;
	*(slot->after == NOBODY ? &q->last : &s->slots[slot->after].before) = slot->before;
	q->count--;
}

/* A packet that is under way is lost; it may be sent again from then on. */
static void lose(struct selective_sender *s, uint32_t psn, uint64_t at_ps)
{
	queue_remove(s, &s->under_way, psn);
	queue_insert(s, &s->lost, psn, at_ps);
	ring_set(&s->is_lost, psn);
}

/* Whether a packet was sent, is not known to have arrived, and does not count as lost. */
static bool is_under_way(const struct selective_sender *s, uint32_t psn)
{
	return psn >= s->una && psn < s->next && !ring_test(&s->acked, psn) &&
	       !ring_test(&s->is_lost, psn);
}

/* ---- sending ---- */

static bool has_lost(const struct selective_sender *s, uint64_t now)
{
	return s->lost.count && first_at(s, &s->lost) <= now;
}

bool selective_has(const struct recovery *r, uint64_t now)
{
	const struct selective_sender *s = (const struct selective_sender *)r;

	return has_lost(s, now) || (s->next < recovery_sendable(r) && s->next - s->una < s->window);
}

void selective_next(struct recovery *r, struct recovery_data *ret, uint64_t now)
{
	struct selective_sender *s = (struct selective_sender *)r;

	ret->again = has_lost(s, now);
	if (ret->again) {
		ret->psn = first_of(s, &s->lost);
		queue_remove(s, &s->lost, ret->psn);
		ring_clear(&s->is_lost, ret->psn);
	} else {
		ret->psn = s->next++;
	}
	ret->number = ret->psn;
	ret->message = ret->number / r->packets.of_message;
	queue_insert(s, &s->under_way, ret->psn, now);
}

uint64_t selective_unacked(const struct recovery *r)
{
	const struct selective_sender *s = (const struct selective_sender *)r;
	uint64_t bytes = (uint64_t)s->under_way.count * r->packets.mtu;

	return is_under_way(s, r->packets.count - 1)
		       ? bytes - r->packets.mtu + r->packets.last_bytes
		       : bytes;
}

/* ---- what has arrived ---- */

static void acknowledge(struct selective_sender *s, uint32_t psn, struct recovery_news *news)
{
	if (psn < s->una || ring_test(&s->acked, psn))
		return;
	if (ring_test(&s->is_lost, psn)) {
		queue_remove(s, &s->lost, psn);
		ring_clear(&s->is_lost, psn);
	} else {
		queue_remove(s, &s->under_way, psn);
	}
	ring_set(&s->acked, psn);
	news->acked_bytes += packets_payload(&s->r.packets, psn);
}

static void acknowledge_before(
	struct selective_sender *s, uint32_t expected, struct recovery_news *news, uint64_t now)
{
	for (uint32_t psn = s->una; psn < expected; psn++)
		acknowledge(s, psn, news);
	if (expected <= s->una)
		return;
	ring_clear_range(&s->acked, s->una, expected);
	s->una = expected;
	s->r.ep->done = expected / s->r.packets.of_message;
	if (expected == s->r.packets.count)
		s->r.ep->finished_ps = now;
}

/*
 * The receiver expects the very packet of which an answer said that it has arrived: so what was
 * said beyond cannot be relied on (RFC 2018, section 8, on receivers that renege).
 */
static void forget_acked(struct selective_sender *s, uint64_t now)
{
	for (uint32_t psn = s->una; psn < s->next; psn++) {
		if (!ring_test(&s->acked, psn))
			continue;
		ring_clear(&s->acked, psn);
		ring_set(&s->is_lost, psn);
		queue_insert(s, &s->lost, psn, now);
	}
}

/* A packet that was sent then has arrived. Returns from when on too few sent later have. */
static uint64_t note_arrival(struct selective_sender *s, uint64_t sent_ps)
{
	uint64_t *latest = s->latest_ps;
	uint32_t i = 0;

	if (!s->threshold)
		return 0;
	for (uint32_t k = 0; k < s->threshold; k++)
		if (latest[k] == sent_ps)
			return latest[0]; /* a copy of an answer */
	for (; i < s->threshold && latest[i] < sent_ps; i++)
		if (i)
			latest[i - 1] = latest[i];
	if (i)
		latest[i - 1] = sent_ps;
	return latest[0];
}

/* Fields that contradict each other, or what was sent. */
static bool plausible(const struct selective_sender *s, const struct recovery_answer *a)
{
	uint32_t beyond = s->next - a->expected;

	if (a->subflow || a->nak || a->psn >= s->next || a->expected > s->next ||
		a->base < a->expected || a->base > s->next)
		return false;
	/* the packet that is expected is missing */
	if ((a->count && a->count >= beyond) || (a->base == a->expected && a->bitmap & 1) ||
		(!a->trimmed && (a->psn == a->expected || (a->psn > a->expected && !a->count))))
		return false;
	return s->next - a->base >= SEGMENT || !(a->bitmap >> (s->next - a->base));
}

/* The copy of a packet that left then came without its payload; its latest, or it is old news. */
static void on_cut(struct selective_sender *s, uint32_t psn, uint64_t sent_ps, uint64_t now)
{
	__u64 stream = s->r.rng;
	uint64_t wait;

	if (!is_under_way(s, psn) || s->slots[place_of(s, psn)].at_ps != sent_ps)
		return;
	wait = (uint64_t)(((unsigned __int128)rng_next(&stream) * (s->desync_ps + 1)) >> 64);
	s->r.rng = stream;
	lose(s, psn, now + wait);
}

bool selective_on_answer(struct recovery *r, const struct recovery_answer *answer,
	struct recovery_news *news, uint64_t now)
{
	struct selective_sender *s = (struct selective_sender *)r;
	uint64_t bitmap = answer->bitmap, lost_before = 0;

	if (!plausible(s, answer))
		return false;
	acknowledge_before(s, answer->expected, news, now);
	for (; bitmap; bitmap &= bitmap - 1)
		acknowledge(s, answer->base + (uint32_t)__builtin_ctzll(bitmap), news);
	if (!answer->trimmed) {
		acknowledge(s, answer->psn, news);
		lost_before = note_arrival(s, answer->sent_ps);
	}
	if (s->una < s->next && ring_test(&s->acked, s->una))
		forget_acked(s, now);
	if (answer->trimmed)
		on_cut(s, answer->psn, answer->sent_ps, now);
	while (s->under_way.count && first_at(s, &s->under_way) < lost_before) {
		uint32_t psn = first_of(s, &s->under_way);

		lose(s, psn, now);
		news->lost_bytes += packets_payload(&r->packets, psn);
	}
	if (news->acked_bytes)
		s->rto.backoff = 0;
	s->seen_ps = now;
	return true;
}

bool selective_on_returned(struct recovery *r, const struct recovery_data *data,
	struct recovery_news *news, uint64_t now)
{
	struct selective_sender *s = (struct selective_sender *)r;

	(void)news;
	if (data->number >= s->next)
		return false;
	on_cut(s, data->number, data->sent_ps, now);
	s->seen_ps = now;
	return true;
}

/* ---- time ---- */

/*
 * When the timeout of the packet that has been under way for longest is due. The last doubling is
 * for what was sent after it: those lost at the same time time out one soon after the other.
 */
static uint64_t timeout_due(const struct selective_sender *s)
{
	uint64_t at = first_at(s, &s->under_way);
	uint32_t backoff = s->rto.backoff;

	return at + (s->rto.ps << (backoff && at < s->rto.from_ps ? backoff - 1 : backoff));
}

uint64_t selective_due(const struct recovery *r)
{
	const struct selective_sender *s = (const struct selective_sender *)r;
	uint64_t timeout = s->under_way.count ? timeout_due(s) : 0;
	uint64_t again = s->lost.count ? first_at(s, &s->lost) : 0;

	if (again <= s->seen_ps)
		return timeout;
	return timeout && timeout < again ? timeout : again;
}

void selective_on_timer(struct recovery *r, struct recovery_news *news, uint64_t now)
{
	struct selective_sender *s = (struct selective_sender *)r;

	while (s->under_way.count && timeout_due(s) <= now) {
		news->timeout |= first_at(s, &s->under_way) >= s->rto.from_ps;
		lose(s, first_of(s, &s->under_way), now);
	}
	if (news->timeout)
		rto_expire(&s->rto, now);
	s->seen_ps = now;
}

/* ---- the receiver ---- */

/* The bits around the packet that is answered, in segments counted from the expected one. */
static void fill(const struct arrivals *a, uint32_t number, struct recovery_answer *ret)
{
	uint32_t ahead = number > a->expected ? number - a->expected : 0;

	ret->expected = a->expected;
	ret->count = a->count;
	ret->base = a->expected + ahead / SEGMENT * SEGMENT;
	ret->bitmap = ring_read64(&a->ring, ret->base);
}

bool selective_on_data(struct recovery *r, const struct recovery_data *data,
	struct recovery_answer *ret, uint64_t now)
{
	struct arrivals *a = &((struct selective_receiver *)r)->arrivals;

	if (!arrivals_is(r, data, 1) || !arrivals_take(r, a, data, 1, now))
		return false;
	r->ep->done = a->expected / r->packets.of_message;
	fill(a, data->number, ret);
	return true;
}

bool selective_on_trimmed(struct recovery *r, const struct recovery_data *data,
	struct recovery_answer *ret, uint64_t now)
{
	const struct arrivals *a = &((struct selective_receiver *)r)->arrivals;

	(void)now;
	if (data->number >= r->packets.count || data->number >= a->expected + a->ring.bits)
		return false;
	fill(a, data->number, ret);
	return true;
}
