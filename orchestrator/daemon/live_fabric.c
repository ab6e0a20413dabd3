/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/live_fabric.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/units.h"
#include "io/clock.h"
#include "session/measure.h"
#include "session/host_stacks.h"
#include "scenario/scenario.h"
#include "daemon/live_fabric_internal.h"

#define BUSY_TURNS 16        /* between two looks at the socket while there is work */
#define LAST_WORDS 500       /* ms that clients have to read some of their last answers */
#define TURN_NS    1000000   /* about so long may a stepped fabric keep clients waiting */
#define SLICE_PS   PS_PER_US /* of model time, in its first turn */

double live_up_s(const struct live *l)
{
	return (double)(clock_ns() - l->up_ns) / 1e9;
}

/* Takes the workload out of the scenario, as text: what starts of it comes back by and by. */
static int set_workload_aside(struct live *l, struct error *why)
{
	struct scenario *s = l->params.scenario;
	FILE *out = open_memstream(&l->own_text, &l->own_length);
	int r = out ? scenario_write(s, out) : -ENOMEM;

	if (out && fclose(out) && r == 0)
		r = -ENOMEM;
	if (r < 0)
		return error_set(why, r, "out of memory");
	l->own_workloads = s->workloads;
	l->own_workload_count = s->workload_count;
	s->workloads = NULL;
	s->workload_count = 0;
	return 0;
}

static int open_session(struct live *l, struct error *why)
{
	struct session_params p = {
		.provenance = l->params.provenance,
		.scenario = l->params.scenario,
		.fabric = l->params.fabric,
		.name = l->params.name,
		.kernel = l->params.kernel,
		.lasting = true,
		.stacks = l->params.kernel,
		.folder = l->params.folder,
		.stop = l->params.stop,
		.wait = l->params.wait,
	};
	struct scenario *s = l->params.scenario;

	/* programs' payload waits in the engine: it need not cross the switches */
	if (s->host.payload == PAYLOAD_AUTO)
		s->host.payload = PAYLOAD_HEADERS;
	return session_open(&l->session, &p, why);
}

static int open_wallclock(struct live *l, struct error *why)
{
	struct scenario *s = l->params.scenario;

	if (!s->clock.wall)
		return 0;
	if (s->clock.slowdown == 0)
		s->clock.slowdown = measure_slowdown(l->session, l->params.fabric);
	if (wallclock_new(&l->wallclock, l->session, l->params.fabric, s->clock.slowdown) < 0)
		return error_set(why, -ENOMEM, "out of memory for the clock");
	l->running = true;
	return 0;
}

int live_open(struct live **ret, const struct live_params *params, struct error *why)
{
	struct live *l = calloc(1, sizeof(*l));
	int64_t begun = clock_ns();
	int r;

	if (!l)
		return error_set(why, -ENOMEM, "out of memory");
	l->params = *params;
	l->goal.time_ps = UINT64_MAX;
	l->slice_ps = SLICE_PS;
	r = set_workload_aside(l, why);
	if (r == 0)
		r = open_session(l, why);
	if (r == 0)
		r = open_wallclock(l, why);
	if (r == 0)
		r = server_open(&l->server, params->control, params->requests, l, why);
	if (r < 0) {
		live_close(l);
		return r;
	}
	l->up_ns = clock_ns();
	l->setup_s = (double)(l->up_ns - begun) / 1e9;
	if (l->wallclock)
		wallclock_go(l->wallclock);
	*ret = l;
	return 0;
}

void live_close(struct live *l)
{
	if (!l)
		return;
	server_close(l->server);
	wallclock_free(l->wallclock);
	session_close(l->session);
	json_decref(l->summary);
	for (size_t i = 0; i < l->own_workload_count; i++)
		workload_spec_release(&l->own_workloads[i]);
	free(l->own_workloads);
	free(l->own_text);
	free(l);
}

static int finish(struct live *l, struct error *why)
{
	struct session_times times = {
		.setup = l->setup_s,
		.run = live_up_s(l),
		.fidelity = l->wallclock ? wallclock_fidelity(l->wallclock) : NULL,
	};
	bool met;

	clock_end(l);
	live_count_refused(l);
	l->summary = session_summary(l->session, &times, &met, why);
	l->finished = l->summary != NULL;
	return l->summary ? 0 : -EIO;
}

int live_finish(struct live *l, struct folder *to, struct error *why)
{
	int r = l->finished ? 0 : finish(l, why);

	if (r == 0 && !l->written)
		r = session_write(l->session, l->summary, to, why);
	l->written |= r == 0;
	return r;
}

