/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/resolve.h"

#include <stdio.h>
#include <string.h>
#include "abi/shared_state.h"
#include "base/headroom.h"
#include "base/numbers.h"
#include "base/units.h"
#include "scenario/scenario.h"

_Static_assert(CLASSES == SCENARIO_CLASSES, "a scenario's classes are the switches'");

/* The longest LLDP frame, rounded up. Two may be queued: by the timer, and for a changed level. */
#define LLDP_BYTES  192
#define LLDP_FRAMES 2

/* Without a word about it, these many full packets. */
#define RESERVE_PACKETS 2
#define XON_PACKETS     2

struct resolve {
	struct fabric *f;
	const struct switch_spec *sw;
	struct diags *diags;
};

/* "switch.ecn.kmin", or "switch.classes: class 3: ecn.kmin" where the file speaks of classes. */
#define KEY_TEXT 64
static const char *class_key(
	const struct switch_spec *sw, uint32_t class, const char *key, char buf[KEY_TEXT])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < CLASSES; i++)
		count += sw->classes[i].used && !sw->classes[i].added;
	if (count > 1 || class || sw->classes[class].pos.line)
		snprintf(buf, KEY_TEXT, "switch.classes: class %u: %s", class, key);
	else
		snprintf(buf, KEY_TEXT, "switch.%s", key);
	return buf;
}

static bool same_quantity(const struct quantity *a, const struct quantity *b)
{
	return a->value == b->value && a->unit == b->unit;
}

/* The class's own, or the switch's. */
static void buffer_key(const struct switch_spec *sw, uint32_t class, char buf[KEY_TEXT])
{
	if (same_quantity(&sw->classes[class].buffer, &sw->buffer.per_port))
		strcpy(buf, "switch.buffer.per_port");
	else
		class_key(sw, class, "buffer", buf);
}

/* A share that is not zero does not become "off" by rounding. */
static double in_bytes(const struct fabric *f, const struct quantity *q)
{
	double bytes = q->unit == QUANTITY_BDP ? q->value * (double)f->bdp_bytes : q->value;

	return bytes > 0 && bytes < 1 ? 1 : bytes;
}

uint64_t resolve_bytes(const struct fabric *f, const struct quantity *q, const char *key,
	struct diag_pos pos, struct diags *diags)
{
	double bytes = in_bytes(f, q);

	/* Not "bytes > UINT32_MAX": that would let a NaN through. */
	if (bytes >= 0 && bytes <= UINT32_MAX)
		return (uint64_t)bytes;
	diags_add(diags, pos, "%s: %.0f bytes; at most %u, as counters have 32 bits", key, bytes,
		UINT32_MAX);
	return UINT32_MAX;
}

static uint64_t take_bytes(
	struct resolve *r, const struct quantity *q, const char *key, struct diag_pos pos)
{
	return resolve_bytes(r->f, q, key, pos, r->diags);
}

/* What a class has under a key of its own. */
static uint64_t take_class_bytes(
	struct resolve *r, uint32_t class, const struct quantity *q, const char *name)
{
	char key[KEY_TEXT];

	return take_bytes(r, q, class_key(r->sw, class, name, key), r->sw->classes[class].pos);
}

static bool same_ecn(const struct ecn_spec *a, const struct ecn_spec *b)
{
	return same_quantity(&a->kmin, &b->kmin) && same_quantity(&a->kmax, &b->kmax);
}

/* ---- ECN ---- */

static struct switching_depth take_depth(
	struct resolve *r, uint32_t class, const struct quantity *q, const char *name)
{
	if (q->unit == QUANTITY_TIME)
		return (struct switching_depth){.ps = (uint64_t)q->value};
	return (struct switching_depth){.bytes = take_class_bytes(r, class, q, name)};
}

