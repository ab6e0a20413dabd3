/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_SPRAY_H
#define FABRICBED_STRACK_SPRAY_H

/* Which path (entropy) the next packet takes: STrack, algorithm 3. */
#include <stdbool.h>
#include <stdint.h>

#define STRACK_PATHS_MIN 8 /* algorithm 3, line 18 */
#define STRACK_PATHS_MAX 1024

enum strack_spray {
	STRACK_ADAPTIVE,  /* algorithm 3 */
	STRACK_OBLIVIOUS, /* all paths in turn, whatever their marks */
	STRACK_SINGLE,    /* one path, as ECMP gives it */
};

struct strack_paths {
	uint64_t *marked;  /* a set bit: ECN marked, skip it once */
	uint64_t *used;    /* every path ever taken, for the statistics */
	uint64_t age_ps;   /* at which `marked` is forgotten; 0: never */
	uint64_t reset_ps; /* when it last was */
	int32_t next;      /* path of the last unmarked SACK, or -1 */
	uint32_t paths;    /* max_paths */
	uint32_t last;     /* path of the last packet (rr) */
	uint32_t used_count;
	enum strack_spray kind;
	bool recycle; /* every packet is answered: an unmarked path serves the next one */
};

/* 64-bit words that strack_spray_open() needs, zeroed. */
static inline uint32_t strack_spray_words(uint32_t paths)
{
	return 2 * ((paths + 63) / 64);
}

/* paths: 1..STRACK_PATHS_MAX. recycle, age_ps: see struct strack_paths. */
void strack_spray_open(struct strack_paths *s, enum strack_spray kind, uint32_t paths, bool recycle,
	uint64_t age_ps, uint64_t *words, uint64_t now);

/* A SACK echoed this path (below s->paths) and whether its packet was marked. */
void strack_spray_on_ack(struct strack_paths *s, uint32_t path, bool marked);

/* The path of the packet that leaves now; window: in whole packets. */
uint32_t strack_spray_choose(struct strack_paths *s, uint32_t window, uint64_t now);

#endif
