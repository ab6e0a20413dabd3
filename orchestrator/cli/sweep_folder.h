/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_FOLDER_H
#define FABRICBED_SWEEP_FOLDER_H

/*
 * Makes the folder of a sweep, or takes one that is a sweep's, and keeps others out as long as
 * *ret_lock is open. Runs inherit it: a sweep that follows a killed one waits for those that this
 * has left. EXIT_WELL, or EXIT_INPUT after a message.
 */
int sweep_folder_claim(const char *folder, int *ret_lock);

#endif