/* What is fine on one link may not be so on another, where one of the two is a time. */
static void check_depths(struct resolve *r, uint32_t class)
{
	const struct switching_class *c = &r->f->switching.classes[class];
	struct diag_pos pos = r->sw->classes[class].pos;
	char key[KEY_TEXT], name[LINK_NAME];

	for (uint32_t l = 0; l < r->f->net.link_count; l++) {
		uint64_t rate = r->f->net.ports[r->f->links[l].a].rate_bps;
		uint64_t kmin = switching_depth_bytes(&c->kmin, rate);
		uint64_t kmax = switching_depth_bytes(&c->kmax, rate);
		const char *link = fabric_link_name(r->f, l, name);
		bool timed = c->kmin.ps || c->kmax.ps;

		if (kmax > UINT32_MAX) {
			diags_add(r->diags, pos,
				"%s: %llu bytes on link %s; at most %u, as counters have 32 bits",
				class_key(r->sw, class, "ecn.kmax", key), (unsigned long long)kmax,
				link, UINT32_MAX);
			return;
		}
		if (kmin <= kmax)
			continue;
		diags_add(r->diags, pos,
			"%s: %llu bytes%s%s, above kmax, which comes to %llu bytes",
			class_key(r->sw, class, "ecn.kmin", key), (unsigned long long)kmin,
			timed ? " on link " : "", timed ? link : "", (unsigned long long)kmax);
		return;
	}
}

static void resolve_ecn(struct resolve *r, uint32_t class)
{
	const struct class_spec *spec = &r->sw->classes[class];
	struct switching_class *c = &r->f->switching.classes[class];
	struct diags unsaid = DIAGS_INIT;
	struct resolve quiet = {r->f, r->sw, &unsaid};

	/* One message about settings that several classes have from the switch. */
	for (uint32_t i = 0; i < class; i++)
		if (r->sw->classes[i].used && same_ecn(&r->sw->classes[i].ecn, &spec->ecn))
			r = &quiet;
	c->kmin = take_depth(r, class, &spec->ecn.kmin, "ecn.kmin");
	c->kmax = take_depth(r, class, &spec->ecn.kmax, "ecn.kmax");
	c->pmax = spec->ecn.pmax;
	c->average = spec->ecn.average;
	check_depths(r, class);
	diags_release(&unsaid);
}

/* ---- buffers ---- */

static void resolve_header_queue(struct resolve *r, struct switching_class *c)
{
	uint32_t header = r->f->packet_bytes - r->f->mtu;

	c->limit_bytes =
		take_bytes(r, &r->sw->trim.queue, "switch.trim.queue", (struct diag_pos){0});
	if (c->limit_bytes < header)
		diags_add(r->diags, (struct diag_pos){0},
			"switch.trim.queue: %llu bytes hold not even one trimmed packet, which has %u",
			(unsigned long long)c->limit_bytes, header);
}

static void resolve_queue(struct resolve *r, uint32_t class)
{
	const struct class_spec *spec = &r->sw->classes[class];
	struct switching_class *c = &r->f->switching.classes[class];
	struct diags unsaid = DIAGS_INIT;
	struct resolve quiet = {r->f, r->sw, &unsaid};
	char key[KEY_TEXT];

	for (uint32_t i = 0; i < class; i++)
		if (r->f->switching.classes[i].used && !r->f->switching.classes[i].headers &&
			same_quantity(&r->sw->classes[i].buffer, &spec->buffer))
			r = &quiet;
	buffer_key(r->sw, class, key);
	c->limit_bytes = take_bytes(r, &spec->buffer, key, spec->pos);
	if (c->limit_bytes < r->f->packet_bytes)
		diags_add(r->diags, spec->pos,
			"%s: %llu bytes hold no full packet; topology.mtu: %u makes one of %u", key,
			(unsigned long long)c->limit_bytes, r->f->mtu, r->f->packet_bytes);
	diags_release(&unsaid);
}

