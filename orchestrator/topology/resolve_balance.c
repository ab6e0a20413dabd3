/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which switch balances load by which policy, and with which parameters. */
#include <stdio.h>
#include <string.h>
#include "abi/policies.h"
#include "abi/shared_state.h"
#include "base/diag.h"
#include "base/numbers.h"
#include "scenario/scenario.h"
#include "topology/resolve.h"

#define KEY_TEXT   64
#define TIERS_TEXT 64

_Static_assert(SWITCHING_BALANCES == BALANCE_TIERS + 1, "of all, and of each tier");

/* By the letters that its name begins with; BALANCE_TIERS: of none. */
static uint32_t tier_of(const char *node)
{
	size_t letters = strspn(node, "abcdefghijklmnopqrstuvwxyz");
	uint32_t i = 0;

	while (i < BALANCE_TIERS && (strlen(balance_tiers[i]) != letters ||
					    strncmp(node, balance_tiers[i], letters) != 0))
		i++;
	return i;
}

/* "leaf, spine" */
static const char *tiers_there(uint32_t there, char buf[TIERS_TEXT])
{
	size_t used = 0;

	for (uint32_t i = 0; i < BALANCE_TIERS; i++)
		if (there >> i & 1)
			used += (size_t)snprintf(buf + used, TIERS_TEXT - used, "%s%s",
				used ? ", " : "", balance_tiers[i]);
	return used ? buf : "no other tier";
}

/* there: a bit a tier of which there are switches. */
static void check_tiers(const struct balances_spec *b, uint32_t there, struct diags *diags)
{
	char buf[TIERS_TEXT];

	for (uint32_t i = 0; i < BALANCE_TIERS; i++)
		if (b->tiers[i] && !(there >> i & 1))
			diags_add(diags, b->tiers[i]->pos,
				"switch.balance.%s: the name of no switch of this topology begins with %s; there are: %s",
				balance_tiers[i], balance_tiers[i], tiers_there(there, buf));
}

/* Of what the scenario leaves to the policy. */
static uint64_t threshold_auto(const struct fabric *f, uint32_t policy)
{
	return policy == BALANCE_ADAPTIVE ? f->packet_bytes : f->bdp_bytes / 4;
}

/*
 * A policy's parameters, and those that it does not use: another may take its place in a live
 * fabric.
 */
static struct switching_balance resolve_spec(
	const struct fabric *f, const struct balance_spec *b, const char *tier, struct diags *diags)
{
	struct switching_balance to = {
		.policy = balance_policy(b),
		.gap_ps = b->gap_ps,
		.lifetime_ps = b->lifetime_ps,
		.threshold_bytes = threshold_auto(f, balance_policy(b)),
		.choices = b->choices,
		.remembered = b->remembered,
	};
	char key[KEY_TEXT];

	snprintf(key, sizeof(key), "switch.balance%s%s.threshold", tier ? "." : "",
		tier ? tier : "");
	if (b->threshold.unit != QUANTITY_AUTO)
		to.threshold_bytes = resolve_bytes(f, &b->threshold, key, b->pos, diags);
	return to;
}

/* Sets of a switch's flow table; all switches' together are counted in 32 bits. */
static uint32_t flow_sets(
	const struct fabric *f, const struct balances_spec *b, struct diags *diags)
{
	uint32_t sets = (b->flows + FLOW_WAYS - 1) / FLOW_WAYS, switches = f->net.switch_count;

	if ((uint64_t)sets * switches > UINT32_MAX)
		diags_add(diags, b->all.pos,
			"switch.balance.flows: %u flows at each of %u switches are too many; %u fit at most",
			b->flows, switches, UINT32_MAX / switches * FLOW_WAYS);
	return sets;
}

void resolve_balance(struct fabric *f, const struct scenario *s, struct diags *diags)
{
	const struct balances_spec *b = &s->sw.balance;
	struct switching *g = &f->switching;
	uint32_t there = 0, used = 0;
	bool with_flows = false;

	g->balances[0] = resolve_spec(f, &b->all, NULL, diags);
	for (uint32_t i = 0; i < BALANCE_TIERS; i++)
		if (b->tiers[i])
			g->balances[i + 1] = resolve_spec(f, b->tiers[i], balance_tiers[i], diags);
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		uint32_t tier = tier_of(f->nodes[i].name);
		bool own = tier < BALANCE_TIERS && b->tiers[tier];

		there |= 1u << tier;
		f->net.nodes[i].balance = own ? (uint8_t)(tier + 1) : 0;
		used |= 1u << g->balances[f->net.nodes[i].balance].policy;
	}
	check_tiers(b, there, diags);
	g->config.balances = used;
	if (used & ~(1u << BALANCE_ECMP))
		g->config.features |= SW_BALANCE;
	for (uint32_t i = 0; i < BALANCE_COUNT; i++)
		with_flows |= used >> i & 1 && balance_uses(i, BALANCE_FLOWS);
	if (with_flows)
		g->config.flow_sets = flow_sets(f, b, diags);
}
