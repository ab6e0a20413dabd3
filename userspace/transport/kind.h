/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TRANSPORT_KIND_H
#define FABRICBED_TRANSPORT_KIND_H

/*
 * The transports of hosts. Each is its files, with its options and their keys, and a row of
 * TRANSPORTS.
 */
#include "base/diag.h"
#include "base/schema.h"
#include "transport/transport.h"

/* In the order in which they are listed. */
#define TRANSPORTS(X) X(strack) X(roce) X(assembled)

/* Headers of data whose payload a switch cut off. */
enum transport_trims {
	TRANSPORT_ANY,      /* none are needed */
	TRANSPORT_TRIMMED,  /* that go on to the receiver */
	TRANSPORT_RETURNED, /* that go back to the sender */
};

/* Something that a transport is made of. */
struct transport_part {
	const char *key;     /* of the transport's options, under which it stands */
	const char *name;    /* NULL: there is none */
	const char *what;    /* to say of it; NULL: nothing */
	struct diag_pos pos; /* in the scenario */
};

#define TRANSPORT_PARTS 2 /* that may go by marks */

/* What others reckon with, under given options. */
struct transport_facts {
	uint32_t qps;           /* queue pairs of a flow, at least 1 */
	uint32_t paths;         /* UDP source ports of a queue pair's data, at least 1 */
	bool even;              /* a message's packets are all as long */
	double packets_per_ack; /* data packets for which a receiver answers once */
	struct quantity window; /* under way from a host at most, in bytes or BDP */
	uint64_t rto_ps;        /* that is given; 0: transport_rto() of the least */
	uint64_t rto_least_ps;  /* of a timeout that is not given */
	uint64_t least_share;   /* a flow's rate may stay at the line's / this; 0: it does not */
	uint64_t raise_ps;      /* senders raise their rates in this time; 0: by no timer */
	struct transport_part
		unmarked[TRANSPORT_PARTS]; /* without ECN marks they do as `what` says */
	struct transport_part share;       /* needs flow_spec.fair_bps */
	double paced;                      /* of which it sends at so much, in the mean */
	uint32_t subflow_threshold;        /* of which their number follows; 0: it does not */
	struct transport_part recovery;    /* finds losses, and repeats */
	enum transport_trims trims;        /* what that needs */
	const char *spreads; /* what of it sends a flow's packets by several paths; NULL: nothing */
	const char *loss_harm;  /* what a lossy class does to it; NULL: it copes with losses */
	const char *order_harm; /* what packets out of order do to it; NULL: it copes with them */
};

struct transport_kind {
	const char *title; /* as its authors write it */
	struct map map;    /* keys of its options; their size; a sentence of help */
	const struct transport_ops *ops;
	uint32_t data_bytes;   /* of its header after the BTH: of any data packet, at least */
	uint32_t answer_bytes; /* and of an answer to one */
	/* Overrides {one queue pair, one path, an ACK a packet, a BDP in flight}. NULL: nothing. */
	void (*facts)(const void *options, struct transport_facts *ret);
};

#define TRANSPORT_DECLARE(name) extern const struct transport_kind transport_kind_##name;
TRANSPORTS(TRANSPORT_DECLARE)

#define TRANSPORT_ONE(name) +1
enum { TRANSPORT_KINDS = TRANSPORTS(TRANSPORT_ONE) };

extern const struct transport_kind *const transport_kinds[TRANSPORT_KINDS];

/* One of them under certain options. */
struct transport_choice {
	unsigned kind; /* index in transport_kinds[] */
	void *options; /* the kind's own; NULL: none could be read */
};

struct transport_facts transport_facts(const struct transport_choice *choice);

/* Its key in a scenario. */
const char *transport_name(const struct transport_choice *choice);

#endif
