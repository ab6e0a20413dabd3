/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include "scenario/check.h"

#define POOL_MAX  (1ull << 40)
#define ALPHA_MIN (1.0 / 256) /* switches count alpha in 256ths */

/* ---- buffer ---- */

static bool is_pool(const void *switch_spec)
{
	return ((const struct switch_spec *)switch_spec)->buffer.shared;
}

static bool is_per_port(const void *switch_spec)
{
	return !is_pool(switch_spec);
}

/* A pool and queues of a fixed size exclude each other, and alpha and reserve are a pool's. */
static bool check_buffer(struct check *c, const struct tree *n, void *switch_spec, uint64_t valid)
{
	static const char *const of_pool[] = {"alpha", "reserve", NULL};
	const struct tree *shared = tree_get(n, "shared"), *per_port = tree_get(n, "per_port");
	struct switch_spec *s = switch_spec;

	(void)valid;
	if (shared && per_port)
		return explain_both(c->diags, per_port, shared);
	s->buffer.shared = shared;
	if (!shared)
		return has_none(c, n, of_pool, "only a shared pool has it; add shared: auto");
	s->buffer.per_port = (struct quantity){.unit = QUANTITY_AUTO};
	return true;
}

static const struct key buffer_keys[] = {
	KEY("per_port", QUANTITY, struct switch_spec, buffer.per_port, .fallback = "500% BDP",
		.min = 1, .max = QUEUE_MAX, .applies = is_per_port,
		.help = "the size of each egress queue; for a lossless class also its size at each ingress port, headroom included"),
	KEY("shared", QUANTITY, struct switch_spec, buffer.pool, AUTO, .min = 1, .max = POOL_MAX,
		.applies = is_pool,
		.help = "the size of a pool for all queues of a switch, in the place of per_port"),
	KEY("alpha", NUMBER, struct switch_spec, buffer.alpha, .fallback = "1", .least = ALPHA_MIN,
		.most = 256, .applies = is_pool, .expected = "a number from 1/256 to 256",
		.help = "a queue may hold so many times what is free of the pool"),
	KEY("reserve", QUANTITY, struct switch_spec, buffer.reserve, AUTO, .max = QUEUE_MAX,
		.applies = is_pool, .help = "what a queue may always hold"),
};

static const struct map buffer_map = {KEYS(buffer_keys), .check = check_buffer};

/* ---- ecn ---- */

static const struct ecn_spec usual_ecn = {
	.kmin = {0.25, QUANTITY_BDP}, .kmax = {0.75, QUANTITY_BDP}, .pmax = 1};

/* A class with ECN keys, on a switch without, has at least the usual thresholds. */
static void prepare_ecn(struct check *c, const struct tree *n, void *ecn_spec)
{
	struct ecn_spec *e = ecn_spec;

	(void)n;
	if (c->inherits && e->kmax.value == 0)
		*e = usual_ecn;
}

/* After an error the usual thresholds stay: classes inherit them, and add no messages. */
static bool check_ecn(struct check *c, const struct tree *n, void *ecn_spec, uint64_t valid)
{
	struct ecn_spec *e = ecn_spec;
	const struct tree *kmin = tree_get(n, "kmin");

	(void)valid;
	if (e->kmin.unit != e->kmax.unit || e->kmin.value <= e->kmax.value)
		return true;
	explain_value(c->diags, kmin ? kmin : tree_get(n, "kmax"),
		"kmin is above kmax; expected marking to rise from kmin to kmax");
	e->kmin = usual_ecn.kmin;
	e->kmax = usual_ecn.kmax;
	return false;
}

static const struct key ecn_keys[] = {
	KEY("kmin", QUANTITY, struct ecn_spec, kmin, .fallback = "25% BDP", .times = true,
		.max = QUEUE_MAX, .help = "depth of the queue from which frames are marked"),
	KEY("kmax", QUANTITY, struct ecn_spec, kmax, .fallback = "75% BDP", .times = true, .min = 1,
		.max = QUEUE_MAX, .help = "depth above which all frames are marked"),
	KEY("pmax", NUMBER, struct ecn_spec, pmax, .fallback = "1", .most = 1,
		.help = "probability of a mark at kmax"),
	KEY("average", COUNT, struct ecn_spec, average, .fallback = "off", .word = "off", .min = 1,
		.max = 9,
		.help = "marks by RED's moving average with weight 2^-N in the place of the depth itself"),
};

const struct map ecn_map = {KEYS(ecn_keys), .on = {0, sizeof(struct ecn_spec)},
	.prepare = prepare_ecn, .check = check_ecn};

