/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/cuts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"
#include "base/wiretime.h"
#include "workload/demand.h"
#include "workload/divisions.h"

/* What messages ask of the links that lead out of parts, and into them. */
struct cut {
	struct demands leaving, entering;
	uint64_t *leaving_ps, *entering_ps; /* the work that cuts_add_work() adds up */
};

struct cuts {
	struct workload_frames frames;
	struct divisions divisions;
	struct cut *items; /* beside those of divisions */
};

void cuts_free(struct cuts *x)
{
	if (!x)
		return;
	for (uint32_t i = 0; x->items && i < x->divisions.count; i++) {
		free(x->items[i].leaving_ps);
		free(x->items[i].entering_ps);
		demands_release(&x->items[i].leaving);
		demands_release(&x->items[i].entering);
	}
	free(x->items);
	divisions_release(&x->divisions);
	free(x);
}

/* On a host's link, as it was built, from the host or to it. */
static uint64_t host_hop_ps(const struct cuts *x, uint32_t host, bool to, uint32_t frame_len)
{
	const struct net *net = x->divisions.net;
	const struct net_port *p = &net->ports[net->nodes[host].first_port];

	return serialise_ps(frame_len, p->rate_bps) +
	       net_port_flight(to ? &net->ports[p->peer] : p);
}

/* The frames of a message. */
struct frames {
	uint32_t last, answer;
	uint64_t wire_bytes; /* of all data */
};

static struct frames frames_of(const struct cuts *x, const struct operation *msg)
{
	uint32_t head = frame_overhead(x->frames.ip6);
	uint32_t data = head + x->frames.transports[msg->transport].data_extension;
	uint64_t packets = (msg->bytes - 1) / x->frames.mtu + 1;
	uint32_t last = data + (uint32_t)(msg->bytes - (packets - 1) * x->frames.mtu);

	return (struct frames){
		.last = last,
		.answer = head + x->frames.transports[msg->transport].answer_extension,
		.wire_bytes = (packets - 1) * wire_bytes(data + x->frames.mtu) + wire_bytes(last),
	};
}

static uint64_t work_ps(const struct frames *frames, uint64_t rate_bps)
{
	return (uint64_t)((unsigned __int128)frames->wire_bytes * 8 * PS_PER_S / rate_bps);
}

/* What a message asks of all links that join a part to the rest, as if they were one. */
static struct demand demand_of(
	const struct cuts *x, const struct operation *msg, const struct division *d, uint32_t part)
{
	struct frames frames = frames_of(x, msg);
	uint64_t work = work_ps(&frames, d->out_bps[part]);

	if (!d->part)
		return (struct demand){.at = part, .start_ps = msg->start_ps, .work_ps = work};
	return (struct demand){
		.at = part,
		.start_ps = msg->start_ps,
		.before_ps = host_hop_ps(x, msg->src_host, false, frames.last),
		.work_ps = work,
		/* there, and back again with the answer */
		.after_ps = 2 * d->least_ps[part] +
			    host_hop_ps(x, msg->dst_host, true, frames.last) +
			    host_hop_ps(x, msg->dst_host, false, frames.answer) +
			    host_hop_ps(x, msg->src_host, true, frames.answer),
	};
}

static int cut_take(const struct cuts *x, uint32_t number, const struct operations *m, bool leaves)
{
	const struct division *d = &x->divisions.items[number];
	struct cut *c = &x->items[number];
	struct demands *demands = leaves ? &c->leaving : &c->entering;

	if (demands_reserve(demands, m->count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		const struct operation *msg = &m->items[i];
		struct demand one;
		uint32_t from, to, part;

		if (!operation_is_message(msg) || msg->waits || msg->unmeasured)
			continue;
		from = division_part(&x->divisions, d, msg->src_host);
		to = division_part(&x->divisions, d, msg->dst_host);
		part = leaves ? from : to;
		if (from == to || !d->out_bps[part])
			continue;
		one = demand_of(x, msg, d, part);
		demands_add(demands, &one);
	}
	demands_settle(demands);
	return 0;
}

int cuts_take(struct cuts *x, const struct operations *m)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < x->divisions.count; i++) {
		r = cut_take(x, i, m, true);
		if (r == 0)
			r = cut_take(x, i, m, false);
	}
	return r;
}

void cuts_end_list(struct cuts *x)
{
	for (uint32_t i = 0; i < x->divisions.count; i++) {
		demands_end_list(&x->items[i].leaving);
		demands_end_list(&x->items[i].entering);
	}
}

uint64_t cuts_bound(const struct cuts *x)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < x->divisions.count; i++)
		most = max_u64(most, max_u64(demands_bound(&x->items[i].leaving),
					     demands_bound(&x->items[i].entering)));
	return most;
}

void cuts_add_work(struct cuts *x, const struct operation *msg)
{
	struct frames frames = frames_of(x, msg);

	for (uint32_t i = 0; i < x->divisions.count; i++) {
		const struct division *d = &x->divisions.items[i];
		struct cut *c = &x->items[i];
		uint32_t from = division_part(&x->divisions, d, msg->src_host),
			 to = division_part(&x->divisions, d, msg->dst_host);

		if (from == to)
			continue;
		if (d->out_bps[from])
			c->leaving_ps[from] += work_ps(&frames, d->out_bps[from]);
		if (d->out_bps[to])
			c->entering_ps[to] += work_ps(&frames, d->out_bps[to]);
	}
}

uint64_t cuts_take_work(struct cuts *x)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < x->divisions.count; i++) {
		struct cut *c = &x->items[i];

		for (uint32_t p = 0; p < x->divisions.items[i].parts; p++) {
			most = max_u64(most, max_u64(c->leaving_ps[p], c->entering_ps[p]));
			c->leaving_ps[p] = c->entering_ps[p] = 0;
		}
	}
	return most;
}

static int cuts_init(struct cuts *x, const struct net *net, const uint64_t *rate_bps)
{
	int r = divisions_init(&x->divisions, net, rate_bps);

	if (r < 0)
		return r;
	x->items = calloc(x->divisions.count, sizeof(*x->items));
	for (uint32_t i = 0; x->items && i < x->divisions.count; i++) {
		struct cut *c = &x->items[i];
		size_t parts = x->divisions.items[i].parts;

		c->leaving_ps = calloc(parts + 1, sizeof(*c->leaving_ps));
		c->entering_ps = calloc(parts + 1, sizeof(*c->entering_ps));
		if (!c->leaving_ps || !c->entering_ps ||
			demands_init(&c->leaving, (uint32_t)parts) < 0 ||
			demands_init(&c->entering, (uint32_t)parts) < 0)
			return -ENOMEM;
	}
	return x->items ? 0 : -ENOMEM;
}

int cuts_new(struct cuts **ret, const struct net *net, const struct workload_frames *frames,
	const uint64_t *rate_bps)
{
	struct cuts *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->frames = *frames;
	if (cuts_init(x, net, rate_bps) < 0) {
		cuts_free(x);
		return -ENOMEM;
	}
	*ret = x;
	return 0;
}
