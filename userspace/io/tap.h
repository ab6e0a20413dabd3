/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TAP_H
#define FABRICBED_TAP_H

/* A network card as a file: reads give what the kernel's stack sends, writes what it receives. */
#include <stdint.h>
#include "base/error.h"

#define TAP_DEVICE "/dev/net/tun"
#define TAP_REMEDY                                                                                 \
	"modprobe tun; in a container: --device " TAP_DEVICE " with CAP_NET_ADMIN, or --privileged"

struct tap {
	int fd;    /* frames, non-blocking */
	int stats; /* of the interfaces in its namespace */
};

#define TAP_NONE ((struct tap){-1, -1})

/*
 * Makes a TAP interface of that name and ifindex in the calling thread's namespace: one whole frame
 * a read or write, without a header. It is down, without offloads, so that frames come whole and
 * with checksums, and ends with its namespace: closing the descriptor takes its carrier alone, and
 * no time. 0, or -errno with why (-ENOENT, -ENODEV, -EPERM: with the remedy).
 */
int tap_open(struct tap *ret, const char *name, uint32_t index, struct error *why);
void tap_close(struct tap *t); /* also TAP_NONE */

/* Frames that the stack sent and that were not read in time: its queue was full. */
uint64_t tap_refused(const struct tap *t, const char *name);

#endif
