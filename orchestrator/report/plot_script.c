/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/plot_script.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/numbers.h"
#include "scenario/text.h"

#define TITLE_LETTERS   80 /* of a line across the picture, and of one along the y axis */
#define Y_LABEL_LETTERS 46
#define BARS_LETTERS    70   /* of all words under bars, beyond which they stand aslant */
#define MARKED_MAX      40   /* points of a line, beyond which their markers would hide it */
#define CDF_STEPS       2000 /* more would lie between two pixels */
#define PAD             0.03 /* of an axis, beyond the outermost points */
#define TICKS_APART     0.06 /* of an axis: labels closer than this run into each other */
#define TICKS_MAX       64

/* By Okabe and Ito, "Color Universal Design" (2008), which the colour-blind can tell apart. */
static const char *const colours[] = {
	"#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000", "#F0E442"};
static const int markers[COUNT(colours)] = {7, 5, 9, 13, 11, 15, 6, 4};

struct range {
	double low, high;
};

/* Where bars stand or ticks may: at a word, or at a number. */
struct place {
	double x;
	const char *word; /* NULL: the number */
};

struct drawing {
	const struct plot *plot;
	FILE *f;
	bool bars, log_x, log_y;
	struct range x, y;    /* of all that can be drawn */
	struct place *places; /* of all x: numbers by size, and then words in their order */
	size_t place_count;   /* of lines and points no more than TICKS_MAX + 1 */
};

/* ---- texts ---- */

static bool is_empty(const char *text)
{
	return !text || !*text;
}

/*
 * In single quotes gnuplot knows no escapes, variables or commands; a quote is doubled. Goes on in
 * another line at a blank behind so many letters; 0: never. In labels of ticks '%' begins a format.
 */
static void put_text(FILE *f, const char *text, unsigned line, bool tick)
{
	unsigned letters = 0;
	uint32_t code;

	putc('\'', f);
	while (*text) {
		const char *start = text;
		bool plain = text_next(&text, &code) && text_code_printable(code);

		if (line && ++letters > line && *start == ' ') {
			fputs("'.\"\\n\".'", f);
			letters = 0;
			continue;
		}
		if (*start == '\'' || (tick && *start == '%'))
			putc(*start, f);
		if (plain)
			fwrite(start, 1, (size_t)(text - start), f);
		else
			putc('?', f);
	}
	putc('\'', f);
}

static void put_set(FILE *f, const char *what, const char *text, unsigned line)
{
	if (is_empty(text))
		return;
	fprintf(f, "set %s ", what);
	put_text(f, text, line, false);
	putc('\n', f);
}

/* Exactly, as a text: '16Mi' of 16 * 2^20, '25k', '0.5'. */
static void put_number(FILE *f, double number)
{
	static const struct {
		double base;
		const char *ending;
	} scales[] = {{1000, ""}, {1024, "i"}};

	for (size_t i = 0; i < COUNT(scales); i++) {
		double left = number;
		int power = 0;

		while (power < 4 && fabs(left) >= scales[i].base &&
			fmod(left, scales[i].base) == 0) {
			left /= scales[i].base;
			power++;
		}
		if (power) {
			fprintf(f, "'%.12g%c%s'", left, i ? "_KMGT"[power] : "_kMGT"[power],
				scales[i].ending);
			return;
		}
	}
	fprintf(f, "'%.12g'", number);
}

/* ---- what can be drawn ---- */

static bool fits(double number, bool log)
{
	return isfinite(number) && (!log || number > 0);
}

static bool is_drawn(const struct drawing *d, const struct plot_point *p)
{
	return ((d->bars && p->label) || fits(p->x, d->log_x)) &&
	       (d->plot->kind == PLOT_CDF || fits(p->y, d->log_y));
}

static bool has_band(const struct plot_point *p)
{
	return isfinite(p->low) && isfinite(p->high) && p->low < p->high;
}

static bool series_has_band(const struct drawing *d, const struct plot_series *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (is_drawn(d, &s->points[i]) && has_band(&s->points[i]))
			return true;
	return false;
}

static void widen(struct range *r, double number, bool log)
{
	if (!fits(number, log))
		return;
	r->low = fmin(r->low, number);
	r->high = fmax(r->high, number);
}

static bool is_at(const struct place *place, const struct plot_point *p)
{
	if (!place->word || !p->label)
		return place->word == p->label && place->x == p->x;
	return !strcmp(place->word, p->label);
}

