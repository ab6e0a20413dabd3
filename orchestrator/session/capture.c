/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/wire.h"
#include "session/names.h"
#include "topology/fabric.h"

#define NOT_CHOSEN UINT32_MAX

struct capture {
	const struct fabric *fabric;
	struct pcapng *out;
	uint32_t *interface; /* by port id, or NOT_CHOSEN */
	struct capture *next;
};

struct captures {
	const struct fabric *fabric;
	struct capture *first;
};

static uint32_t port_end(const struct fabric *f)
{
	return PORT_FIRST + f->net.port_count;
}

int captures_new(struct captures **ret, const struct fabric *f)
{
	struct captures *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->fabric = f;
	*ret = c;
	return 0;
}

void captures_free(struct captures *c)
{
	while (c && c->first)
		capture_end(c, c->first);
	free(c);
}

bool captures_any(const struct captures *c)
{
	return c->first;
}

/* What a word may mean, the first that anything fits. */
enum meaning { OF_PORTS, OF_NODES, OF_LINKS };

static bool is_chosen(
	const struct fabric *f, uint32_t port, const char *target, enum meaning meaning)
{
	const struct net_port *p = &f->net.ports[port];

	switch (meaning) {
	case OF_PORTS:
		return !strcmp(target, "all") || port_matches(f, port, target);
	case OF_NODES:
		return fabric_node_matches(f, p->node, target);
	default:
		return fabric_link_matches(f, p->link, target);
	}
}

/* Numbers the chosen ports, in the order of their ids. Returns how many there are. */
static uint32_t choose(struct capture *one, const char *target, enum meaning meaning)
{
	const struct fabric *f = one->fabric;
	uint32_t count = 0;

	for (uint32_t port = PORT_FIRST; port < port_end(f); port++) {
		bool chosen = is_chosen(f, port, target, meaning);

		one->interface[port] = chosen ? count++ : NOT_CHOSEN;
	}
	return count;
}

