/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/numbers.h"
#include "sweep/bundle.h"

static int enter(void **state)
{
	static char folder[] = "/tmp/test-bundle-XXXXXX";

	*state = folder;
	return !mkdtemp(folder) || chdir(folder) < 0 || mkdir("from", 0777) < 0;
}

static int leave(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	return chdir("/") < 0 || system(command);
}

static void put(const char *name, const void *bytes, size_t length)
{
	FILE *f = fopen(name, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, length, f), length);
	fclose(f);
}

static struct bundle packed(void)
{
	struct error why = ERROR_INIT;
	struct bundle b;

	if (bundle_pack(&b, "from", &why) < 0)
		fail_msg("%s", why.text);
	return b;
}

/* An empty file, one with zeros, one of more than a block, and one that is hidden. */
static void files_come_out_as_they_went_in(void **state)
{
	static char big[200000];
	const struct timespec times[] = {{5, 6}, {1234567890, 123456789}};
	struct error why = ERROR_INIT;
	struct stat file;
	struct bundle b, again;

	(void)state;
	memset(big, 'x', sizeof(big));
	put("from/empty", "", 0);
	put("from/summary.json", "a\0b\n", 4);
	put("from/flows.csv", big, sizeof(big));
	put("from/.fabricbed", "list", 4);
	assert_int_equal(utimensat(AT_FDCWD, "from/flows.csv", times, 0), 0);
	b = packed();
	if (bundle_unpack(b.bytes, b.length, "to", &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(system("diff -r from to"), 0);
	assert_int_equal(stat("to/flows.csv", &file), 0);
	assert_int_equal(file.st_mtim.tv_sec, 1234567890);
	assert_int_equal(file.st_mtim.tv_nsec, 123456789);
	again = packed();
	assert_int_equal(again.length, b.length);
	assert_memory_equal(again.bytes, b.bytes, b.length);
	assert_int_equal(bundle_unpack(b.bytes, b.length, "to", &why), -EEXIST);
	assert_string_equal(why.text, "can't write to/.fabricbed: File exists");
	assert_int_equal(bundle_unpack(b.bytes, b.length, "none/to", &why), -ENOENT);
	bundle_free(&b);
	bundle_free(&again);
	assert_null(b.bytes);
	assert_int_equal(system("rm -r from/* to"), 0);
}

static void an_empty_folder_is_a_bundle(void **state)
{
	struct error why = ERROR_INIT;
	struct bundle b;

	(void)state;
	unlink("from/.fabricbed");
	b = packed();
	assert_int_equal(bundle_unpack(b.bytes, b.length, "to", &why), 0);
	assert_int_equal(rmdir("to"), 0);
	bundle_free(&b);
}

static void only_files_are_packed(void **state)
{
	struct error why = ERROR_INIT;
	struct bundle b;

	(void)state;
	assert_int_equal(mkdir("from/folder", 0777), 0);
	put("from/a", "", 0);
	put("from/z", "", 0);
	assert_int_equal(bundle_pack(&b, "from", &why), -EINVAL);
	assert_string_equal(why.text, "can't send from/folder: it is no file");
	rmdir("from/folder");
	assert_int_equal(symlink("/etc/passwd", "from/link"), 0);
	assert_int_equal(bundle_pack(&b, "from", &why), -EINVAL);
	unlink("from/link");
	assert_int_equal(mkfifo("from/pipe", 0666), 0);
	assert_int_equal(bundle_pack(&b, "from", &why), -EINVAL);
	assert_int_equal(bundle_pack(&b, "none", &why), -ENOENT);
	assert_string_equal(why.text, "can't read none: No such file or directory");
	assert_int_equal(system("rm from/*"), 0);
}

/* Of any length but its own, and with any byte of a header changed, nothing is written. */
static void what_is_cut_short_writes_nothing(void **state)
{
	struct error why = ERROR_INIT;
	struct bundle b;
	uint8_t *cut;

	(void)state;
	put("from/a", "12", 2);
	put("from/b", "3", 1);
	b = packed();
	for (size_t length = 0; length < b.length; length++) {
		cut = memcpy(malloc(length + 1), b.bytes, length); /* so that reading on is found */
		cut = realloc(cut, length ? length : 1);
		assert_int_equal(bundle_unpack(cut, length, "to", &why), -EBADMSG);
		free(cut);
	}
	assert_string_equal(
		why.text, "what arrived for to is no folder of files, or not all of it");
	cut = calloc(1, b.length + 1);
	memcpy(cut, b.bytes, b.length);
	assert_int_equal(bundle_unpack(cut, b.length + 1, "to", &why), -EBADMSG);
	free(cut);
	b.bytes[0] ^= 1;
	assert_int_equal(bundle_unpack(b.bytes, b.length, "to", &why), -EBADMSG);
	assert_int_equal(access("to", F_OK), -1);
	bundle_free(&b);
	assert_int_equal(system("rm from/*"), 0);
}

static void names_stay_in_the_folder(void **state)
{
	static const char *const hostile[] = {
		"../name1", "/etc/pwd", "..", ".", "a/../../", "ame12/..", "aith\0nul", "a"};
	struct error why = ERROR_INIT;
	struct bundle b;

	(void)state;
	for (size_t i = 0; i < COUNT(hostile); i++) {
		/* the place of a name of that length behind the letters and four numbers */
		size_t length = i == 6 ? 8 : strlen(hostile[i]);
		char name[16] = "from/", plain[] = "abcdefgh";

		strncat(name, plain, length);
		put(name, "x", 1);
		put("from/b", "x", 1);
		b = packed();
		assert_memory_equal(b.bytes + 36, plain, length);
		memcpy(b.bytes + 36, i == 7 ? "b" : hostile[i], length); /* "b" is there twice */
		assert_int_equal(bundle_unpack(b.bytes, b.length, "to", &why), -EBADMSG);
		assert_int_equal(access("to", F_OK), -1);
		bundle_free(&b);
		unlink(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_come_out_as_they_went_in),
		cmocka_unit_test(an_empty_folder_is_a_bundle),
		cmocka_unit_test(only_files_are_packed),
		cmocka_unit_test(what_is_cut_short_writes_nothing),
		cmocka_unit_test(names_stay_in_the_folder),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
