/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_GOAL_H
#define FABRICBED_GOAL_H

/*
 * GOAL: operations of ranks, each of which begins when others of its rank have ended or begun
 * (Hoefler, Siebert and Lumsdaine, "Group operation assembly language", 2009; here as LogGOPSim
 * reads it). docs/workloads.md says what is accepted. Others than the workload of that name call
 * goal_file() alone.
 */
#include "workload/cell.h"
#include "workload/placement.h"

/* The name of the file of such a workload; NULL: it is another kind. */
const char *goal_file(const struct workload_kind *kind, const void *options);

enum goal_kind { GOAL_SEND, GOAL_RECV, GOAL_CALC };

#define GOAL_ANY  UINT32_MAX /* source, or tag, of a receive */
#define GOAL_NONE UINT32_MAX /* no operation, or no dependence */

struct goal_op {
	uint64_t amount; /* bytes of a message, units of a calc */
	uint32_t rank, peer, tag;
	uint32_t label;                     /* where it is in the text; 0: there is none */
	uint32_t line;                      /* of a binary file its number in its rank */
	uint32_t first_after, first_before; /* dependences on it, and its own */
	uint8_t kind, cpu;
};

/* `to` begins when `from` has ended, or begun. */
struct goal_dependence {
	uint32_t from, to;
	uint32_t next_after, next_before;
	bool begun;
};

struct goal {
	const struct file_text *file;
	const char *unit; /* what `line` is: "line", "operation" */
	char *why;        /* WORKLOAD_REFUSAL bytes */
	uint32_t ranks;
	struct goal_op *ops; /* rank by rank, in the order of the file */
	uint32_t op_count;
	struct goal_dependence *dependences;
	uint32_t dependence_count;
};

/*
 * The graph of a file. 0; -EINVAL: why says it; -ENOMEM; -E2BIG: more operations than numbers. In
 * any case goal_release() frees what there is.
 */
int goal_read(struct goal *g, const struct file_text *file, char why[WORKLOAD_REFUSAL]);
void goal_release(struct goal *g);

/* The two forms of a file; of g what does not depend on the content is there. */
bool goal_is_binary(const struct file_text *file);
int goal_read_binary(struct goal *g);
int goal_read_text(struct goal *g);

/* The label at that place of a text; of length 0 if there is none. */
struct cell goal_word(const char *at);

/* Operation `to` begins when `from` has ended, or begun. 0; -ENOMEM; -E2BIG: there are too many. */
int goal_add_dependence(struct goal *g, uint32_t from, uint32_t to, bool begun);

/* The reason why, about a line, or the file. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int goal_refuse_file(
	const struct goal *g, const char *format, ...);
__attribute__((format(printf, 3, 4))) int goal_refuse(
	const struct goal *g, uint32_t line, const char *format, ...);

/* Its label, or what it is where it has none. */
const char *goal_op_name(const struct goal *g, uint32_t op, char buf[CELL_SHOWN]);

/* Sends and receives as they begin: which belong together. */
struct goal_matching;
int goal_matching_new(struct goal_matching **ret, const struct goal *g); /* 0 or -ENOMEM */
void goal_matching_free(struct goal_matching *m);

/*
 * A send or a receive has begun. Sets *ret to the other side of it, the one that has waited for
 * longest; GOAL_NONE: there is none yet. 0 or -ENOMEM.
 */
int goal_match(struct goal_matching *m, uint32_t op, uint32_t *ret);

/* What ranks are made of. */
struct goal_setting {
	const struct workload_params *p;
	const struct workload_hosts *hosts;
	const struct placement *placement;
	const uint32_t *placed; /* the host of each rank */
	uint64_t start_ps;
	uint64_t calc_ps; /* of a calc of 1 */
};

/*
 * Appends to m, or leaves it as it was. 0; -EINVAL: why says what can't be, or can't end; or an
 * error of operations_reserve().
 */
int goal_build(struct operations *m, const struct goal *g, const struct goal_setting *s);

#endif
