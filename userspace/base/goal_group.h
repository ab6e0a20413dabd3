/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_GOAL_GROUP_H
#define FABRICBED_GOAL_GROUP_H

/* The group of an operation of the workload `goal`: its rank, of a send that of the sender. */
#define GOAL_SENDS_INSIDE (1u << 31) /* and with this bit a computation is a send inside a host */

#endif
