/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TELEMETRY_SERIES_H
#define FABRICBED_TELEMETRY_SERIES_H

/*
 * Samples during a run, each kind with a period and a file of its own. A row tells of the interval
 * that ends at its t_us, or of that moment; the last interval ends with the run, however short it
 * is. Rows of one time are in the order of ports, switches or flows.
 */
#include "base/net.h"
#include "base/series.h"
#include "engine/engine.h"

/* The name of a port as results show it ("core2->agg0.1"); buf of at least RECORDER_NAME. */
#define RECORDER_NAME 80
typedef const char *(*recorder_port_name)(const void *arg, uint32_t port, char *buf);

struct series_params {
	int directory; /* stays open as long as they are; -1: nothing is written */
	/* by enum series_kind; `above` in bytes, or a time; what they point to stays too */
	const struct series_spec *specs;
	const struct net *net;
	uint8_t classes; /* a bit a class that the fabric uses */
	recorder_port_name port_name;
	recorder_port_name node_name;                           /* the same, of a node's number */
	uint32_t (*node_level)(const void *arg, uint32_t node); /* 0: a host */
	const void *name_arg;
};

struct series_set;

/* Opens what the specs ask for. 0 or -errno. */
int series_open(struct series_set **ret, const struct series_params *params);

/* When the next sample is due; UINT64_MAX: never. */
uint64_t series_next(const struct series_set *set);

/* Samples what is due; then not again before least_ps have passed. */
void series_sample(
	struct series_set *set, const struct engine *e, uint64_t now_ps, uint64_t least_ps);

/* What the engine's observer hears: see engine.h. */
void series_dropped(struct series_set *set, uint32_t port, enum drop_reason reason, uint32_t bytes);
void series_ended(struct series_set *set, uint32_t flow);
void series_settled(struct series_set *set, const struct engine *e);

/* The run has ended: the last intervals. */
void series_end(struct series_set *set, const struct engine *e, uint64_t now_ps);

/* As the recorder's: see recorder.h. */
int series_flush(struct series_set *set);
uint64_t series_lost(const struct series_set *set, int *ret_why);
int series_write(struct series_set *set, int directory);
void series_remove(struct series_set *set);
void series_free(struct series_set *set);

#endif
