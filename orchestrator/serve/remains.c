/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/remains.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "build/build.h"
#include "serve/programs.h"
#include "serve/state.h"

int remains_remove(
	const char *name, const struct lock_wait *wait, unsigned *ret_programs, struct error *why)
{
	struct programs programs = PROGRAMS_INIT;
	struct state_info info;
	unsigned ended;
	int r;

	r = state_read(&info, name);
	if (r < 0 && r != -ENOENT)
		return error_set(why, r, "cannot read %s/%s: %s", STATE_DIR, name, strerror(-r));
	if (r == -ENOENT) {
		info = (struct state_info){0};
	} else if (info.alive) {
		state_release(&info);
		return error_set(why, -EBUSY, "%s is up", name);
	}
	programs_hold(&programs, name, info.nodes);
	ended = programs_end(&programs);
	programs_release(&programs);
	state_release(&info);
	r = geteuid() == 0 ? build_sweep(wait, why) : 0; /* nobody else has kernel objects */
	if (r >= 0)
		r = state_clear(name, wait, why);
	if (r < 0)
		return r;
	*ret_programs = ended;
	return 0;
}
