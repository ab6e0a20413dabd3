/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RECORDER_H
#define FABRICBED_RECORDER_H

/*
 * What is written during a run: flows.csv, events.jsonl and series of samples. Complete files are
 * called NAME.new: the caller makes all results appear at once. Folders are given as descriptors.
 */
#include <stdint.h>
#include <jansson.h>
#include "telemetry/series.h"

struct recorder;
struct flow_totals;

/* Folder, net and names are its own too. 0 or -errno; a file that can't be opened is an error. */
int recorder_new(struct recorder **ret, const struct series_params *params);

/* What the engine's observer hears: see engine.h. */
void recorder_dropped(struct recorder *r, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	uint32_t bytes);
void recorder_paused(
	struct recorder *r, uint64_t now_ps, uint32_t port, uint8_t before, uint8_t after);
void recorder_ended(struct recorder *r, uint64_t now_ps, uint32_t flow);
void recorder_settled(struct recorder *r, struct engine *e);

/* Of flows that are recorded and that the engine has forgotten. */
const struct flow_totals *recorder_forgotten(const struct recorder *r);

/* Series of samples: see series.h. */
uint64_t recorder_next_sample(const struct recorder *r);
void recorder_sample(
	struct recorder *r, const struct engine *e, uint64_t now_ps, uint64_t least_ps);

/* One line of events.jsonl; takes the reference, an object without "t_us". */
void recorder_event(struct recorder *r, uint64_t now_ps, json_t *event);

/* Writes what is known so far. 0, or -errno: the disk does not take it; it is held for a while. */
int recorder_flush(struct recorder *r);

/* Lines that could neither be written nor held; *ret_why: the -errno, if there are some. */
uint64_t recorder_lost(const struct recorder *r, int *ret_why);

/*
 * The run has ended: series and all flows get their last rows, and what still lasts has lasted
 * until now. Before recorder_write().
 */
void recorder_end_flows(struct recorder *r, struct engine *e);
void recorder_end(struct recorder *r, uint64_t now_ps);

/*
 * Ends bursts and pauses; makes events.jsonl.new, flows.csv.new and those of series. Records
 * nothing afterwards. 0, or -errno: may be retried, also in another folder.
 */
int recorder_write(struct recorder *r, int directory);

/* All is written, and has its name: removes what was collected. */
void recorder_done(struct recorder *r);

/* That, and all else. NULL is fine. */
void recorder_free(struct recorder *r);

/*
 * pauses.csv.new in directory: the pauses that each port and class sent and received, how long its
 * queue was stopped, and the peak of its ingress. A row for each port and lossless class. port_name
 * as in series_params.
 */
int recorder_write_pauses(
	int directory, const struct engine *e, recorder_port_name port_name, const void *name_arg);

#endif
