/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/metrics.h"

#include <stdio.h>
#include "abi/drop.h"

struct metric {
	const char *name, *help;
};

static const struct metric metrics[] = {
#define COUNTER(section, name, help)         {#section "." #name, help},
#define VALUE(path, json, help)              {path, help},
#define OTHER(path, help)                    {path, help},
#define RANK(key, permille, title, path, of) {path "." key, title of},
#define SPREAD(path, json, what)                                                                   \
	{path ".mean", "mean of " what}, SPREAD_RANKS(RANK, path, " of " what)
	METRICS(COUNTER, VALUE, SPREAD, METRIC_SKIP, OTHER)
#undef SPREAD
#undef RANK
#undef COUNTER
#undef VALUE
#undef OTHER
/* as of all flows, of which there is a sentence */
#define RANK(key, permille, title, path) {path "." key, NULL},
#define SPREAD(path)                     {path ".mean", NULL}, SPREAD_RANKS(RANK, path)
#define SIZED(size, limit)                                                                         \
	{"flows.by_size." size ".count", NULL}, SPREAD("flows.by_size." size ".fct_us") SPREAD(    \
							"flows.by_size." size ".fct_slowdown")
		SIZE_CLASSES(SIZED)
#undef SIZED
#undef SPREAD
#undef RANK
};

#define FIXED (sizeof(metrics) / sizeof(metrics[0]))

static const struct metric reasons[] = {
#define X(symbol, name, place, meaning) {name, meaning},
	DROP_REASONS(X)
#undef X
};

/* Reason 0 ends no packet. */
static const struct metric *reason(size_t index)
{
	index = index - FIXED + 1;
	return index < DROP_REASON_COUNT ? &reasons[index] : NULL;
}

const char *metric_name(size_t index, char buf[METRIC_NAME])
{
	if (index >= FIXED && !reason(index))
		return NULL;
	snprintf(buf, METRIC_NAME, "%s%s", index < FIXED ? "" : "packets.dropped.",
		index < FIXED ? metrics[index].name : reason(index)->name);
	return buf;
}

const char *metric_help(size_t index)
{
	return index < FIXED ? metrics[index].help : reason(index)->help;
}
