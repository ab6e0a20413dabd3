/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PARENTS_H
#define FABRICBED_PARENTS_H

/* Makes a path's folders, without its last part. Errors show when that is made. */
void parents_make(const char *path);

#endif
