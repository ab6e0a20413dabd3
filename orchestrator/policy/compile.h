/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_COMPILE_H
#define FABRICBED_POLICY_COMPILE_H

/* clang over a policy file, in a folder that has the headers and nothing else. */
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct policy_source;

enum compile_target {
	COMPILE_BPF,    /* an object for the kernel */
	COMPILE_NATIVE, /* a shared object for this process */
};

/* A hash of how the compiler is called. */
uint64_t compile_flags(void);

/* Writes the headers that are part of the command below folder. 0 or -errno. */
int compile_prepare(const char *folder);

/*
 * The object, allocated. -EINVAL: the file is wrong; why has the first error with its line, and
 * *ret_messages (allocated, else NULL; ret_messages may be NULL) all that the compiler said.
 * -ENOENT: there is no clang. -ETIMEDOUT, other -errno: see why.
 */
int compile(char **ret, size_t *ret_bytes, enum compile_target target, const char *folder,
	const struct policy_source *source, char **ret_messages, struct error *why);

#endif
