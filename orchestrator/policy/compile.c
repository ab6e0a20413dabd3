/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clean.h"
#include "base/fnv.h"
#include "base/whole_file.h"
#include "io/command.h"
#include "policy/embedded.h"
#include "policy/scan.h"
#include "policy/source.h"

#define HEADERS "include" /* in the folder, where the compiler runs */
#define READS   "reads"   /* which files it read, as make wants it */
#define OBJECT  "object"

/* A policy takes a tenth of a second and 100 MB. */
#define SECONDS      60 /* of the wall clock */
#define CPU_SECONDS  10
#define MEMORY_BYTES (4ull << 30)
#define FILE_BYTES   (256ull << 20)

/*
 * No header of a library; both builds have the same arithmetic. Warnings are errors: what they tell
 * of (a value that was not set, a type that is converted) may come out differently in the two.
 */
#define FLAGS                                                                                      \
	"-x", "c", "-", "-std=gnu11", "-Wall", "-Wno-unused", "-Wdate-time", "-Werror",            \
		"-nostdlibinc", "-ffreestanding", "-fwrapv", "-fno-strict-aliasing",               \
		"-fno-color-diagnostics", "-fno-crash-diagnostics", "-fdebug-compilation-dir=.",   \
		"-DFABRICBED_POLICY_FILE", "-isystem", HEADERS, "-MD", "-MF", READS, "-o", OBJECT

static const char *const bpf[] = {
	"clang", FLAGS, "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-c", NULL};
static const char *const native[] = {"clang", FLAGS, "-O3", "-fPIC", "-shared", "-nostdlib",
	"-fno-stack-protector", "-Wl,-z,noexecstack", "-Wl,--build-id=none", NULL};

uint64_t compile_flags(void)
{
	const char *const *const commands[] = {bpf, native};
	uint64_t hash = 0;

	for (int i = 0; i < 2; i++)
		for (const char *const *word = commands[i]; *word; word++)
			hash = hash * 3 + fnv_hash(*word, strlen(*word));
	return hash;
}

/* ---- headers ---- */

