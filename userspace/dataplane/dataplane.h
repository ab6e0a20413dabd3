/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DATAPLANE_H
#define FABRICBED_DATAPLANE_H

/*
 * What runs the switch program: the kernel (frames over veths through XDP) or the process itself
 * (the same code, called). The engine knows nothing else of either.
 */
#include <stdint.h>
#include <stddef.h>
#include "abi/hop.h"
#include "abi/shared_state.h"

/* One frame on its way through a program: the hop header goes in, the verdict comes out. */
struct frame {
	union {
		struct hop hop;
		struct verdict verdict;
	};
	uint8_t bytes[]; /* capacity: at least the dataplane's frame_capacity */
};

/* A frame and how many bytes of it are really there (headers only, or all of it). */
struct frame_ref {
	struct frame *frame;
	uint32_t captured;
};

/* A user's load-balancing policy, compiled. */
struct policy_code {
	const void *program; /* ELF image of the switch's BPF object, the policy linked with it */
	size_t program_bytes;
	__u32 (*function)(struct policy *p); /* the same for the process */
	const char *name;                    /* of its file, for messages */
};

struct dataplane;

struct dataplane_ops {
	const char *name;
	/*
	 * Runs the program of port `port` over n frames that arrive there, in order: hop headers
	 * in, verdicts and rewritten frames out, in place. Returns when each is accounted for. 0,
	 * or -errno if one was lost or the machine failed.
	 */
	int (*submit)(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n);
	/* Frees the dataplane and its tables. NULL is fine. */
	void (*close)(struct dataplane *dp);
};

/* The common head of every dataplane. */
struct dataplane {
	const struct dataplane_ops *ops;
	struct sw_tables tables;
	uint32_t max_batch;      /* most frames one submit takes */
	uint32_t frame_capacity; /* of a longer frame a program sees the first bytes */
};

/*
 * The inline dataplane: tables for a fabric of this size, zeroed; no privilege, no kernel object.
 * 0, or -ENOMEM.
 */
int dataplane_inline_open(
	struct dataplane **ret, const struct sw_sizes *sizes, uint32_t frame_capacity);

/*
 * From now on BALANCE_FILE is this, between two submits. NULL: it is nothing, and the program is
 * again the one that it was opened with.
 */
void dataplane_inline_swap(struct dataplane *dp, const struct policy_code *code);

#endif
