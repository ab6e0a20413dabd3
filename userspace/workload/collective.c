/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The keys of collectives, and where their ranks are. */
#include "workload/collective.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng_stream.h"
#include "workload/list.h"

static const char *const op_words[] = {
	"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", NULL};
static const char *const algorithm_words[] = {
	"auto", "ring", "halving_doubling", "tree", "pairwise", "windowed", "bruck", NULL};
static const char *const placement_words[] = {"in_order", "random", "by_nic", NULL};

/* What each operation can be done by, the default first. */
static const struct {
	enum collective_algorithm usual;
	uint32_t all; /* bits */
} by_op[] = {
	[ALL_REDUCE] = {RING, 1 << RING | 1 << HALVING_DOUBLING | 1 << TREE},
	[REDUCE_SCATTER] = {RING, 1 << RING | 1 << HALVING_DOUBLING},
	[ALL_GATHER] = {RING, 1 << RING | 1 << HALVING_DOUBLING},
	[BROADCAST] = {RING, 1 << RING | 1 << TREE},
	[ALL_TO_ALL] = {PAIRWISE, 1 << PAIRWISE | 1 << WINDOWED | 1 << BRUCK},
};

enum collective_algorithm collective_algorithm(const struct collective *c)
{
	return c->algorithm == AUTOMATIC ? by_op[c->op].usual : c->algorithm;
}

static const struct key straggler_keys[] = {
	KEY("rank", COUNT, struct straggler, rank, .required = true, .max = TIMES_MAX,
		.help = "which rank of each job it is"),
	KEY("delay", TIME, struct straggler, delay_ps, .fallback = "0", .max = TIME_MAX,
		.help = "it begins each round later by this"),
	KEY("compute", TIME, struct straggler, compute_ps, .usual = "the collective's",
		.max = TIME_MAX, .optional = true, .word_value = COMPUTE_AS_OTHERS,
		.help = "its own, in place of that of all"),
};

static const struct map straggler_map = {KEYS(straggler_keys)};
static const struct list straggler_list = {.item = ITEM(&straggler_map),
	.size = sizeof(struct straggler),
	.count = offsetof(struct collective, straggler_count),
	.many = "stragglers"};

static const struct key host = {.kind = VALUE_LABEL,
	.max = NODE_NAME_LIMIT,
	.is_host = true,
	.expected = "the name of a host such as h0"};
static const struct list host_list = {
	.item = &host, .size = sizeof(char *), .count = offsetof(struct collective, host_count)};

/* So that a message takes less than 2^63 ps. */
#define INSIDE_RATE_MIN 1000000

static const struct key inside_keys[] = {
	KEY("rate", RATE, struct collective, inside.rate_bps, .required = true,
		.min = INSIDE_RATE_MIN, .max = RATE_MAX,
		.help = "of what a rank sends to the others of its host"),
	KEY("delay", TIME, struct collective, inside.delay_ps, .fallback = "0", .max = DELAY_MAX,
		.help = "from the last byte sent to its arrival"),
};

static const struct map inside_map = {
	KEYS(inside_keys),
	.on = FIELD(struct collective, inside.rate_bps),
	.help = "how ranks of a host send to each other: each has a port of that rate",
};

static const struct key keys[] = {
	KEY("op", WORD, struct collective, op, .required = true, .words = op_words,
		.help = "what is done"),
	KEY("size", BYTES, struct collective, bytes, .required = true, .min = 1,
		.max = MESSAGE_BYTES_MAX,
		.help = "bytes as nccl-tests count them: of a rank's buffer, the longer one of the two"),
	KEY("algorithm", WORD, struct collective, algorithm, .fallback = "auto",
		.words = algorithm_words,
		.help = "how it is done; auto: ring, and all_to_all pairwise"),
	KEY("ranks", COUNT, struct collective, ranks, .fallback = "all", .word = "all", .min = 2,
		.max = TIMES_MAX, .help = "ranks of a job; all: as many as there are hosts for"),
	KEY("jobs", COUNT, struct collective, jobs, .fallback = "1", .min = 1, .max = TIMES_MAX,
		.help = "so many groups of ranks that do the same at once"),
	KEY("ranks_per_host", COUNT, struct collective, ranks_per_host, .fallback = "1", .min = 1,
		.max = 1024, .help = "a host has at most so many ranks, which share its links"),
	SECTION("inside", &inside_map, .fallback = "off"),
	KEY("placement", WORD, struct collective, placement, .fallback = "in_order",
		.words = placement_words,
		.help = "the hosts of ranks: one after the other, drawn by the seed, or NIC 0 of each server, then NIC 1, ...; each is filled"),
	KEY("hosts", LIST, struct collective, hosts, .usual = "by placement", .list = &host_list,
		.expected = "a list of hosts such as [h0, h1]",
		.help = "the host of each rank, job by job"),
	KEY("chunk", BYTES, struct collective, chunk, .fallback = "128KB", .word = "off", .min = 1,
		.max = MESSAGE_BYTES_MAX,
		.help = "a message has at most so many bytes; off: a step is one message"),
	KEY("channels", COUNT, struct collective, channels, .fallback = "1", .min = 1, .max = 64,
		.help = "so many parts of the buffer are done at once, each by itself"),
	KEY("window", COUNT, struct collective, window, .fallback = "32", .min = 1,
		.max = TIMES_MAX,
		.help = "windowed: ranks that a rank sends to, or receives from, at a time"),
	KEY("root", COUNT, struct collective, root, .fallback = "0", .max = TIMES_MAX,
		.help = "broadcast: the rank that has the data"),
	KEY("compute", TIME, struct collective, compute_ps, .fallback = "0", .max = TIME_MAX,
		.help = "what a rank takes for each message that it sends of what it has received"),
	KEY("stragglers", LIST, struct collective, stragglers, .usual = "none",
		.list = &straggler_list, .expected = "a list such as [{rank: 3, delay: 1ms}]",
		.help = "ranks of each job that are late or slow"),
	KEY("start", TIME, struct collective, common.start_ps, .fallback = "0", .max = MOMENT_MAX,
		.help = "when the first round begins"),
	KEY("repeat", COUNT, struct collective, repeat, .fallback = "1", .min = 1, .max = TIMES_MAX,
		.help = "so many rounds one after the other"),
	KEY("gap", TIME, struct collective, gap_ps, .fallback = "0", .max = TIME_MAX,
		.help = "from the end of a round at a rank to its start of the next"),
};

