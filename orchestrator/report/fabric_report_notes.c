/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is no mistake, and yet hardly what was meant. */
#include "report/fabric_report_parts.h"
#include "base/balance_name.h"
#include "base/strbuf.h"
#include "transport/kind.h"

#define NAMES 256 /* of transports */

static void note_lossy(
	json_t *notes, const struct fabric *f, const struct transport_choice *t, uint32_t class)
{
	const struct transport_kind *kind = transport_kinds[t->kind];
	const char *harm = transport_facts(t).loss_harm;

	if (!harm || f->switching.classes[class].lossless)
		return;
	json_array_append_new(notes,
		json_sprintf(
			"%s's data goes by class %u, which is lossy: %s; for a lossless class: switch.pfc, and "
			"lossless: yes of the class",
			kind->title, class, harm));
}

static void note_unmarked(
	json_t *notes, const struct fabric *f, const struct transport_choice *t, uint32_t class)
{
	const struct switching_class *c = &f->switching.classes[class];
	struct transport_facts facts = transport_facts(t);

	if (c->kmax.bytes || c->kmax.ps)
		return;
	for (uint32_t i = 0; i < TRANSPORT_PARTS; i++)
		if (facts.unmarked[i].name)
			json_array_append_new(notes,
				json_sprintf(
					"%s's data goes by class %u, where ECN is off: %s %s goes by marks, and without them %s",
					transport_kinds[t->kind]->title, class,
					facts.unmarked[i].key, facts.unmarked[i].name,
					facts.unmarked[i].what));
}

/* Flows of a file may have DSCPs of their own; those of entries are checked. */
static void note_untrimmed(
	json_t *notes, const struct fabric *f, const struct transport_choice *t, uint32_t class)
{
	struct transport_facts facts = transport_facts(t);

	if (facts.trims != TRANSPORT_ANY && f->switching.classes[class].lossless)
		json_array_append_new(notes,
			json_sprintf(
				"%s's data goes by class %u too, which is lossless: no packet is cut there, and %s %s waits for timeouts",
				transport_kinds[t->kind]->title, class, facts.recovery.key,
				facts.recovery.name));
}

/* Its own paths make harm, whatever switches do. */
static void note_spreading(json_t *notes, const struct transport_choice *t)
{
	struct transport_facts facts = transport_facts(t);

	if (facts.spreads && facts.order_harm)
		json_array_append_new(notes,
			json_sprintf(
				"%s: paths %s sends packets of a flow by several paths, and for recovery %s %s; paths single keeps them in order",
				transport_kinds[t->kind]->title, facts.spreads, facts.recovery.name,
				facts.order_harm));
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
static void note_reordering(json_t *notes, const struct fabric *f, const struct scenario *s,
	const struct transport_choice *t)
{
	static const bool reorders[] = {
#define X(symbol, name, word, ahead, flows, reorders) reorders,
		BALANCES(X)
#undef X
			[BALANCE_FILE] = true,
	};
	const struct transport_kind *kind = transport_kinds[t->kind];
	const char *harm = transport_facts(t).order_harm;
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

/* Of a live fabric, in which entries are started later; what the file has is checked. */
static void note_share(
	json_t *notes, const struct scenario *s, const struct transport_choice *t, uint32_t number)
{
	struct transport_facts facts = transport_facts(t);

	if (facts.share.name && !s->workload_count && scenario_uses_transport(s, number))
		json_array_append_new(notes,
			json_sprintf(
				"%s: %s %s needs the fair share of each message, and nothing is sent; start refuses what has none",
				transport_kinds[t->kind]->title, facts.share.key,
				facts.share.name));
}

/* Classes of a transport's data, a bit each; where nothing is sent, of what hosts would send. */
static uint32_t classes_of(const struct fabric *f, const struct scenario *s,
	const struct report_load *load, uint32_t transport)
{
	uint64_t dscps = load->dscps[transport];
	uint32_t classes = 0;

	if (!load->flows && !transport)
		dscps = 1ull << s->host.data_dscp;
	for (; dscps; dscps &= dscps - 1)
		classes |= 1u << f->switching.config.class_of[__builtin_ctzll(dscps)];
	return classes;
}

/* A class by which data of several transports goes. */
static void note_shared(json_t *notes, const struct fabric *f, const struct scenario *s,
	const struct report_load *load, uint32_t class)
{
	const struct transport_choice *t;
	char names[NAMES];
	struct strbuf b = STRBUF(names);
	uint32_t count = 0;

	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++)
		if (classes_of(f, s, load, i) >> class & 1)
			strbuf_add(
				&b, "%s%s", count++ ? ", " : "", transport_kinds[t->kind]->title);
	if (count > 1)
		json_array_append_new(notes,
			json_sprintf(
				"data of %u transports goes by class %u and shares its queues: %s; for queues of "
				"their own: dscp of an entry, and a class with that DSCP in switch.classes",
				count, class, names));
}

json_t *report_notes(
	const struct fabric *f, const struct scenario *s, const struct report_load *load)
{
	const struct transport_choice *t;
	json_t *notes = json_array();

	note_gateway(notes, f, s);
	for (uint32_t i = 0; (t = scenario_transport(s, i)); i++) {
		uint32_t classes = classes_of(f, s, load, i);

		if (classes)
			note_reordering(notes, f, s, t);
		for (uint32_t c = 0; c < SCENARIO_CLASSES; c++)
			if (classes >> c & 1) {
				note_lossy(notes, f, t, c);
				note_unmarked(notes, f, t, c);
				note_untrimmed(notes, f, t, c);
			}
		if (classes)
			note_spreading(notes, t);
		note_share(notes, s, t, i);
	}
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		const struct switching_class *c = &f->switching.classes[i];

		note_shared(notes, f, s, load, i);
		if (c->used && (c->kmax.bytes || c->kmax.ps))
			note_unreached_kmin(notes, f, i);
	}
	return notes;
}
