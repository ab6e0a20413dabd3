/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * mpirun -n N handout_ranks FOLDER: the other ranks make six folders, rank 0 writes them into
 * FOLDER and prints what it hears, sorted by item, and how busy it was.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "sweep/handout.h"
#include "sweep/ranks.h"

#define ITEMS 6
#define BIG   10000000 /* bytes: more than goes along with a message's first packet */

static const char *const items[ITEMS] = {"first", "big one", "fails", "", "slow", "last"};

struct told {
	const char *folder;
	char lines[ITEMS][128];
};

static void fill(const char *folder, const char *name, size_t length)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	for (size_t i = 0; i < length; i++)
		putc((int)(i * 31 >> 3 & 0xff), f);
	fclose(f);
}

static int work(void *arg, const char *item, struct bundle *ret, struct error *why)
{
	const struct timespec moment = {.tv_nsec = 150000000};
	char folder[64], command[80];
	int r;

	(void)arg;
	if (!strcmp(item, "fails"))
		return error_set(why, -ENOSPC, "no room for '%s'", item);
	if (!strcmp(item, "slow"))
		nanosleep(&moment, NULL);
	snprintf(folder, sizeof(folder), "work-%d", (int)getpid());
	mkdir(folder, 0777);
	fill(folder, "summary", strlen(item));
	fill(folder, "flows", strcmp(item, "big one") ? 5 : BIG);
	r = bundle_pack(ret, folder, why);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) ? -EIO : r;
}

static int hear(void *arg, const struct handout_result *result)
{
	struct told *told = arg;
	char *line = told->lines[result->item], folder[256];
	struct error why = ERROR_INIT;

	if (*line)
		puts("an item came twice");
	if (result->status < 0) {
		snprintf(line, sizeof(told->lines[0]), "%s", result->why);
		return 0;
	}
	snprintf(folder, sizeof(folder), "%s/%zu", told->folder, result->item);
	if (bundle_unpack(result->bundle->bytes, result->bundle->length, folder, &why) < 0)
		puts(why.text);
	snprintf(line, sizeof(told->lines[0]), "a folder from rank %s",
		result->rank > 0 ? "1 or higher" : "0");
	return 0;
}

static int lead(struct ranks *ranks, const char *folder)
{
	clock_t before = clock();
	struct told told = {.folder = folder};
	int r = handout_lead(ranks, items, ITEMS, hear, &told), ended = handout_end(ranks);

	for (int i = 0; i < ITEMS; i++)
		printf("%s: %s\n", items[i], told.lines[i]);
	printf("it waited %s\n", clock() - before < CLOCKS_PER_SEC / 10 ? "asleep" : "busily");
	return r < 0 ? r : ended;
}

int main(int argc, char **argv)
{
	struct error why = ERROR_INIT;
	struct ranks *ranks;
	int r = ranks_open(&ranks, &why);

	if (r < 0 || !ranks || argc != 2) {
		fprintf(stderr, "%s\n",
			r < 0 ? why.text : "usage: mpirun -n N handout_ranks FOLDER");
		return 1;
	}
	r = ranks_rank(ranks) ? handout_work(ranks, work, NULL) : lead(ranks, argv[1]);
	ranks_close(ranks);
	return r < 0;
}
