/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pcapng, to the byte: draft-ietf-opsawg-pcapng, section 4. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "io/pcapng.h"
#include "lib/small_session.h"

/* Takes blocks until there are `room` of them. */
struct shelf {
	uint8_t bytes[4096];
	size_t starts[32], lengths[32];
	size_t count, used, room;
};

static bool shelve(void *arg, const void *bytes, size_t count)
{
	struct shelf *s = arg;

	if (s->count == s->room)
		return false;
	assert_true(s->used + count <= sizeof(s->bytes));
	memcpy(s->bytes + s->used, bytes, count);
	s->starts[s->count] = s->used;
	s->lengths[s->count++] = count;
	s->used += count;
	return true;
}

static struct pcapng *open_on(struct shelf *s, size_t room)
{
	struct pcapng *p = NULL;

	*s = (struct shelf){.room = room};
	assert_int_equal(pcapng_new(&p, shelve, s), 0);
	return p;
}

/* One call a block, and the block is that. */
static void assert_block(const struct shelf *s, size_t index, const void *want, size_t length)
{
	assert_true(index < s->count);
	assert_int_equal(s->lengths[index], length);
	assert_memory_equal(s->bytes + s->starts[index], want, length);
}

/* A block that a test writes word by word: all of them are in this machine's byte order. */
#define WORD(bytes)     (*(const uint32_t *)(const void *)(bytes))
#define OPTION(code, n) ((uint32_t)(code) | (uint32_t)(n) << 16)
#define ASSERT_WORDS(shelf, index, ...)                                                            \
	do {                                                                                       \
		const uint32_t words[] = {__VA_ARGS__};                                            \
		assert_block(shelf, index, words, sizeof(words));                                  \
	} while (0)

static uint32_t word(const char *four)
{
	uint32_t w;

	memcpy(&w, four, sizeof(w));
	return w;
}

static void section_says_who_wrote_it(void **state)
{
	static const char application[] = "fabricbed " FABRICBED_VERSION;
	const uint32_t length = sizeof(application) - 1, padded = (length + 3) & ~3u;
	const uint32_t head[] = {0x0a0d0d0a, 28 + 4 + padded + 4, 0x1a2b3c4d, OPTION(1, 0),
		UINT32_MAX, UINT32_MAX, OPTION(4, length)};
	uint8_t want[128] = {0};
	struct shelf s;
	struct pcapng *p = open_on(&s, 9);

	(void)state;
	memcpy(want, head, sizeof(head));
	memcpy(want + sizeof(head), application, length);
	memcpy(want + head[1] - 4, &head[1], 4);
	assert_int_equal(s.count, 1);
	assert_block(&s, 0, want, head[1]);
	assert_int_equal(pcapng_close(p), 0);
	assert_int_equal(s.count, 1);
}

static void interfaces_have_names(void **state)
{
	struct shelf s;
	struct pcapng *p = open_on(&s, 9);

	(void)state;
	assert_int_equal(pcapng_add_interface(p, "a->b", NULL), 0);
	assert_int_equal(pcapng_add_interface(p, "a->bc", "port 0"), 0);
	ASSERT_WORDS(&s, 1, 1, 40, 1, 0, OPTION(2, 4), word("a->b"), OPTION(9, 1), word("\x0c\0\0"),
		0, 40);
	ASSERT_WORDS(&s, 2, 1, 56, 1, 0, OPTION(2, 5), word("a->b"), word("c\0\0"), OPTION(3, 6),
		word("port"), word(" 0\0"), OPTION(9, 1), word("\x0c\0\0"), 0, 56);
	pcapng_close(p);
}

/* Without options, with either, with both; padded to words; truncated ones. */
static void packets_have_what_is_known(void **state)
{
	static const uint8_t bytes[] = "ABCDE";
	struct pcapng_packet packet = {.interface = 1,
		.time_ps = 0x123456789abcull,
		.bytes = bytes,
		.captured = 4,
		.length = 1000};
	struct shelf s;
	struct pcapng *p = open_on(&s, 9);

	(void)state;
	pcapng_add_interface(p, "a", NULL);
	pcapng_add_interface(p, "b", NULL);
	pcapng_write(p, &packet);
	packet.direction = PCAPNG_INBOUND;
	packet.captured = 5;
	pcapng_write(p, &packet);
	packet.comment = "gone";
	packet.direction = PCAPNG_UNKNOWN;
	packet.captured = 0;
	pcapng_write(p, &packet);
	packet.comment = "gone!";
	packet.direction = PCAPNG_OUTBOUND;
	pcapng_write(p, &packet);
	ASSERT_WORDS(&s, 3, 6, 36, 1, 0x1234, 0x56789abc, 4, 1000, word("ABCD"), 36);
	ASSERT_WORDS(&s, 4, 6, 52, 1, 0x1234, 0x56789abc, 5, 1000, word("ABCD"), word("E\0\0"),
		OPTION(2, 4), 1, 0, 52);
	ASSERT_WORDS(
		&s, 5, 6, 44, 1, 0x1234, 0x56789abc, 0, 1000, OPTION(1, 4), word("gone"), 0, 44);
	ASSERT_WORDS(&s, 6, 6, 56, 1, 0x1234, 0x56789abc, 0, 1000, OPTION(2, 4), 2, OPTION(1, 5),
		word("gone"), word("!\0\0"), 0, 56);
	pcapng_close(p);
}

