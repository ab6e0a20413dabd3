/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies of the user's: the parts that need no compiler. tests/system/policy.sh has the rest. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "abi/wire.h"
#include "dataplane/kernel.h"
#include "fabricbed/policy.h"
#include "policy/cache.h"
#include "policy/check.h"
#include "policy/check_world.h"
#include "policy/elf_image.h"
#include "policy/scan.h"
#include "policy/source.h"
#include "policy/verify.h"

/* ---- lines ---- */

static const char text[] = "/* turn \" */ // turn\n"
			   "\"turn\\\"turn\" 'turn'\n"
			   "my_turn /* two\n"
			   "lines */ turns\n"
			   "  static int turn;\n"
			   "turn++;\n"
			   "  while (1)\n"
			   "\n"
			   "while (1)\n"
			   "last";

static void an_identifier_is_found_in_code_alone(void **state)
{
	const struct policy_source s = {"my.c", text, sizeof(text) - 1};

	(void)state;
	assert_int_equal(source_line_of(&s, "turn"), 5);
	assert_int_equal(source_line_of(&s, "turns"), 4);
	assert_int_equal(source_line_of(&s, "last"), 10);
	assert_int_equal(source_line_of(&s, "two"), 0);
	/* what never ends */
	for (size_t n = 0; n < sizeof(text); n++)
		source_line_of(&(struct policy_source){"my.c", text, n}, "none");
}

static void a_line_is_found_if_there_is_one_like_it(void **state)
{
	const struct policy_source s = {"my.c", text, sizeof(text) - 1};

	(void)state;
	assert_int_equal(source_find_line(&s, " turn++; ", 9), 6);
	assert_int_equal(source_find_line(&s, "last", 4), 10);
	assert_int_equal(source_find_line(&s, "while (1)", 9), 0);
	assert_int_equal(source_find_line(&s, "", 0), 0);
}

/* ---- objects ---- */

/* The switch's own programs are no policy, and what is cut off of them is not read. */
static void objects_are_read_within_their_bounds(void **state)
{
	const struct policy_source s = {"my.c", text, sizeof(text) - 1};
	struct error why = ERROR_INIT;
	size_t size;
	const char *object = dataplane_kernel_object(&size);
	unsigned refused = 0;

	(void)state;
	assert_int_equal(scan_bpf(object, size, &s, &why), -EINVAL);
	for (size_t n = 0; n < size; n += n < 128 ? 1 : size / 64) {
		char *cut = malloc(n + 1);

		assert_non_null(cut);
		memcpy(cut, object, n);
		refused += scan_bpf(cut, n, &s, &why) == -EINVAL;
		refused += scan_native(cut, n, &s, &why) == -EINVAL;
		free(cut);
	}
	assert_in_range(refused, 128 * 2, 1000);
}

static void sections_and_symbols_have_names(void **state)
{
	size_t size, bytes;
	const void *object = dataplane_kernel_object(&size);
	struct elf_image e;
	unsigned found = 0;

	(void)state;
	assert_int_equal(elf_image_open(&e, object, size, SHT_SYMTAB), 0);
	assert_non_null(elf_section(&e, elf_find_section(&e, "xdp"), &bytes));
	assert_in_range(bytes, 1000, size);
	assert_int_equal(elf_find_section(&e, "xd"), 0);
	assert_null(elf_section(&e, e.section_count, &bytes));
	assert_string_equal(elf_symbol_name(&e, e.symbol_count), "");
	for (size_t i = 0; i < e.symbol_count; i++)
		found += !strcmp(elf_symbol_name(&e, i), "fabricbed_switch");
	assert_int_equal(found, 1);
}

/* ---- the verifier's words ---- */

static const char *explained(const char *words, int *ret)
{
	static struct error why;
	const struct policy_source s = {"my.c", text, sizeof(text) - 1};

	snprintf(why.text, sizeof(why.text), "%s", words);
	*ret = policy_explain(&s, -ENOSPC, &why);
	return why.text;
}

#define LOOP                                                                                       \
	"; a loop over the candidates is 'for (__u32 i = 0; i < p->count; i++)', any other needs a constant bound and few rounds"

