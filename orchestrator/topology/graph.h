/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_GRAPH_H
#define FABRICBED_GRAPH_H

/* Pictures of a fabric. */
#include <stdio.h>

struct fabric;

/*
 * Tiers as ranks, hosts at the bottom; links whose rate is not the fabric's most frequent one say
 * theirs. 0; -EIO: out has failed; SVG: -ENOMEM.
 */
int graph_write_dot(const struct fabric *f, FILE *out);

/* Beyond GRAPH_HOSTS_MAX hosts those of a switch become one box that says how many they are. */
#define GRAPH_HOSTS_MAX 64
int graph_write_svg(const struct fabric *f, FILE *out);

#endif
