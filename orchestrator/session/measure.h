/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_MEASURE_H
#define FABRICBED_MEASURE_H

/* What the box can do, for `slowdown: auto`. */
#include "session/session.h"

/*
 * The least slowdown, at least 1, of two digits, at which lateness would not exceed the shortest
 * link delay with all hosts sending full packets at line rate. Takes about 20 ms. Before the
 * session starts.
 */
double measure_slowdown(const struct session *s, const struct fabric *f);

/* The same out of figures: how late a sleeper wakes up, and what a hop takes. Pure. */
double slowdown_for(const struct fabric *f, double late_ns, double hop_ns);

#endif
