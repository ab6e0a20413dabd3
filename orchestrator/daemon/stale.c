/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/stale.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "bringup/bringup.h"
#include "daemon/programs.h"
#include "daemon/registry.h"

int stale_remove(
	const char *name, const struct lock_wait *wait, unsigned *ret_programs, struct error *why)
{
	struct programs programs = PROGRAMS_INIT;
	struct registry_info info;
	unsigned ended;
	int r;

	r = registry_read(&info, name);
	if (r < 0 && r != -ENOENT)
		return error_set(why, r, "cannot read %s/%s: %s", REGISTRY_DIR, name, strerror(-r));
	if (r == -ENOENT) {
		info = (struct registry_info){0};
	} else if (info.alive) {
		registry_release(&info);
		return error_set(why, -EBUSY, "%s is up", name);
	}
	programs_hold(&programs, name, info.nodes);
	ended = programs_end(&programs);
	programs_release(&programs);
	registry_release(&info);
	r = geteuid() == 0 ? build_sweep(wait, why) : 0; /* nobody else has kernel objects */
	if (r >= 0)
		r = registry_clear(name, wait, why);
	if (r < 0)
		return r;
	*ret_programs = ended;
	return 0;
}
