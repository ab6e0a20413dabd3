/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bringup/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	FILE *file; /* its owner has locked it */
	char name[RECORD_NAME_MAX + 8];
	char **netns;
	size_t count;
};

static void release_names(struct record *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->netns[i]);
	free(r->netns);
	r->netns = NULL;
	r->count = 0;
}

static void record_close(struct record *r)
{
	if (r->file)
		fclose(r->file);
	release_names(r);
}

/* Takes the name. */
static int add_name(struct record *r, char *name)
{
	if (name && ARRAY_ADD(r->netns, r->count, name) == 0)
		return 0;
	free(name);
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

/* A record's file, opened. 0 or -errno. *ret_lives: it has an owner. End it with record_close(). */
static int record_open(struct record *ret, int folder, const char *name, bool *ret_lives)
{
	int fd = openat(folder, name, O_RDWR | O_CLOEXEC);

	*ret = (struct record){.file = fd < 0 ? NULL : fdopen(fd, "r")};
	if (!ret->file) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	*ret_lives = owner_lives(fd, ret->file);
	return 0;
}

/*
 * Reads the namespaces; ignores what is neither a line of "<record>-<node>" nor an uplink. remove:
 * removes the uplinks, before their namespaces go.
 */
static int read_lines(struct record *r, bool remove)
{
	size_t prefix = strlen(r->name), size = 0;
	struct external external;
	char *line = NULL;
	ssize_t n;
	int code = 0;

	rewind(r->file);
	while (!code && (n = getline(&line, &size, r->file)) > 0) {
		if (line[n - 1] != '\n') /* cut short: its object had not been begun */
			break;
		line[n - 1] = '\0';
		if (!strncmp(line, r->name, prefix) && line[prefix] == '-' && !strchr(line, '/'))
			code = add_name(r, strdup(line));
		else if (remove && external_read(&external, line, r->name))
			external_remove(&external);
	}
	free(line);
	return code;
}

static int delete_netns(void *context, uint32_t i, struct error *why)
{
	const struct record *record = context;
	int r = netns_delete(record->netns[i]);

	return r < 0 ? error_set(why, r, "cannot delete the namespace %s: %s", record->netns[i],
			       strerror(-r))
		     : 0;
}

/* Sweeps one record if its owner is gone. 1: swept; 0: its owner lives; or -errno. */
static int sweep_one(void *why, int folder, const char *name)
{
	struct record record;
	bool lives;
	int r = record_open(&record, folder, name, &lives);

	if (r < 0)
		return error_set(why, r, "cannot open %s/%s: %s", RECORD_DIR, name, strerror(-r));
	if (!lives) {
		r = read_lines(&record, true);
		if (!r)
			r = parallel_for((uint32_t)record.count, parallel_cores(), delete_netns,
				&record, why);
		if (!r && unlinkat(folder, name, 0) < 0)
			r = error_set(why, -errno, "cannot remove %s/%s: %s", RECORD_DIR, name,
				strerror(errno));
	}
	record_close(&record);
	return r < 0 ? r : !lives;
}

/* Visits the records under their lock and returns the result; 0 without the folder. */
static int each_record(int (*visit)(void *arg, int folder, const char *name), void *arg,
	const struct lock_wait *wait, struct error *why)
{
	struct lock lock;
	int r;

	if (access(RECORD_DIR, F_OK) < 0)
		return 0;
	r = lock_take(&lock, RECORD_DIR, wait, why);
	if (r < 0)
		return r;
	r = claim_each(lock.folder, CLAIM_FILE, visit, arg);
	lock_release(&lock);
	return r;
}

int record_sweep(const struct lock_wait *wait, struct error *why)
{
	return each_record(sweep_one, why, wait, why);
}

static int list_one(void *arg, int folder, const char *name)
{
	struct record_list *list = arg;
	struct record_left left;
	struct record record;
	bool lives;
	int r = 0;

	if (record_open(&record, folder, name, &lives) < 0)
		return 0; /* gone meanwhile */
	if (!lives) {
		r = read_lines(&record, false);
		left.namespaces = record.count;
		snprintf(left.name, sizeof(left.name), "%s", name);
		if (r == 0)
			r = ARRAY_ADD(list->items, list->count, left);
	}
	record_close(&record);
	return r;
}

int record_list_left(struct record_list *ret, struct error *why)
{
	int r;

	*ret = (struct record_list){0};
	/* under the lock: whose claim is not done yet looks like one that has died */
	r = each_record(list_one, ret, NULL, why);
	return r == -ENOMEM ? error_set(why, r, "out of memory") : r;
}

/* Sets the names under `name`. 0; -EEXIST: one of the namespaces is there already; -ENOMEM. */
static int set_names(struct record *r, const char *name, const struct fabric *f)
{
	char *netns;
	int code = 0;

	snprintf(r->name, sizeof(r->name), "%s", name);
	release_names(r);
	for (uint32_t i = 0; i < f->net.node_count && !code; i++) {
		if (asprintf(&netns, "%s-%s", name, f->nodes[i].name) < 0)
			return -ENOMEM;
		code = netns_exists(netns) ? -EEXIST : 0;
		if (code)
			free(netns);
		else
			code = add_name(r, netns);
	}
	return code;
}

static int record_write(const struct record *r)
{
	fprintf(r->file, HEADER, (int)getpid(), process_started(getpid()));
	for (size_t i = 0; i < r->count; i++)
		fprintf(r->file, "%s\n", r->netns[i]);
	return fflush(r->file) ? -errno : 0;
}

int record_note(struct record *r, const char *line)
{
	fprintf(r->file, "%s\n", line);
	return fflush(r->file) ? -errno : 0;
}

/* 0; -EEXIST: the name is in use; another -errno. */
static int try_claim(
	struct record *r, const struct lock *lock, const char *name, const struct fabric *f)
{
	int code = set_names(r, name, f), fd;

	if (code < 0)
		return code;
	fd = claim_make(lock, name, CLAIM_FILE);
	if (fd < 0)
		return fd;
	r->file = fdopen(fd, "r+");
	code = r->file ? record_write(r) : -errno;
	if (!code)
		code = netns_prepare();
	if (!r->file)
		close(fd);
	if (code < 0)
		unlinkat(lock->folder, name, 0);
	return code;
}

static int claim_free_name(struct record *r, const struct lock *lock, const char *wanted,
	bool exact, const struct fabric *f, struct error *why)
{
	char name[sizeof(r->name)];
	int tries = exact ? 1 : NAME_TRIES, i, code = -EEXIST;

	snprintf(name, sizeof(name), "%s", wanted);
	for (i = 1; code == -EEXIST && i <= tries; i++) {
		code = try_claim(r, lock, name, f);
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
	int code = claim_check_name(wanted, RECORD_NAME_MAX, "a fabric", why);

	if (code < 0)
		return code;
	r = calloc(1, sizeof(*r));
	code = r ? lock_take(&lock, RECORD_DIR, wait, why)
		 : error_set(why, -ENOMEM, "out of memory");
	if (code == 0) {
		code = claim_each(lock.folder, CLAIM_FILE, sweep_one, why);
		if (code >= 0)
			code = claim_free_name(r, &lock, wanted, exact, f, why);
		lock_release(&lock);
	}
	if (code == 0) {
		*ret = r;
		return 0;
	}
	if (r)
		record_close(r);
	free(r);
	return code;
}

void record_release(struct record *r)
{
	struct lock lock;

	if (!r)
		return;
	/*
	 * Without the lock a sweep might find the file between the unlink and its own open. If it
	 * can't be had in time the file stays until the next sweep.
	 */
	if (lock_take(&lock, RECORD_DIR, NULL, NULL) == 0) {
		unlinkat(lock.folder, r->name, 0);
		lock_release(&lock);
	}
	record_close(r);
	free(r);
}

const char *record_name(const struct record *r)
{
	return r->name;
}

const char *record_netns(const struct record *r, uint32_t i)
{
	return r->netns[i];
}
