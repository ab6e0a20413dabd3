/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What others took of the CPU, from files like those in /proc. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "io/cpu_time.h"

struct proc {
	char directory[64];
	struct cpu_time cpu;
};

static void put(const struct proc *p, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", p->directory, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int set_up(void **state)
{
	struct proc *p = calloc(1, sizeof(*p));
	char path[PATH_MAX];

	strcpy(p->directory, "/tmp/fabricbed-proc-XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	snprintf(path, sizeof(path), "%s/self", p->directory);
	assert_int_equal(mkdir(path, 0700), 0);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"self/schedstat", "stat", "self", ""};
	struct proc *p = *state;
	char path[PATH_MAX];

	cpu_time_close(&p->cpu);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->directory, names[i]);
		remove(path);
	}
	free(p);
	return 0;
}

/* Read anew each time, from the beginning. */
static void waiting_and_stealing_add_up(void **state)
{
	struct proc *p = *state;
	long ticks = sysconf(_SC_CLK_TCK), cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char stat[256];

	put(p, "self/schedstat", "123456789 5000 77\n");
	put(p, "stat", "cpu  11 22 33 44 55 66 77 0 99 111\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
	cpu_time_open(&p->cpu, p->directory);
	assert_int_equal(cpu_time_taken(&p->cpu), 5000);
	put(p, "self/schedstat", "923456789 7001 79\n");
	assert_int_equal(cpu_time_taken(&p->cpu), 7001);
	/* a second of all CPUs */
	snprintf(stat, sizeof(stat), "cpu  11 22 33 44 55 66 77 %ld 99 111\n", ticks * cpus);
	put(p, "stat", stat);
	assert_int_equal(cpu_time_taken(&p->cpu), 1000007001);
}

/* A kernel that does not tell. */
static void nothing_is_nothing(void **state)
{
	struct proc *p = *state;

	cpu_time_open(&p->cpu, p->directory);
	assert_int_equal(cpu_time_taken(&p->cpu), 0);
	cpu_time_close(&p->cpu);
	put(p, "self/schedstat", "");
	put(p, "stat", "cpu  11 22\n");
	cpu_time_open(&p->cpu, p->directory);
	assert_int_equal(cpu_time_taken(&p->cpu), 0);
}

static void the_machine_tells(void **state)
{
	struct proc *p = *state;
	int64_t before;

	cpu_time_open(&p->cpu, "/proc");
	before = cpu_time_taken(&p->cpu);
	assert_true(before >= 0);
	assert_true(cpu_time_taken(&p->cpu) >= before);
}

#define proc_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		proc_test(waiting_and_stealing_add_up),
		proc_test(nothing_is_nothing),
		proc_test(the_machine_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
