/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NAMES_H
#define FABRICBED_NAMES_H

/* What ports and hosts are called in results, and what to say to those who misspell them. */
#include "base/error.h"
#include "telemetry/recorder.h"

struct fabric;

/* Of a port: "tor0.0->agg0.1", "#n" for parallel links. buf of RECORDER_NAME; arg: the fabric. */
const char *port_name(const void *arg, uint32_t port, char *buf);

/* Of a node by its number, or of a host, which come first; its tier: 0 is a host's. */
const char *node_name(const void *arg, uint32_t node, char *buf);
uint32_t node_level(const void *arg, uint32_t node);

/* Whether the port's name is the word, or matches it as a glob. */
bool port_matches(const struct fabric *f, uint32_t port, const char *word);

/* "there is no KIND "WORD"", and the closest of `count` names. Returns -EINVAL. */
int names_unknown(struct error *why, const char *kind, const char *word, const char *const *names,
	size_t count);

#endif
