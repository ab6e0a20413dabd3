/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/flow_totals.h"

#include <stdlib.h>
#include "base/array.h"
#include "base/numbers.h"

static const uint64_t size_limits[] = {
#define SIZE_CLASS(key, limit) limit,
	SIZE_CLASSES(SIZE_CLASS)
#undef SIZE_CLASS
};

static uint8_t size_class_of(uint64_t bytes)
{
	uint8_t i = 0;

	while (bytes > size_limits[i])
		i++;
	return i;
}

static void add_figures(struct flow_totals *t, const struct engine_flow_result *f)
{
	uint32_t sent = f->sender.packets_sent;
	const double figures[] = {
		[FLOW_RETRANSMITTED] = f->sender.retransmitted,
		[FLOW_SPURIOUS] = f->receiver.duplicates,
		[FLOW_LOSS_RATE] = sent ? (double)f->sender.lost / sent : 0,
		[FLOW_REORDERED] = f->receiver.reordered,
	};

	for (unsigned i = 0; i < FLOW_FIGURES; i++) {
		t->per_flow[i] += (unsigned __int128)(figures[i] * FLOW_UNIT);
		t->most[i] = figures[i] > t->most[i] ? figures[i] : t->most[i];
	}
}

static int add_measured(struct flow_totals *t, const struct engine_flow_result *f)
{
	struct flow_sample sample = {
		.ideal_ps = f->flow.ideal_ps, .size_class = size_class_of(f->flow.bytes)};

	add_figures(t, f);
	t->measured[sample.size_class]++;
	t->measured[ALL_SIZES]++;
	if (!f->finish_ps)
		return 0;
	sample.fct_ps = f->finish_ps - f->start_ps;
	if (ARRAY_ADD(t->samples, t->sample_count, sample) < 0)
		return -ENOMEM;
	t->finished[sample.size_class]++;
	t->finished[ALL_SIZES]++;
	t->longest_ps = max_u64(t->longest_ps, sample.fct_ps);
	return 0;
}

int flow_totals_add(struct flow_totals *t, const struct engine_flow_result *f)
{
	t->count++;
	t->bytes += f->flow.bytes;
	t->retransmitted += f->sender.retransmitted;
	t->spurious += f->receiver.duplicates;
	t->lost += f->sender.lost;
	t->reordered += f->receiver.reordered;
	t->reorder_sum += f->receiver.reorder_sum;
	t->reorder_most = max_u64(t->reorder_most, f->receiver.reorder_most);
	t->first_start_ps = min_u64(t->first_start_ps, f->start_ps);
	t->last_finish_ps = max_u64(t->last_finish_ps, f->finish_ps);
	t->unmeasured += f->flow.unmeasured;
	return f->flow.unmeasured ? 0 : add_measured(t, f);
}

int flow_totals_of(
	struct flow_totals *ret, const struct engine *e, const struct flow_totals *forgotten)
{
	int r = 0;

	*ret = forgotten ? *forgotten : (struct flow_totals)FLOW_TOTALS_INIT;
	ret->first = forgotten;
	ret->samples = NULL;
	ret->sample_count = 0;
	for (uint32_t i = 0; r == 0 && i < engine_flow_count(e); i++) {
		struct engine_flow_result f;

		engine_flow_result(e, i, &f);
		if (engine_flow_counts(&f))
			r = flow_totals_add(ret, &f);
	}
	if (r < 0)
		flow_totals_release(ret);
	return r;
}

void flow_totals_release(struct flow_totals *t)
{
	free(t->samples);
	*t = (struct flow_totals)FLOW_TOTALS_INIT;
}
