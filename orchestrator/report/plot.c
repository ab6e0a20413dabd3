/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clean.h"
#include "base/numbers.h"
#include "base/outstream.h"
#include "io/command.h"
#include "report/plot_script.h"
#include "scenario/text.h"

struct format {
	const char *ending, *terminal, *end; /* end: what a whole file ends with */
};

static const struct format formats[] = {
	{".svg", "svg size 800,500", "</svg>"},
	{".pdf", "pdfcairo size 8in,5in fontscale 0.65 linewidth 1.5", "%%EOF"},
};

/* Paths from the root or "./": gnuplot takes "|" and "<" in front for commands. */
struct files {
	const char *given; /* the picture, as messages name it */
	char *script, *script_new, *picture, *picture_new;
};

static void free_files(struct files *f)
{
	free(f->script);
	free(f->script_new);
	free(f->picture);
	free(f->picture_new);
}

static char *join(const char *a, const char *b, size_t b_length, const char *c)
{
	char *text;

	return asprintf(&text, "%s%.*s%s", a, (int)b_length, b, c) < 0 ? NULL : text;
}

static int name_files(struct files *f, const char *file, const struct format *format)
{
	const char *from = *file == '/' ? "" : "./";
	size_t length = strlen(file), stem = length - strlen(format->ending);

	f->given = file;
	f->script = join(from, file, stem, ".gnuplot");
	f->script_new = join(from, file, stem, ".gnuplot" OUTSTREAM_NEW);
	f->picture = join(from, file, length, "");
	f->picture_new = join(from, file, length, OUTSTREAM_NEW);
	return f->script && f->script_new && f->picture && f->picture_new ? 0 : -ENOMEM;
}

static const struct format *format_of(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < COUNT(formats) && dot > name; i++)
		if (!strcmp(dot, formats[i].ending))
			return &formats[i];
	return NULL;
}

static int publish(const char *made, const char *name)
{
	return rename(made, name) < 0 ? -errno : 0;
}

static int write_script(
	const struct plot *p, const struct files *files, const struct format *format)
{
	struct outstream o;
	int r, closed;

	unlink(files->script_new);
	r = outstream_create(&o, AT_FDCWD, files->script_new);
	if (r < 0)
		return r;
	r = plot_script_write(p, format->terminal, strrchr(files->script, '/') + 1,
		strrchr(files->picture, '/') + 1, o.file);
	closed = outstream_close(&o);
	r = r < 0 ? r : closed;
	if (r == 0)
		r = publish(files->script_new, files->script);
	if (r < 0)
		unlink(files->script_new);
	return r;
}

/* gnuplot does not tell of a full disk. */
static bool is_whole(const char *file, const struct format *format)
{
	char tail[16] = "";
	FILE *f = fopen(file, "re");

	if (!f)
		return false;
	if (fseek(f, -(long)sizeof(tail) + 1, SEEK_END) == 0)
		tail[fread(tail, 1, sizeof(tail) - 1, f)] = '\0';
	fclose(f);
	return strstr(tail, format->end);
}

/* Without the user's own settings, so that the same script is the same picture. */
static int run_gnuplot(const struct files *files, const struct format *format, struct error *why)
{
	const char *const argv[] = {
		"gnuplot", "--default-settings", "-c", files->script, files->picture_new, NULL};
	struct command_output output;
	int r;

	unlink(files->picture_new);
	r = command_run(argv, environ, &output);
	if (r == -ENOENT)
		return error_set(why, r,
			"%s is drawn by gnuplot, which is not installed; remedy: install the package gnuplot-nox, and run gnuplot on %s",
			files->given, files->script);
	if (r == 0 && (output.status || !is_whole(files->picture_new, format))) {
		for (char *p = output.err; *p; p++)
			*p = *p == '\n' || *p == '\t' ? ' ' : *p;
		r = error_set(why, -EIO, "gnuplot could not draw %s: %s", files->given,
			*output.err ? clean_text(output.err)
				    : "the picture is cut short; is the disk full?");
	} else {
		r = r < 0 ? r : publish(files->picture_new, files->picture);
		if (r < 0)
			r = error_set(why, -EIO, "can't draw %s: %s", files->given, strerror(-r));
	}
	if (r < 0)
		unlink(files->picture_new);
	return r;
}

static int draw(const struct plot *p, const struct files *files, const struct format *format,
	struct error *why)
{
	int r = write_script(p, files, format);

	if (r == -ENODATA)
		return error_set(why, r,
			"there is nothing to draw in %s: no point has finite numbers%s",
			files->given,
			p->log_x || p->log_y ? " above 0, as a logarithmic axis takes" : "");
	if (r < 0)
		return error_set(
			why, -EIO, "can't write the script of %s: %s", files->given, strerror(-r));
	return run_gnuplot(files, format, why);
}

/* The name alone. */
static int check_name(const char *file, struct error *why)
{
	char shown[TEXT_SHOWN];

	return format_of(file) && text_printable(file, false)
		       ? 0
		       : error_set(why, -EINVAL,
				 "a picture is a file named NAME.svg or NAME.pdf, not '%s'",
				 text_shown(shown, file));
}

int plot_check(const char *file, struct error *why)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash ? join("", file, (size_t)(slash - file) + 1, "") : strdup(".");
	struct stat st;
	int r = check_name(file, why);

	if (r == 0 && !folder)
		r = error_set(why, -EINVAL, "out of memory");
	else if (r == 0 && access(folder, W_OK | X_OK) < 0)
		r = error_set(why, -EINVAL, "can't write %s: %s", file, strerror(errno));
	else if (r == 0 && stat(file, &st) == 0 && S_ISDIR(st.st_mode))
		r = error_set(why, -EINVAL, "can't write %s: it is a folder", file);
	free(folder);
	return r;
}

int plot_draw(const struct plot *p, const char *file, struct error *why)
{
	const struct format *format = format_of(file);
	struct files files = {0};
	int r = check_name(file, why);

	if (r < 0)
		return r;
	r = name_files(&files, file, format) < 0 ? error_set(why, -ENOMEM, "out of memory")
						 : draw(p, &files, format, why);
	free_files(&files);
	return r;
}