static void the_verifier_s_words_get_the_line(void **state)
{
	int r;

	(void)state;
	assert_string_equal(
		explained(
			"the kernel refuses the programs: x, at: turn++; @ ./my.c:6\n\n12: (61) r1 = 0\n"
			"BPF program is too large. Processed 1000001 insn",
			&r),
		"my.c:6: the kernel's verifier refuses it: BPF program is too large. Processed 1000001 insn" LOOP);
	assert_int_equal(r, -EINVAL);
	/* kernels before 6.10 tell no line; what follows the reason is left out */
	assert_string_equal(
		explained(
			"the kernel refuses the programs: x, at:   turn++;\ninfinite loop detected at insn 7\n"
			"cur state: R0\nold state: R0",
			&r),
		"my.c:6: the kernel's verifier refuses it: infinite loop detected at insn 7" LOOP);
	/* in a header, then */
	assert_string_equal(
		explained(
			"the kernel refuses the programs: x, at: y @ include/fabricbed/policy.h:6\nbad",
			&r),
		"my.c: the kernel's verifier refuses it: bad");
	assert_string_equal(explained("out of memory", &r), "out of memory");
	assert_int_equal(r, -ENOSPC);
}

/* ---- the trial ---- */

static uint32_t calls, returned;

static uint32_t first_port(struct policy *p)
{
	(void)p;
	calls++;
	return returned = 0;
}

static uint32_t ingress(struct policy *p)
{
	return returned = p->in_port;
}

static uint32_t no_port(struct policy *p)
{
	(void)p;
	return returned = 1000;
}

static uint32_t crash(struct policy *p)
{
	(void)p;
	raise(SIGFPE);
	return 0;
}

static int tried(
	struct check_result *ret, uint32_t (*function)(struct policy *p), struct error *why)
{
	const struct policy_source s = {"my.c", text, sizeof(text) - 1};
	const struct policy_code code = {.function = function};
	const struct check_params p = {
		.source = &s, .code = &code, .returned = &returned, .seed = 1, .packets = 200};

	return policy_check(ret, &p, why);
}

static void a_trial_counts_what_is_no_port(void **state)
{
	struct error why = ERROR_INIT;
	struct check_result result;

	(void)state;
	assert_int_equal(tried(&result, first_port, &why), 0);
	assert_int_equal(result.packets, 200);
	assert_in_range(result.choices, 150, 199);
	assert_int_equal(result.out_of_range, 0);
	assert_false(result.differs);
	assert_int_equal(calls, 0); /* a process of its own */
	assert_int_equal(tried(&result, no_port, &why), 0);
	assert_int_equal(result.out_of_range, result.choices);
	assert_non_null(strstr(result.example, "it returned 1000 of "));
	assert_int_equal(tried(&result, ingress, &why), 0);
	assert_in_range(result.out_of_range, 1, result.choices - 1);
	assert_int_equal(tried(&result, crash, &why), -EINVAL);
	assert_non_null(strstr(why.text, "my.c: it divides by zero"));
}

/* All that a policy may go by varies, and is the same for both tables. */
static void packets_and_queues_vary(void **state)
{
	struct check_world w;
	struct dataplane *dps[2];
	struct sw_sizes sizes;
	union {
		struct frame frame;
		uint8_t bytes[sizeof(struct frame) + WORLD_FRAME];
	} u;
	struct world_packet p;
	uint32_t least = UINT32_MAX, most = 0, down = 0, ip6 = 0, arrived = 0;
	uint32_t protocols[256] = {0};
	uint64_t before = 0;

	(void)state;
	world_init(&w, 5);
	sizes = world_sizes(&w);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dataplane_inline_open(&dps[i], &sizes, WORLD_FRAME), 0);
		world_write(&w, &dps[i]->tables);
	}
	for (int i = 0; i < 100; i++) {
		world_change(&w, &dps[0]->tables, &dps[1]->tables);
		world_packet(&w, &p, &u.frame);
		least = p.candidates < least ? p.candidates : least;
		most = p.candidates > most ? p.candidates : most;
		down += !dps[0]->tables.ports[w.first_port[p.sw] + 1].up;
		ip6 += u.frame.bytes[12] == 0x86;
		protocols[u.frame.bytes[u.frame.bytes[12] == 0x86 ? 14 + 6 : 14 + 9]]++;
		if (p.port - w.first_port[p.sw] > arrived)
			arrived = p.port - w.first_port[p.sw];
		assert_true(u.frame.hop.now_ps >= before);
		before = u.frame.hop.now_ps;
	}
	assert_int_equal(least, 1);
	assert_int_equal(most, GROUP_PORTS);
	assert_in_range(down, 1, 50);
	assert_in_range(ip6, 20, 80);
	assert_in_range(arrived, UINT8_MAX + 1, UINT16_MAX);
	assert_in_range(protocols[PROTO_UDP], 20, 80);
	assert_in_range(protocols[PROTO_TCP], 1, 50);
	assert_in_range(protocols[PROTO_UDP] + protocols[PROTO_TCP], 50, 99);
	assert_memory_equal(
		dps[0]->tables.ports, dps[1]->tables.ports, sizes.ports * sizeof(struct port));
	assert_memory_equal(dps[0]->tables.queues, dps[1]->tables.queues,
		sizes.ports * CLASSES * sizeof(struct queue));
	assert_memory_equal(
		dps[0]->tables.groups, dps[1]->tables.groups, sizes.groups * sizeof(struct group));
	for (int i = 0; i < 2; i++)
		dps[i]->ops->close(dps[i]);
}