/* Once a second: whether this second is to be believed. A change is an event of the results. */
static void judge_second(struct live *l)
{
	bool faithful;

	live_count_refused(l);
	faithful = fidelity_is_faithful_now(wallclock_fidelity(l->wallclock));
	if (faithful != l->degraded)
		return;
	l->degraded = !faithful;
	session_note(l->session, json_pack("{s:s, s:s}", "event", "fidelity", "verdict",
					 faithful ? "faithful" : "degraded"));
}

static void tick(struct live *l)
{
	struct error none = ERROR_INIT;
	int64_t now = clock_ns();

	if (l->finished || now - l->tick_ns < CLOCK_NS_PER_S)
		return;
	l->tick_ns = now;
	if (l->wallclock)
		judge_second(l);
	l->trouble = none;
	session_flush(l->session, &l->trouble);
}

void live_count_refused(struct live *l)
{
	struct stacks *stacks = session_stacks(l->session);
	uint64_t refused = stacks ? stacks_refused(stacks) : 0;

	if (refused && l->wallclock)
		fidelity_lost(wallclock_fidelity(l->wallclock), refused);
}

/* A slice of model time that takes about TURN_NS, whatever there is to do in it. */
static int turn_stepped(
	struct live *l, uint64_t limit, const volatile bool *stop, struct error *why)
{
	struct stacks *stacks = session_stacks(l->session);
	uint64_t now = engine_now(session_engine(l->session));
	int64_t begun = clock_ns(), took;
	int r;

	/* until an event the limit is a window long, so that the stop is deterministic */
	if (!l->goal.event[0] && limit > now && limit - now > l->slice_ps)
		limit = now + l->slice_ps;
	/* what lies between two events takes no time */
	if (l->goal.time_ps == UINT64_MAX && session_next(l->session) == UINT64_MAX)
		limit = now;
	r = session_advance(l->session, limit, stop, why);
	for (unsigned sent = 0; r == 0 && stacks && sent < UINT16_MAX && stacks_read(stacks);)
		sent += stacks_send(stacks);
	took = clock_ns() - begun;
	if (took < TURN_NS / 2 && l->slice_ps < PS_PER_S)
		l->slice_ps *= 2;
	else if (took > TURN_NS && l->slice_ps > 1)
		l->slice_ps /= 2;
	return r;
}

/* As much as can be done before the socket is looked at again. */
static int turn(struct live *l, const volatile bool *stop, struct error *why)
{
	uint64_t limit = clock_limit(l);

	return l->wallclock ? wallclock_turn(l->wallclock, limit, stop, why)
			    : turn_stepped(l, limit, stop, why);
}

static int64_t idle_ns(const struct live *l)
{
	if (!l->running)
		return CLOCK_NS_PER_S;
	if (l->wallclock)
		return wallclock_idle_ns(l->wallclock, l->goal.time_ps);
	return session_next(l->session) == UINT64_MAX && l->goal.time_ps == UINT64_MAX
		       ? CLOCK_NS_PER_S
		       : 0;
}

static void wait_for(const struct live *l, int64_t ns)
{
	struct timespec t = {.tv_sec = ns / CLOCK_NS_PER_S, .tv_nsec = ns % CLOCK_NS_PER_S};
	struct stacks *stacks = session_stacks(l->session);
	struct pollfd fds[] = {
		{.fd = server_fd(l->server), .events = POLLIN},
		{.fd = stacks ? stacks_fd(stacks) : -1, .events = POLLIN},
	};

	/* programs of a paused fabric have to wait */
	ppoll(fds, l->running ? 2 : 1, &t, NULL);
}

int live_run(struct live *l, const volatile bool *stop, struct error *why)
{
	struct error lost = ERROR_INIT;
	int turns = 0, r = 0;

	while (r == 0 && !l->ended && !*stop) {
		int64_t idle = idle_ns(l);

		if (idle > 0)
			wait_for(l, idle);
		if (idle > 0 || !l->wallclock || ++turns >= BUSY_TURNS) {
			turns = 0;
			server_serve(l->server);
			tick(l);
		}
		if (l->running && !l->ended)
			r = turn(l, stop, why);
		if (r == 0)
			clock_check(l);
	}
	if (!l->ended && live_finish(l, NULL, r == 0 ? why : &lost) < 0 && r == 0)
		r = -EIO;
	server_end_streams(l->server);
	server_drain(l->server, LAST_WORDS);
	return r;
}
