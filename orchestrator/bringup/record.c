/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bringup/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/array.h"
#include "base/parallel.h"
#include "bringup/external.h"
#include "bringup/process.h"
#include "io/netns.h"
#include "topology/fabric.h"

#define HEADER     "fabricbed 1 pid %d started %llu\n"
#define NAME_TRIES 1000

struct record {
	int fd; /* locked */
	uint32_t count;
	char name[RECORD_NAME_MAX + 8];
	char **netns; /* count of them */
};

struct name_list {
	char **items;
	size_t count;
};

static void names_release(struct name_list *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct name_list){0};
}

static int names_add(struct name_list *names, const char *name)
{
	char *copy = strdup(name);

	if (copy && ARRAY_ADD(names->items, names->count, copy) == 0)
		return 0;
	free(copy);
	return -ENOMEM;
}

/* One that is locked and not yet written has an owner. */
static bool owner_lives(int fd, FILE *file)
{
	unsigned long long started;
	int pid;

	return fscanf(file, HEADER, &pid, &started) == 2 ? process_owns(fd, pid, started)
							 : process_owns(fd, 0, 0);
}

/* What a record is, opened; NULL with errno. *ret_lives: it has an owner. Close it by fclose(). */
static FILE *open_record(int dir, const char *record, bool *ret_lives)
{
	int fd = openat(dir, record, O_RDWR | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (file)
		*ret_lives = owner_lives(fd, file);
	else if (fd >= 0)
		close(fd);
	return file;
}

/* Reads the namespaces; whatever is not a line of "<record>-<node>" is left alone. */
static int read_names(FILE *file, const char *record, struct name_list *ret)
{
	size_t prefix = strlen(record), size = 0;
	char *line = NULL;
	ssize_t n;
	int r = 0;

	rewind(file);
	while (!r && (n = getline(&line, &size, file)) > 0) {
		if (line[n - 1] != '\n') /* cut short: its namespaces had not been begun */
			break;
		line[n - 1] = '\0';
		if (!strncmp(line, record, prefix) && line[prefix] == '-' && !strchr(line, '/'))
			r = names_add(ret, line);
	}
	free(line);
	return r;
}

/* Before its namespace goes. */
static void remove_external(FILE *file, const char *record)
{
	struct external external;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	rewind(file);
	while ((n = getline(&line, &size, file)) > 0) {
		if (line[n - 1] != '\n') /* cut short: not begun */
			break;
		line[n - 1] = '\0';
		if (external_read(&external, line, record))
			external_remove(&external);
	}
	free(line);
}

static int delete_name(void *context, uint32_t i, struct error *why)
{
	const struct name_list *names = context;
	int r = netns_delete(names->items[i]);

	return r < 0 ? error_set(why, r, "cannot delete the namespace %s: %s", names->items[i],
			       strerror(-r))
		     : 0;
}

/* Sweeps one record if its owner is gone. 1: swept; 0: its owner lives; or -errno. */
static int sweep_one(int dir, const char *record, struct error *why)
{
	struct name_list names = {0};
	bool lives;
	FILE *file = open_record(dir, record, &lives);
	int r;

	if (!file)
		return error_set(
			why, -errno, "cannot open %s/%s: %s", RECORD_DIR, record, strerror(errno));
	if (lives) {
		fclose(file);
		return 0;
	}
	remove_external(file, record);
	r = read_names(file, record, &names);
	if (!r)
		r = parallel_for((uint32_t)names.count, parallel_cores(), delete_name, &names, why);
	if (!r && unlinkat(dir, record, 0) < 0)
		r = error_set(why, -errno, "cannot remove %s/%s: %s", RECORD_DIR, record,
			strerror(errno));
	fclose(file);
	names_release(&names);
	return r < 0 ? r : 1;
}

static int sweep_locked(int dir, struct error *why)
{
	struct dirent *entry;
	int swept = 0, r = 0;
	DIR *list;

	list = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!list)
		return error_set(why, -errno, "cannot list %s: %s", RECORD_DIR, strerror(errno));
	while (r >= 0 && (entry = readdir(list))) {
		/* a folder is no record: what live fabrics keep lies beside them */
		if (entry->d_name[0] == '.' || entry->d_type == DT_DIR)
			continue;
		r = sweep_one(dir, entry->d_name, why);
		swept += r > 0;
	}
	closedir(list);
	return r < 0 ? r : swept;
}

int record_sweep(const struct lock_wait *wait, struct error *why)
{
	struct lock lock;
	int r;

	/* Nothing was ever built: nothing to sweep, nor a directory to make. */
	if (access(RECORD_DIR, F_OK) < 0)
		return 0;
	r = lock_take(&lock, RECORD_DIR, wait, why);
	if (r < 0)
		return r;
	r = sweep_locked(lock.folder, why);
	lock_release(&lock);
	return r;
}

static int list_one(int dir, const char *name, struct record_list *list)
{
	struct name_list names = {0};
	struct record_left left;
	bool lives;
	FILE *file = open_record(dir, name, &lives);
	int r = 0;

	if (!file)
		return 0; /* gone meanwhile */
	if (!lives) {
		r = read_names(file, name, &names);
		left.namespaces = names.count;
		snprintf(left.name, sizeof(left.name), "%s", name);
		if (r == 0)
			r = ARRAY_ADD(list->items, list->count, left);
	}
	fclose(file);
	names_release(&names);
	return r;
}

