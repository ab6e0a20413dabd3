/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Open loop: flows arrive at each host as time passes, whatever has become of those before. Each
 * host has a random stream of its own, and so have the incasts: what one draws does not depend on
 * the others.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/rng_stream.h"
#include "workload/kind.h"
#include "workload/list.h"
#include "workload/sizes.h"

enum arrivals { ARRIVALS_POISSON, ARRIVALS_UNIFORM };

struct load {
	struct workload_common common;
	struct file_text sizes;
	double load; /* bytes of flows over what the hosts' links carry */
	unsigned arrivals;
	char *hosts;
	bool same_nic;
	uint64_t warmup_ps, until_ps, cooldown_ps; /* after start: measured from warmup to until */
	struct {
		bool on;
		uint32_t senders;
		uint64_t bytes;
		double share; /* of what the hosts' links carry */
	} incast;
};

static const struct key incast_keys[] = {
	KEY("senders", COUNT, struct load, incast.senders, .fallback = "60", .min = 1,
		.max = TIMES_MAX, .help = "hosts that send at once to one, all drawn by the seed"),
	KEY("message", BYTES, struct load, incast.bytes, .fallback = "500KB", .min = 1,
		.max = MESSAGE_BYTES_MAX, .help = "what each of them sends"),
	KEY("share", SHARE, struct load, incast.share, .fallback = "2%", .max = 1,
		.help = "of the rate of all hosts' links that incasts take in the mean"),
};

static const struct map incast_map = {
	KEYS(incast_keys),
	.on = FIELD(struct load, incast.on),
	.help = "many hosts send to one, again and again, on top of the load",
};

static const char *const arrivals_words[] = {"poisson", "uniform", NULL};

static const struct key keys[] = {
	KEY("sizes", FILE, struct load, sizes, .required = true, .built_in = sizes_shipped,
		.expected =
			"websearch, alistorage, hadoop, or a file of sizes in bytes and cumulative shares",
		.help = "the distribution of flow sizes"),
	KEY("load", SHARE, struct load, load, .required = true, .max = 1,
		.help = "bytes of flows over what the hosts' links could send in that time"),
	KEY("arrivals", WORD, struct load, arrivals, .fallback = "poisson", .words = arrivals_words,
		.help = "poisson: with exponential gaps; uniform: with equal ones, from a random phase on"),
	KEY("hosts", LABEL, struct load, hosts, .fallback = "*", .max = 128,
		.expected = "a glob over the names of hosts",
		.help = "who sends and receives: a glob over the names of hosts"),
	KEY("start", TIME, struct load, common.start_ps, .fallback = "0", .max = MOMENT_MAX,
		.help = "when flows begin to arrive"),
	KEY("warmup", TIME, struct load, warmup_ps, .fallback = "0", .max = TIME_MAX,
		.help = "from the start to the interval whose flows are measured"),
	KEY("until", TIME, struct load, until_ps, .required = true, .min = 1, .max = TIME_MAX,
		.help = "from the start to the end of that interval"),
	KEY("cooldown", TIME, struct load, cooldown_ps, .fallback = "0", .max = TIME_MAX,
		.help = "so long flows go on arriving after it"),
	SAME_NIC_KEY(struct load),
	SECTION("incast", &incast_map, .fallback = "off"),
};

static bool check_load(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	const struct load *o = options;
	char why[SIZES_REFUSAL];
	struct sizes sizes;
	bool fine = true;
	int r;

	(void)good;
	if (o->sizes.text) {
		r = sizes_parse(&sizes, o->sizes.text, o->sizes.length, why);
		if (r == 0)
			sizes_release(&sizes);
		else if (r == -ENOMEM)
			fine = !(c->out_of_memory = true);
		else
			fine = c->wrong(c, n, "sizes", "%s %s", file_text_name(&o->sizes), why);
	}
	if (o->until_ps && o->warmup_ps >= o->until_ps)
		fine = c->wrong(c, n, "until", "it is not after the warmup");
	return fine;
}

