/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Training with parameter servers (IEEE 802 Nendica, Intelligent Lossless Data Center Networks,
 * figure 5): each server sends the model to all workers, each of which computes when it has it all,
 * and then sends its update to each server. A server's next round begins when it has all updates.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng_stream.h"
#include "workload/placement.h"
#include "workload/list.h"

struct parameter_server {
	struct workload_common common; /* bytes: refuse() looks at both sizes */
	char **servers;                /* NULL: the first host */
	size_t server_count;
	uint32_t workers; /* 0: all that there are hosts for */
	char *hosts;      /* a glob */
	uint64_t download, upload, compute_ps, spread_ps, gap_ps;
	uint32_t repeat;
};

static const struct list servers = {.item = &placement_host,
	.size = sizeof(char *),
	.count = offsetof(struct parameter_server, server_count),
	.lone = true};

static const struct key keys[] = {
	KEY("server", LIST, struct parameter_server, servers, .usual = "the first host",
		.list = &servers, .expected = "a host, or a list of hosts such as [h0, h8]",
		.help = "who has the model: one host, or several that have a part of it each"),
	KEY("workers", COUNT, struct parameter_server, workers, .fallback = "all", .word = "all",
		.min = 1, .max = TIMES_MAX, .help = "how many hosts compute, drawn by the seed"),
	KEY("hosts", LABEL, struct parameter_server, hosts, .fallback = "*", .max = 128,
		.expected = "a glob over the names of hosts",
		.help = "which hosts may be workers: a glob over their names; servers are none"),
	KEY("download", BYTES, struct parameter_server, download, .required = true, .min = 1,
		.max = MESSAGE_BYTES_MAX, .help = "what each server sends to each worker"),
	KEY("upload", BYTES, struct parameter_server, upload, .required = true, .min = 1,
		.max = MESSAGE_BYTES_MAX, .help = "what each worker sends to each server"),
	KEY("compute", TIME, struct parameter_server, compute_ps, .fallback = "0", .max = TIME_MAX,
		.help = "from the end of a worker's downloads to its uploads"),
	KEY("spread", TIME, struct parameter_server, spread_ps, .fallback = "0", .max = TIME_MAX,
		.help = "a worker computes longer by up to this, drawn in each round"),
	KEY("start", TIME, struct parameter_server, common.start_ps, .fallback = "0",
		.max = MOMENT_MAX, .help = "when the first round begins"),
	KEY("repeat", COUNT, struct parameter_server, repeat, .fallback = "1", .min = 1,
		.max = TIMES_MAX, .help = "so many rounds one after the other"),
	KEY("gap", TIME, struct parameter_server, gap_ps, .fallback = "0", .max = TIME_MAX,
		.help = "from a server's last upload of a round to its next round"),
};

static bool check_servers(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	const struct parameter_server *o = options;

	(void)good;
	return placement_check_names(
		c, n, "server", o->servers, o->server_count, 1, "a server stands once");
}

static uint32_t servers_of(const struct parameter_server *o)
{
	return o->server_count ? (uint32_t)o->server_count : 1;
}

static uint32_t server_of(
	const struct parameter_server *o, const struct workload_hosts *hosts, uint32_t i)
{
	return o->server_count ? hosts->number(hosts->fabric, o->servers[i]) : 0;
}

/* Whether a host may be a worker: in the plane of the servers, it is none of them. */
static bool may_work(
	const struct parameter_server *o, const struct workload_hosts *hosts, uint32_t host)
{
	uint32_t planes = workload_groups(hosts, false);

	if (host % planes != server_of(o, hosts, 0) % planes)
		return false;
	for (uint32_t i = 0; i < servers_of(o); i++)
		if (server_of(o, hosts, i) == host)
			return false;
	return hosts->matches(hosts->fabric, host, o->hosts);
}

static uint32_t free_hosts(const struct parameter_server *o, const struct workload_hosts *hosts)
{
	uint32_t found = 0;

	for (uint32_t h = 0; h < hosts->count; h++)
		found += may_work(o, hosts, h);
	return found;
}

static uint32_t workers_of(const struct parameter_server *o, const struct workload_hosts *hosts)
{
	return o->workers ? o->workers : free_hosts(o, hosts);
}

static double count(const void *options, const struct workload_hosts *hosts)
{
	const struct parameter_server *o = options;
	double workers = workers_of(o, hosts), several = servers_of(o);

	return o->repeat * (workers * (2 * several + 1) + several) - several;
}

static const char *refuse(
	const void *options, const struct workload_hosts *hosts, char buf[WORKLOAD_REFUSAL])
{
	const struct parameter_server *o = options;
	uint32_t workers = free_hosts(o, hosts);
	bool down = o->download > hosts->message_max;

	if (!workers || o->workers > workers)
		snprintf(buf, WORKLOAD_REFUSAL,
			"workers: %u of the fabric's %u hosts match '%s' and are no server%s; expected at least %u",
			workers, hosts->count, o->hosts,
			workload_groups(hosts, false) > 1 ? ", in its plane" : "",
			o->workers ? o->workers : 1);
	else if (down || o->upload > hosts->message_max)
		snprintf(buf, WORKLOAD_REFUSAL,
			"%s: too large; a message has at most 2^24 packets, %llu bytes",
			down ? "download" : "upload", (unsigned long long)hosts->message_max);
	else
		return NULL;
	return buf;
}

