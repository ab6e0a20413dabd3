/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <math.h>
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
#include "report/plot.h"

#define SIZES 4

static const struct plot_point adaptive[SIZES] = {{4096, 12, 10, 15, NULL},
	{131072, 30, 25, 33, NULL}, {2097152, 170, 150, 200, NULL},
	{16777216, 900, 900, 900, NULL}};
static const struct plot_point roce[SIZES] = {{4096, 20, 10, 25, NULL}, {131072, 90, 90, 90, NULL},
	{2097152, NAN, NAN, NAN, NULL}, {16777216, 640, 530, 750, NULL}};
static const struct plot_series two[] = {{"adaptive", adaptive, SIZES}, {"rocev2", roce, SIZES}};

static struct plot two_lines(void)
{
	return (struct plot){.kind = PLOT_LINES,
		.title = "completion",
		.x_label = "message [bytes]",
		.y_label = "flows.fct_us.max [us]",
		.series = two,
		.series_count = COUNT(two)};
}

/* In a folder of its own, with gnuplot or, for the script alone, in milliseconds, without. */
struct place {
	char folder[32];
	char *path;
};

static int enter(void **state)
{
	static struct place place;

	strcpy(place.folder, "/tmp/test-plot-XXXXXX");
	place.path = strdup(getenv("PATH"));
	*state = &place;
	return !place.path || !mkdtemp(place.folder) || chdir(place.folder) < 0 ||
	       setenv("PATH", place.folder, 1) < 0;
}

static int leave(void **state)
{
	const struct place *place = *state;
	char command[64];

	setenv("PATH", place->path, 1);
	free(place->path);
	snprintf(command, sizeof(command), "rm -rf %s", place->folder);
	return chdir("/") < 0 || system(command);
}

/* Of a text file, whole; free() it. NULL: there is none. */
static char *content(const char *name)
{
	FILE *f = fopen(name, "re");
	char *text = NULL;
	size_t size = 0;

	if (f && getdelim(&text, &size, '\0', f) < 0)
		fail();
	if (f)
		fclose(f);
	return text;
}

/* free() it. */
static char *script_of(const struct plot *p)
{
	struct error why = ERROR_INIT;

	unlink("x.gnuplot");
	assert_int_equal(plot_draw(p, "x.svg", &why), -ENOENT);
	assert_non_null(strstr(why.text, "gnuplot-nox"));
	assert_int_equal(access("x.gnuplot.new", F_OK), -1);
	return content("x.gnuplot");
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("there is no\n%s\nin\n%s", part, text);
}

static void assert_script(const struct plot *p, const char *const parts[])
{
	char *script = script_of(p);

	for (; *parts; parts++)
		assert_has(script, *parts);
	free(script);
}

static void lines_are_in_bands(void **state)
{
	struct plot p = two_lines();

	(void)state;
	assert_script(&p,
		(const char *[]){
			"# In this folder, gnuplot 'x.gnuplot' draws 'x.svg'.\nset terminal svg ",
			"set title 'completion'\nset xlabel 'message [bytes]'\nset ylabel 'flows.fct_us.max [us]'\n",
			"\n$series1 << END\n# x y low high\n4096 12 10 15\n131072 30 25 33\n",
			"\n131072 90 90 90\nNaN NaN NaN NaN\n16777216 640 530 750\nEND\n",
			"$series2 using 1:3:4 with filledcurves ls 2 ",
			"$series2 using 1:2 with linespoints ls 2 title 'rocev2'\n",
			"set yrange [0:*]\n", NULL});
}

static void sizes_are_labels_of_a_logarithmic_axis(void **state)
{
	struct plot p = two_lines();

	(void)state;
	p.log_x = p.log_y = true;
	assert_script(&p,
		(const char *[]){
			"set logscale x\nset xtics ()\nset xtics add ('4Ki' 4096)\nset xtics add ('128Ki' 131072)\n"
			"set xtics add ('2Mi' 2097152)\nset xtics add ('16Mi' 16777216)\nset yrange ",
			"set logscale y\nset ytics ()\nset ytics add ('10' 10)\nset ytics add ('20' 20)\nset ytics add ('50' 50)\n",
			NULL});
}