/* ---- the cache ---- */

struct folder {
	char path[64];
	struct policy_cache cache;
};

static int set_up(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->path, "/tmp/fabricbed-test-XXXXXX");
	assert_non_null(mkdtemp(f->path));
	setenv("XDG_CACHE_HOME", f->path, 1);
	assert_int_equal(cache_open(&f->cache, NULL), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct folder *f = *state;
	char command[128];

	cache_close(&f->cache);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->path);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static const struct cache_key key = {"my.c", "the text", 8, 7};

static void put(struct folder *f)
{
	char bpf[] = "bpf object", native[] = "native";
	struct cache_objects o = {bpf, native, sizeof(bpf), sizeof(native)};

	assert_int_equal(cache_make_work(&f->cache, NULL), 0);
	assert_int_equal(cache_put(&f->cache, &key, &o, NULL), 0);
}

static int get(struct folder *f, const struct cache_key *k)
{
	struct cache_objects o = {0};
	int r = cache_get(&f->cache, k, &o);

	if (r == 0) {
		assert_string_equal(o.bpf, "bpf object");
		assert_string_equal(o.native, "native");
		assert_int_equal(o.bpf_bytes, 11);
		assert_int_equal(o.native_bytes, 7);
	}
	cache_objects_release(&o);
	return r;
}

