/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TAP_H
#define FABRICBED_TAP_H

/* A network card that is a file: what the kernel's stack sends is read from it, what is written to it the stack receives. */
#include <stdint.h>
#include "base/error.h"

#define TAP_DEVICE "/dev/net/tun"
#define TAP_REMEDY                                                                                 \
	"modprobe tun; in a container: --device " TAP_DEVICE " with CAP_NET_ADMIN, or --privileged"

/*
 * Makes a TAP interface of that name and ifindex in the calling thread's namespace: one whole frame a read or write,
 * nothing in front of it. It is down, without offloads, so that frames come in one piece each and with their checksums,
 * and goes away with its namespace: closing the descriptor takes its carrier alone, and no time. The descriptor
 * (non-blocking; close it), or -errno with why (-ENOENT, -ENODEV, -EPERM: with the remedy).
 */
int tap_open(const char *name, uint32_t index, struct error *why);

#endif