/* The number of places: it has none yet. */
static size_t place_of(const struct drawing *d, const struct plot_point *p)
{
	size_t i = 0;

	while (i < d->place_count && !is_at(&d->places[i], p))
		i++;
	return i;
}

static int add_place(struct drawing *d, const struct plot_point *p)
{
	size_t at = d->place_count;

	if ((!d->bars && at > TICKS_MAX) || place_of(d, p) < at)
		return 0;
	if (ARRAY_ROOM(d->places, d->place_count) < 0)
		return -ENOMEM;
	for (; !p->label && at && (d->places[at - 1].word || d->places[at - 1].x > p->x); at--)
		d->places[at] = d->places[at - 1];
	d->places[at] = (struct place){p->x, p->label};
	d->place_count++;
	return 0;
}

/* What the axes have to reach. -ENODATA: nothing. */
static int measure(struct drawing *d)
{
	const struct plot *plot = d->plot;
	int r = 0;

	d->x = d->y = (struct range){INFINITY, -INFINITY};
	for (size_t s = 0; s < plot->series_count; s++)
		for (size_t i = 0; r == 0 && i < plot->series[s].count; i++) {
			struct plot_point p = plot->series[s].points[i];

			p.label = d->bars ? p.label : NULL;
			if (!is_drawn(d, &p))
				continue;
			r = add_place(d, &p);
			widen(&d->x, p.x, d->log_x);
			widen(&d->y, p.y, d->log_y);
			if (has_band(&p)) {
				widen(&d->y, p.low, d->log_y);
				widen(&d->y, p.high, d->log_y);
			}
		}
	return r < 0 || d->place_count ? r : -ENODATA;
}

/* ---- axes ---- */

/* As much on either side as makes it easy to read; one number has room around it. */
static struct range padded(struct range r, bool log)
{
	double pad;

	if (log) {
		pad = r.high > r.low ? pow(r.high / r.low, PAD) : 2;
		return (struct range){fmax(r.low / pad, DBL_MIN), fmin(r.high * pad, DBL_MAX)};
	}
	pad = r.high > r.low ? PAD * (r.high - r.low) : r.low ? fabs(r.low) / 2 : 1;
	return (struct range){r.low - pad, r.high + pad};
}

static void put_range(struct drawing *d, char axis, struct range r)
{
	fprintf(d->f, "set %crange [%.12g:%.12g]\n", axis, r.low, r.high);
}

/* word NULL: the number itself. */
static void put_tick(struct drawing *d, char axis, double at, const char *word, double number)
{
	fprintf(d->f, "set %ctics add (", axis);
	if (word)
		put_text(d->f, word, 0, true);
	else
		put_number(d->f, number);
	fprintf(d->f, " %.12g)\n", at);
}

/* Whether labels at each number that there is keep apart. */
static bool has_own_ticks(struct drawing *d)
{
	double apart = TICKS_APART * log(d->x.high / d->x.low);

	for (size_t i = 1; i < d->place_count; i++)
		if (log(d->places[i].x / d->places[i - 1].x) < apart)
			return false;
	return d->place_count <= TICKS_MAX;
}

/* Within a decade about five. */
static void put_even_ticks(struct drawing *d, char axis, struct range r)
{
	double least = (r.high - r.low) / 6, step = pow(10, floor(log10(least)));

	step *= least <= 2 * step ? 2 : least <= 5 * step ? 5 : 10;
	for (double i = ceil(r.low / step); i * step <= r.high; i++)
		put_tick(d, axis, i * step, NULL, i * step);
}

/* At 1, 10, 100, ...: of few decades also between, of many not at each. */
static void put_decade_ticks(struct drawing *d, char axis, struct range r)
{
	static const double leading[] = {1, 2, 5};
	double decades = log10(r.high) - log10(r.low), at;
	int step = (int)ceil(decades / 10);

	for (int power = (int)floor(log10(r.low) / step) * step; power <= log10(r.high);
		power += step)
		for (size_t i = 0; i < (decades < 3 ? COUNT(leading) : 1); i++) {
			at = leading[i] * pow(10, power);
			if (at >= r.low && at <= r.high)
				put_tick(d, axis, at, NULL, at);
		}
}

/* gnuplot's own labels are at powers of ten alone, of which there may be none. */
static void put_log_axis(struct drawing *d, char axis, struct range r, bool own)
{
	put_range(d, axis, r);
	fprintf(d->f, "set logscale %c\nset %ctics ()\n", axis, axis);
	if (own)
		for (size_t i = 0; i < d->place_count; i++)
			put_tick(d, axis, d->places[i].x, NULL, d->places[i].x);
	else if (r.high / r.low < 10)
		put_even_ticks(d, axis, r);
	else
		put_decade_ticks(d, axis, r);
}

