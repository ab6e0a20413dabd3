/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/wallclock.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "base/numbers.h"
#include "base/units.h"
#include "io/clock.h"
#include "io/cpu_time.h"
#include "session/host_stacks.h"
#include "session/timeline.h"
#include "topology/fabric.h"

#define SPIN_NS 200000 /* a sleeper wakes up to so late: what is due sooner is waited for awake */
#define POLL_NS                                                                                    \
	20000000 /* who has just sent mostly sends again: for so long that is waited for awake */
#define TURN_NS 50000    /* of the clock's time that a turn may have to do at once */
#define SLIP_NS 20000000 /* by so much the session may fall behind before model time is held */
#define HOLD_NS 5000000  /* the same while programs wait for it to catch up */
#define LOOK_NS 1000000  /* between two looks at all queues, whatever the scenario asks for */
#define IDLE_NS CLOCK_NS_PER_S

struct wallclock {
	struct session *session;
	struct fidelity *fidelity;
	struct cpu_time cpu;
	int64_t taken_ns; /* of the CPU, by others, when it was looked at last */
	double ps_per_ns; /* of model time, per nanosecond of the clock */
	int64_t epoch_ns; /* the clock's time at which model time was epoch_ps */
	uint64_t epoch_ps;
	int64_t turn_ns;  /* of the latest turn */
	int64_t heard_ns; /* of the latest in which a program had sent something */
	bool behind;      /* it left something that was due */
	bool holding;     /* and programs' frames, which wait until nothing is */
};

static uint64_t model_at(const struct wallclock *p, int64_t now_ns)
{
	return p->epoch_ps + (uint64_t)((double)(now_ns - p->epoch_ns) * p->ps_per_ns);
}

static uint64_t model_span(const struct wallclock *p, int64_t ns)
{
	return (uint64_t)((double)ns * p->ps_per_ns);
}

static uint64_t shortest_delay(const struct fabric *f)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < f->net.port_count; i++)
		if (f->net.ports[PORT_FIRST + i].delay_ps < least)
			least = f->net.ports[PORT_FIRST + i].delay_ps;
	return least;
}

int wallclock_new(
	struct wallclock **ret, struct session *s, const struct fabric *f, double slowdown)
{
	struct wallclock *p = calloc(1, sizeof(*p));

	if (!p || fidelity_new(&p->fidelity, shortest_delay(f), slowdown) < 0) {
		free(p);
		return -ENOMEM;
	}
	p->session = s;
	cpu_time_open(&p->cpu, "/proc");
	p->ps_per_ns = 1000 / slowdown;
	session_look_rarely(s, model_span(p, LOOK_NS));
	wallclock_go(p);
	*ret = p;
	return 0;
}

void wallclock_free(struct wallclock *p)
{
	if (!p)
		return;
	fidelity_free(p->fidelity);
	cpu_time_close(&p->cpu);
	free(p);
}

void wallclock_go(struct wallclock *p)
{
	p->taken_ns = cpu_time_taken(&p->cpu);
	p->epoch_ns = p->turn_ns = clock_ns();
	p->epoch_ps = engine_now(session_engine(p->session));
}

/*
 * Model time now. If the session is too far behind to catch up, the missing time is taken out of
 * the clock: all of it where programs' frames wait, since it might never catch up.
 */
static uint64_t model_now(struct wallclock *p, int64_t now_ns)
{
	uint64_t now = model_at(p, now_ns), due = session_next(p->session);
	uint64_t allowed = model_span(p, p->holding ? HOLD_NS : SLIP_NS), lacking;

	if (due >= now || now - due <= allowed)
		return now;
	lacking = now - due - (p->holding ? 0 : allowed);
	fidelity_slip(p->fidelity, lacking, model_span(p, now_ns - p->turn_ns) > lacking / 2);
	p->epoch_ns += (int64_t)((double)lacking / p->ps_per_ns);
	return model_at(p, now_ns);
}

/*
 * The largest lateness of a turn's events at their start: the first was late_ps, and the last of
 * several waited for the others. An event's own work, such as waking a program, is no lateness.
 */
static uint64_t latest_start(
	const struct wallclock *p, uint64_t late_ps, int64_t took_ns, uint64_t hops)
{
	uint64_t waited = hops ? model_span(p, took_ns - took_ns / (int64_t)hops) : 0;

	return late_ps > waited ? late_ps : waited;
}

/* Programs' frames are read before the clock, and sent at that model time: none leaves early. */
int wallclock_turn(
	struct wallclock *p, uint64_t until_ps, const volatile bool *stop, struct error *why)
{
	const struct engine *e = session_engine(p->session);
	struct stacks *stacks = session_stacks(p->session);
	unsigned taken = stacks ? stacks_read(stacks) : 0;
	int64_t begun_ns = clock_ns(), done_ns;
	uint64_t now = min_u64(model_now(p, begun_ns), until_ps);
	uint64_t due = session_next(p->session), hops = engine_counts(e)->hops;
	uint64_t goal = min_u64(now, timeline_later(due, model_span(p, TURN_NS)));
	int r;

	if (goal < now && goal < engine_now(e))
		goal = engine_now(e);
	r = session_advance(p->session, due < now ? goal : now, stop, why);
	p->holding = taken && (engine_now(e) < now || now >= until_ps);
	if (taken && !p->holding)
		taken = stacks_send(stacks);
	done_ns = clock_ns();
	hops = engine_counts(e)->hops - hops;
	if (due < now)
		fidelity_late(p->fidelity, latest_start(p, now - due, done_ns - begun_ns, hops),
			hops + 1, p->behind);
	p->behind = session_next(p->session) < now;
	fidelity_busy(p->fidelity,
		due < now || taken ? (uint64_t)(done_ns - begun_ns) * PS_PER_NS : 0,
		(uint64_t)(done_ns - p->turn_ns) * PS_PER_NS);
	p->turn_ns = done_ns;
	if (fidelity_window_ps(p->fidelity) >= PS_PER_S)
		fidelity_window(wallclock_fidelity(p));
	if (taken)
		p->heard_ns = done_ns;
	return r;
}

int64_t wallclock_idle_ns(const struct wallclock *p, uint64_t until_ps)
{
	uint64_t due = min_u64(session_next(p->session), until_ps);
	int64_t now_ns = clock_ns();
	double wait;

	if (now_ns - p->heard_ns < POLL_NS)
		return 0;

	if (due == UINT64_MAX)
		return IDLE_NS;
	wait = (double)p->epoch_ns + ((double)due - (double)p->epoch_ps) / p->ps_per_ns -
	       (double)now_ns - SPIN_NS;
	if (wait <= 0)
		return 0;
	return wait < IDLE_NS ? (int64_t)wait : IDLE_NS;
}

struct fidelity *wallclock_fidelity(struct wallclock *p)
{
	int64_t taken_ns = cpu_time_taken(&p->cpu);

	if (taken_ns > p->taken_ns)
		fidelity_taken(p->fidelity, (uint64_t)(taken_ns - p->taken_ns) * PS_PER_NS);
	p->taken_ns = taken_ns;
	return p->fidelity;
}
