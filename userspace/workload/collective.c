/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The keys of collectives, and where their ranks are. */
#include "workload/collective.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng_stream.h"

static const char *const op_words[] = {
	"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", NULL};
static const char *const algorithm_words[] = {
	"auto", "ring", "halving_doubling", "tree", "pairwise", "windowed", "bruck", NULL};

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

static const struct map inside_map = PLACEMENT_INSIDE(struct collective, placement);

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
	PLACEMENT_KEYS(struct collective, placement, &inside_map, ", job by job"),
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

static bool check_stragglers(struct check *c, const struct tree *n, const struct collective *o)
{
	char path[40];

	for (size_t i = 0; i < o->straggler_count; i++)
		for (size_t k = 0; k < i; k++)
			if (o->stragglers[k].rank == o->stragglers[i].rank) {
				snprintf(path, sizeof(path), "stragglers.%zu.rank", i);
				return c->wrong(c, n, path, "rank %u again; say all of it at once",
					o->stragglers[i].rank);
			}
	return true;
}

static bool check_collective(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	struct collective *o = options;
	bool fine = placement_check(c, n, &o->placement);

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
	if (fine)
		fine = check_stragglers(c, n, o);
	o->common.bytes = o->chunk && o->chunk < o->bytes ? o->chunk : o->bytes;
	return fine;
}

/* Ranks of a job, of so many hosts. */
static uint32_t ranks_of(const struct collective *o, uint32_t hosts)
{
	if (o->ranks)
		return o->ranks;
	return (o->placement.host_count ? (uint32_t)o->placement.host_count
					: hosts * o->placement.ranks_per_host) /
	       o->jobs;
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
	uint64_t shared = (uint64_t)reached * o->placement.ranks_per_host; /* ranks of a plane */

	if (ranks < 2)
		snprintf(buf, WORKLOAD_REFUSAL,
			"jobs: %u of %zu hosts; a job needs at least 2 ranks, and ranks_per_host is %u",
			o->jobs, o->placement.host_count ? o->placement.host_count : (size_t)hosts,
			o->placement.ranks_per_host);
	else if (o->placement.host_count && all != o->placement.host_count)
		snprintf(buf, WORKLOAD_REFUSAL,
			"hosts: %zu for %u job%s of %u ranks; expected %llu",
			o->placement.host_count, o->jobs, o->jobs > 1 ? "s" : "", ranks,
			(unsigned long long)all);
	else if (all > (uint64_t)hosts * o->placement.ranks_per_host)
		snprintf(buf, WORKLOAD_REFUSAL,
			"ranks: %u job%s of %u ranks; ranks_per_host is %u, and the fabric has %u hosts",
			o->jobs, o->jobs > 1 ? "s" : "", ranks, o->placement.ranks_per_host, hosts);
	else if (!o->placement.host_count && all > shared && shared % ranks)
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

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct collective *o = options;
	uint32_t ranks = ranks_of(o, hosts->count), all = ranks * o->jobs;
	uint32_t *placed = calloc((size_t)hosts->count + all, sizeof(*placed));
	int r = -ENOMEM;

	if (placed) {
		placement_hosts(
			placed, &o->placement, all, rng_stream(p->seed, "collective", 0), hosts);
		r = collective_operations(m, p, o, ranks, placed, hosts->mtu, NULL);
	}
	free(placed);
	return r;
}

static void facts(
	struct collective_facts *ret, const void *options, const struct workload_hosts *hosts)
{
	const struct collective *o = options;
	double n = ranks_of(o, hosts->count);

	*ret = (struct collective_facts){
		.op = op_words[o->op],
		.algorithm = algorithm_words[collective_algorithm(o)],
		.bytes = o->bytes,
		.ranks = ranks_of(o, hosts->count),
		.ranks_per_host = o->placement.ranks_per_host,
		.jobs = o->jobs,
		.rounds = o->repeat,
		.bus = o->op == BROADCAST ? 1 : (o->op == ALL_REDUCE ? 2 : 1) * (n - 1) / n,
	};
}

/*
 * A ring's rank sends to the next and receives from the one before, all the time. The others change
 * partners with each step, which begins when the one before is over, unless that is in chunks: then
 * both are under way at a time.
 */
static enum workload_turns turns(const void *options, const char **ret_why)
{
	const struct collective *o = options;
	enum collective_algorithm a = collective_algorithm(o);

	if (o->straggler_count)
		*ret_why =
			"stragglers begin later than others, and have no fixed number of messages under way";
	else if (o->op == BROADCAST || a == TREE)
		*ret_why =
			"ranks send to different numbers of others, some later than others; take another algorithm, such as ring";
	else if (a == RING)
		return TURNS_OF_PAIRS;
	else if ((a == HALVING_DOUBLING || a == BRUCK) && o->chunk && o->chunk < o->bytes)
		*ret_why =
			"the chunks of a step overlap with those of the next, which go elsewhere; take chunk: off";
	else
		return TURNS_AT_HOSTS;
	return TURNS_UNKNOWN;
}

const struct workload_kind workload_kind_collective = {
	.name = "collective",
	.map = {KEYS(keys), .size = sizeof(struct collective), .check = check_collective,
		.help = "ranks of jobs work together: all-reduce, all-to-all, ..."},
	.size_key = "size",
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
	.turns = turns,
	.facts = facts,
};
