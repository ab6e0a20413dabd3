/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PCAPNG_H
#define FABRICBED_PCAPNG_H

/*
 * Frames for Wireshark and other tools (the pcapng format, draft-ietf-opsawg-pcapng): one interface
 * per port, timestamps in picoseconds of model time, or in nanoseconds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcapng;

/* Takes a whole block; false: there is no room for it, and it is lost. */
typedef bool (*pcapng_sink)(void *arg, const void *bytes, size_t count);

/* Begins a section: in a new file, or to a sink. 0 or -errno; -ENOBUFS: no room in the sink. */
int pcapng_open(struct pcapng **ret, const char *path);
int pcapng_new(struct pcapng **ret, pcapng_sink sink, void *arg);

/*
 * Timestamps in nanoseconds, rounded down; before the first interface. Wireshark 4.0 misreads
 * picoseconds from 18.4 ms of a second on: it multiplies the fraction by 10^9, in 64 bits.
 */
void pcapng_in_nanoseconds(struct pcapng *p);

/*
 * Interfaces are numbered from 0 in the order of these calls; all come before the first frame.
 * description: NULL for none. 0, -ENOMEM or -ENOBUFS; without its interfaces a section is useless,
 * and pcapng_close() of a file fails too.
 */
int pcapng_add_interface(struct pcapng *p, const char *name, const char *description);

/* Seen from the interface; the numbers are the format's. */
enum pcapng_direction { PCAPNG_UNKNOWN = 0, PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 };

/* A frame of `length` bytes on the wire, without FCS, of which `captured` are there. */
struct pcapng_packet {
	uint32_t interface;
	uint64_t time_ps;
	const uint8_t *bytes;
	uint32_t captured, length;
	enum pcapng_direction direction;
	const char *comment; /* NULL: none */
};

/* What finds no room is counted for its interface. */
void pcapng_write(struct pcapng *p, const struct pcapng_packet *packet);

/* 0, or the -errno of the first write to the file that failed so far. */
int pcapng_error(const struct pcapng *p);

/*
 * Ends the section with the interfaces' statistics if frames were lost. 0, or -errno of the first
 * failed write to the file. NULL is fine.
 */
int pcapng_close(struct pcapng *p);

#endif
