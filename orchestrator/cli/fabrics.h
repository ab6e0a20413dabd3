/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FABRICS_H
#define FABRICBED_FABRICS_H

/* Live fabrics by name, for commands that meet them whether they answer or not. */
#include "daemon/registry.h"

/* Reports that there is no fabric of that name, and the closest one. */
void fabrics_explain_missing(const char *name, struct error *why);

/*
 * What is known of the fabric of that name; release it with registry_release(). EXIT_WELL; or after
 * a message EXIT_INPUT: there is none; EXIT_RUN: it cannot be read.
 */
int fabrics_find(const char *name, struct registry_info *ret);

/* All of them; free with registry_list_free(). EXIT_WELL, or another status after a message. */
int fabrics_list(struct registry_info **ret, size_t *ret_count);

/* EXIT_WELL; EXIT_MACHINE after a message: the user is not root. */
int fabrics_need_root(const char *command);

/* EXIT_WELL; EXIT_MACHINE with why: the directory of the user's fabrics is not theirs alone. */
int fabrics_trust(struct error *why);

/*
 * A fabric's state in a word: "starting", "running", "ended", "failed"; "crashed" if its process
 * died without a reason.
 */
const char *fabrics_word(const struct registry_info *info);

#endif
