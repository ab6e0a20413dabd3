/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_OFFLOAD_H
#define FABRICBED_OFFLOAD_H

#include "base/error.h"

/*
 * What leaves by an interface of the calling thread's namespace has its checksum, and so no more
 * than an MTU, as on a wire. 0 or -errno with why.
 */
int offload_off(const char *interface, struct error *why);

#endif
