/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/fabric_report_parts.h"

#include <stdlib.h>
#include "base/headroom.h"
#include "base/units.h"
#include "transport/recovery/dupack.h"

#define DSCPS 64

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *in_us(uint64_t ps)
{
	return json_real((double)ps / PS_PER_US);
}

/* ---- classes ---- */

static json_t *report_depth(const struct switching_depth *d)
{
	return d->ps ? json_pack("{s:o}", "us", in_us(d->ps))
		     : json_pack("{s:o}", "bytes", number(d->bytes));
}

static json_t *report_ecn(const struct switching_class *c)
{
	if (!c->kmax.bytes && !c->kmax.ps)
		return json_null();
	return json_pack("{s:o, s:o, s:f, s:o}", "kmin", report_depth(&c->kmin), "kmax",
		report_depth(&c->kmax), "pmax", c->pmax, "average", number(c->average));
}

static json_t *report_classes(const struct fabric *f, const struct scenario *s)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		const struct switching_class *c = &f->switching.classes[i];
		json_t *dscps;

		if (!c->used)
			continue;
		dscps = json_array();
		for (uint32_t d = 0; d < DSCPS; d++)
			if (s->sw.classes[i].dscp >> d & 1)
				json_array_append_new(dscps, number(d));
		json_array_append_new(
			array, json_pack("{s:o, s:o, s:b, s:o, s:o, s:o}", "class", number(i),
				       "dscp", dscps, "lossless", c->lossless, "share",
				       c->share > 0 ? json_real(c->share) : json_null(), "ecn",
				       report_ecn(c),
				       f->switching.shared ? "reserve_bytes" : "buffer_bytes",
				       number(c->limit_bytes)));
	}
	return array;
}

static json_t *report_dscp(const struct fabric *f, uint32_t dscp)
{
	return json_pack("{s:o, s:o}", "dscp", number(dscp), "class",
		number(f->switching.config.class_of[dscp]));
}

json_t *report_dscps(
	const struct fabric *f, const struct scenario *s, const struct report_load *load)
{
	uint64_t own = 0;
	json_t *flows;

	for (uint32_t i = 0; i < OPERATION_TRANSPORTS; i++)
		own |= load->dscps[i];
	own &= ~(1ull << s->host.data_dscp);
	flows = own ? json_array() : NULL;
	for (uint64_t left = own; left; left &= left - 1)
		json_array_append_new(flows, report_dscp(f, (uint32_t)__builtin_ctzll(left)));
	return json_pack("{s:o, s:o*, s:o, s:o}", "data", report_dscp(f, s->host.data_dscp),
		"flows", flows, "control", report_dscp(f, s->host.control_dscp), "notify",
		report_dscp(f, s->host.notify_dscp));
}

static json_t *report_transport_parts(const struct transport_choice *t)
{
	json_t *parts = scenario_has_parts(t) ? json_object() : NULL;
	const char *key;
	char *text;

	for (uint32_t i = 0; parts && (text = scenario_part_text(t, i, &key)); i++) {
		json_object_set_new(parts, key, json_string(text));
		free(text);
	}
	return parts;
}

/* At what rates it sends messages, where these follow from their fair shares. */
static json_t *report_rate(const struct transport_facts *facts, const struct report_load *load)
{
	if (!facts->share.name || !load->most_share_bps)
		return NULL;
	return json_pack("{s:f, s:I, s:I}", "of_fair_share", facts->paced, "least_bps",
		(json_int_t)(facts->paced * (double)load->least_share_bps), "most_bps",
		(json_int_t)(facts->paced * (double)load->most_share_bps));
}

/* Equation 1, subflows_needed(), for the messages with the smallest and the largest share. */
static json_t *report_subflows(const struct fabric *f, const struct scenario *s, uint32_t transport,
	const struct transport_facts *facts, const struct report_load *load)
{
	uint64_t queue = fabric_data_queue(f, s, transport),
		 shares[] = {load->least_share_bps, load->most_share_bps};
	uint32_t d = facts->subflow_threshold, k[2];
	double flows[2];

	for (int i = 0; d && i < 2; i++) {
		uint64_t share =
			shares[i] ? min_u64(shares[i], f->host_rate_bps) : f->host_rate_bps;

		k[i] = subflows_needed(queue, f->mtu, d, f->host_rate_bps, share);
		flows[i] = (double)f->host_rate_bps / (double)share;
	}
	if (!d)
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "least", (json_int_t)k[0], "most",
		(json_int_t)k[1], "queue_bytes", (json_int_t)queue, "threshold", (json_int_t)d,
		"payload_bytes", (json_int_t)f->mtu, "flows_most", flows[0], "flows_least",
		flows[1]);
}

