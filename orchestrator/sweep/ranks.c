/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/numbers.h"
#include "sweep/ranks_ops.h"

/* From the program's folder: where make puts the plugin, and where make install does. */
static const char *const places[] = {RANKS_PLUGIN, "../lib/fabricbed/" RANKS_PLUGIN};

/* The program's folder, with the last slash. */
static int program_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);

	if (n < 0)
		return -errno;
	folder[n] = '\0';
	strrchr(folder, '/')[1] = '\0';
	return 0;
}

static int find_plugin(const char *processes, char path[2 * PATH_MAX], struct error *why)
{
	char folder[PATH_MAX];
	int r = program_folder(folder);

	if (r < 0)
		return error_set(why, r, "can't read /proc/self/exe: %s", strerror(-r));
	for (size_t i = 0; i < COUNT(places); i++) {
		snprintf(path, 2 * PATH_MAX, "%s%s", folder, places[i]);
		if (access(path, F_OK) == 0)
			return 0;
	}
	return error_set(why, -ENOENT,
		"mpirun started %s processes, but there is neither %s nor %s in %s, by which they could talk; remedy: install the packages libopenmpi-dev and openmpi-bin, and then build again: make",
		processes, places[0], places[1], folder);
}

static int load(const char *path, const struct ranks_ops **ret, struct error *why)
{
	/* Open MPI loads parts of its own, which look for its symbols among the global ones */
	void *plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	*ret = plugin ? dlsym(plugin, RANKS_SYMBOL) : NULL;
	if (*ret)
		return 0;
	return error_set(why, -ENOENT,
		"can't load %s: %s; remedy: install the package openmpi-bin, or build again: make",
		path, dlerror());
}

int ranks_open(struct ranks **ret, struct error *why)
{
	const char *processes = getenv("OMPI_COMM_WORLD_SIZE");
	const struct ranks_ops *ops;
	char path[2 * PATH_MAX];
	struct ranks *ranks;
	int r;

	if (!processes || atoi(processes) <= 1) {
		*ret = NULL;
		return 0;
	}
	r = find_plugin(processes, path, why);
	if (r == 0)
		r = load(path, &ops, why);
	if (r < 0)
		return r;
	ranks = calloc(1, sizeof(*ranks));
	if (!ranks)
		return error_set(why, -ENOMEM, "out of memory");
	ranks->ops = ops;
	r = ops->open(ranks);
	if (r < 0) {
		free(ranks);
		return error_set(why, r, "MPI does not start: %s", strerror(-r));
	}
	*ret = ranks;
	return 0;
}

int ranks_rank(const struct ranks *r)
{
	return r->rank;
}

int ranks_size(const struct ranks *r)
{
	return r->size;
}

int ranks_send(struct ranks *r, int to, const void *bytes, size_t length)
{
	return r->ops->send(r, to, bytes, length);
}

int ranks_recv(struct ranks *r, int from, int *ret_from, uint8_t **ret_bytes, size_t *ret_length)
{
	return r->ops->recv(r, from, ret_from, ret_bytes, ret_length);
}

void ranks_close(struct ranks *r)
{
	if (!r)
		return;
	r->ops->close(r);
	free(r);
}