/* ---- what is sent every so often ---- */

static const struct key lldp_keys[] = {
	KEY("every", TIME, struct switch_spec, lldp_ps, .fallback = "100us", .min = PS_PER_NS,
		.max = TIME_MAX, .help = "time between two LLDP frames of a port"),
};

static const struct map lldp_map = {KEYS(lldp_keys), .on = FIELD(struct switch_spec, lldp_ps),
	.expected = "off, on, or {every: 100us}"};

static const struct key cnp_keys[] = {
	KEY("every", TIME, struct switch_spec, cnp_ps, AUTO, .word_value = EVERY_AUTO,
		.min = PS_PER_NS, .max = TIME_MAX,
		.help = "the switch sends CNPs to flows whose marked packets are further apart than this; auto: the timer of roce"),
};

static const struct map cnp_map = {KEYS(cnp_keys), .on = FIELD(struct switch_spec, cnp_ps),
	.expected = "off, on, or {every: auto}"};

/* ---- reroute ---- */

static const char *const reroute_modes[] = {
	[REROUTE_GLOBAL] = "global", [REROUTE_LOCAL] = "local", NULL};

static const struct key reroute_keys[] = {
	KEY("after", TIME, struct switch_spec, reroute_ps, .fallback = "100us", .max = TIME_MAX,
		.help = "from a link's change to the new routes"),
	KEY("mode", WORD, struct switch_spec, reroute_mode, .fallback = "global",
		.words = reroute_modes,
		.help = "global: all switches get new routes; local: each switch goes around its own dead links"),
};

static const struct map reroute_map = {KEYS(reroute_keys), .lone = &reroute_keys[0]};

/* ---- the section ---- */

static void prepare_switch(struct check *c, const struct tree *n, void *switch_spec)
{
	struct switch_spec *s = switch_spec;

	(void)c;
	(void)n;
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++)
		s->roles.to[i] = (uint8_t)i;
}

static bool check_switch(struct check *c, const struct tree *n, void *switch_spec, uint64_t valid)
{
#define VALID(key) is_valid(&switch_map, valid, key)
	struct switch_spec *s = switch_spec;
	bool classes = VALID("buffer") && VALID("ecn") && VALID("classes"),
	     lossless = classes && VALID("pfc"), known = VALID("roles") && VALID("lldp"),
	     fit = true;
#undef VALID

	if (lossless)
		fit &= check_lossless(c, n, s);
	if (classes && is_valid(&switch_map, valid, "trim"))
		fit &= check_trim_class(c, n, s);
	if (known)
		fit &= check_roles_known(c, n, s);
	if (fit && lossless && known)
		fit &= check_remap(c, n, s);
	return fit;
}

static const struct key keys[] = {
	SECTION("buffer", &buffer_map, .usual = "{per_port: 500% BDP}",
		.help = "queues of a fixed size, or a shared pool"),
	KEY("ecn", MAP, struct switch_spec, ecn, .map = &ecn_map,
		.usual = "{kmin: 25% BDP, kmax: 75% BDP, pmax: 1, average: off}",
		.help = "marking on egress"),
	{.name = "classes",
		.kind = VALUE_FORM,
		.form = &classes_form,
		.usual = "data by class 0, ACKs, SACKs and CNPs by class 7",
		.help = "list of traffic classes"},
	KEY("balance", MAP, struct switch_spec, balance, .map = &balance_map, .usual = "ecmp",
		.help = "how a switch picks among equal-cost ports, of all switches or by tier"),
	KEY("latency", TIME, struct switch_spec, latency_ps, .fallback = "0", .max = DELAY_MAX,
		.help = "from a frame's arrival at a switch to its place in an egress queue"),
	SECTION("trim", &trim_map, .fallback = "off",
		.help = "packets that find no room are cut to their headers"),
	SECTION("pfc", &pfc_map, .fallback = "off",
		.help = "lossless classes are paused rather than dropped"),
	SECTION("roles", &roles_map, .fallback = "off",
		.help = "packets that go from uplink to uplink change their class"),
	SECTION("lldp", &lldp_map, .fallback = "off", .help = "each port sends LLDP frames"),
	SECTION("cnp", &cnp_map, .fallback = "off",
		.help = "a congested switch sends CNPs in the receiver's stead"),
	SECTION("reroute", &reroute_map, .usual = "{after: 100us, mode: global}",
		.help = "routes after a link changes"),
};

const struct map switch_map = {KEYS(keys), .prepare = prepare_switch, .check = check_switch,
	.partial = true, .valid = FIELD(struct switch_spec, valid)};