/* Names ports if the word looks like one, else nodes and links. */
static int nothing_called(const struct fabric *f, const char *target, struct error *why)
{
	bool of_ports = strstr(target, "->");
	uint32_t n = 0, limit = f->net.port_count + f->net.node_count + f->net.link_count;
	char(*names)[RECORDER_NAME] = calloc(limit, sizeof(*names));
	const char **words = calloc(limit, sizeof(*words));

	if (!names || !words) {
		free(names);
		free(words);
		return error_set(why, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; of_ports && i < f->net.port_count; i++, n++)
		words[n] = port_name(f, PORT_FIRST + i, names[n]);
	for (uint32_t i = 0; !of_ports && i < f->net.node_count; i++, n++)
		words[n] = f->nodes[i].name;
	for (uint32_t i = 0; !of_ports && i < f->net.link_count; i++, n++)
		words[n] = fabric_link_name(f, i, names[n]);
	names_unknown(why, of_ports ? "port" : "port, node or link", target, words, n);
	free(names);
	free(words);
	return -EINVAL;
}

static int choose_ports(struct capture *one, const char *target, struct error *why)
{
	bool named_ports = strstr(target, "->") || !strcmp(target, "all");

	if (named_ports ? choose(one, target, OF_PORTS)
			: choose(one, target, OF_NODES) || choose(one, target, OF_LINKS))
		return 0;
	return nothing_called(one->fabric, target, why);
}

/* An interface a chosen port, in the order of their numbers. */
static int add_interfaces(struct capture *one)
{
	const struct fabric *f = one->fabric;

	for (uint32_t port = PORT_FIRST; port < port_end(f); port++) {
		char name[RECORDER_NAME], link[LINK_NAME], about[64 + LINK_NAME];
		int r;

		if (one->interface[port] == NOT_CHOSEN)
			continue;
		snprintf(about, sizeof(about), "port %u of %s, link %s",
			port - f->net.nodes[f->net.ports[port].node].first_port,
			f->nodes[f->net.ports[port].node].name,
			fabric_link_name(f, f->net.ports[port].link, link));
		r = pcapng_add_interface(one->out, port_name(f, port, name), about);
		if (r < 0)
			return r;
	}
	return 0;
}

static void capture_free(struct capture *one)
{
	pcapng_close(one->out);
	free(one->interface);
	free(one);
}

int capture_begin(struct capture **ret, struct captures *c, const char *target, pcapng_sink sink,
	void *arg, struct error *why)
{
	struct capture *one = calloc(1, sizeof(*one));
	int r;

	if (!one)
		return error_set(why, -ENOMEM, "out of memory");
	one->fabric = c->fabric;
	one->interface = calloc(port_end(c->fabric), sizeof(*one->interface));
	r = one->interface ? choose_ports(one, target, why)
			   : error_set(why, -ENOMEM, "out of memory");
	if (r == 0) {
		r = pcapng_new(&one->out, sink, arg);
		if (r == 0) {
			pcapng_in_nanoseconds(one->out);
			r = add_interfaces(one);
		}
		if (r < 0)
			error_set(why, r, "no room for the capture's interfaces: %s", strerror(-r));
	}
	if (r < 0) {
		capture_free(one);
		return r;
	}
	one->next = c->first;
	c->first = one;
	*ret = one;
	return 0;
}

void capture_end(struct captures *c, struct capture *one)
{
	if (!one)
		return;
	for (struct capture **at = &c->first; *at; at = &(*at)->next)
		if (*at == one) {
			*at = one->next;
			break;
		}
	capture_free(one);
}

json_t *capture_ports(const struct capture *one)
{
	json_t *ports = json_array();
	char name[RECORDER_NAME];

	for (uint32_t port = PORT_FIRST; port < port_end(one->fabric); port++)
		if (one->interface[port] != NOT_CHOSEN)
			json_array_append_new(
				ports, json_string(port_name(one->fabric, port, name)));
	return ports;
}

void capture_write(struct pcapng *out, const struct pcapng_packet *packet)
{
	uint8_t bytes[HEADERS_MAX + ICRC_BYTES];
	struct pcapng_packet whole = *packet;

	if (packet->length == packet->captured + ICRC_BYTES && packet->length <= sizeof(bytes)) {
		memcpy(bytes, packet->bytes, packet->captured);
		memset(bytes + packet->captured, 0, ICRC_BYTES);
		whole.bytes = bytes;
		whole.captured = packet->length;
	}
	pcapng_write(out, &whole);
}

/* Whether it is there: the port is chosen. */
static bool write_at(struct capture *one, uint32_t port, enum pcapng_direction direction,
	struct pcapng_packet *packet)
{
	if (one->interface[port] == NOT_CHOSEN)
		return false;
	packet->interface = one->interface[port];
	packet->direction = direction;
	capture_write(one->out, packet);
	return true;
}

void capture_sent(struct captures *c, uint64_t now_ps, uint32_t port, const uint8_t *bytes,
	uint32_t captured, uint32_t length)
{
	struct pcapng_packet packet = {
		.time_ps = now_ps, .bytes = bytes, .captured = captured, .length = length};

	for (struct capture *one = c->first; one; one = one->next) {
		write_at(one, port, PCAPNG_OUTBOUND, &packet);
		write_at(one, c->fabric->net.ports[port].peer, PCAPNG_INBOUND, &packet);
	}
}

/* Whether the frame was on its way out of the port that its end is shown at, else on its way in. */
static bool was_leaving(enum drop_reason reason)
{
	switch (reason) {
	case DROP_BUFFER:
	case DROP_HEADERS:
	case DROP_WATCHDOG:
	case DROP_SWITCH_DOWN:
	case DROP_HOST_QUEUE:
		return true;
	default:
		return false;
	}
}

static const char *drop_comment(enum drop_reason reason)
{
	static const char *const comments[] = {
#define X(symbol, name, place, meaning) "dropped: " name ": " meaning,
		DROP_REASONS(X)
#undef X
	};

	return comments[reason];
}

void capture_dropped(struct captures *c, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	const uint8_t *bytes, uint32_t captured, uint32_t length)
{
	bool leaving = was_leaving(reason);
	struct pcapng_packet packet = {.time_ps = now_ps,
		.bytes = bytes,
		.captured = captured,
		.length = length,
		.comment = drop_comment(reason)};

	for (struct capture *one = c->first; one; one = one->next)
		if (!write_at(one, port, leaving ? PCAPNG_OUTBOUND : PCAPNG_INBOUND, &packet))
			write_at(one, c->fabric->net.ports[port].peer,
				leaving ? PCAPNG_INBOUND : PCAPNG_OUTBOUND, &packet);
}