static int make_parents(char *path, size_t from)
{
	for (char *p = path + from; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

static int write_header(const char *folder, const struct embedded_header *h)
{
	char path[PATH_MAX];
	int fd, r;

	if (snprintf(path, sizeof(path), "%s/" HEADERS "/%s", folder, h->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = make_parents(path, strlen(folder) + 1);
	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = whole_file_write(fd, h->text, strlen(h->text));
	close(fd);
	return r;
}

int compile_prepare(const char *folder)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < embedded_header_count; i++)
		r = write_header(folder, &embedded_headers[i]);
	return r;
}

/* ---- what it says ---- */

/* The word in quotes behind `start` in a message; NULL: that is not in it. */
static const char *quoted(char buf[64], const char *text, const char *start)
{
	const char *at = strstr(text, start);

	if (!at)
		return NULL;
	at += strlen(start);
	snprintf(buf, 64, "%.*s", (int)strcspn(at, "'"), at);
	return buf;
}

/* The compiler's words, or our own where a policy has rules of its own. */
static int explain_error(const char *where, size_t length, const char *text, struct error *why)
{
	char word[64];
	int n = (int)length;

	if (strstr(text, "redefinition of 'fabricbed_policy'"))
		return error_set(why, -EINVAL,
			"%.*s a second POLICY(); the file of a policy has one", n, where);
	if (quoted(word, text, "implicit declaration of function '") ||
		quoted(word, text, "call to undeclared function '"))
		return error_set(why, -EINVAL, "%.*s a policy can't call %s(): %s", n, where, word,
			scan_instead(word));
	if (strstr(text, "poisoned"))
		return error_set(why, -EINVAL, "%.*s a policy can't look at the clock: %s", n,
			where, scan_instead("clock"));
	if (strstr(text, "' file not found"))
		return error_set(why, -EINVAL,
			"%.*s %s; a policy is one file: it includes <fabricbed/policy.h>, and may include <stdbool.h>, <stddef.h> and <stdint.h>",
			n, where, text);
	return error_set(why, -EINVAL, "%.*s %s", n, where, text);
}

/* "my.c:3:5: error: text [-Werror,-Wx]" */
static bool explain_line(char *line, struct error *why)
{
	char *at = strstr(line, " error: "), *option;
	size_t where = at ? (size_t)(at - line) : 0;

	if (!at)
		return false;
	if (where > 6 && !memcmp(at - 6, " fatal", 6))
		where -= 6;
	at += strlen(" error: ");
	option = strstr(at, " [-W");
	if (option)
		*option = '\0';
	explain_error(line, where, clean_text(at), why);
	return true;
}

static unsigned policy_line(const struct policy_source *source)
{
	return source_line_of(source, "POLICY");
}

static int explain_late(const struct policy_source *source, struct error *why)
{
	char place[SOURCE_PLACE];

	return error_set(why, -EINVAL,
		"%s: the compiler was stopped after %d s: this is too much for a policy",
		source_place(place, source, policy_line(source)), CPU_SECONDS);
}

/* The back end of BPF tells of the place in the middle of a line: "... my.c:3:28 @[ ..." */
static int explain_division(const struct policy_source *source, const char *text, struct error *why)
{
	char place[SOURCE_PLACE];
	const char *at = strstr(text, source->name);
	unsigned line = 0;

	if (!at || sscanf(at + strlen(source->name), ":%u", &line) != 1)
		line = 0;
	return error_set(why, -EINVAL,
		"%s: division of signed numbers, which BPF does not have; remedy: make them unsigned",
		source_place(place, source, line));
}

static bool is_signal(int status, int signal)
{
	return (WIFSIGNALED(status) && WTERMSIG(status) == signal) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal);
}

static int explain_failure(
	const struct policy_source *source, const struct command_output *output, struct error *why)
{
	char text[sizeof(output->err)], *line, *rest = text;

	if (is_signal(output->status, SIGXCPU))
		return explain_late(source, why);
	if (is_signal(output->status, SIGXFSZ))
		return error_set(why, -EINVAL, "%s: it makes an object of more than %llu MB",
			source->name, FILE_BYTES >> 20);
	if (strstr(output->err, "signed division"))
		return explain_division(source, output->err, why);
	snprintf(text, sizeof(text), "%s", output->err);
	while ((line = strsep(&rest, "\n")))
		if (explain_line(line, why))
			return -EINVAL;
	snprintf(text, sizeof(text), "%s", output->err);
	return error_set(why, -EINVAL, "%s: clang failed (%s %d): %.200s", source->name,
		WIFSIGNALED(output->status) ? "signal" : "status",
		WIFSIGNALED(output->status) ? WTERMSIG(output->status)
					    : WEXITSTATUS(output->status),
		clean_text(text));
}

/* ---- running it ---- */

/* The file's text behind a line that tells its name. */
static char *marked_text(const struct policy_source *source, size_t *ret_length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_length);

	if (!out)
		return NULL;
	/* a clock in the process, which is 0 in BPF */
	fputs("#pragma GCC poison __builtin_readcyclecounter __builtin_readsteadycounter\n# 1 \"",
		out);
	for (const char *p = source->name; *p; p++)
		fprintf(out, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p < ' ' ? '?' : *p);
	fputs("\"\n", out);
	fwrite(source->text, 1, source->length, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Nothing of the environment tells it what to do, as CPATH would. source: NULL, or its input. */
static int run(const char *const argv[], const struct policy_source *source, const char *folder,
	struct command_output *ret)
{
	char path[PATH_MAX], language[] = "LC_ALL=C", temporary[] = "TMPDIR=.";
	char *const environment[] = {path, language, temporary, NULL};
	const char *const paths = getenv("PATH");
	struct command_bounds bounds = {.folder = folder,
		.milliseconds = SECONDS * 1000,
		.cpu_seconds = CPU_SECONDS,
		.memory_bytes = MEMORY_BYTES,
		.file_bytes = FILE_BYTES};
	char *text = source ? marked_text(source, &bounds.input_bytes) : NULL;
	int r;

	if (source && !text)
		return -ENOMEM;
	bounds.input = text;
	snprintf(path, sizeof(path), "PATH=%s", paths ? paths : "/usr/bin:/bin");
	r = command_run_bounded(argv, environment, &bounds, ret);
	free(text);
	return r;
}

/* ---- files ---- */

static int read_file(const char *folder, const char *name, char **ret, size_t *ret_bytes)
{
	char path[PATH_MAX];
	int fd, r;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = whole_file_read(fd, FILE_BYTES, ret, ret_bytes);
	close(fd);
	return r;
}

/* The line of a text where a word is first. */
static unsigned line_of_text(const struct policy_source *source, const char *word)
{
	const char *found = strstr(source->text, word);
	unsigned line = 1;

	for (const char *p = source->text; found && p < found; p++)
		line += *p == '\n';
	return found ? line : 0;
}

/* Below a folder, and not out of it again. */
static bool is_below(const char *file, const char *folder)
{
	size_t n = strlen(folder);

	return n && !strncmp(file, folder, n) && file[n] == '/' && !strstr(file + n, "/..");
}

/* The compiler's own headers; "": it does not tell. */
static void find_own(char own[PATH_MAX], const char *folder)
{
	const char *const argv[] = {"clang", "-print-resource-dir", NULL};
	struct command_output output;

	own[0] = '\0';
	if (run(argv, NULL, folder, &output) == 0 && !output.status)
		snprintf(own, PATH_MAX, "%.*s", (int)strcspn(output.out, "\n"), output.out);
}

/* What it read is part of the command or of the compiler: else the text alone would not tell what
 * the policy is. */
static int check_reads(const char *folder, const struct policy_source *source, struct error *why)
{
	char place[SOURCE_PLACE], own[PATH_MAX] = "", *reads, *file, *rest, *slash;
	size_t bytes;
	int r = read_file(folder, READS, &reads, &bytes);

	if (r < 0)
		return error_set(why, r, "can't read what the compiler wrote: %s", strerror(-r));
	rest = reads;
	strsep(&rest, " "); /* "object:" */
	while (r == 0 && (file = strsep(&rest, " \n"))) {
		if (!*file || !strcmp(file, "\\") || is_below(file, HEADERS))
			continue;
		if (!*own)
			find_own(own, folder);
		if (is_below(file, own))
			continue;
		slash = strrchr(file, '/');
		r = error_set(why, -EINVAL, "%s: it includes %s; a policy is one file",
			source_place(place, source, line_of_text(source, slash ? slash + 1 : file)),
			clean_text(file));
	}
	free(reads);
	return r;
}

/* ---- compiling ---- */

int compile(char **ret, size_t *ret_bytes, enum compile_target target, const char *folder,
	const struct policy_source *source, char **ret_messages, struct error *why)
{
	struct command_output output;
	int r = run(target == COMPILE_BPF ? bpf : native, source, folder, &output);

	if (r == -ENOENT)
		return error_set(why, r,
			"%s: a policy is compiled by clang, which is not installed; remedy: apt-get install clang",
			source->name);
	if (r == -ETIMEDOUT)
		return error_set(why, r, "%s: the compiler did not end within %d s and was stopped",
			source->name, SECONDS);
	if (r < 0)
		return error_set(why, r, "%s: can't run clang: %s", source->name, strerror(-r));
	if (output.status) {
		/* a crash tells the user nothing */
		if (ret_messages && !strstr(output.err, "Stack dump"))
			*ret_messages = strdup(output.err);
		return explain_failure(source, &output, why);
	}
	r = check_reads(folder, source, why);
	if (r < 0)
		return r;
	r = read_file(folder, OBJECT, ret, ret_bytes);
	return r < 0 ? error_set(why, r, "can't read what the compiler wrote: %s", strerror(-r))
		     : 0;
}
