/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/cli.h"
#include "io/command.h"
#include "report/graph.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

static const struct cli_option options[] = {
	{"format", 'f', "FORMAT",
		"dot, or svg, png, pdf, ps, ... (default: by FILE's ending, else dot)"},
	{"output", 'o', "FILE", "write there instead of to standard output"},
	{"set", 's', "KEY=VALUE", "override a key of the scenario; may be given several times"},
	{0},
};

/* Graphviz's name of a format that it draws; "dot" is the text itself; NULL: neither. */
static const char *find_format(const char *word)
{
	static const char *const formats[] = {"dot", "svg", "png", "pdf", "ps", "eps", "jpg",
		"jpeg", "gif", "webp", "tiff", "bmp"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcasecmp(word, formats[i]))
			return formats[i];
	return NULL;
}

/* By a word, else by the ending of a file's name, else the text. NULL after a message. */
static const char *choose_format(const char *word, const char *output)
{
	const char *ending = output ? strrchr(output, '.') : NULL;
	const char *format = word ? find_format(word) : ending ? find_format(ending + 1) : NULL;

	if (word && !format)
		cli_error("graph: --format is dot, svg, png, pdf, ps, ..., not '%s'", word);
	return word || format ? format : "dot";
}

/* A path by which another process opens our descriptor. */
#define FD_PATH 64
static const char *fd_path(char buf[FD_PATH], const char *before, int fd)
{
	snprintf(buf, FD_PATH, "%s/proc/%d/fd/%d", before, (int)getpid(), fd);
	return buf;
}

/* Graphviz reads `text` and draws into `picture`, files in memory. */
static int run_dot(const char *format, int text, int picture)
{
	char type[16], from[FD_PATH], to[FD_PATH];
	const char *const argv[] = {
		"dot", type, fd_path(to, "-o", picture), fd_path(from, "", text), NULL};
	struct command_output ran;
	int r;

	snprintf(type, sizeof(type), "-T%s", format);
	r = command_run(argv, environ, &ran);
	if (r == -ENOENT) {
		cli_error(
			"graph: %s is drawn by Graphviz's dot, which is not installed; remedy: install the package graphviz, or draw the text elsewhere: --format dot",
			format);
		return EXIT_MACHINE;
	}
	if (r == 0 && WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0)
		return EXIT_WELL;
	cli_error("graph: dot failed: %.*s", (int)strcspn(r < 0 ? strerror(-r) : ran.err, "\n"),
		r < 0 ? strerror(-r) : ran.err);
	return EXIT_RUN;
}

static int draw(const struct fabric *f, const char *format, int picture)
{
	int fd = memfd_create("text", MFD_CLOEXEC), status = EXIT_RUN, r;
	FILE *text = fd < 0 ? NULL : fdopen(fd, "w");

	r = text ? graph_write(f, text) : -errno;
	if (r == 0 && fflush(text))
		r = -errno;
	if (r == 0)
		status = run_dot(format, fd, picture);
	else
		cli_error("can't write the graph: %s", strerror(-r));
	if (text)
		fclose(text);
	else if (fd >= 0)
		close(fd);
	return status;
}

/* 0 or -errno. */
static int copy_picture(int picture, FILE *out)
{
	char buf[65536];
	ssize_t n;
	off_t at = 0;

	while ((n = pread(picture, buf, sizeof(buf), at)) > 0) {
		if (fwrite(buf, 1, (size_t)n, out) != (size_t)n)
			return -errno;
		at += n;
	}
	return n < 0 ? -errno : 0;
}

/* picture: a file in memory that has it; -1: the text is wanted. */
static int write_graph(const struct fabric *f, int picture, const char *output)
{
	FILE *out = output ? fopen(output, "we") : stdout;
	int r;

	if (!out) {
		cli_error("can't write %s: %s", output, strerror(errno));
		return EXIT_INPUT;
	}
	r = picture < 0 ? graph_write(f, out) : copy_picture(picture, out);
	if (output && fclose(out) && r == 0)
		r = -errno;
	if (r < 0) {
		if (output || !ferror(out)) /* main() looks after standard output */
			cli_error(
				"can't write %s: %s", output ? output : "the graph", strerror(-r));
		return EXIT_RUN;
	}
	return EXIT_WELL;
}

static int run_graph(const struct command *c, const struct cli_args *args)
{
	const char *output = cli_value(c, args, "output");
	const char *format = choose_format(cli_value(c, args, "format"), output);
	int status = format ? EXIT_WELL : EXIT_INPUT, picture = -1;
	struct scenario *s;
	struct fabric *f;

	if (status == EXIT_WELL)
		status = cli_load(args->positional[0], args, &s, &f);
	if (status != EXIT_WELL)
		return status;
	if (strcmp(format, "dot")) {
		picture = memfd_create("picture", MFD_CLOEXEC);
		status = draw(f, format, picture);
	}
	if (status == EXIT_WELL)
		status = write_graph(f, picture, output);
	if (picture >= 0)
		close(picture);
	fabric_free(f);
	scenario_free(s);
	return status;
}

const struct command cmd_graph = {
	.name = "graph",
	.operands = "FILE",
	.summary = "draw the topology, as text for Graphviz or as a picture",
	.details =
		"Draws nodes by tier and the links between them, as text in the language of Graphviz. Pictures are\n"
		"drawn by its program dot, of the Debian package graphviz. Nothing is built.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_graph,
};