static void put_format(struct drawing *d, char axis, struct range r)
{
	if (fmax(fabs(r.low), fabs(r.high)) >= 1e6)
		fprintf(d->f, "set format %c '%%.1s%%c'\n", axis);
}

static void put_words(struct drawing *d)
{
	size_t longest = 0;

	put_range(d, 'x', (struct range){-0.6, (double)d->place_count - 0.4});
	for (size_t i = 0; i < d->place_count; i++)
		longest = max_u64(longest, d->places[i].word ? strlen(d->places[i].word) + 2 : 8);
	fprintf(d->f, "set xtics () scale 0%s\n",
		longest * d->place_count > BARS_LETTERS ? " rotate by 35 right\nset rmargin 3"
							: "");
	for (size_t i = 0; i < d->place_count; i++)
		put_tick(d, 'x', (double)i, d->places[i].word, d->places[i].x);
}

static void put_x_axis(struct drawing *d)
{
	struct range r = padded(d->x, d->log_x);

	if (d->bars) {
		put_words(d);
	} else if (d->log_x) {
		put_log_axis(d, 'x', r, has_own_ticks(d));
	} else {
		put_range(d, 'x', r);
		put_format(d, 'x', r);
	}
}

/* From 0 where that leaves the points the upper half; bars always. */
static void put_y_axis(struct drawing *d)
{
	struct range r = d->y;

	if (d->plot->kind == PLOT_CDF) {
		put_range(d, 'y', (struct range){0, 1});
	} else if (d->log_y) {
		r.low /= d->bars ? 2 : 1; /* the smallest is a bar, too */
		put_log_axis(d, 'y', padded(r, true), false);
	} else {
		bool zero = d->bars || 2 * r.low <= r.high || r.low == r.high;

		put_format(d, 'y', r);
		if (!r.low && !r.high)
			put_range(d, 'y', (struct range){0, 1});
		else if (zero && r.low >= 0)
			fprintf(d->f, "set yrange [0:*]\n");
		else if (zero && r.high <= 0)
			fprintf(d->f, "set yrange [*:0]\n");
	}
}

/* ---- data ---- */

static void put_point(struct drawing *d, double x, const struct plot_point *p)
{
	double low = p->low, high = p->high;

	if (!is_drawn(d, p)) {
		fprintf(d->f, "NaN NaN NaN NaN\n");
		return;
	}
	if (!has_band(p))
		low = high = p->y;
	if (d->log_y) /* a bound below the axis is not on it */
		low = fmax(low, d->y.low / 4);
	fprintf(d->f, "%.12g %.12g %.12g %.12g\n", x, p->y, low, high);
}