json_t *report_transports(
	const struct fabric *f, const struct scenario *s, const struct report_load *load)
{
	const struct transport_choice *t;
	json_t *transports = json_array();

	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++) {
		struct transport_facts facts = transport_facts(t);
		json_t *dscps = json_array();

		for (uint64_t left = load->dscps[i]; left; left &= left - 1)
			json_array_append_new(
				dscps, report_dscp(f, (uint32_t)__builtin_ctzll(left)));
		json_array_append_new(transports,
			json_pack("{s:s, s:s, s:o, s:o*, s:o*, s:o*}", "transport",
				transport_name(t), "title", transport_kinds[t->kind]->title, "data",
				dscps, "parts", report_transport_parts(t), "rate",
				report_rate(&facts, load), "subflows",
				report_subflows(f, s, i, &facts, load)));
	}
	return transports;
}

/* ---- buffers ---- */

static json_t *report_pool(const struct fabric *f, uint32_t node)
{
	return json_pack("{s:s, s:o, s:o}", "switch", f->nodes[node].name, "bytes",
		number(switching_pool(&f->switching, &f->net, node)), "shared_bytes",
		number(switching_pool_left(&f->switching, &f->net, node)));
}

/* The switches of which the queues share the least and the most. */
static json_t *report_pools(const struct fabric *f)
{
	uint32_t smallest = f->net.host_count, largest = smallest;

	if (!f->switching.shared)
		return json_null();
	for (uint32_t i = smallest; i < f->net.node_count; i++) {
		if (switching_pool_left(&f->switching, &f->net, i) <
			switching_pool_left(&f->switching, &f->net, smallest))
			smallest = i;
		if (switching_pool_left(&f->switching, &f->net, i) >
			switching_pool_left(&f->switching, &f->net, largest))
			largest = i;
	}
	return json_pack("{s:f, s:o, s:o}", "alpha", f->switching.alpha, "smallest",
		report_pool(f, smallest), "largest", report_pool(f, largest));
}

/* ---- headroom ---- */

static uint64_t sent_in(uint64_t ps, uint64_t rate_bps)
{
	return (uint64_t)((unsigned __int128)ps * rate_bps / (8 * PS_PER_S));
}

/* What is on the wire while the PFC frame waits, leaves, travels and takes effect. */
static json_t *report_terms(const struct fabric *f, const struct net_port *port)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "frame_bytes",
		number(wire_bytes(f->packet_bytes)), "pfc_bytes", number(wire_bytes(PFC_FRAME)),
		"control_bytes", number(f->switching.control_bytes), "flight_bytes",
		number(sent_in(2 * port->delay_ps + f->switching.latency_ps, port->rate_bps)),
		"response_bytes", number(sent_in(f->switching.config.response_ps, port->rate_bps)));
}

/*
 * Of a lossless class at the ports of so many links of one rate and delay, that link being one of
 * them.
 */
static json_t *report_headroom(
	const struct fabric *f, uint32_t class, uint32_t link, uint32_t links)
{
	const struct switching_class *c = &f->switching.classes[class];
	const struct net_port *port = &f->net.ports[f->links[link].a];
	uint64_t bytes = switching_headroom(&f->switching, c, port);
	uint64_t xoff = switching_xoff(&f->switching, c, port);
	uint64_t xon = xoff > c->xon_bytes ? xoff - c->xon_bytes : 0;
	bool shared = f->switching.shared, automatic = c->headroom_bytes == SWITCHING_AUTO;
	char name[LINK_NAME];

	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "class", number(class),
		"links", number(links), "such_as", fabric_link_name(f, link, name), "rate_bps",
		number(port->rate_bps), "delay_us", in_us(port->delay_ps), "headroom_bytes",
		number(bytes), "xoff_bytes", shared ? json_null() : number(xoff), "xon_bytes",
		shared ? json_null() : number(xon), "terms",
		automatic ? report_terms(f, port) : json_null());
}

static int compare_kinds(const struct fabric *f, uint32_t x, uint32_t y)
{
	const struct net_port *p = &f->net.ports[f->links[x].a], *q = &f->net.ports[f->links[y].a];

	if (p->rate_bps != q->rate_bps)
		return p->rate_bps < q->rate_bps ? -1 : 1;
	return p->delay_ps < q->delay_ps ? -1 : p->delay_ps > q->delay_ps;
}

/* By rate and delay; the first of equal links stands for them. */
static int compare_links(const void *a, const void *b, void *fabric)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int r = compare_kinds(fabric, x, y);

	return r ? r : x < y ? -1 : x > y;
}