/* Where powers of ten are too far apart, or too close. */
static void logarithmic_axes_always_have_labels(void **state)
{
	struct plot_point points[] = {
		{1, 110, 110, 110, NULL}, {1.01, 140, 140, 140, NULL}, {50, 120, 120, 120, NULL}};
	struct plot_series s = {"", points, COUNT(points)};
	struct plot p = {.log_x = true, .log_y = true, .series = &s, .series_count = 1};

	(void)state;
	assert_script(&p,
		(const char *[]){
			"set xtics ()\nset xtics add ('1' 1)\nset xtics add ('2' 2)\nset xtics add ('5' 5)\nset xtics add ('10' 10)\n",
			"set ytics add ('110' 110)\nset ytics add ('120' 120)\n",
			" with linespoints ls 1 notitle\n", NULL});
	points[0].y = points[0].low = points[0].high = 1e-300;
	assert_script(&p, (const char *[]){"('1e-256' 1e-256)\n", NULL});
}

static void below_a_logarithmic_axis_is_a_gap(void **state)
{
	const struct plot_point points[] = {
		{0, 1, 1, 1, NULL}, {8, 0, 0, 0, NULL}, {16, 5, -3, 7, NULL}};
	const struct plot_series s = {"", points, COUNT(points)};
	struct plot p = {.log_x = true, .log_y = true, .series = &s, .series_count = 1};
	struct error why = ERROR_INIT;

	(void)state;
	assert_script(
		&p, (const char *[]){
			    "high\nNaN NaN NaN NaN\nNaN NaN NaN NaN\n16 5 1.25 7\nEND\n", NULL});
	p.series_count = 0;
	assert_int_equal(plot_draw(&p, "y.svg", &why), -ENODATA);
	assert_string_equal(why.text,
		"there is nothing to draw in y.svg: no point has finite numbers above 0, as a logarithmic axis takes");
	assert_int_equal(access("y.gnuplot", F_OK), -1);
}

static void bars_stand_side_by_side(void **state)
{
	const struct plot_point one[] = {{0, 3, 2, 4, "in_cast"}, {0, 5, 5, 5, "100%"}};
	const struct plot_point other[] = {
		{0, 6, 6, 6, "100%"}, {20, 7, 7, 7, NULL}, {3, 8, 8, 8, NULL}};
	const struct plot_series s[] = {{"one", one, 2}, {"other", other, 3}};
	const struct plot p = {.kind = PLOT_BARS, .series = s, .series_count = 2};

	(void)state;
	assert_script(&p,
		(const char *[]){
			"add ('3' 0)\nset xtics add ('20' 1)\nset xtics add ('in_cast' 2)\nset xtics add ('100%%' 3)\n",
			"1.8 3 2 4\n2.8 5 5 5\nEND\n", "3.2 6 6 6\n1.2 7 7 7\n0.2 8 8 8\nEND\n",
			"$series2 using 1:2 with boxes ls 2 title 'other', \\\n$series1 using 1:3:(0):",
			NULL});
}

static void points_have_error_bars(void **state)
{
	struct plot p = two_lines();

	(void)state;
	p.kind = PLOT_POINTS;
	assert_script(&p,
		(const char *[]){"$series1 using 1:2 with points ls 1 title 'adaptive', \\\n",
			"$series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors ", NULL});
}

static void a_cdf_rises_from_0_to_1(void **state)
{
	const struct plot_point points[] = {{.x = 5}, {.x = 2}, {.x = NAN}, {.x = 5}, {.x = 9}};
	const struct plot_series s = {"one", points, COUNT(points)};
	const struct plot p = {.kind = PLOT_CDF, .log_y = true, .series = &s, .series_count = 1};

	(void)state;
	assert_script(&p,
		(const char *[]){"set yrange [0:1]\n", "# x share\n2 0\n2 0.25\n5 0.75\n9 1\nEND\n",
			"with steps ls 1 ", NULL});
}

/* A million flows take no more steps than there are pixels. */
static void long_cdfs_are_thinned(void **state)
{
	static struct plot_point points[100000];
	const struct plot_series s = {"", points, COUNT(points)};
	const struct plot p = {.kind = PLOT_CDF, .series = &s, .series_count = 1};
	char *script;

	(void)state;
	for (size_t i = 0; i < COUNT(points); i++)
		points[i].x = (double)(COUNT(points) - i);
	script = script_of(&p);
	assert_has(script, "\n50 0.0005\n100 0.001\n");
	assert_has(script, "\n99950 0.9995\n100000 1\nEND\n");
	assert_true(strlen(script) < 50000);
	free(script);
}

static void texts_are_letters(void **state)
{
	struct plot p = two_lines();

	(void)state;
	p.title = "it's `id` $(id) \\n\n\x1b @x \xff \xc2\xb5s {/Bold b}";
	p.y_label = "the time from the first byte's departure to the last one's arrival";
	assert_script(&p,
		(const char *[]){"set title 'it''s `id` $(id) \\n?? @x ? \xc2\xb5s {/Bold b}'\n",
			"set ylabel 'the time from the first byte''s departure to the'.\"\\n\".'last one''s arrival'\n",
			" noenhanced ", NULL});
}