static void resolve_pause(struct resolve *r, uint32_t class)
{
	const struct class_spec *spec = &r->sw->classes[class];
	struct switching_class *c = &r->f->switching.classes[class];
	uint64_t level;
	char key[KEY_TEXT];

	c->xoff_bytes = c->headroom_bytes = SWITCHING_AUTO;
	c->xon_bytes = XON_PACKETS * (uint64_t)r->f->packet_bytes;
	if (spec->headroom.unit != QUANTITY_AUTO)
		c->headroom_bytes = take_class_bytes(r, class, &spec->headroom, "headroom");
	if (spec->xoff.unit == QUANTITY_AUTO)
		return;
	c->xoff_bytes = take_class_bytes(r, class, &spec->xoff, "xoff");
	c->xon_bytes = min_u64(c->xon_bytes, c->xoff_bytes);
	if (spec->xon.unit == QUANTITY_AUTO)
		return;
	level = take_class_bytes(r, class, &spec->xon, "xon");
	if (level > c->xoff_bytes)
		diags_add(r->diags, spec->pos,
			"%s: %llu bytes, above XOFF, which comes to %llu bytes; a queue that was paused must drain first",
			class_key(r->sw, class, "xon", key), (unsigned long long)level,
			(unsigned long long)c->xoff_bytes);
	else
		c->xon_bytes = c->xoff_bytes - level;
}

/* Whether the room of a lossless class at its ingress is enough on the link that asks for most. */
static void check_ingress(struct resolve *r, uint32_t class)
{
	const struct fabric *f = r->f;
	const struct switching_class *c = &f->switching.classes[class];
	bool automatic = c->xoff_bytes == SWITCHING_AUTO;
	const char *or_else = c->headroom_bytes == SWITCHING_AUTO ? "" : ", or take less headroom";
	uint64_t below = automatic ? f->packet_bytes : c->xoff_bytes, most = 0;
	char key[KEY_TEXT], name[LINK_NAME];
	uint32_t worst = 0;

	for (uint32_t l = 0; l < f->net.link_count; l++) {
		uint64_t headroom =
			switching_headroom(&f->switching, c, &f->net.ports[f->links[l].a]);

		if (headroom <= most)
			continue;
		most = headroom;
		worst = l;
	}
	if (most + below <= c->limit_bytes)
		return;
	buffer_key(r->sw, class, key);
	fabric_link_name(f, worst, name);
	if (most > c->limit_bytes)
		diags_add(r->diags, r->sw->classes[class].pos,
			"%s: headroom of %llu bytes, as link %s has it, is larger than the buffer of %llu; give the buffer at least %llu%s",
			key, (unsigned long long)most, name, (unsigned long long)c->limit_bytes,
			(unsigned long long)(most + below), or_else);
	else if (automatic)
		diags_add(r->diags, r->sw->classes[class].pos,
			"%s: %llu bytes have no room for a packet of %u beside %llu bytes of headroom, as link %s has it; give the buffer at least %llu%s",
			key, (unsigned long long)c->limit_bytes, f->packet_bytes,
			(unsigned long long)most, name, (unsigned long long)(most + below),
			or_else);
	else
		diags_add(r->diags, r->sw->classes[class].pos,
			"%s: XOFF at %llu bytes and %llu bytes of headroom, as link %s has it, do not fit into %llu; give the buffer at least %llu, or lower xoff",
			key, (unsigned long long)below, (unsigned long long)most, name,
			(unsigned long long)c->limit_bytes, (unsigned long long)(most + below));
}

/* ---- the pool ---- */

/* One message, about the first switch whose pool has no packet left for each port. */
static void check_pool(struct resolve *r)
{
	const struct fabric *f = r->f;

	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		uint32_t ports = f->net.nodes[i].port_count;
		uint64_t least = (uint64_t)ports * f->packet_bytes;
		uint64_t own = switching_pool_own(&f->switching, &f->net, i);

		if (switching_pool_left(&f->switching, &f->net, i) >= least)
			continue;
		diags_add(r->diags, (struct diag_pos){0},
			"switch.buffer.shared: of %llu bytes of switch \"%s\" the reserves and headroom of its %u ports take %llu, and the rest holds not a packet for each; give at least %llu, or reserve less",
			(unsigned long long)switching_pool(&f->switching, &f->net, i),
			f->nodes[i].name, ports, (unsigned long long)own,
			(unsigned long long)(own + least));
		return;
	}
}

