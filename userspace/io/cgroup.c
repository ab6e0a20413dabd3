/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/cgroup.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 4096

/* Where the unified hierarchy is mounted: /sys/fs/cgroup, or beside the old ones. */
static int find_mount(char ret[PATH_SIZE])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	int r = -ENOENT;

	if (!mounts)
		return -errno;
	while (r < 0 && (m = getmntent(mounts)))
		if (!strcmp(m->mnt_type, "cgroup2")) {
			snprintf(ret, PATH_SIZE, "%s", m->mnt_dir);
			r = 0;
		}
	endmntent(mounts);
	return r;
}

int cgroup_id(uint64_t *ret, const char *path, struct error *why)
{
	char mount[PATH_SIZE], whole[2 * PATH_SIZE];
	struct stat s;

	if (find_mount(mount) < 0)
		return error_set(why, -ENOENT,
			"no cgroup2 hierarchy is mounted, in which the group %s could be", path);
	if (snprintf(whole, sizeof(whole), "%s%s", mount, path) >= (int)sizeof(whole))
		return error_set(why, -ENAMETOOLONG, "the cgroup's path is too long: %s", path);
	if (stat(whole, &s) < 0)
		return error_set(why, -errno, "there is no cgroup %s: %s; make it (mkdir %s) first",
			path, strerror(errno), whole);
	/* the group's id is the number of its folder's inode (kernfs, 64 bits) */
	*ret = s.st_ino;
	return 0;
}