static json_t *report_headrooms(const struct fabric *f)
{
	uint32_t count = f->net.link_count, last, *links = calloc(count + 1, sizeof(*links));
	json_t *array = links ? json_array() : NULL;

	for (uint32_t l = 0; array && l < count; l++)
		links[l] = l;
	if (array)
		qsort_r(links, count, sizeof(*links), compare_links, (void *)f);
	for (uint32_t i = 0; array && i < SCENARIO_CLASSES; i++) {
		if (!f->switching.classes[i].used || !f->switching.classes[i].lossless)
			continue;
		for (uint32_t first = 0; first < count; first = last) {
			for (last = first + 1; last < count; last++)
				if (compare_kinds(f, links[first], links[last]))
					break;
			json_array_append_new(
				array, report_headroom(f, i, links[first], last - first));
		}
	}
	free(links);
	return array;
}

/* ---- load balancing ---- */

/* index: of balances[], 0 being that of tiers without their own; switches: how many have it. */
static json_t *report_policy(
	const struct fabric *f, const struct scenario *s, uint32_t index, uint32_t switches)
{
	const struct switching_balance *b = &f->switching.balances[index];
	const struct balances_spec *spec = &s->sw.balance;
	json_t *r = json_pack("{s:s, s:o, s:s}", "switches",
		index                            ? balance_tiers[index - 1]
		: switches < f->net.switch_count ? "others"
						 : "all",
		"count", number(switches), "policy",
		file_text_name(index ? &spec->tiers[index - 1]->policy : &spec->all.policy));

	if (balance_uses(b->policy, BALANCE_GAP))
		json_object_set_new(r, "gap_us", in_us(b->gap_ps));
	if (balance_uses(b->policy, BALANCE_LIFETIME))
		json_object_set_new(
			r, "lifetime_us", b->lifetime_ps ? in_us(b->lifetime_ps) : json_null());
	if (balance_uses(b->policy, BALANCE_THRESHOLD))
		json_object_set_new(r, "threshold_bytes", number(b->threshold_bytes));
	if (balance_uses(b->policy, BALANCE_CHOICES))
		json_object_set_new(r, "choices", number(b->choices));
	if (balance_uses(b->policy, BALANCE_REMEMBERED))
		json_object_set_new(r, "remembered", number(b->remembered));
	if (balance_uses(b->policy, BALANCE_FLOWS))
		json_object_set_new(
			r, "flows", number((uint64_t)f->switching.config.flow_sets * FLOW_WAYS));
	return r;
}

/* By tier; NULL where all switches have ECMP. */
static json_t *report_balance(const struct fabric *f, const struct scenario *s)
{
	uint32_t switches[SWITCHING_BALANCES] = {0};
	json_t *array;

	if (!(f->switching.config.features & SW_BALANCE))
		return NULL;
	array = json_array();
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++)
		switches[f->net.nodes[i].balance]++;
	for (uint32_t i = 0; i < SWITCHING_BALANCES; i++)
		if (switches[i])
			json_array_append_new(array, report_policy(f, s, i, switches[i]));
	return array;
}

/* ---- the rest ---- */

static json_t *report_trimming(const struct fabric *f, const struct scenario *s)
{
	const struct switch_spec *sw = &s->sw;

	if (sw->trim.to == TRIM_OFF)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:s}", "class", number(sw->trim.class), "dscp",
		number(sw->trim.to == TRIM_SENDER ? sw->trim.return_dscp : sw->trim.dscp),
		"queue_bytes", number(f->switching.classes[sw->trim.class].limit_bytes), "overflow",
		sw->trim.or_return ? "return" : "drop");
}

static json_t *report_pauses(const struct scenario *s)
{
	if (!s->sw.pfc.on)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "quanta", number(s->sw.pfc.quanta), "response_us",
		in_us(s->sw.pfc.response_ps), "watchdog_us",
		s->sw.pfc.watchdog_ps ? in_us(s->sw.pfc.watchdog_ps) : json_null());
}

/* The classes that move from uplink to uplink. */
static json_t *report_roles(const struct scenario *s)
{
	json_t *array = json_array();

	for (uint32_t i = 0; s->sw.roles.on && i < SCENARIO_CLASSES; i++)
		if (s->sw.roles.to[i] != i)
			json_array_append_new(array, json_pack("{s:o, s:o}", "class", number(i),
							     "to", number(s->sw.roles.to[i])));
	return array;
}

json_t *report_switch(const struct fabric *f, const struct scenario *s)
{
	static const char *const trims[] = {
		[TRIM_OFF] = "off",
		[TRIM_RECEIVER] = "receiver",
		[TRIM_SENDER] = "sender",
	};

	return json_pack("{s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o*}", "latency_us",
		in_us(f->switching.latency_ps), "classes", report_classes(f, s), "pool",
		report_pools(f), "headroom", report_headrooms(f), "trim", trims[s->sw.trim.to],
		"pfc", s->sw.pfc.on, "trimming", report_trimming(f, s), "pauses", report_pauses(s),
		"roles", report_roles(s), "balance", report_balance(f, s));
}