/* A class's headroom, over all ports of a switch, is counted in 32 bits: one message per class. */
static void check_headroom_sum(struct resolve *r, uint32_t class)
{
	const struct fabric *f = r->f;

	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		uint64_t sum = switching_headroom_sum(
			&f->switching, &f->switching.classes[class], &f->net, i);

		if (sum <= UINT32_MAX)
			continue;
		diags_add(r->diags, r->sw->classes[class].pos,
			"switch.pfc: headroom of class %u at the %u ports of switch \"%s\" comes to %llu bytes, and a switch counts up to %u; give the class less headroom, or shorter or slower links",
			class, f->net.nodes[i].port_count, f->nodes[i].name,
			(unsigned long long)sum, UINT32_MAX);
		return;
	}
}

static uint64_t resolve_reserve(struct resolve *r)
{
	const struct quantity *q = &r->sw->buffer.reserve;

	if (q->unit == QUANTITY_AUTO)
		return RESERVE_PACKETS * (uint64_t)r->f->packet_bytes;
	return take_bytes(r, q, "switch.buffer.reserve", (struct diag_pos){0});
}

/* ---- all of it ---- */

static void resolve_class(struct resolve *r, uint32_t class, uint64_t reserve)
{
	const struct class_spec *spec = &r->sw->classes[class];
	struct switching_class *c = &r->f->switching.classes[class];

	if (!spec->used)
		return;
	c->used = true;
	c->lossless = spec->lossless;
	c->headers = r->sw->trim.to != TRIM_OFF && class == r->sw->trim.class;
	c->answers = spec->added && !c->headers;
	c->share = spec->share;
	resolve_ecn(r, class);
	if (c->headers)
		resolve_header_queue(r, c);
	else if (r->sw->buffer.shared)
		c->limit_bytes = reserve;
	else
		resolve_queue(r, class);
	if (spec->lossless)
		resolve_pause(r, class);
}

/* One frame of each kind that may be queued ahead: of LLDP, and PFC for each class. */
static uint32_t control_bytes(const struct switch_spec *sw)
{
	uint64_t bytes = sw->lldp_ps ? LLDP_FRAMES * wire_bytes(LLDP_BYTES) : 0;

	for (uint32_t i = 0; i < CLASSES; i++)
		if (sw->classes[i].used && sw->classes[i].lossless)
			bytes += wire_bytes(PFC_FRAME);
	return (uint32_t)bytes;
}

/*
 * A pause is refreshed at half of its time. The frame may have to wait for another, and must arrive
 * and take effect before the other half is over. The watchdog must outwait a peer that refreshes in
 * time.
 */
static void check_refresh(struct resolve *r)
{
	const struct fabric *f = r->f;
	uint64_t ahead =
		wire_bytes(f->packet_bytes) + f->switching.control_bytes + wire_bytes(PFC_FRAME);
	uint64_t least = 2 * (8 * ahead / PFC_BITS + 1), slowest = UINT64_MAX, half;
	char text[UNITS_TEXT], needs[UNITS_TEXT];

	if (r->sw->pfc.quanta < least)
		diags_add(r->diags, (struct diag_pos){0},
			"switch.pfc.quanta: a pause of %u quanta runs out before it can be told again, behind a packet of %u bytes; give at least %llu",
			r->sw->pfc.quanta, f->packet_bytes, (unsigned long long)least);
	for (uint32_t l = 0; l < f->net.link_count; l++)
		slowest = min_u64(slowest, f->net.ports[f->links[l].a].rate_bps);
	half = UINT16_MAX * pfc_quantum(slowest) >> 9; /* of 256ths of a picosecond */
	if (r->sw->pfc.watchdog_ps && r->sw->pfc.watchdog_ps <= half)
		diags_add(r->diags, (struct diag_pos){0},
			"switch.pfc.watchdog: %s is no longer than the %s after which the longest pause is told again at the slowest link's rate; give more",
			format_time(text, r->sw->pfc.watchdog_ps), format_time(needs, half));
}

