/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_RANKS_OPS_H
#define FABRICBED_SWEEP_RANKS_OPS_H

/* What is behind ranks.h: the plugin's part. */
#include <stddef.h>
#include <stdint.h>

struct ranks;

/* As the functions of ranks.h; there is one of them in a process. */
struct ranks_ops {
	int (*open)(struct ranks *r); /* sets rank and size */
	int (*send)(struct ranks *r, int to, const void *bytes, size_t length);
	int (*recv)(
		struct ranks *r, int from, int *ret_from, uint8_t **ret_bytes, size_t *ret_length);
	void (*close)(struct ranks *r);
};

struct ranks {
	const struct ranks_ops *ops;
	int rank, size;
};

/* The plugin's file, and its struct ranks_ops in there, whose name tells the struct's version. */
#define RANKS_PLUGIN "fabricbed-mpi.so"
#define RANKS_SYMBOL "fabricbed_ranks_1"

#endif