static bool check_hosts(struct check *c, const struct tree *n, const struct collective *o)
{
	bool fine = true;
	char path[32];

	for (size_t i = 0; i < o->host_count; i++) {
		uint32_t before = 0;

		for (size_t k = 0; k < i; k++)
			before += !strcmp(o->hosts[i], o->hosts[k]);
		snprintf(path, sizeof(path), "hosts.%zu", i);
		if (before >= o->ranks_per_host)
			fine = c->wrong(c, n, path, "'%s' again; ranks_per_host is %u", o->hosts[i],
				o->ranks_per_host);
	}
	if (o->ranks_per_host > 1 && !o->inside.rate_bps)
		fine = c->wrong(c, n, "ranks_per_host",
			"ranks of a host send to each other inside it; give the rate of that too, such as inside: {rate: 3.6Tbps}");
	if (o->ranks_per_host == 1 && o->inside.rate_bps)
		fine = c->wrong(c, n, "inside",
			"no ranks share a host; give ranks_per_host: 2 or more, or leave it out");
	return fine;
}

static bool check_collective(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	struct collective *o = options;
	bool fine = check_hosts(c, n, o);

	(void)good;
	if (!(by_op[o->op].all >> collective_algorithm(o) & 1)) {
		char words[80] = "";

		for (unsigned a = RING; algorithm_words[a]; a++)
			if (by_op[o->op].all >> a & 1)
				snprintf(words + strlen(words), sizeof(words) - strlen(words),
					"%s%s", *words ? ", " : "", algorithm_words[a]);
		fine = c->wrong(c, n, "algorithm", "there is no %s by %s; expected one of %s",
			op_words[o->op], algorithm_words[o->algorithm], words);
	}
	o->common.bytes = o->chunk && o->chunk < o->bytes ? o->chunk : o->bytes;
	return fine;
}

/* Ranks of a job, of so many hosts. */
static uint32_t ranks_of(const struct collective *o, uint32_t hosts)
{
	if (o->ranks)
		return o->ranks;
	return (o->host_count ? (uint32_t)o->host_count : hosts * o->ranks_per_host) / o->jobs;
}

/* At least: what each algorithm has to move, and to how many. */
static double count(const void *options, const struct workload_hosts *hosts)
{
	const struct collective *o = options;
	double n = ranks_of(o, hosts->count), moved = (double)o->bytes * (n - 1), least = n - 1;
	enum collective_algorithm a = collective_algorithm(o);

	if (a == HALVING_DOUBLING || a == BRUCK)
		least = n;
	else if (a != TREE && o->op != BROADCAST)
		least = (double)o->bytes / o->channels < n ? n - 1 : n * (n - 1);
	if (o->op == ALL_REDUCE) {
		moved *= 2;
		least *= 2;
	}
	if (o->chunk && moved / (double)o->chunk > least * o->channels)
		return moved / (double)o->chunk * o->jobs * o->repeat;
	return least * o->jobs * o->repeat;
}

