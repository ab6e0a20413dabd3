/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Explicit pairs. */
#include <errno.h>
#include "workload/list.h"

int workload_pairs(struct messages *m, const struct workload_params *p, const uint32_t *from,
	const uint32_t *to, size_t count)
{
	size_t extra;
	int err = __builtin_mul_overflow(count, p->repeat, &extra) ? -E2BIG
								   : messages_reserve(m, extra);

	if (!err)
		messages_add_rounds(m, p, from, to, count);
	return err;
}
