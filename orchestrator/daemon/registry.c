/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "bringup/process.h"
#include "io/netns.h"
#include "daemon/hosts.h"
#include "daemon/registry_dir.h"
#include "topology/fabric.h"

#define REGISTRY_NEW REGISTRY_FILE ".new"

struct registry_entry {
	int fd; /* of the directory, locked */
	char name[REGISTRY_NAME_MAX + 1];
	json_t *json;
};

static int open_one(int all, const char *name)
{
	int fd = openat(all, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* ---- claiming ---- */

static int explain_taken(int all, const char *name, struct error *why)
{
	struct registry_info info;
	int fd = open_one(all, name), r;
	char process[32] = "";

	if (fd < 0)
		return error_set(
			why, fd, "cannot open %s/%s: %s", REGISTRY_DIR, name, strerror(-fd));
	registry_read_at(&info, fd, name);
	close(fd);
	if (info.pid > 0) /* it may not have come so far */
		snprintf(process, sizeof(process), " (process %d)", (int)info.pid);
	if (info.alive)
		r = error_set(why, -EEXIST,
			"%s is %s%s; 'fabricbed down %s', or another name: --name %s-2", name,
			info.phase == REGISTRY_STARTING ? "coming up" : "up", process, name, name);
	else
		r = error_set(why, -ESTALE, "%s is gone: %s", name, info.reason);
	registry_release(&info);
	return r;
}

int registry_claim(struct registry_entry **ret, const char *name, const struct lock_wait *wait,
	struct error *why)
{
	struct registry_entry *s;
	struct lock all;
	int r = claim_check_name(name, REGISTRY_NAME_MAX, "a live fabric", why);

	if (r < 0)
		return r;
	r = geteuid() == 0 ? lock_make_folder(RECORD_DIR, why) : registry_trust(why);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(why, -ENOMEM, "out of memory");
	s->fd = -1;
	snprintf(s->name, sizeof(s->name), "%s", name);
	r = lock_take(&all, REGISTRY_DIR, wait, why);
	if (r == 0) {
		s->fd = claim_make(&all, name, CLAIM_FOLDER);
		if (s->fd == -EEXIST)
			r = explain_taken(all.folder, name, why);
		else if (s->fd < 0)
			r = error_set(why, s->fd, "cannot make %s/%s: %s", REGISTRY_DIR, name,
				strerror(-s->fd));
		lock_release(&all);
	}
	if (r < 0) {
		registry_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* ---- writing ---- */

static int write_json(const struct registry_entry *s, struct error *why)
{
	int fd = openat(s->fd, REGISTRY_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : 0;

	if (!r && json_dumpfd(s->json, fd, JSON_INDENT(1)) < 0)
		r = errno ? -errno : -EIO;
	if (fd >= 0 && close(fd) < 0 && !r)
		r = -errno;
	if (!r && renameat(s->fd, REGISTRY_NEW, s->fd, REGISTRY_FILE) < 0)
		r = -errno;
	return r < 0 ? error_set(why, r, "cannot write %s/%s/%s: %s", REGISTRY_DIR, s->name,
			       REGISTRY_FILE, strerror(-r))
		     : 0;
}

/* Readable for all: a program that gave up root looks names up too. */
static int write_hosts(const struct registry_entry *s, const struct fabric *f, struct error *why)
{
	int fd = openat(s->fd, REGISTRY_HOSTS, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), r;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool broken = true;

	if (out) {
		hosts_write(f, out);
		broken = ferror(out) || fchmod(fd, 0644) < 0;
		broken |= fclose(out) != 0;
	}
	r = errno ? -errno : -EIO;
	if (!out && fd >= 0)
		close(fd);
	return broken ? error_set(why, r, "cannot write %s/%s/%s: %s", REGISTRY_DIR, s->name,
				REGISTRY_HOSTS, strerror(-r))
		      : 0;
}

int registry_begin(struct registry_entry *s, const struct registry_about *about, struct error *why)
{
	const struct fabric *f = about->fabric;
	json_t *nodes = json_object();

	for (uint32_t i = 0; about->kernel && i < f->net.node_count; i++)
		json_object_set_new(nodes, f->nodes[i].name, json_integer(0));
	json_decref(s->json);
	s->json = json_pack("{s:s, s:s%, s:s%, s:s, s:s, s:i, s:i, s:i, s:I, s:o}", "name", s->name,
		"scenario", about->scenario, strlen(about->scenario), "results", about->directory,
		strlen(about->directory), "clock", about->wall ? "wall" : "stepped", "dataplane",
		about->kernel ? "kernel" : "inline", "hosts", (int)f->net.host_count, "switches",
		(int)f->net.switch_count, "links", (int)f->net.link_count, "since",
		(json_int_t)time(NULL), "nodes", nodes);
	if (!s->json)
		return error_set(why, -EINVAL,
			"the paths of the scenario and of the results must be UTF-8: %s, %s",
			about->scenario, about->directory);
	errno = 0;
	if (write_hosts(s, f, why) < 0)
		return -EIO;
	return registry_set(s, REGISTRY_STARTING, NULL, why);
}

/* A namespace's inode shows whether a process is in it. */
static void find_namespaces(struct registry_entry *s)
{
	json_t *nodes = json_object_get(s->json, "nodes"), *value;
	char path[sizeof(NETNS_DIR) + REGISTRY_NAME_MAX + NODE_NAME + 8];
	const char *node;
	struct stat st;

	json_object_foreach(nodes, node, value)
	{
		snprintf(path, sizeof(path), "%s/%s-%s", NETNS_DIR, s->name, node);
		if (!stat(path, &st))
			json_integer_set(value, (json_int_t)st.st_ino);
	}
}

int registry_set(
	struct registry_entry *s, enum registry_phase phase, const char *reason, struct error *why)
{
	json_t *text = reason ? json_string(reason) : NULL;

	if (phase == REGISTRY_RUNNING)
		find_namespaces(s);
	json_object_set_new(s->json, "state", json_string(registry_words[phase]));
	json_object_set_new(s->json, "reason", text ? text : json_null());
	json_object_set_new(s->json, "pid", json_integer(getpid()));
	json_object_set_new(
		s->json, "started", json_integer((json_int_t)process_started(getpid())));
	return write_json(s, why);
}

const char *registry_name(const struct registry_entry *s)
{
	return s->name;
}

int registry_fd(const struct registry_entry *s)
{
	return s->fd;
}

const json_t *registry_nodes(const struct registry_entry *s)
{
	return json_object_get(s->json, "nodes");
}

int registry_open_log(const struct registry_entry *s)
{
	int fd = openat(
		s->fd, REGISTRY_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);

	return fd < 0 ? -errno : fd;
}

/* ---- removing ---- */

static int remove_file(void *arg, int folder, const char *name)
{
	(void)arg;
	return unlinkat(folder, name, 0) < 0 ? 0 : 1;
}

static int remove_locked(int all, int fd, const char *name)
{
	claim_each(fd, CLAIM_FILE, remove_file, NULL);
	return unlinkat(all, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

void registry_remove(struct registry_entry *s)
{
	struct lock all;

	if (lock_take(&all, REGISTRY_DIR, NULL, NULL) < 0)
		return;
	remove_locked(all.folder, s->fd, s->name);
	lock_release(&all);
}

static int clear_locked(int all, const char *name, struct error *why)
{
	struct registry_info info;
	int fd = open_one(all, name), r;

	if (fd < 0)
		return fd == -ENOENT ? 0
				     : error_set(why, fd, "cannot open %s/%s: %s", REGISTRY_DIR,
					       name, strerror(-fd));
	registry_read_at(&info, fd, name);
	if (info.alive) {
		r = error_set(why, -EBUSY, "%s is up (process %d)", name, (int)info.pid);
	} else {
		r = remove_locked(all, fd, name);
		if (r < 0)
			error_set(why, r, "cannot remove %s/%s: %s", REGISTRY_DIR, name,
				strerror(-r));
	}
	registry_release(&info);
	close(fd);
	return r;
}

int registry_clear(const char *name, const struct lock_wait *wait, struct error *why)
{
	struct lock all;
	int r;

	if (access(REGISTRY_DIR, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = lock_take(&all, REGISTRY_DIR, wait, why);
	if (r < 0)
		return r;
	r = clear_locked(all.folder, name, why);
	lock_release(&all);
	return r;
}

void registry_free(struct registry_entry *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	json_decref(s->json);
	free(s);
}