static uint32_t fault_features(const struct scenario *s)
{
	uint32_t features = 0;

	for (size_t i = 0; i < s->fault_count; i++)
		features |= fault_kinds[s->faults[i].effect.kind].features;
	return features;
}

/* The behaviours that the scenario asks for. */
static uint32_t features_of(const struct scenario *s)
{
	const struct switch_spec *sw = &s->sw;

	return (sw->trim.to != TRIM_OFF ? SW_TRIM : 0) | (sw->pfc.on ? SW_PFC : 0) |
	       (sw->roles.on ? SW_ROLES : 0) | (sw->cnp_ps ? SW_CNP : 0) |
	       (sw->reroute_mode == REROUTE_LOCAL ? SW_DETOUR : 0) |
	       (sw->pfc.on || sw->lldp_ps ? SW_CONTROL : 0) | (s->external.node ? SW_GATEWAY : 0) |
	       fault_features(s);
}

/* The host that takes what is addressed to no host; UINT32_MAX: there is none. */
static uint32_t gateway(const struct fabric *f, const struct scenario *s)
{
	uint32_t node;

	if (!s->external.node || !fabric_find_node(f, s->external.node, &node))
		return UINT32_MAX;
	return f->net.nodes[node].number;
}

static void resolve_config(struct fabric *f, const struct scenario *s)
{
	const struct switch_spec *sw = &s->sw;
	struct sw_config *config = &f->switching.config;

	config->features = features_of(s);
	for (uint32_t i = 0; i < DSCP_COUNT; i++)
		config->class_of[i] = (uint8_t)scenario_class_of(sw, i);
	if (sw->trim.to != TRIM_OFF) {
		config->trim_to_sender = sw->trim.to == TRIM_SENDER;
		config->trim_or_return = sw->trim.or_return;
		config->trimmed_dscp = (uint8_t)sw->trim.dscp;
		config->returned_dscp = (uint8_t)sw->trim.return_dscp;
	}
	config->cnp_dscp = (uint8_t)s->host.notify_dscp;
	config->quanta = (uint16_t)sw->pfc.quanta;
	config->response_ps = sw->pfc.response_ps;
	config->watchdog_ps = sw->pfc.watchdog_ps;
	config->cnp_interval_ps = sw->cnp_ps;
	config->host_count = f->net.host_count;
	config->gateway = gateway(f, s);
}

static void resolve_pool(struct resolve *r)
{
	struct switching *g = &r->f->switching;
	const struct quantity *pool = &r->sw->buffer.pool;

	g->shared = r->sw->buffer.shared;
	if (!g->shared)
		return;
	g->alpha = r->sw->buffer.alpha;
	if (pool->unit != QUANTITY_AUTO)
		g->pool_bytes = (uint64_t)in_bytes(r->f, pool);
}

void resolve_switch(struct fabric *f, const struct scenario *s, struct diags *diags)
{
	struct resolve r = {f, &s->sw, diags};
	struct switching *g = &f->switching;
	size_t before = diags->count;
	uint64_t reserve;

	resolve_config(f, s);
	resolve_balance(f, s, diags);
	g->frame_bytes = f->packet_bytes;
	g->control_bytes = control_bytes(&s->sw);
	resolve_pool(&r);
	reserve = g->shared ? resolve_reserve(&r) : 0;
	for (uint32_t i = 0; i < CLASSES; i++) {
		g->remap[i] = s->sw.roles.to[i];
		resolve_class(&r, i, reserve);
	}
	if (diags->count != before)
		return;
	if (g->shared)
		check_pool(&r);
	if (s->sw.pfc.on)
		check_refresh(&r);
	for (uint32_t i = 0; i < CLASSES; i++) {
		if (!g->classes[i].used || !g->classes[i].lossless)
			continue;
		if (!g->shared)
			check_ingress(&r, i);
		check_headroom_sum(&r, i);
	}
}
