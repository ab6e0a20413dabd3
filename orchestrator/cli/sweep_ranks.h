/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_RANKS_CLI_H
#define FABRICBED_SWEEP_RANKS_CLI_H

/* The runs of a sweep on the processes of mpirun. */

struct ranks;
struct sweep_work;

/* On rank 0: hands out the runs that are not done, and writes what comes back. 0 or -errno. */
int sweep_hand_out(struct sweep_work *w);

/* On the others: does what is handed out, until there is nothing more. 0 or -errno. */
int sweep_serve(struct ranks *r);

#endif