static void an_entry_is_found_by_all_that_it_is_made_of(void **state)
{
	const struct cache_key others[] = {{"me.c", "the text", 8, 7}, {"my.c", "the test", 8, 7},
		{"my.c", "the text", 7, 7}, {"my.c", "the text", 8, 8}};

	assert_int_equal(get(*state, &key), -ENOENT);
	put(*state);
	assert_int_equal(get(*state, &key), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(get(*state, &others[i]), -ENOENT);
	put(*state);
	assert_int_equal(get(*state, &key), 0);
}

static void a_verified_entry_is_noted(void **state)
{
	struct folder *f = *state;
	const struct cache_key other = {"my.c", "the text", 8, 8};

	assert_false(cache_is_verified(&f->cache, &key));
	cache_note_verified(&f->cache, &key);
	assert_true(cache_is_verified(&f->cache, &key));
	assert_false(cache_is_verified(&f->cache, &other));
}

/* The only file of the cache; its path in buf. */
static int open_entry(const struct folder *f, int flags)
{
	char command[256], path[256] = "";
	FILE *list;

	snprintf(command, sizeof(command), "ls -d '%s'/*/*/*.policy", f->path);
	list = popen(command, "r");
	assert_non_null(list);
	assert_non_null(fgets(path, sizeof(path), list));
	pclose(list);
	path[strcspn(path, "\n")] = '\0';
	return open(path, flags | O_CLOEXEC);
}

/* Whatever byte is another one, and wherever it is cut off: it is not used. */
static void a_damaged_entry_is_none(void **state)
{
	struct folder *f = *state;
	struct stat st;
	uint8_t byte;
	int fd;

	put(f);
	fd = open_entry(f, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at++) {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(get(f, &key), -ENOENT);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(get(f, &key), 0);
	for (off_t size = st.st_size; size-- > 0;) {
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(get(f, &key), -ENOENT);
	}
	assert_int_equal(fchmod(fd, 0666), 0);
	close(fd);
	put(f);
	assert_int_equal(get(f, &key), 0);
}

static void who_may_write_there_is_the_owner_alone(void **state)
{
	struct folder *f = *state;
	struct policy_cache other = {.fd = -1};
	struct error why = ERROR_INIT;
	int fd;

	put(f);
	fd = open_entry(f, O_RDONLY);
	assert_int_equal(fchmod(fd, 0620), 0);
	assert_int_equal(get(f, &key), -ENOENT);
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_int_equal(get(f, &key), 0);
	close(fd);
	assert_int_equal(fchmod(f->cache.fd, 0770), 0);
	assert_int_equal(cache_open(&other, &why), -EPERM);
	assert_non_null(strstr(why.text, "remedy: chmod go-w"));
	assert_int_equal(fchmod(f->cache.fd, 0700), 0);
	assert_int_equal(cache_open(&other, &why), 0);
	cache_close(&other);
}

/* As by sudo, which may leave HOME as it was. In a /var/cache of its own. */
static void root_makes_nothing_in_the_home_of_another(void **state)
{
	struct folder *f = *state;
	struct policy_cache other = {.fd = -1};
	struct error why = ERROR_INIT;
	char own[128];

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", "/var/cache", "tmpfs", 0, NULL) < 0)
		skip();
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", f->path, 1);
	assert_int_equal(cache_open(&other, &why), 0);
	snprintf(own, sizeof(own), "%s/.cache/fabricbed/policies", f->path);
	assert_string_equal(other.path, own);
	cache_close(&other);
	if (chown(f->path, 65534, 65534) < 0)
		skip();
	assert_int_equal(cache_open(&other, &why), 0);
	assert_string_equal(other.path, "/var/cache/fabricbed/policies");
	cache_close(&other);
}

/* Who has moved the folder away, and put another there, gets nothing into it. */
static void what_is_made_stays_in_the_folder_that_was_checked(void **state)
{
	struct folder *f = *state;
	char moved[PATH_MAX + 8];

	assert_int_equal(cache_make_work(&f->cache, NULL), 0);
	snprintf(moved, sizeof(moved), "%s.old", f->cache.path);
	assert_int_equal(rename(f->cache.path, moved), 0);
	assert_int_equal(mkdir(f->cache.path, 0700), 0);
	assert_int_equal(access(f->cache.work, W_OK), 0);
	put(f);
	assert_int_equal(get(f, &key), 0);
	assert_int_equal(rmdir(f->cache.path), 0); /* it is empty */
}

static void what_nobody_uses_goes(void **state)
{
	struct folder *f = *state;
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	const struct cache_key second = {"second.c", "", 0, 7};
	struct cache_objects o = {(char[]){"x"}, (char[]){"y"}, 1, 1};
	char work[PATH_MAX];
	int fd;

	put(f);
	strcpy(work, f->cache.work);
	assert_int_equal(utimensat(AT_FDCWD, work, old, 0), 0);
	fd = open_entry(f, O_RDONLY);
	assert_int_equal(futimens(fd, old), 0);
	assert_int_equal(get(f, &key), 0); /* it is used: it stays */
	assert_int_equal(cache_make_work(&f->cache, NULL), 0);
	assert_int_equal(cache_put(&f->cache, &second, &o, NULL), 0);
	assert_int_equal(get(f, &key), 0);
	assert_int_equal(access(work, F_OK), -1); /* of a killed process */
	assert_int_equal(futimens(fd, old), 0);
	assert_int_equal(cache_put(&f->cache, &second, &o, NULL), 0);
	assert_int_equal(get(f, &key), -ENOENT);
	close(fd);
}

static void there_must_be_a_place(void **state)
{
	struct policy_cache c = {.fd = -1};
	struct error why = ERROR_INIT;

	(void)state;
	setenv("XDG_CACHE_HOME", "/proc/nothing", 1);
	assert_true(cache_open(&c, &why) < 0);
	assert_non_null(strstr(why.text, "XDG_CACHE_HOME can name another place"));
}

int main(void)
{
#define CACHED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_identifier_is_found_in_code_alone),
		cmocka_unit_test(a_line_is_found_if_there_is_one_like_it),
		cmocka_unit_test(objects_are_read_within_their_bounds),
		cmocka_unit_test(sections_and_symbols_have_names),
		cmocka_unit_test(the_verifier_s_words_get_the_line),
		cmocka_unit_test(a_trial_counts_what_is_no_port),
		cmocka_unit_test(packets_and_queues_vary),
		CACHED(an_entry_is_found_by_all_that_it_is_made_of),
		CACHED(a_verified_entry_is_noted),
		CACHED(a_damaged_entry_is_none),
		CACHED(who_may_write_there_is_the_owner_alone),
		CACHED(root_makes_nothing_in_the_home_of_another),
		CACHED(what_is_made_stays_in_the_folder_that_was_checked),
		CACHED(what_nobody_uses_goes),
		CACHED(there_must_be_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