static void only_svg_and_pdf(void **state)
{
	static const char *const names[] = {
		"x.png", "x", ".svg", "y/.pdf", "x.svg/y", "x\n.svg", ""};
	struct plot p = two_lines();
	struct error why;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(plot_draw(&p, names[i], &why), -EINVAL);
		assert_has(why.text, "NAME.svg or NAME.pdf, not '");
	}
	assert_int_equal(plot_draw(&p, "none/x.svg", &why), -EIO);
	assert_string_equal(
		why.text, "can't write the script of none/x.svg: No such file or directory");
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (text = strstr(text, part); text; text = strstr(text + 1, part))
		n++;
	return n;
}

/* Names that gnuplot or a shell could take for commands, and the script run by hand. */
static void gnuplot_draws_each_series(void **state)
{
	static const char hostile[] = "|touch pwned;'`touch pwned`.svg";
	const struct place *place = *state;
	struct plot_series s[] = {two[0], two[1]};
	struct plot p = two_lines();
	struct error why = ERROR_INIT;
	char *svg, *again;

	setenv("PATH", place->path, 1);
	if (system("command -v gnuplot >/dev/null"))
		skip();
	s[0].name = "a 'b' \"c\" \\ _d_ @{} $series1 `touch pwned` %d";
	s[1].name = p.title = p.x_label = "\"; system('touch pwned') #";
	p.series = s;
	if (plot_draw(&p, hostile, &why) < 0)
		fail_msg("%s", why.text);
	svg = content(hostile);
	assert_int_equal(unlink(hostile), 0);
	assert_has(svg, "<text>a 'b' \"c\" \\ _d_ @{} $series1 `touch pwned` %d</text>");
	assert_int_equal(count(svg, "system('touch pwned') #</text>"), 3);
	/* of each its band, line and markers */
	assert_int_equal(count(svg, "id=\"gnuplot_plot_"), 4);
	assert_true(count(svg, "<path stroke='rgb(  0, 114, 178)'") >= 1);
	assert_true(count(svg, "<path stroke='rgb(213,  94,   0)'") >= 1);
	assert_int_equal(system("gnuplot -d ./*.gnuplot"), 0);
	again = content(hostile);
	assert_non_null(again);
	assert_string_equal(svg, again);
	assert_int_equal(access("pwned", F_OK), -1);
	assert_int_equal(access("'`touch pwned`.svg.new", F_OK), -1);
	free(svg);
	free(again);
}

static void what_gnuplot_complains_of_is_told(void **state)
{
	FILE *f = fopen("gnuplot", "we");
	struct plot p = two_lines();
	struct error why = ERROR_INIT;

	(void)state;
	fputs("#!/bin/sh\necho '</svg>' >$4\necho '  line 3:\nbad' >&2\nexit 1\n", f);
	fchmod(fileno(f), 0755);
	fclose(f);
	assert_int_equal(plot_draw(&p, "x.svg", &why), -EIO);
	assert_string_equal(why.text, "gnuplot could not draw x.svg:   line 3: bad ");
	assert_int_equal(access("x.svg", F_OK), -1);
	assert_int_equal(access("x.svg.new", F_OK), -1);
	f = fopen("gnuplot", "we");
	fputs("#!/bin/sh\necho '<svg>' >$4\n", f);
	fclose(f);
	assert_int_equal(plot_draw(&p, "x.svg", &why), -EIO);
	assert_has(why.text, "x.svg: the picture is cut short");
	assert_int_equal(access("x.svg", F_OK), -1);
	unlink("gnuplot");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_in_bands),
		cmocka_unit_test(sizes_are_labels_of_a_logarithmic_axis),
		cmocka_unit_test(logarithmic_axes_always_have_labels),
		cmocka_unit_test(below_a_logarithmic_axis_is_a_gap),
		cmocka_unit_test(bars_stand_side_by_side),
		cmocka_unit_test(points_have_error_bars),
		cmocka_unit_test(a_cdf_rises_from_0_to_1),
		cmocka_unit_test(long_cdfs_are_thinned),
		cmocka_unit_test(texts_are_letters),
		cmocka_unit_test(only_svg_and_pdf),
		cmocka_unit_test(what_gnuplot_complains_of_is_told),
		cmocka_unit_test(gnuplot_draws_each_series),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
