/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The transport of hosts, and those that entries of the workload have of their own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"

/* A transport has its keys beside its code. */
#define ROW(word)                                                                                  \
	KEY(#word, MAP, struct transport_choice, options, .choice = true,                          \
		.map = &transport_kind_##word.map),

static const struct key keys[] = {TRANSPORTS(ROW)};

const struct map transport_map = {KEYS(keys), .chosen = FIELD(struct transport_choice, kind)};

/* With all defaults written out; NULL: no memory. */
static char *text_of(const struct transport_choice *t)
{
	char *text = NULL;
	size_t length = 0;
	struct writer w = {.out = open_memstream(&text, &length)};

	if (!w.out)
		return NULL;
	map_write(&w, &transport_map, t, FLOW);
	if (!fclose(w.out))
		return text;
	free(text);
	return NULL;
}

const struct transport_choice *scenario_transport(const struct scenario *s, uint32_t number)
{
	if (!number)
		return &s->host.transport;
	return number <= s->transport_count ? &s->transports[number - 1] : NULL;
}

bool scenario_uses_transport(const struct scenario *s, uint32_t number)
{
	bool used = !number && !s->workload_count;

	for (size_t i = 0; !used && i < s->workload_count; i++)
		used = s->workloads[i].transport_number == number;
	return used;
}

/* Of the one that is equal to it, or that of the next new one. 0 or -ENOMEM. */
static int find_number(
	const struct scenario *s, const struct transport_choice *t, uint32_t *ret_number)
{
	const struct transport_choice *other;
	char *text = text_of(t);
	uint32_t number = 0;
	int r = text ? 1 : -ENOMEM;

	while (r > 0 && (other = scenario_transport(s, number))) {
		char *known = text_of(other);

		r = !known ? -ENOMEM : strcmp(text, known) != 0;
		number += r > 0;
		free(known);
	}
	free(text);
	if (r < 0)
		return r;
	*ret_number = number;
	return 0;
}

void check_transports(struct check *c, const struct tree *list, struct scenario *s)
{
	for (size_t i = 0; i < s->workload_count; i++) {
		struct workload_spec *w = &s->workloads[i];
		uint32_t number = 0;

		if (!w->transport.options)
			continue;
		if (find_number(s, &w->transport, &number) < 0) {
			c->out_of_memory = true;
			return;
		}
		if (number == OPERATION_TRANSPORTS) {
			explain_path(c, list->items[i], "transport",
				"one too many: a scenario has at most %d different ones, that of hosts included; give entries the same one",
				OPERATION_TRANSPORTS);
			return;
		}
		w->transport_number = number;
		if (number > s->transport_count)
			s->transports[s->transport_count++] = w->transport;
	}
}

/* ---- what recovery needs of switches ---- */

#define REFUSAL 512

/* Why switches send no such headers at all; NULL: they do. */
static const char *lacking(enum transport_trims needs, const struct switch_spec *sw)
{
	bool to_receiver = sw->trim.to == TRIM_RECEIVER;

	if (needs == TRANSPORT_TRIMMED && sw->trim.to == TRIM_OFF)
		return "switches drop whole packets, and it needs their headers at the receiver; give switch.trim: receiver, or another recovery";
	if (needs == TRANSPORT_TRIMMED && !to_receiver)
		return "switches return headers to the sender (switch.trim), and it needs them at the receiver; give to: receiver, or recovery: return";
	if (needs == TRANSPORT_RETURNED && sw->trim.to == TRIM_OFF)
		return "switches drop whole packets, and it needs their headers back at the sender; give switch.trim: sender or {to: receiver, overflow: return}, or another recovery";
	if (needs == TRANSPORT_RETURNED && to_receiver && !sw->trim.or_return)
		return "switches send headers to the receiver alone (switch.trim), and it needs them back at the sender; give to: sender or overflow: return, or recovery: trim";
	return NULL;
}

/* What is wrong with an entry's transport, or with that of hosts where w is NULL; NULL: nothing. */
static const char *refuse_transport(const struct scenario *s, const struct workload_spec *w,
	const struct transport_facts *facts, char buf[REFUSAL])
{
	uint32_t dscp = w && w->dscp != DSCP_OF_HOSTS ? w->dscp : s->host.data_dscp;
	uint32_t class = scenario_class_of(&s->sw, dscp);
	const char *why = lacking(facts->trims, &s->sw);

	if (why)
		snprintf(buf, REFUSAL, "%s: %s", facts->recovery.name, why);
	else if (facts->trims != TRANSPORT_ANY && s->sw.classes[class].lossless)
		snprintf(buf, REFUSAL,
			"%s: its data has DSCP %u and goes by class %u, which is lossless, and no packet is cut there; give its data a DSCP of a lossy class, or another recovery",
			facts->recovery.name, dscp, class);
	else
		return NULL;
	return buf;
}

static const struct transport_choice *transport_of(
	const struct scenario *s, const struct workload_spec *w)
{
	return w && w->transport.options ? &w->transport : &s->host.transport;
}

void check_trimming(struct check *c, const struct tree *root, const struct scenario *s)
{
	const struct tree *list = tree_get(root, "workload");
	bool told = false; /* of that of hosts */

	for (size_t i = 0; i < (s->workload_count ? s->workload_count : 1); i++) {
		const struct workload_spec *w = s->workload_count ? &s->workloads[i] : NULL;
		const struct transport_choice *t = transport_of(s, w);
		struct transport_facts facts = transport_facts(t);
		bool of_hosts = t == &s->host.transport;
		char path[LABEL_LIMIT], buf[REFUSAL];
		const char *why = refuse_transport(s, w, &facts, buf);

		if (!why || (of_hosts && told))
			continue;
		told |= of_hosts;
		snprintf(path, sizeof(path), "%stransport.%s.%s", of_hosts ? "host." : "",
			transport_name(t), facts.recovery.key);
		explain_path(c, of_hosts ? root : list->items[i], path, "%s", why);
	}
}

int scenario_find_transports(const struct scenario *s, struct workload_spec *workloads,
	size_t count, struct diags *diags)
{
	size_t before = diags->count;

	for (size_t i = 0; i < count; i++) {
		struct workload_spec *w = &workloads[i];
		struct transport_facts facts = transport_facts(transport_of(s, w));
		uint32_t number = 0;
		char buf[REFUSAL];
		const char *why = refuse_transport(s, w, &facts, buf);

		if (why)
			diags_add(diags, w->pos, "workload.%zu.transport: %s", i, why);
		if (!w->transport.options)
			continue;
		if (find_number(s, &w->transport, &number) < 0)
			return -ENOMEM;
		if (scenario_transport(s, number))
			w->transport_number = number;
		else
			diags_add(diags, w->pos,
				"workload.%zu.transport: the fabric was started without it; name the same one, with all its options, in the workload of its scenario",
				i);
	}
	return diags->count == before ? 0 : -EINVAL;
}