static const char *refuse(
	const void *options, const struct workload_hosts *available, char buf[WORKLOAD_REFUSAL])
{
	const struct collective *o = options;
	uint32_t hosts = available->count, ranks = ranks_of(o, hosts);
	uint64_t all = (uint64_t)ranks * o->jobs;
	uint32_t planes = workload_groups(available, false), reached = hosts / planes;
	uint64_t shared = (uint64_t)reached * o->ranks_per_host; /* ranks of a plane */

	if (ranks < 2)
		snprintf(buf, WORKLOAD_REFUSAL,
			"jobs: %u of %zu hosts; a job needs at least 2 ranks, and ranks_per_host is %u",
			o->jobs, o->host_count ? o->host_count : (size_t)hosts, o->ranks_per_host);
	else if (o->host_count && all != o->host_count)
		snprintf(buf, WORKLOAD_REFUSAL,
			"hosts: %zu for %u job%s of %u ranks; expected %llu", o->host_count,
			o->jobs, o->jobs > 1 ? "s" : "", ranks, (unsigned long long)all);
	else if (all > (uint64_t)hosts * o->ranks_per_host)
		snprintf(buf, WORKLOAD_REFUSAL,
			"ranks: %u job%s of %u ranks; ranks_per_host is %u, and the fabric has %u hosts",
			o->jobs, o->jobs > 1 ? "s" : "", ranks, o->ranks_per_host, hosts);
	else if (!o->host_count && all > shared && shared % ranks)
		snprintf(buf, WORKLOAD_REFUSAL,
			"ranks: %u of a job; no path joins the %u planes, which have %u hosts each; take jobs: %u, one in each plane, or a number of ranks that divides %llu",
			ranks, planes, reached, planes, (unsigned long long)shared);
	else if (collective_algorithm(o) == HALVING_DOUBLING && ranks & (ranks - 1))
		snprintf(buf, WORKLOAD_REFUSAL,
			"ranks: %u is no power of two, which halving_doubling needs", ranks);
	else if (o->root >= ranks)
		snprintf(buf, WORKLOAD_REFUSAL, "root: there is no rank %u; they are 0 to %u",
			o->root, ranks - 1);
	else {
		for (size_t i = 0; i < o->straggler_count; i++)
			if (o->stragglers[i].rank >= ranks) {
				snprintf(buf, WORKLOAD_REFUSAL,
					"stragglers.%zu.rank: there is no rank %u; they are 0 to %u",
					i, o->stragglers[i].rank, ranks - 1);
				return buf;
			}
		return NULL;
	}
	return buf;
}

/* The hosts of all ranks, job by job; of planes, those of one after those of another. */
static void place(uint32_t *ret, const struct collective *o, uint32_t ranks, uint64_t seed,
	const struct workload_hosts *hosts)
{
	uint64_t rng = rng_stream(seed, "collective", 0);
	uint32_t each = o->ranks_per_host, filled = (ranks + each - 1) / each;
	uint32_t groups = workload_groups(hosts, o->placement == BY_NIC);
	uint32_t size = hosts->count / groups;

	for (uint32_t i = 0; i < hosts->count; i++)
		ret[i] = workload_host(hosts, groups, i);
	if (o->placement == RANDOM && !o->host_count)
		for (uint32_t i = 0; i < filled; i += size)
			workload_sample(ret + i, size, filled - i < size ? filled - i : size, &rng);
	/* from the last on: what is read yet is not written before */
	for (uint32_t i = ranks; i-- > 0;)
		ret[i] = ret[i / each];
	for (size_t i = 0; i < o->host_count; i++)
		ret[i] = hosts->number(hosts->fabric, o->hosts[i]);
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct collective *o = options;
	uint32_t ranks = ranks_of(o, hosts->count), all = ranks * o->jobs;
	uint32_t *placed = calloc((size_t)hosts->count + all, sizeof(*placed));
	int r = -ENOMEM;

	if (placed) {
		place(placed, o, all, p->seed, hosts);
		r = collective_operations(m, p, o, ranks, placed, hosts->mtu, NULL);
	}
	free(placed);
	return r;
}

bool collective_facts(struct collective_facts *ret, const struct workload_kind *kind,
	const void *options, uint32_t hosts)
{
	const struct collective *o = options;
	double n;

	if (kind != &workload_kind_collective)
		return false;
	n = ranks_of(o, hosts);
	*ret = (struct collective_facts){
		.op = op_words[o->op],
		.algorithm = algorithm_words[collective_algorithm(o)],
		.bytes = o->bytes,
		.ranks = ranks_of(o, hosts),
		.ranks_per_host = o->ranks_per_host,
		.jobs = o->jobs,
		.rounds = o->repeat,
		.bus = o->op == BROADCAST ? 1 : (o->op == ALL_REDUCE ? 2 : 1) * (n - 1) / n,
	};
	return true;
}

const struct workload_kind workload_kind_collective = {
	.name = "collective",
	.map = {KEYS(keys), .size = sizeof(struct collective), .check = check_collective,
		.help = "ranks of jobs work together: all-reduce, all-to-all, ..."},
	.size_key = "size",
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
};