/* The longest mean gap: rng_exponential() takes twice as much. 20 hours. */
#define GAP_MAX (1ull << 56)

/* ---- where flows come from ---- */

/* Hosts that take part and send to each other: those of a group. */
struct peers {
	uint32_t first, count; /* indices among all that take part */
};

/* A host, or the incast: it makes flows from time to time. */
struct source {
	uint64_t at_ps, gap_ps; /* the next, and the mean */
	uint64_t rng;
	uint32_t host; /* index among the hosts that take part; how many they are: the incast */
};

struct world {
	const struct load *o;
	struct workload_params p;
	struct sizes sizes;
	uint32_t *hosts; /* their numbers, group by group */
	uint32_t *pool;  /* the same, shuffled as incasts are drawn */
	uint32_t host_count;
	struct peers *peers; /* by group; those without hosts are left out */
	uint32_t peers_count, least_peers;
	struct source *sources; /* a heap: the earliest first */
	uint32_t source_count;
	uint64_t capacity_bps, slowest_bps; /* of the hosts' links */
	uint32_t made;                      /* flows */
};

static uint64_t lasts_ps(const struct load *o)
{
	return o->until_ps + o->cooldown_ps;
}

/* From one to the next in the mean, so that so many bytes at a time take that share of a rate. */
static double mean_gap(double bytes, double share, uint64_t rate_bps)
{
	return bytes * 8 * (double)PS_PER_S / ((double)rate_bps * share);
}

static double incast_gap(const struct world *w)
{
	return mean_gap((double)w->o->incast.bytes * w->o->incast.senders, w->o->incast.share,
		w->capacity_bps);
}

static void world_release(struct world *w)
{
	sizes_release(&w->sizes);
	free(w->hosts);
	free(w->pool);
	free(w->peers);
	free(w->sources);
}

/* Takes in the hosts of a group whose names match. */
static void add_peers(
	struct world *w, const struct workload_hosts *hosts, uint32_t group, uint32_t groups)
{
	struct peers *peers = &w->peers[w->peers_count];

	peers->first = w->host_count;
	for (uint32_t h = group; h < hosts->count; h += groups)
		if (hosts->matches(hosts->fabric, h, w->o->hosts)) {
			uint64_t rate = hosts->rate_bps(hosts->fabric, h);

			w->capacity_bps += rate;
			if (!w->host_count || rate < w->slowest_bps)
				w->slowest_bps = rate;
			w->pool[w->host_count] = h;
			w->hosts[w->host_count++] = h;
		}
	peers->count = w->host_count - peers->first;
	if (!peers->count)
		return;
	if (!w->peers_count++ || peers->count < w->least_peers)
		w->least_peers = peers->count;
}

/* The distribution, which check_load() has found to be good, and who takes part. 0 or -ENOMEM. */
static int world_init(struct world *w, const struct load *o, const struct workload_hosts *hosts)
{
	uint32_t groups = workload_groups(hosts, o->same_nic);
	char why[SIZES_REFUSAL];
	int r;

	*w = (struct world){.o = o};
	r = sizes_parse(&w->sizes, o->sizes.text, o->sizes.length, why);
	if (r < 0)
		return r;
	w->hosts = calloc(hosts->count + 1, sizeof(*w->hosts));
	w->pool = calloc(hosts->count + 1, sizeof(*w->pool));
	w->peers = calloc(groups, sizeof(*w->peers));
	w->sources = calloc(hosts->count + 1, sizeof(*w->sources));
	if (!w->hosts || !w->pool || !w->peers || !w->sources)
		return -ENOMEM;
	for (uint32_t group = 0; group < groups; group++)
		add_peers(w, hosts, group, groups);
	return 0;
}

static bool earlier(const struct source *a, const struct source *b)
{
	return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->host < b->host;
}

static void sift_down(struct world *w, uint32_t i)
{
	struct source moved = w->sources[i];

	for (uint32_t child; (child = 2 * i + 1) < w->source_count; i = child) {
		if (child + 1 < w->source_count &&
			earlier(&w->sources[child + 1], &w->sources[child]))
			child++;
		if (!earlier(&w->sources[child], &moved))
			break;
		w->sources[i] = w->sources[child];
	}
	w->sources[i] = moved;
}

