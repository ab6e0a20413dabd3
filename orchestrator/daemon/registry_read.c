/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "bringup/process.h"
#include "daemon/registry_dir.h"

#define NO_WORD "killed, or the machine ran out of memory: it left no word"

const char *const registry_words[4] = {"starting", "running", "ended", "failed"};

static enum registry_phase read_phase(const json_t *json)
{
	const char *word = json_string_value(json_object_get(json, "state"));

	for (unsigned i = 0; word && i < sizeof(registry_words) / sizeof(registry_words[0]); i++)
		if (!strcmp(word, registry_words[i]))
			return (enum registry_phase)i;
	return REGISTRY_STARTING; /* nothing is written yet */
}

/* The crash that the log tells of. false: of none. */
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
	if (!record_valid_name(name) || strlen(name) > REGISTRY_NAME_MAX)
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

static int by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct registry_info *)a)->name, ((const struct registry_info *)b)->name);
}

static int list_add(struct registry_info **list, size_t *count, const char *name)
{
	struct registry_info info;
	int r = registry_read(&info, name);

	if (r < 0) /* gone since the directory was read, or not one of ours */
		return r == -ENOENT ? 0 : r;
	r = ARRAY_ADD(*list, *count, info);
	if (r < 0)
		registry_release(&info);
	return r;
}

int registry_list(struct registry_info **ret, size_t *ret_count)
{
	DIR *d = opendir(REGISTRY_DIR);
	struct registry_info *list = NULL;
	struct dirent *entry;
	size_t count = 0;
	int r = d || errno == ENOENT ? 0 : -errno;

	while (d && !r && (entry = readdir(d)))
		r = list_add(&list, &count, entry->d_name);
	if (d)
		closedir(d);
	if (r < 0) {
		registry_list_free(list, count);
		return r;
	}
	if (count)
		qsort(list, count, sizeof(*list), by_name);
	*ret = list;
	*ret_count = count;
	return 0;
}

void registry_list_free(struct registry_info *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		registry_release(&list[i]);
	free(list);
}
