/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_KERNEL_CASE_H
#define FABRICBED_KERNEL_CASE_H

/*
 * What tests of fabrics in the kernel share: a small fabric under a random name, and what is left
 * of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "bringup/bringup.h"
#include "lib/hand_fabric.h"

#define CAPTURED 90
#define CAPACITY 512

/* Two hosts and the switch between them. */
enum { H0 = 2, H1 = 3, S0_H0 = 4, S0_H1 = 5, ETH0 = 6 };

struct kernel_case {
	struct fabric *f;
	struct sw_sizes sizes;
	char name[32];    /* random */
	char *interfaces; /* the host's own, before */
};

/* A frame with room for CAPACITY bytes. */
union frame_room {
	struct frame frame;
	uint8_t bytes[sizeof(struct frame) + CAPACITY];
};

int kernel_case_set_up(void **state);
int kernel_case_tear_down(void **state);

/* What is asked for by default: no stacks, CAPACITY. */
struct build_params kernel_case_params(const struct kernel_case *s);

/* With stacks, a program at their egress, ECN, segments, and host 1 a gateway: all there is. */
#define STACK_MTU  9000
#define STACK_PORT 7777 /* of TCP and UDP, with this DSCP */
#define STACK_DSCP 46
struct build_params kernel_case_stack_params(const struct kernel_case *s);

/* Builds the fabric under its name and fills its tables, or fails the test. */
struct built *kernel_case_build(const struct kernel_case *s);
struct built *kernel_case_build_stacks(const struct kernel_case *s);

/*
 * Runs tests as cmocka_run_group_tests(); skips them, and says why, where the machine lacks
 * something.
 */
int kernel_case_run(const struct CMUnitTest *tests, size_t count);

#define kernel_case_test(function)                                                                 \
	cmocka_unit_test_setup_teardown(function, kernel_case_set_up, kernel_case_tear_down)

/* Sends hand_frame() to a port; the frame comes back with the verdict. */
int submit_one(const struct kernel_case *s, struct built *b, uint32_t port, struct frame *frame);
void assert_forwards(const struct kernel_case *s, struct built *b);

/* Files of a directory that begin with prefix; a missing directory has none. */
unsigned files_of(const char *dir, const char *prefix);
unsigned open_files(void);

/* No namespace and no record of that name, and the host's own interfaces as they were. */
void assert_nothing_left(const struct kernel_case *s);

#endif