/* The first comes after an exponential time, or a uniform part of a gap. */
static void add_source(
	struct world *w, const char *purpose, uint32_t number, uint32_t host, double gap)
{
	struct source *s = &w->sources[w->source_count++];

	*s = (struct source){.gap_ps = max_u64((uint64_t)llround(gap), 1),
		.rng = rng_stream(w->p.seed, purpose, number),
		.host = host};
	s->at_ps = w->o->arrivals == ARRIVALS_POISSON ? rng_exponential(&s->rng, s->gap_ps)
						      : rng_take(&s->rng) % s->gap_ps;
}

static void open_sources(struct world *w, const struct workload_hosts *hosts)
{
	double mean = sizes_mean(&w->sizes);

	for (uint32_t i = 0; i < w->host_count; i++)
		add_source(w, "load", w->hosts[i], i,
			mean_gap(mean, w->o->load, hosts->rate_bps(hosts->fabric, w->hosts[i])));
	if (w->o->incast.on)
		add_source(w, "load incast", 0, w->host_count, incast_gap(w));
	for (uint32_t i = w->source_count; i-- > 0;)
		sift_down(w, i);
}

static void add_flow(struct operations *m, struct world *w, uint64_t at_ps, uint32_t src,
	uint32_t dst, uint64_t bytes)
{
	operations_add(m, &(struct operation){
				  .src_host = src,
				  .dst_host = dst,
				  .bytes = bytes,
				  .start_ps = w->o->common.start_ps + at_ps,
				  .entry = w->p.entry,
				  .arrives = true,
				  .group = w->made++,
				  .unmeasured = at_ps < w->o->warmup_ps || at_ps >= w->o->until_ps,
			  });
}

static const struct peers *peers_of(const struct world *w, const struct source *s)
{
	const struct peers *p = w->peers;

	while (s->host >= p->first + p->count)
		p++;
	return p;
}

/* What comes of a source now. 0, or an error of operations_reserve(). */
static int let_arrive(struct operations *m, struct world *w, struct source *s)
{
	bool incast = s->host == w->host_count;
	uint32_t senders = w->o->incast.senders, to, *pool;
	const struct peers *p;
	int r = operations_reserve(m, incast ? senders : 1, 0);

	if (r < 0)
		return r;
	if (incast) {
		p = &w->peers[w->peers_count > 1 ? rng_below(&s->rng, w->peers_count) : 0];
		pool = w->pool + p->first;
		workload_sample(pool, p->count, senders + 1, &s->rng);
		for (uint32_t i = 1; i <= senders; i++)
			add_flow(m, w, s->at_ps, pool[i], pool[0], w->o->incast.bytes);
	} else {
		p = peers_of(w, s);
		to = p->first + rng_below(&s->rng, p->count - 1);
		to += to >= s->host;
		add_flow(m, w, s->at_ps, w->hosts[s->host], w->hosts[to],
			sizes_draw(&w->sizes, rng_take(&s->rng)));
	}
	s->at_ps += w->o->arrivals == ARRIVALS_POISSON ? rng_exponential(&s->rng, s->gap_ps)
						       : s->gap_ps;
	return 0;
}

/* ---- what a workload is asked ---- */

static double count(const void *options, const struct workload_hosts *hosts)
{
	const struct load *o = options;
	double flows = 0, lasts = (double)lasts_ps(o);
	struct world w;

	if (world_init(&w, o, hosts) == 0) {
		flows = lasts / mean_gap(sizes_mean(&w.sizes), o->load, w.capacity_bps);
		if (o->incast.on)
			flows += lasts / incast_gap(&w) * o->incast.senders;
	}
	world_release(&w);
	return floor(flows);
}

