/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PORTS_H
#define FABRICBED_PORTS_H

/*
 * The configuration of ports, queues, ingresses and switches, and of the program itself, as a
 * switch's own processor writes it once at start.
 */
#include <stdbool.h>
#include <stdint.h>
#include "abi/shared_state.h"
#include "base/net.h"
#include "base/switching.h"

/* What the program does; known before any table is there. */
void ports_config(struct sw_config *ret, const struct switching *s);

/*
 * Fills ports[], queues[] and ingresses[], and of switches[] the seeds and the buffers; every link
 * is up, every queue empty. Of a switch's pool, what is guaranteed (the reserves of queues and
 * lossless ingresses, the queues of headers, the headroom) is not shared: pool_bytes is the rest.
 * 0; -EINVAL if there is no rest, if a headroom leaves no room below XOFF, or if either passes 32
 * bits: the tables are not to be used then.
 */
int ports_configure(
	struct sw_tables *t, const struct net *net, const struct switching *s, uint64_t seed);

/*
 * BALANCE_FILE takes the place of the switches' own policies (swapped), or gives it back: what was
 * remembered is forgotten, the counters stay.
 */
void ports_swap_policy(
	struct sw_tables *t, const struct net *net, const struct switching *s, bool swapped);

#endif
