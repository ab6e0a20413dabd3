/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_GRAPH_H
#define FABRICBED_GRAPH_H

/* A fabric as text for Graphviz. */
#include <stdio.h>
#include "topology/fabric.h"

/*
 * Tiers as ranks, hosts at the bottom; links whose rate is not the fabric's most frequent one say
 * theirs. 0; -ENOMEM; -EIO: out has failed.
 */
int graph_write(const struct fabric *f, FILE *out);

#endif
