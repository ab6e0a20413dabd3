/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_REORDER_H
#define FABRICBED_REORDER_H

/*
 * Reordering as RFC 4737 has it, of the data that arrives for a queue pair. Packets are numbered as
 * they are sent: one that is sent again has a number of its own, so that no loss looks like
 * reordering. What has come is remembered from the first packet on that does not continue the one
 * before it: most connections never have one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REORDER_EXTENT 128 /* the largest that is told apart: beyond it, it counts as that */

/* The latest packets that none sent later has come before, by turns. */
struct reorder_history {
	uint32_t next; /* of those that are free */
	uint32_t count;
	struct {
		uint32_t number, arrival;
	} latest[REORDER_EXTENT];
};

struct reorder {
	uint32_t arrivals;
	uint32_t number, psn; /* of the latest arrival, as long as there is no history */
	uint32_t history;     /* its place, plus 1; 0: none */
};

/* The histories of all connections that are open. */
struct reorder_memory {
	struct reorder_history *histories; /* reserved address space */
	uint32_t fresh, free_head;         /* the latter a place plus 1; 0: none */
};

/* 0 or -ENOMEM. */
int reorder_memory_init(struct reorder_memory *m);
void reorder_memory_release(struct reorder_memory *m);

/*
 * The reordering extent (RFC 4737, 4.2.2) of a packet that arrives: how many arrivals ago the first
 * one came that was sent later. 0: it is not reordered. number: as they are sent, growing; psn: as
 * the transport counts, 24 bits; either may wrap around.
 */
uint32_t reorder_take(struct reorder_memory *m, struct reorder *r, uint32_t number, uint32_t psn);

/* Gives its memory back. */
void reorder_close(struct reorder_memory *m, struct reorder *r);

#endif
