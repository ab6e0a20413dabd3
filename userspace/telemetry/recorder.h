/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RECORDER_H
#define FABRICBED_RECORDER_H

/*
 * What is written during a run: flows.csv, queues.csv and events.jsonl. Complete files are called
 * NAME.new: the caller makes all results appear at once. Folders are given as descriptors.
 */
#include <stdint.h>
#include <jansson.h>
#include "base/net.h"
#include "engine/engine.h"

struct recorder;
struct flow_totals;

/* The name of a port as results show it ("core2->agg0.1"); buf of at least RECORDER_NAME. */
#define RECORDER_NAME 80
typedef const char *(*recorder_port_name)(const void *arg, uint32_t port, char *buf);

struct recorder_params {
	int directory; /* stays open as long as the recorder; -1: nothing is written */
	bool queues;   /* sampled */
	const struct net *net;
	recorder_port_name port_name;
	recorder_port_name host_name; /* the same, of a host's number */
	const void *name_arg;
};

/* 0 or -errno; a file that can't be opened is an error. */
int recorder_new(struct recorder **ret, const struct recorder_params *params);

/* What the engine's observer hears: see engine.h. */
void recorder_dropped(struct recorder *r, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	uint32_t bytes);
void recorder_paused(
	struct recorder *r, uint64_t now_ps, uint32_t port, uint8_t before, uint8_t after);
void recorder_ended(struct recorder *r, uint64_t now_ps, uint32_t flow);
void recorder_settled(struct recorder *r, struct engine *e);

/* Of flows that are recorded and that the engine has forgotten. */
const struct flow_totals *recorder_forgotten(const struct recorder *r);

/* One row of queues.csv for each queue that is not empty, or was not at the last sample. */
void recorder_sample(struct recorder *r, const struct engine *e, uint64_t now_ps);

/* One line of events.jsonl; takes the reference, an object without "t_us". */
void recorder_event(struct recorder *r, uint64_t now_ps, json_t *event);

/* Writes what is known so far. 0, or -errno: the disk does not take it; it is held for a while. */
int recorder_flush(struct recorder *r);

/* Lines that could neither be written nor held; *ret_why: the -errno, if there are some. */
uint64_t recorder_lost(const struct recorder *r, int *ret_why);

/*
 * The run has ended: all flows get their rows, and what still lasts has lasted until now. Before
 * recorder_write().
 */
void recorder_end_flows(struct recorder *r, struct engine *e);
void recorder_end(struct recorder *r, uint64_t now_ps);

/*
 * Ends bursts and series; makes events.jsonl.new, flows.csv.new and queues.csv.new. Records nothing
 * afterwards. 0, or -errno: may be retried, also in another folder.
 */
int recorder_write(struct recorder *r, int directory);

/* All is written, and has its name: removes what was collected. */
void recorder_done(struct recorder *r);

/* That, and all else. NULL is fine. */
void recorder_free(struct recorder *r);

/*
 * pauses.csv.new in directory: the pauses that each port and class sent and received, how long its
 * queue was stopped, and the peak of its ingress. A row for each port and lossless class. port_name
 * as in recorder_params.
 */
int recorder_write_pauses(
	int directory, const struct engine *e, recorder_port_name port_name, const void *name_arg);

#endif
