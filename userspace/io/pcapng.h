/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PCAPNG_H
#define FABRICBED_PCAPNG_H

/*
 * Frames for Wireshark and its like (the pcapng format, draft-ietf-opsawg-pcapng): one interface a port, timestamps
 * in picoseconds of model time.
 */
#include <stdint.h>
#include <stdio.h>

struct pcapng;

/* Creates the file. 0 or -errno. */
int pcapng_open(struct pcapng **ret, const char *path);

/* Interfaces are numbered from 0 in the order of these calls; all come before the first frame. */
void pcapng_add_interface(struct pcapng *p, const char *name);

/* A frame of `length` bytes on the wire, without FCS, of which `captured` are there. */
void pcapng_write(struct pcapng *p, uint32_t interface, uint64_t time_ps, const uint8_t *bytes,
	uint32_t captured, uint32_t length);

/* 0, or -EIO or -errno if anything could not be written. NULL is fine. */
int pcapng_close(struct pcapng *p);

#endif