static void find_refusal(const struct world *w, const struct workload_hosts *hosts, char *buf)
{
	const struct load *o = w->o;
	uint64_t longest = max_u64(
		w->sizes.points[w->sizes.count - 1].bytes, o->incast.on ? o->incast.bytes : 0);

	if (w->host_count >= 2 && w->least_peers < 2)
		snprintf(buf, WORKLOAD_REFUSAL,
			"hosts: '%.40s' matches one host with a NIC number, which has none to send to; expected at least 2 with each, or none",
			o->hosts);
	else if (w->host_count < 2)
		snprintf(buf, WORKLOAD_REFUSAL,
			"hosts: '%.40s' matches %u of the %u hosts; expected at least 2", o->hosts,
			w->host_count, hosts->count);
	else if (o->incast.on && o->incast.senders >= w->least_peers)
		snprintf(buf, WORKLOAD_REFUSAL,
			"incast.senders: %u; of %u hosts%s one receives, so at most %u",
			o->incast.senders, w->least_peers,
			w->peers_count > 1 ? " with the same NIC number" : "", w->least_peers - 1);
	else if (mean_gap(sizes_mean(&w->sizes), o->load, w->slowest_bps) > (double)GAP_MAX)
		snprintf(buf, WORKLOAD_REFUSAL,
			"load: so low that a host sends less than one flow in 20 hours");
	else if (o->incast.on && incast_gap(w) > (double)GAP_MAX)
		snprintf(buf, WORKLOAD_REFUSAL,
			"incast.share: so low that there is less than one incast in 20 hours");
	else if (longest > hosts->message_max)
		snprintf(buf, WORKLOAD_REFUSAL,
			"a flow of %llu bytes is too large; it has at most 2^24 packets, %llu bytes",
			(unsigned long long)longest, (unsigned long long)hosts->message_max);
}

static const char *refuse(
	const void *options, const struct workload_hosts *hosts, char buf[WORKLOAD_REFUSAL])
{
	struct world w;

	buf[0] = '\0';
	if (world_init(&w, options, hosts) < 0)
		snprintf(buf, WORKLOAD_REFUSAL, "sizes: out of memory");
	else
		find_refusal(&w, hosts, buf);
	world_release(&w);
	return buf[0] ? buf : NULL;
}

/* M/G/1 with processor sharing at each host: whatever the law of sizes (Kleinrock 1976). */
static double under_way(const void *options, const struct workload_hosts *hosts)
{
	const struct load *o = options;
	double load = o->load + (o->incast.on ? o->incast.share : 0);
	uint32_t taking_part = 0;

	for (uint32_t h = 0; h < hosts->count; h++)
		taking_part += hosts->matches(hosts->fabric, h, o->hosts);
	return taking_part * load / (load < .95 ? 1 - load : .05) +
	       (o->incast.on ? o->incast.senders : 0);
}

static void close_arrivals(void *arrivals)
{
	if (arrivals)
		world_release(arrivals);
	free(arrivals);
}

static int open_arrivals(void **ret, const struct workload_params *p, const void *options,
	const struct workload_hosts *hosts)
{
	struct world *w = calloc(1, sizeof(*w));
	int r = w ? world_init(w, options, hosts) : -ENOMEM;

	if (r < 0) {
		close_arrivals(w);
		return r;
	}
	w->p = *p;
	open_sources(w, hosts);
	*ret = w;
	return 0;
}

static int next_arrivals(void *arrivals, struct operations *m, size_t count)
{
	struct world *w = arrivals;
	size_t end = m->count + count;
	int r = 0;

	while (r == 0 && m->count < end && w->sources[0].at_ps < lasts_ps(w->o)) {
		r = let_arrive(m, w, &w->sources[0]);
		sift_down(w, 0);
	}
	return r;
}

static const struct workload_arrivals arrivals = {
	.open = open_arrivals,
	.next = next_arrivals,
	.close = close_arrivals,
	.under_way = under_way,
};

const struct workload_kind workload_kind_load = {
	.name = "load",
	.map = {KEYS(keys), .size = sizeof(struct load), .check = check_load, .partial = true,
		.help = "flows that arrive at all hosts at random times, with sizes of a distribution"},
	.count = count,
	.refuse = refuse,
	.arrivals = &arrivals,
};
