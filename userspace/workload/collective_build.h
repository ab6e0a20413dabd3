/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COLLECTIVE_BUILD_H
#define FABRICBED_COLLECTIVE_BUILD_H

/*
 * From "rank a sends these parts of its buffer to rank b" to messages and what they wait for. The
 * waits follow from the data: a message waits until what it carries has come. Internal to the
 * collectives.
 */
#include "workload/collective.h"

/* Something that happened to a part of a buffer, or at a rank: one of a list. */
struct occurrence {
	uint32_t operation, next;
	enum operation_event event;
};

/*
 * A segment of a transfer, and where it is in the buffers of both ranks: in a place, counted in
 * segments.
 */
struct piece {
	uint32_t read, write, segment, origin;
};

/* What a rank has sent to another on a channel of a job, where it was all as long. */
struct connection {
	uint32_t job; /* that this is of, from 1 on; 0: none yet */
	uint32_t stream;
	uint64_t message_bytes, bytes;
};

struct collective_build {
	struct operations *m;
	const struct workload_params *p;
	const struct collective *c;
	const struct collective_watch *watch;
	const uint32_t *hosts; /* of the job's ranks */
	uint32_t ranks, mtu, job, round, channel;
	uint32_t first_port; /* streams of computations before those of ranks inside hosts */

	/* of the channel */
	uint64_t bytes;
	uint32_t segments, parts; /* of a segment, at most */
	uint32_t places;          /* segments that a rank has room for */
	uint32_t *written;        /* by rank, place and part: a list of occurrences */

	struct connection *connections; /* by channel, sender and receiver */
	/*
	 * By sender and receiver: the latest computation for what goes there; LIST_END: none. NULL:
	 * nothing is computed.
	 */
	uint32_t *computed;

	/* by rank; of the first two what is LIST_END is not there */
	uint32_t *gates;  /* the operation after which it begins */
	uint32_t *before; /* a list: what all waits for that it sends now */
	uint32_t *done;   /* a list: all that it has sent and received, of several rounds */
	/* lists of what has been done in a slot: by that and rank; NULL: there are none */
	uint32_t *sent, *received;
	uint32_t slot;
	struct occurrence *lists;
	size_t list_count;

	/* the present transfer */
	struct piece *pieces;
	uint32_t piece_count;

	/* the present message */
	struct collective_cell *cells;
	uint32_t *cell_writes; /* beside it, indexes in `written` */
	uint32_t cell_count;
	uint64_t message_bytes;
	struct occurrence *needs;
	size_t need_count;
};

#define LIST_END UINT32_MAX

/* Segments of a buffer are as long, but for a byte. 0 or -ENOMEM. */
int build_layout(struct collective_build *b, uint32_t segments, uint32_t places);

/* A piece of the present transfer. 0 or -ENOMEM. */
int build_piece(struct collective_build *b, struct piece piece);

/* Sends the pieces, and forgets them. 0, or an error of operations_reserve(). */
int build_transfer(struct collective_build *b, uint32_t from, uint32_t to, bool reduces);

/* Sends segments that have the same place everywhere, from `first` on. */
int build_segments(struct collective_build *b, uint32_t from, uint32_t to, bool reduces,
	uint32_t first, uint32_t count);

/* Adds to a list. 0 or -ENOMEM. */
int build_note(
	struct collective_build *b, uint32_t *list, uint32_t operation, enum operation_event event);

/*
 * The same as a list, but a short one: where many things are waited for at a rank, a computation
 * that takes no time does. rank OPERATION_BARRIER: a barrier does, for any list.
 */
int build_join(struct collective_build *b, uint32_t rank, uint32_t *list);

/* Each sends what its algorithm does. */
int collective_ring(struct collective_build *b);
int collective_halving_doubling(struct collective_build *b);
int collective_tree(struct collective_build *b);
int collective_exchange(struct collective_build *b); /* pairwise, windowed */
int collective_bruck(struct collective_build *b);

#endif
