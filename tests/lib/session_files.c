/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/session_files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"

#define RANDOM_SLICE_MAX_PS 3000000
#define BLOCK_PACKET        6 /* pcapng's enhanced packet block */

static uint64_t next_stop(uint64_t slice, uint64_t now, uint64_t *rng)
{
	if (slice == SLICE_WHOLE)
		return UINT64_MAX;
	return now + (slice == SLICE_RANDOM ? 1 + rng_below(rng, RANDOM_SLICE_MAX_PS) : slice);
}

void files_record(struct small_session *s, const char *text, const char *const *sets,
	size_t set_count, const char *directory, bool kernel, uint64_t slice)
{
	char capture[SMALL_PATH + sizeof(CAPTURE_FILE)];
	const struct folder_params folder = {.path = directory};
	struct session_params p = {.capture = capture, .kernel = kernel};
	struct error why = ERROR_INIT;
	uint64_t rng = rng_mix(slice);

	snprintf(capture, sizeof(capture), "%s/" CAPTURE_FILE, directory);
	small_session_load(s, text, sets, set_count);
	p.scenario = s->scenario;
	p.fabric = s->fabric;
	if (folder_claim(&s->folder, &folder, &why) < 0)
		fail_msg("%s", why.text);
	p.folder = s->folder;
	if (session_open(&s->session, &p, &why) < 0)
		fail_msg("%s", why.text);
	while (!session_done(s->session)) {
		uint64_t now = engine_now(session_engine(s->session));

		if (session_advance(s->session, next_stop(slice, now, &rng), NULL, &why) < 0)
			fail_msg("%s", why.text);
	}
	if (session_write(s->session, NULL, NULL, &why) < 0)
		fail_msg("%s", why.text);
}

/* All of a file, to be freed; NULL: it is not there. */
static uint8_t *read_bytes(const char *directory, const char *name, size_t *ret_count)
{
	char path[SMALL_PATH + 256];
	uint8_t *bytes;
	long count;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	in = fopen(path, "r");
	if (!in)
		return NULL;
	assert_int_equal(fseek(in, 0, SEEK_END), 0);
	count = ftell(in);
	rewind(in);
	bytes = malloc((size_t)count + 1);
	assert_non_null(bytes);
	*ret_count = fread(bytes, 1, (size_t)count, in);
	assert_int_equal(*ret_count, count);
	fclose(in);
	return bytes;
}

static size_t count_files(const char *path)
{
	DIR *directory = opendir(path);
	size_t count = 0;

	assert_non_null(directory);
	for (struct dirent *e; (e = readdir(directory));)
		count += e->d_name[0] != '.';
	closedir(directory);
	return count;
}

void files_assert_same(const char *a, const char *b)
{
	DIR *directory = opendir(a);

	assert_non_null(directory);
	for (struct dirent *e; (e = readdir(directory));) {
		size_t count_a, count_b;
		uint8_t *of_a, *of_b;

		if (e->d_name[0] == '.')
			continue;
		of_a = read_bytes(a, e->d_name, &count_a);
		of_b = read_bytes(b, e->d_name, &count_b);
		if (!of_b || count_a != count_b || memcmp(of_a, of_b, count_a))
			fail_msg("%s/%s and %s/%s differ", a, e->d_name, b, e->d_name);
		free(of_a);
		free(of_b);
	}
	closedir(directory);
	assert_true(count_files(a) > 0);
	assert_int_equal(count_files(a), count_files(b));
}

void files_assert_in_order(const char *directory, size_t least)
{
	size_t count, packets = 0;
	uint8_t *bytes = read_bytes(directory, CAPTURE_FILE, &count);
	uint64_t latest = 0;

	assert_non_null(bytes);
	for (size_t at = 0; at + 20 <= count;) {
		uint32_t head[5];

		memcpy(head, bytes + at, sizeof(head));
		if (head[0] == BLOCK_PACKET) {
			uint64_t time_ps = (uint64_t)head[3] << 32 | head[4];

			assert_true(time_ps >= latest);
			latest = time_ps;
			packets++;
		}
		at += head[1];
	}
	assert_true(packets >= least);
	free(bytes);
}
