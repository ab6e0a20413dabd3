/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_HOSTS_H
#define FABRICBED_HOSTS_H

/* A fabric's own /etc/hosts. */
#include <stdio.h>

struct fabric;

/* localhost, and then each host with both of its addresses (abi/wire.h). */
void hosts_write(const struct fabric *f, FILE *out);

#endif