/* Width of one bar; a group is as wide as 0.8 of the way to the next. */
static double bar_width(const struct drawing *d)
{
	return 0.8 / (double)d->plot->series_count;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* x and the share that is at most x, first 0. */
static int put_shares(struct drawing *d, const struct plot_series *s)
{
	double *xs = calloc(s->count + 1, sizeof(*xs));
	size_t count = 0, told = 0;

	if (!xs)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		if (is_drawn(d, &s->points[i]))
			xs[count++] = s->points[i].x;
	qsort(xs, count, sizeof(*xs), compare_double);
	fprintf(d->f, count ? "%.12g 0\n" : "NaN NaN\n", xs[0]);
	for (size_t i = 1; i <= count; i++)
		if (i == count || (xs[i - 1] < xs[i] && (i - told) * CDF_STEPS >= count)) {
			fprintf(d->f, "%.12g %.12g\n", xs[i - 1], (double)i / (double)count);
			told = i;
		}
	free(xs);
	return 0;
}

static int put_data(struct drawing *d, size_t index)
{
	const struct plot_series *s = &d->plot->series[index];
	double shift = ((double)index - (double)(d->plot->series_count - 1) / 2) * bar_width(d);
	int r = 0;

	fprintf(d->f, "\n$series%zu << END\n# %s\n", index + 1,
		d->plot->kind == PLOT_CDF ? "x share" : "x y low high");
	if (d->plot->kind == PLOT_CDF)
		r = put_shares(d, s);
	for (size_t i = 0; d->plot->kind != PLOT_CDF && i < s->count; i++)
		put_point(d, d->bars ? (double)place_of(d, &s->points[i]) + shift : s->points[i].x,
			&s->points[i]);
	if (!s->count && d->plot->kind != PLOT_CDF)
		fprintf(d->f, "NaN NaN NaN NaN\n");
	fprintf(d->f, "END\n");
	return r;
}

/* ---- the script ---- */

/* Behind the lines. */
static void put_bands(struct drawing *d)
{
	for (size_t i = 0; i < d->plot->series_count; i++)
		if (d->plot->kind == PLOT_LINES && series_has_band(d, &d->plot->series[i]))
			fprintf(d->f,
				"$series%zu using 1:3:4 with filledcurves ls %zu fs transparent solid 0.2 noborder notitle, \\\n",
				i + 1, i + 1);
}

static void put_series(struct drawing *d, size_t index)
{
	const struct plot_series *s = &d->plot->series[index];
	const char *const styles[] = {
		[PLOT_LINES] = s->count > MARKED_MAX ? "lines" : "linespoints",
		[PLOT_POINTS] = "points",
		[PLOT_BARS] = "boxes",
		[PLOT_CDF] = "steps",
	};

	fprintf(d->f, "%s$series%zu using 1:2 with %s ls %zu", index ? ", \\\n" : "", index + 1,
		styles[d->plot->kind], index + 1);
	if (is_empty(s->name)) {
		fputs(" notitle", d->f);
		return;
	}
	fputs(" title ", d->f);
	put_text(d->f, s->name, 0, false);
}

/* In front. Not gnuplot's yerrorbars, which leave a hole around the point. */
static void put_error_bars(struct drawing *d)
{
	bool over = d->bars; /* another colour than theirs */

	for (size_t i = 0; i < d->plot->series_count; i++)
		if ((over || d->plot->kind == PLOT_POINTS) &&
			series_has_band(d, &d->plot->series[i]))
			fprintf(d->f,
				", \\\n$series%zu using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size graph 0.006,90 ls %zu%s notitle",
				i + 1, i + 1, over ? " lc rgb '#404040'" : "");
	putc('\n', d->f);
}

static void put_style(struct drawing *d)
{
	fprintf(d->f,
		"set encoding utf8\n"
		"set datafile separator whitespace\n"
		"set border 3 lc rgb '#404040'\n"
		"set tics nomirror out textcolor rgb 'black'\n"
		"set grid %sytics back lt 1 lc rgb '#e0e0e0' lw 1\n"
		"set key bmargin center horizontal Left reverse title ' ' font ',8'\n",
		d->bars ? "" : "xtics ");
	if (d->bars)
		fprintf(d->f, "set boxwidth %.12g\nset style fill solid 0.9 noborder\n",
			0.92 * bar_width(d));
	for (size_t i = 0; i < d->plot->series_count; i++)
		fprintf(d->f, "set style line %zu lc rgb '%s' lw 2 dt %zu pt %d ps 0.8\n", i + 1,
			colours[i % COUNT(colours)], 1 + i / COUNT(colours),
			markers[i % COUNT(markers)]);
}

static int put_script(struct drawing *d)
{
	const struct plot *p = d->plot;
	int r = 0;

	put_style(d);
	put_set(d->f, "title", p->title, TITLE_LETTERS);
	put_set(d->f, "xlabel", p->x_label, TITLE_LETTERS);
	put_set(d->f, "ylabel", p->y_label, Y_LABEL_LETTERS);
	put_x_axis(d);
	put_y_axis(d);
	for (size_t i = 0; r == 0 && i < p->series_count; i++)
		r = put_data(d, i);
	fputs("\nplot \\\n", d->f);
	put_bands(d);
	for (size_t i = 0; i < p->series_count; i++)
		put_series(d, i);
	put_error_bars(d);
	fputs("set output\n", d->f);
	return r;
}

int plot_script_write(const struct plot *p, const char *terminal, const char *script,
	const char *picture, FILE *f)
{
	bool bars = p->kind == PLOT_BARS;
	struct drawing d = {.plot = p,
		.f = f,
		.bars = bars,
		.log_x = p->log_x && !bars,
		.log_y = p->log_y && p->kind != PLOT_CDF};
	int r = measure(&d);

	if (r == 0) {
		fprintf(f, "# In this folder, gnuplot '%s' draws '%s'.\n", script, picture);
		fprintf(f, "set terminal %s noenhanced font 'sans-serif,14' background 'white'\n",
			terminal);
		/* "./": nor '|' nor '~' in front means anything */
		fputs("set output ARGC ? ARG1 : './'.", f);
		put_text(f, picture, 0, false);
		putc('\n', f);
		r = put_script(&d);
	}
	free(d.places);
	return r;
}