/* While operations are made. A round's are its downloads, computations, uploads and updates. */
struct rounds {
	struct operations *m;
	const struct parameter_server *o;
	const struct workload_params *p;
	uint32_t workers, servers, round;
	uint32_t *worker, *server; /* hosts */
	uint32_t updates;          /* the first of the round before */
};

/* One of the present round, for which there is room. */
static uint32_t add(struct rounds *r, struct operation o)
{
	o.entry = r->p->entry;
	o.group = r->round;
	o.again = r->round > 0;
	return operations_add(r->m, &o);
}

/* The latest waits for `many`, `step` apart. */
static void wait_for(
	struct rounds *r, uint32_t first, uint32_t many, uint32_t step, enum operation_event event)
{
	for (uint32_t i = 0; i < many; i++)
		operations_wait(r->m, first + i * step, event);
}

/* Of each server one after the other: to or from all workers, in their order. */
static void add_round(struct rounds *r, uint64_t *rng)
{
	const struct parameter_server *o = r->o;
	uint32_t w = r->workers, down = (uint32_t)r->m->count, work = down + w * r->servers,
		 up = work + w;

	for (uint32_t i = 0; i < w * r->servers; i++) {
		add(r, (struct operation){.src_host = r->server[i / w],
			       .dst_host = r->worker[i % w],
			       .bytes = o->download,
			       .start_ps = r->round ? 0 : o->common.start_ps});
		if (r->round)
			operations_wait(r->m, r->updates + i / w, OPERATION_ENDED);
	}
	for (uint32_t i = 0; i < w; i++) {
		uint64_t extra = o->spread_ps ? rng_take(rng) % (o->spread_ps + 1) : 0;

		add(r, (struct operation){.src_host = r->worker[i],
			       .dst_host = r->worker[i],
			       .lasts_ps = o->compute_ps + extra});
		wait_for(r, down + i, r->servers, w, OPERATION_DELIVERED);
	}
	for (uint32_t i = 0; i < w * r->servers; i++) {
		add(r, (struct operation){.src_host = r->worker[i % w],
			       .dst_host = r->server[i / w],
			       .bytes = o->upload});
		operations_wait(r->m, work + i % w, OPERATION_ENDED);
	}
	r->updates = (uint32_t)r->m->count;
	for (uint32_t s = 0; s < r->servers && r->round + 1 < o->repeat; s++) {
		add(r, (struct operation){.src_host = r->server[s],
			       .dst_host = r->server[s],
			       .lasts_ps = o->gap_ps});
		wait_for(r, up + s * w, w, 1, OPERATION_DELIVERED);
	}
}

/* The hosts of servers and of workers. */
static void place(struct rounds *r, const struct workload_hosts *hosts, uint64_t *rng)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < r->servers; i++)
		r->server[i] = server_of(r->o, hosts, i);
	for (uint32_t h = 0; h < hosts->count; h++)
		if (may_work(r->o, hosts, h))
			r->worker[found++] = h;
	if (r->o->workers)
		workload_sample(r->worker, found, r->workers, rng);
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct parameter_server *o = options;
	struct rounds r = {.m = m,
		.o = o,
		.p = p,
		.workers = workers_of(o, hosts),
		.servers = servers_of(o),
		.worker = calloc((size_t)hosts->count + servers_of(o), sizeof(*r.worker))};
	uint64_t rng = rng_stream(p->seed, "parameter_server", 0);
	size_t pairs = (size_t)r.workers * r.servers;
	int err = -ENOMEM;

	/* of each pair a message either way, and one wait each for all four kinds */
	if (r.worker)
		err = operations_reserve(
			m, o->repeat * (2 * pairs + r.workers + r.servers), o->repeat * 4 * pairs);
	if (!err) {
		r.server = r.worker + hosts->count;
		place(&r, hosts, &rng);
	}
	for (; !err && r.round < o->repeat; r.round++)
		add_round(&r, &rng);
	free(r.worker);
	return err;
}

static void facts(
	struct collective_facts *ret, const void *options, const struct workload_hosts *hosts)
{
	const struct parameter_server *o = options;

	*ret = (struct collective_facts){
		.op = "parameter_server",
		.algorithm = "pull_push",
		.bytes = o->download + o->upload,
		.ranks = workers_of(o, hosts),
		.ranks_per_host = 1,
		.jobs = 1,
		.rounds = o->repeat,
		.bus = workers_of(o, hosts),
	};
}

const struct workload_kind workload_kind_parameter_server = {
	.name = "parameter_server",
	.map = {KEYS(keys), .size = sizeof(struct parameter_server), .check = check_servers,
		.help = "servers send a model to workers, which send updates back"},
	.count = count,
	.refuse = refuse,
	.operations = make_operations,
	.facts = facts,
};
