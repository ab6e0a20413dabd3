/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FAULTS_H
#define FABRICBED_FAULTS_H

/*
 * What befalls the frames on a cable, switched on and off while it carries traffic. Each acts on
 * the frames towards one port, from the next that arrives there; a cable has two. The tables have
 * SW_FAULTS. `seed` is the scenario's: what happens follows from it, the port and the time or the
 * number of the frame alone, so that a fault that goes and returns, or another beside it, changes
 * nothing of that. The model and its limits: bpf/sw/cable.h.
 */
#include "dataplane/dataplane.h"

/* Random loss: each frame for itself, with this probability, 0..1, to the nearest 2^-32. */
void faults_set_loss(struct sw_tables *t, uint32_t port, double loss, uint64_t seed);
void faults_clear_loss(struct sw_tables *t, uint32_t port);

/* Probabilities a frame, 0..1, to the nearest 2^-32. */
struct faults_gilbert {
	double enter, leave;        /* from the good state to the bad one, and back */
	double lost_good, lost_bad; /* of a frame that meets it */
};

/* Gilbert-Elliott: starts in the good state. */
void faults_set_gilbert(
	struct sw_tables *t, uint32_t port, const struct faults_gilbert *g, uint64_t seed);
void faults_clear_gilbert(struct sw_tables *t, uint32_t port);

/*
 * Bursts in which every frame is lost, from now_ps on: Poisson arrivals, every_ps being the mean
 * from one start to the next, and exponential lengths, last_ps in the mean; they may overlap.
 * Either 0: off. A mean of 2^56 ps (20 hours) or more counts as that; now_ps is below 2^63. Both
 * ends of a link (peer of struct port) have the same bursts if they get the same arguments.
 */
void faults_set_flaky(struct sw_tables *t, uint32_t port, uint64_t every_ps, uint64_t last_ps,
	uint64_t seed, uint64_t now_ps);
void faults_clear_flaky(struct sw_tables *t, uint32_t port);

/* Bit errors: each bit for itself, with this probability, 0..1; 1e-15 and above within 0.2%. */
void faults_set_errors(struct sw_tables *t, uint32_t port, double bit_error_rate, uint64_t seed);
void faults_clear_errors(struct sw_tables *t, uint32_t port);

#endif