int record_list_left(struct record_list *ret, struct error *why)
{
	struct dirent *entry;
	struct lock lock;
	DIR *list;
	int r;

	*ret = (struct record_list){0};
	if (access(RECORD_DIR, F_OK) < 0)
		return 0;
	/* whose claim is not done yet looks like one that has died */
	r = lock_take(&lock, RECORD_DIR, NULL, why);
	if (r < 0)
		return r;
	list = fdopendir(openat(lock.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	while (list && r == 0 && (entry = readdir(list)))
		if (entry->d_name[0] != '.' && entry->d_type != DT_DIR)
			r = list_one(lock.folder, entry->d_name, ret);
	if (list)
		closedir(list);
	lock_release(&lock);
	return r < 0 ? error_set(why, r, "out of memory") : 0;
}

bool record_valid_name(const char *name)
{
	const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strlen(name);

	return n && n <= RECORD_NAME_MAX && name[0] != '.' && name[0] != '-' &&
	       strspn(name, allowed) == n && strcmp(name, RECORD_RESERVED);
}

static void record_free(struct record *r)
{
	uint32_t i;

	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	for (i = 0; r->netns && i < r->count; i++)
		free(r->netns[i]);
	free(r->netns);
	free(r);
}

/* Sets the names under `name`. 0; -EEXIST: one of the namespaces is there already; -ENOMEM. */
static int set_names(struct record *r, const char *name, const struct fabric *f)
{
	uint32_t i;

	snprintf(r->name, sizeof(r->name), "%s", name);
	for (i = 0; i < r->count; i++) {
		free(r->netns[i]);
		if (asprintf(&r->netns[i], "%s-%s", name, f->nodes[i].name) < 0) {
			r->netns[i] = NULL;
			return -ENOMEM;
		}
		if (netns_exists(r->netns[i]))
			return -EEXIST;
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

static int record_write(const struct record *r)
{
	char *text = NULL;
	size_t bytes = 0;
	uint32_t i;
	FILE *out;
	int code;

	out = open_memstream(&text, &bytes);
	if (!out)
		return -ENOMEM;
	fprintf(out, HEADER, (int)getpid(), process_started(getpid()));
	for (i = 0; i < r->count; i++)
		fprintf(out, "%s\n", r->netns[i]);
	code = fclose(out) ? -ENOMEM : write_all(r->fd, text, bytes);
	free(text);
	return code;
}

int record_note(struct record *r, const char *line)
{
	char *text;
	int code;

	if (asprintf(&text, "%s\n", line) < 0)
		return -ENOMEM;
	code = write_all(r->fd, text, strlen(text));
	free(text);
	return code;
}

/* 0; -EEXIST: the name is in use; another -errno. */
static int try_claim(struct record *r, int dir, const char *name, const struct fabric *f)
{
	int code;

	code = set_names(r, name, f);
	if (code < 0)
		return code;
	r->fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (r->fd < 0)
		return -errno;
	code = flock(r->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : record_write(r);
	if (!code)
		code = netns_prepare();
	if (code < 0)
		unlinkat(dir, name, 0);
	return code;
}

static int claim_locked(struct record *r, int dir, const char *wanted, bool exact,
	const struct fabric *f, struct error *why)
{
	char name[sizeof(r->name)];
	int tries = exact ? 1 : NAME_TRIES, i, code = -EEXIST;

	snprintf(name, sizeof(name), "%s", wanted);
	for (i = 1; code == -EEXIST && i <= tries; i++) {
		code = try_claim(r, dir, name, f);
		snprintf(name, sizeof(name), "%s-%d", wanted, i + 1);
	}
	if (code == -EEXIST && exact)
		return error_set(why, code,
			"the name %s is taken, by a fabric that lives or by namespaces %s-...",
			wanted, wanted);
	return code < 0 ? error_set(why, code, "cannot record the fabric in %s/%s: %s", RECORD_DIR,
				  r->name, strerror(-code))
			: 0;
}

int record_claim(struct record **ret, const char *wanted, bool exact, const struct fabric *f,
	const struct lock_wait *wait, struct error *why)
{
	struct record *r;
	struct lock lock;
	int code;

	if (!record_valid_name(wanted))
		return error_set(why, -EINVAL,
			"\"%s\": a fabric's name has 1 to %d letters, digits, '.', '_' and '-', "
			"begins with neither '.' nor '-', and is not \"%s\"",
			wanted, RECORD_NAME_MAX, RECORD_RESERVED);
	r = calloc(1, sizeof(*r));
	if (!r)
		return error_set(why, -ENOMEM, "out of memory");
	r->fd = -1;
	r->count = f->net.node_count;
	r->netns = calloc(r->count, sizeof(*r->netns));
	code = r->netns ? lock_take(&lock, RECORD_DIR, wait, why)
			: error_set(why, -ENOMEM, "out of memory");
	if (code < 0) {
		record_free(r);
		return code;
	}
	code = sweep_locked(lock.folder, why);
	if (code >= 0)
		code = claim_locked(r, lock.folder, wanted, exact, f, why);
	lock_release(&lock);
	if (code < 0) {
		record_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

void record_release(struct record *r)
{
	struct lock lock;

	if (!r)
		return;
	/*
	 * Without the lock a sweep might find the file between the unlink and its own open. If it can't be had in time
	 * the file stays, and goes with the next sweep.
	 */
	if (lock_take(&lock, RECORD_DIR, NULL, NULL) == 0) {
		unlinkat(lock.folder, r->name, 0);
		lock_release(&lock);
	}
	record_free(r);
}

const char *record_name(const struct record *r)
{
	return r->name;
}

const char *record_netns(const struct record *r, uint32_t i)
{
	return r->netns[i];
}