/* Rounded down; and their interface says so. */
static void times_may_be_nanoseconds(void **state)
{
	struct pcapng_packet packet = {
		.time_ps = (1ull << 32) * 1000 + 7999, .bytes = (const uint8_t *)""};
	struct shelf s;
	struct pcapng *p = open_on(&s, 9);

	(void)state;
	pcapng_in_nanoseconds(p);
	pcapng_add_interface(p, "a->b", NULL);
	pcapng_write(p, &packet);
	ASSERT_WORDS(&s, 1, 1, 40, 1, 0, OPTION(2, 4), word("a->b"), OPTION(9, 1), word("\x09\0\0"),
		0, 40);
	ASSERT_WORDS(&s, 2, 6, 32, 0, 1, 7, 0, 0, 32);
	pcapng_close(p);
}

/* What has no room is counted where it was lost; the other interface has no statistics. */
static void losses_are_counted(void **state)
{
	struct pcapng_packet packet = {.interface = 1, .time_ps = 7, .bytes = (const uint8_t *)""};
	struct shelf s;
	struct pcapng *p = open_on(&s, 9);

	(void)state;
	pcapng_add_interface(p, "a", NULL);
	pcapng_add_interface(p, "b", NULL);
	pcapng_write(p, &packet);
	s.room = s.count;
	for (int i = 0; i < 3; i++)
		pcapng_write(p, &packet);
	packet.time_ps = (1ull << 32) + 9;
	pcapng_write(p, &packet);
	assert_int_equal(s.count, 4);
	s.room = 9;
	assert_int_equal(pcapng_close(p), 0);
	assert_int_equal(s.count, 5);
	ASSERT_WORDS(&s, 4, 5, 40, 1, 1, 9, OPTION(5, 8), 4, 0, 0, 40);
}

static void sinks_may_be_full_at_once(void **state)
{
	struct shelf s = {.room = 0};
	struct pcapng *p = NULL;

	(void)state;
	assert_int_equal(pcapng_new(&p, shelve, &s), -ENOBUFS);
	assert_null(p);
	p = open_on(&s, 1);
	assert_int_equal(pcapng_add_interface(p, "a", NULL), -ENOBUFS);
	pcapng_close(p);
	assert_int_equal(pcapng_close(NULL), 0);
}

/* Larger than any block before it. */
static void blocks_may_be_large(void **state)
{
	static uint8_t bytes[65000];
	struct pcapng_packet packet = {
		.bytes = bytes, .captured = sizeof(bytes), .length = sizeof(bytes)};
	char directory[SMALL_PATH], path[SMALL_PATH + 16];
	struct pcapng *p = NULL;
	FILE *in;

	(void)state;
	small_directory(directory);
	snprintf(path, sizeof(path), "%s/x.pcapng", directory);
	assert_int_equal(pcapng_open(&p, path), 0);
	assert_int_equal(pcapng_add_interface(p, "a->b", NULL), 0);
	pcapng_write(p, &packet);
	assert_int_equal(pcapng_close(p), 0);
	in = fopen(path, "r");
	assert_non_null(in);
	fseek(in, -4, SEEK_END);
	assert_int_equal(fread(bytes, 4, 1, in), 1);
	assert_int_equal(WORD(bytes), 32 + sizeof(bytes));
	fclose(in);
	small_directory_remove(directory);
}

static void files_that_cannot_be(void **state)
{
	char directory[SMALL_PATH], path[SMALL_PATH + 16];
	struct pcapng *p = NULL;

	(void)state;
	small_directory(directory);
	snprintf(path, sizeof(path), "%s/no/x", directory);
	assert_int_equal(pcapng_open(&p, path), -ENOENT);
	assert_int_equal(pcapng_open(&p, directory), -EISDIR);
	assert_null(p);
	small_directory_remove(directory);
	if (access("/dev/full", W_OK))
		return;
	assert_int_equal(pcapng_open(&p, "/dev/full"), 0);
	assert_int_equal(pcapng_error(p), 0);
	/* more than stays in memory: it shows before the end, with its reason */
	for (int i = 0; i < 10000; i++)
		pcapng_add_interface(p, "an interface", NULL);
	assert_int_equal(pcapng_error(p), -ENOSPC);
	assert_int_equal(pcapng_close(p), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(section_says_who_wrote_it),
		cmocka_unit_test(interfaces_have_names),
		cmocka_unit_test(packets_have_what_is_known),
		cmocka_unit_test(times_may_be_nanoseconds),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(sinks_may_be_full_at_once),
		cmocka_unit_test(blocks_may_be_large),
		cmocka_unit_test(files_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
