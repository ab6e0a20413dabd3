/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport/kind.h"

#define TRANSPORT_ROW(name) &transport_kind_##name,

const struct transport_kind *const transport_kinds[TRANSPORT_KINDS] = {TRANSPORTS(TRANSPORT_ROW)};

struct transport_facts transport_facts(const struct transport_choice *choice)
{
	const struct transport_kind *kind = transport_kinds[choice->kind];
	struct transport_facts facts = {
		.qps = 1, .paths = 1, .packets_per_ack = 1, .window = {1, QUANTITY_BDP}};

	if (choice->options && kind->facts)
		kind->facts(choice->options, &facts);
	return facts;
}

const char *transport_name(const struct transport_choice *choice)
{
	static const char *const names[TRANSPORT_KINDS] = {
#define X(name) #name,
		TRANSPORTS(X)
#undef X
	};

	return names[choice->kind];
}
