/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_PRINT_H
#define FABRICBED_SWEEP_PRINT_H

#include <jansson.h>

/* What sweep.json says, for a person; about: of the scenario. */
void sweep_print(const json_t *report, const char *about, const char *folder);

#endif
