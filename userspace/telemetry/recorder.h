/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RECORDER_H
#define FABRICBED_RECORDER_H

/*
 * What is written while a run goes on: queues.csv and events.jsonl; and flows.csv at its end. Files that are whole are
 * called NAME.new: the caller lets all results appear at once. Folders are given as descriptors.
 */
#include <stdint.h>
#include <jansson.h>
#include "base/net.h"
#include "engine/engine.h"

struct recorder;

/* The name of a port as results show it ("core2->agg0.1"); buf of at least RECORDER_NAME. */
#define RECORDER_NAME 80
typedef const char *(*recorder_port_name)(const void *arg, uint32_t port, char *buf);

struct recorder_params {
	int directory; /* stays open as long as the recorder; -1: nothing is written */
	bool queues;   /* sampled */
	const struct net *net;
	recorder_port_name port_name;
	const void *name_arg;
};

/* 0 or -errno; a file that can't be opened is an error. */
int recorder_new(struct recorder **ret, const struct recorder_params *params);

/* What the engine's observer hears: see engine.h. */
void recorder_dropped(struct recorder *r, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	uint32_t bytes);
void recorder_paused(
	struct recorder *r, uint64_t now_ps, uint32_t port, uint8_t before, uint8_t after);

/* One row of queues.csv for each queue that is not empty, or was not at the last sample. */
void recorder_sample(struct recorder *r, const struct engine *e, uint64_t now_ps);

/* One line of events.jsonl; takes the reference, an object without "t_us". */
void recorder_event(struct recorder *r, uint64_t now_ps, json_t *event);

/* Hands what is known so far to the disk. 0, or -errno: it does not take it; what it lacks is held for a while. */
int recorder_flush(struct recorder *r);

/* Lines that the disk did not take and that could not be held any longer; *ret_why: the -errno, if there are some. */
uint64_t recorder_lost(const struct recorder *r, int *ret_why);

/* The run has ended: what still lasts has lasted until now. Before recorder_write(). */
void recorder_end(struct recorder *r, uint64_t now_ps);

/*
 * Ends bursts and series; makes events.jsonl.new and queues.csv.new. 0, or -errno: it can be tried again, also in another
 * folder, but nothing is recorded any more.
 */
int recorder_write(struct recorder *r, int directory);

/* All is written, and has its name: removes what was collected. */
void recorder_done(struct recorder *r);

/* That, and all else. NULL is fine. */
void recorder_free(struct recorder *r);

/* flows.csv.new in directory. host_name as recorder_port_name, of a host's number. 0 or -errno. */
int recorder_write_flows(
	int directory, const struct engine *e, recorder_port_name host_name, const void *name_arg);

/*
 * pauses.csv.new in directory: what each port and class has said and heard of pauses, how long its queue stood still, and how
 * much its ingress held at most. A row where there is something to tell. port_name as recorder_params has it.
 */
int recorder_write_pauses(
	int directory, const struct engine *e, recorder_port_name port_name, const void *name_arg);

#endif
