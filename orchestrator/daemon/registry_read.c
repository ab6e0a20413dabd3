/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "bringup/process.h"
#include "daemon/registry_dir.h"

#define USER_DIR "fabricbed"
#define NO_WORD  "killed, or the machine ran out of memory: it left no word"

const char *const registry_words[4] = {"starting", "running", "ended", "failed"};

/* A user's own: in the directory of their session if there is one, else in /tmp. */
static void user_dir(char buf[REGISTRY_DIR_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && *runtime == '/' &&
		strlen(runtime) + sizeof("/" USER_DIR) <= REGISTRY_DIR_MAX &&
		!access(runtime, W_OK | X_OK))
		snprintf(buf, REGISTRY_DIR_MAX, "%s/" USER_DIR, runtime);
	else
		snprintf(buf, REGISTRY_DIR_MAX, "/tmp/" USER_DIR "-%u", (unsigned)geteuid());
}

const char *registry_dir(char buf[REGISTRY_DIR_MAX])
{
	if (geteuid() == 0)
		snprintf(buf, REGISTRY_DIR_MAX, "%s", REGISTRY_DIR_ROOT);
	else
		user_dir(buf);
	return buf;
}

const char *registry_path(char buf[REGISTRY_PATH_MAX], const char *name, const char *file)
{
	snprintf(buf, REGISTRY_PATH_MAX, "%s/%s%s%s", REGISTRY_DIR, name, file ? "/" : "",
		file ? file : "");
	return buf;
}

int registry_trust(struct error *why)
{
	char path[REGISTRY_DIR_MAX];
	struct stat st;

	if (lstat(registry_dir(path), &st) < 0)
		return errno == ENOENT ? 0
				       : error_set(why, -errno, "cannot look at %s: %s", path,
						 strerror(errno));
	/* in /tmp somebody else may have made it before */
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		(geteuid() != 0 && (st.st_mode & 077)))
		return error_set(why, -EACCES,
			"%s is no directory that is yours alone; remedy: remove it, or set XDG_RUNTIME_DIR",
			path);
	return 0;
}

static enum registry_phase read_phase(const json_t *json)
{
	const char *word = json_string_value(json_object_get(json, "state"));

	for (unsigned i = 0; word && i < sizeof(registry_words) / sizeof(registry_words[0]); i++)
		if (!strcmp(word, registry_words[i]))
			return (enum registry_phase)i;
	return REGISTRY_STARTING; /* nothing is written yet */
}

/* The crash in the log. False: there is none. */
static bool read_crash(int dir, char *ret, size_t size)
{
	int fd = openat(dir, REGISTRY_LOG, O_RDONLY | O_CLOEXEC);
	FILE *log = fd < 0 ? NULL : fdopen(fd, "r");
	size_t capacity = 0;
	bool found = false;
	char *line = NULL;

	while (log && getline(&line, &capacity, log) > 0) {
		if (strncmp(line, CRASH_WORDS, strlen(CRASH_WORDS)))
			continue;
		snprintf(ret, size, "%.*s", (int)strcspn(line, "\n"), line);
		found = true;
	}
	free(line);
	if (log)
		fclose(log);
	else if (fd >= 0)
		close(fd);
	return found;
}

static void read_reason(struct registry_info *info, int dir)
{
	const char *text = json_string_value(json_object_get(info->json, "reason"));

	if (text)
		snprintf(info->reason, sizeof(info->reason), "%s", text);
	else if (!info->alive && !read_crash(dir, info->reason, sizeof(info->reason)))
		snprintf(info->reason, sizeof(info->reason), "%s", NO_WORD);
}

static json_t *load_json(int dir)
{
	int fd = openat(dir, REGISTRY_FILE, O_RDONLY | O_CLOEXEC);
	json_t *json = fd < 0 ? NULL : json_loadfd(fd, 0, NULL);

	if (fd >= 0)
		close(fd);
	return json;
}

static json_int_t number(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

void registry_read_at(struct registry_info *ret, int fd, const char *name)
{
	json_t *json = load_json(fd);

	*ret = (struct registry_info){
		.phase = read_phase(json),
		.pid = (pid_t)number(json, "pid"),
		.started = (unsigned long long)number(json, "started"),
		.since_s = number(json, "since"),
		.hosts = (uint32_t)number(json, "hosts"),
		.switches = (uint32_t)number(json, "switches"),
		.links = (uint32_t)number(json, "links"),
		.scenario = json_string_value(json_object_get(json, "scenario")),
		.directory = json_string_value(json_object_get(json, "results")),
		.clock = json_string_value(json_object_get(json, "clock")),
		.dataplane = json_string_value(json_object_get(json, "dataplane")),
		.nodes = json_object_get(json, "nodes"),
		.json = json,
	};
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->alive = process_owns(fd, ret->pid, ret->started);
	read_reason(ret, fd);
}

int registry_read(struct registry_info *ret, const char *name)
{
	char path[REGISTRY_PATH_MAX];
	int fd;

	/* What is no name must not lead out of the directory. */
	if (!claim_valid_name(name, REGISTRY_NAME_MAX))
		return -ENOENT;
	fd = open(registry_path(path, name, NULL), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) /* no directory: none of ours */
		return errno == ENOTDIR ? -ENOENT : -errno;
	registry_read_at(ret, fd, name);
	close(fd);
	return 0;
}

void registry_release(struct registry_info *info)
{
	json_decref(info->json);
	*info = (struct registry_info){0};
}

struct list {
	struct registry_info *items;
	size_t count;
};

static int list_add(void *arg, int folder, const char *name)
{
	struct list *list = arg;
	struct registry_info info;
	int r = registry_read(&info, name);

	(void)folder;
	if (r < 0) /* gone since the directory was read, or not one of ours */
		return r == -ENOENT ? 0 : r;
	r = ARRAY_ADD(list->items, list->count, info);
	if (r < 0)
		registry_release(&info);
	return r;
}

int registry_list(struct registry_info **ret, size_t *ret_count)
{
	int all = open(REGISTRY_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct list list = {0};
	int r = all < 0 ? -errno : claim_each(all, CLAIM_FOLDER, list_add, &list);

	if (all >= 0)
		close(all);
	if (r < 0 && r != -ENOENT) {
		registry_list_free(list.items, list.count);
		return r;
	}
	*ret = list.items;
	*ret_count = list.count;
	return 0;
}

void registry_list_free(struct registry_info *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		registry_release(&list[i]);
	free(list);
}
