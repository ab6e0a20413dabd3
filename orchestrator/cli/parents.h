/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PARENTS_H
#define FABRICBED_PARENTS_H

/* Makes the folders that a path leads through, its last part not included. What is wrong with them shows when that is made. */
void parents_make(const char *path);

#endif
