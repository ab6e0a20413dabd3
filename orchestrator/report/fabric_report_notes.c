/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is no mistake, and yet hardly what was meant. */
#include "report/fabric_report_parts.h"
#include "base/balance_name.h"
#include "transport/kind.h"

static void note_lossy(
	json_t *notes, const struct fabric *f, const struct scenario *s, uint32_t class)
{
	const struct transport_kind *kind = transport_kinds[s->host.transport.kind];
	const char *harm = transport_facts(&s->host.transport).loss_harm;

	if (!harm || f->switching.classes[class].lossless)
		return;
	json_array_append_new(notes,
		json_sprintf(
			"%s's data goes by class %u, which is lossy: %s; for a lossless class: switch.pfc, and "
			"lossless: yes of the class",
			kind->title, class, harm));
}

/*
 * More than a queue of the class at this port of a switch can ever hold; free: what the switch's
 * queues share.
 */
static double most_in_queue(
	const struct fabric *f, const struct switching_class *c, uint32_t port, double free)
{
	const struct switching *sw = &f->switching;
	const struct net_node *n = &f->net.nodes[f->net.ports[port].node];
	double most = (double)c->limit_bytes;

	if (!c->lossless)
		return switching_lossy_most(sw, c, free);
	/* what all other ports' ingresses hold */
	most *= n->port_count - 1;
	if (!sw->shared)
		return most;
	for (uint32_t p = n->first_port; p < n->first_port + n->port_count; p++)
		if (p != port)
			most += (double)switching_headroom(sw, c, &f->net.ports[p]);
	return most + free;
}

/* Of a class that marks, the ports of switches whose queue cannot reach kmin. */
static void note_unreached_kmin(json_t *notes, const struct fabric *f, uint32_t class)
{
	const struct switching_class *c = &f->switching.classes[class];
	uint32_t ports = 0, example = 0;
	double held = 0;
	char name[LINK_NAME];

	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		const struct net_node *n = &f->net.nodes[i];
		double free = f->switching.shared
				      ? (double)switching_pool_left(&f->switching, &f->net, i)
				      : 0;

		for (uint32_t p = n->first_port; p < n->first_port + n->port_count; p++) {
			double most = most_in_queue(f, c, p, free);

			if ((double)switching_depth_bytes(&c->kmin, f->net.ports[p].rate_bps) <
				most)
				continue;
			if (!ports++) {
				example = p;
				held = most;
			}
		}
	}
	if (!ports)
		return;
	json_array_append_new(notes,
		json_sprintf(
			"class %u: nothing is ever marked at %u port%s of switches, such as that of %s: kmin is %llu bytes there, and no "
			"queue holds more than %.0f",
			class, ports, ports == 1 ? "" : "s",
			fabric_link_name(f, f->net.ports[example].link, name),
			(unsigned long long)switching_depth_bytes(
				&c->kmin, f->net.ports[example].rate_bps),
			held));
}

static void note_gateway(json_t *notes, const struct fabric *f, const struct scenario *s)
{
	const char *node = s->external.node;

	if (node && f->planes > 1)
		json_array_append_new(notes,
			json_sprintf(
				"external.node: hosts of other planes than %s's have no way out of the fabric",
				node));
}

/* Policies by which packets of a flow take several paths; what a user's does nobody knows. */
static void note_reordering(json_t *notes, const struct fabric *f, const struct scenario *s)
{
	static const bool reorders[] = {
#define X(symbol, name, word, ahead, flows, reorders) reorders,
		BALANCES(X)
#undef X
			[BALANCE_FILE] = true,
	};
	const struct transport_kind *kind = transport_kinds[s->host.transport.kind];
	const char *harm = transport_facts(&s->host.transport).order_harm;
	const struct file_text *file = balance_file(&s->sw.balance);

	for (uint32_t i = 0; harm && i < COUNT(reorders); i++)
		if (reorders[i] && f->switching.config.balances >> i & 1)
			json_array_append_new(notes,
				json_sprintf(
					"switch.balance: %s %s packets of a flow by several paths%s: for %s %s; "
					"ecmp and ecmp-adaptive keep them in order",
					i == BALANCE_FILE ? file_text_name(file) : balance_names[i],
					i == BALANCE_FILE ? "may send" : "sends",
					i != BALANCE_FILE && balance_uses(i, BALANCE_GAP)
						? ", of which one may be shorter by more than the gap"
						: "",
					kind->title, harm));
}

json_t *report_notes(const struct fabric *f, const struct scenario *s, uint64_t dscps)
{
	json_t *notes = json_array();
	uint32_t sent = 0; /* a bit a class of data */

	note_gateway(notes, f, s);
	note_reordering(notes, f, s);
	for (uint64_t left = dscps ? dscps : 1ull << s->host.data_dscp; left; left &= left - 1)
		sent |= 1u << f->switching.config.class_of[__builtin_ctzll(left)];
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++)
		if (sent >> i & 1)
			note_lossy(notes, f, s, i);
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		const struct switching_class *c = &f->switching.classes[i];

		if (c->used && (c->kmax.bytes || c->kmax.ps))
			note_unreached_kmin(notes, f, i);
	}
	return notes;
}
