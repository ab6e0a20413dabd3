/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "scenario/scenario.h"

struct database {
	sqlite3 *db;
};

#define COLUMNS_MAX 1024

static int fail(struct database *d, struct error *why)
{
	return error_set(why, -EIO, "SQLite: %s", sqlite3_errmsg(d->db));
}

static int execute(struct database *d, const char *sql, struct error *why)
{
	return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(d, why);
}

/* ---- what goes in ---- */

/* A table that is being filled. */
struct filling {
	struct database *d;
	sqlite3_stmt *insert;
	size_t columns;
};

/* Makes the table and what inserts a row of it. */
static int begin_table(
	struct filling *f, const char *name, const char *const *columns, struct error *why)
{
	char *create = NULL, *insert = NULL;
	size_t length;
	FILE *c = open_memstream(&create, &length), *i = open_memstream(&insert, &length);
	int r;

	if (c && i) {
		fprintf(c, "CREATE TABLE \"%s\" (", name);
		fprintf(i, "INSERT INTO \"%s\" VALUES (", name);
		for (size_t k = 0; k < f->columns; k++) {
			fprintf(c, "%s\"%s\"", k ? ", " : "", columns[k]);
			fprintf(i, "%s?", k ? ", " : "");
		}
		fputc(')', c);
		fputc(')', i);
	}
	r = c && i && fclose(c) == 0 && fclose(i) == 0 ? 0
						       : error_set(why, -ENOMEM, "out of memory");
	if (r == 0)
		r = execute(f->d, create, why);
	if (r == 0 && sqlite3_prepare_v2(f->d->db, insert, -1, &f->insert, NULL) != SQLITE_OK)
		r = fail(f->d, why);
	free(create);
	free(insert);
	return r;
}

/* The text stays until the row is in. Whole numbers are stored as such. */
static void put_cell(struct filling *f, size_t column, const struct sweep_cell *c)
{
	int at = (int)column + 1;

	if (c->kind == CELL_TEXT)
		sqlite3_bind_text(f->insert, at, c->text, -1, SQLITE_STATIC);
	else if (c->kind == CELL_WHOLE && c->whole <= INT64_MAX)
		sqlite3_bind_int64(f->insert, at, (sqlite3_int64)c->whole);
	else if (c->kind == CELL_WHOLE)
		sqlite3_bind_double(f->insert, at, (double)c->whole);
	else if (c->kind == CELL_NUMBER && c->number == (double)(sqlite3_int64)c->number)
		sqlite3_bind_int64(f->insert, at, (sqlite3_int64)c->number);
	else if (c->kind == CELL_NUMBER)
		sqlite3_bind_double(f->insert, at, c->number);
	else
		sqlite3_bind_null(f->insert, at);
}

static int end_row(struct filling *f, struct error *why)
{
	int r = sqlite3_step(f->insert) == SQLITE_DONE ? 0 : fail(f->d, why);

	sqlite3_reset(f->insert);
	return r;
}

static int add_runs(struct database *d, const struct sweep_table *t, struct error *why)
{
	struct filling f = {.d = d, .columns = sweep_table_columns(t)};
	const char **columns = calloc(f.columns, sizeof(*columns));
	int r = columns ? 0 : error_set(why, -ENOMEM, "out of memory");

	for (size_t i = 0; r == 0 && i < f.columns; i++)
		columns[i] = sweep_table_name(t, i);
	if (r == 0)
		r = begin_table(&f, "runs", columns, why);
	for (size_t run = 0; r == 0 && run < t->plan->count; run++) {
		for (size_t i = 0; i < f.columns; i++) {
			struct sweep_cell c = sweep_table_cell(t, run, i);

			put_cell(&f, i, &c);
		}
		r = end_row(&f, why);
	}
	sqlite3_finalize(f.insert);
	free(columns);
	return r;
}

/* ---- files of results ---- */

/* The fields of a line, whose commas and end become zeros: results hold no quoted field. */
static size_t split(char *line, char *fields[COLUMNS_MAX])
{
	size_t count = 0;
	char *field;

	line[strcspn(line, "\n")] = '\0';
	while (count < COLUMNS_MAX && (field = strsep(&line, ",")))
		fields[count++] = field;
	return count;
}

static struct sweep_cell field_cell(const char *field)
{
	struct sweep_cell c = {.kind = CELL_EMPTY, .text = field};
	char *end;

	if (!*field)
		return c;
	c.number = strtod(field, &end);
	c.kind =
		*end || strspn(field, "0123456789.+-eE") != strlen(field) ? CELL_TEXT : CELL_NUMBER;
	return c;
}

/* The lines of a file behind its title, each with the run in front. */
static int add_lines(struct filling *f, FILE *in, const char *run, struct error *why)
{
	const struct sweep_cell id = {.kind = CELL_TEXT, .text = run};
	char *line = NULL, *fields[COLUMNS_MAX];
	size_t size = 0;
	int r = 0;

	while (r == 0 && getline(&line, &size, in) > 0) {
		size_t count = split(line, fields);

		put_cell(f, 0, &id);
		for (size_t i = 0; i + 1 < f->columns; i++) {
			struct sweep_cell c = field_cell(i < count ? fields[i] : "");

			put_cell(f, i + 1, &c);
		}
		r = end_row(f, why);
	}
	free(line);
	return r;
}

static int add_file(
	struct filling *f, const char *path, const char *name, const char *run, struct error *why)
{
	char *title = NULL, *columns[1 + COLUMNS_MAX];
	FILE *in = fopen(path, "re");
	size_t size = 0;
	int r = 0;

	if (!in)
		return error_set(why, -EINVAL,
			"can't read %s: %s; sweep.tables asks for it: does the run write it?", path,
			strerror(errno));
	if (getline(&title, &size, in) <= 0)
		r = error_set(why, -EINVAL, "%s is empty", path);
	columns[0] = (char *)"run";
	if (r == 0 && !f->insert) {
		f->columns = 1 + split(title, columns + 1);
		r = begin_table(f, name, (const char *const *)columns, why);
	}
	if (r == 0)
		r = add_lines(f, in, run, why);
	free(title);
	fclose(in);
	return r;
}

static int add_table(struct database *d, const struct sweep_table *t, const char *folder,
	const char *name, struct error *why)
{
	struct filling f = {.d = d};
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->plan->count; i++) {
		char *path;

		if (!t->summaries[i])
			continue;
		if (asprintf(&path, "%s/%s/%s.csv", folder, t->plan->runs[i].id, name) < 0)
			return error_set(why, -ENOMEM, "out of memory");
		r = add_file(&f, path, name, t->plan->runs[i].id, why);
		free(path);
	}
	sqlite3_finalize(f.insert);
	return r;
}

/* ---- the whole ---- */

static int fill(
	struct database *d, const struct sweep_table *t, const char *folder, struct error *why)
{
	const struct sweep_spec *sweep = &t->plan->base->sweep;
	int r = execute(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", why);

	if (r == 0)
		r = add_runs(d, t, why);
	for (size_t i = 0; r == 0 && i < sweep->table_count; i++)
		r = add_table(d, t, folder, sweep->tables[i], why);
	return r == 0 ? execute(d, "COMMIT", why) : r;
}

/* What a query does to the database, step by step: it may read. */
static int authorize(
	void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)arg, (void)a, (void)b, (void)c, (void)d;
	return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
			       action == SQLITE_RECURSIVE
		       ? SQLITE_OK
		       : SQLITE_DENY;
}

int database_make(struct database **ret, const char *path, const struct sweep_table *t,
	const char *folder, struct error *why)
{
	struct database *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return error_set(why, -ENOMEM, "out of memory");
	if (unlink(path) < 0 && errno != ENOENT)
		r = error_set(why, -errno, "can't replace %s: %s", path, strerror(errno));
	else if (sqlite3_open(path, &d->db) != SQLITE_OK)
		r = error_set(why, -EIO, "can't write %s: %s", path, sqlite3_errmsg(d->db));
	else
		r = fill(d, t, folder, why);
	if (r == 0)
		sqlite3_set_authorizer(d->db, authorize, NULL);
	if (r < 0)
		database_close(d);
	else
		*ret = d;
	return r;
}

void database_close(struct database *d)
{
	if (d)
		sqlite3_close(d->db);
	free(d);
}

/* ---- what is asked ---- */

static struct sweep_cell column_cell(sqlite3_stmt *s, int column)
{
	switch (sqlite3_column_type(s, column)) {
	case SQLITE_NULL:
		return (struct sweep_cell){.kind = CELL_EMPTY};
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		return (struct sweep_cell){
			.kind = CELL_NUMBER, .number = sqlite3_column_double(s, column)};
	default:
		return (struct sweep_cell){
			.kind = CELL_TEXT, .text = (const char *)sqlite3_column_text(s, column)};
	}
}

/* The first statement, which must be the only one, and give rows. */
static int prepare(struct database *d, const char *sql, sqlite3_stmt **ret, struct error *why)
{
	sqlite3_stmt *next = NULL;
	const char *rest;
	int r = sqlite3_prepare_v2(d->db, sql, -1, ret, &rest);

	if (r == SQLITE_AUTH)
		return error_set(why, -EINVAL, "a query may only read; expected a SELECT");
	if (r != SQLITE_OK)
		return fail(d, why);
	if (!*ret || !sqlite3_column_count(*ret) || sqlite3_column_count(*ret) > COLUMNS_MAX)
		return error_set(why, -EINVAL, "the query gives no columns; expected a SELECT");
	r = sqlite3_prepare_v2(d->db, rest, -1, &next, NULL);
	if (r == SQLITE_OK && !next)
		return 0;
	sqlite3_finalize(next);
	return error_set(why, -EINVAL, "the query is more than one statement");
}

int database_query(struct database *d, const char *sql,
	int (*row)(void *arg, const struct database_row *row), void *arg, struct error *why)
{
	struct sweep_cell cells[COLUMNS_MAX];
	const char *names[COLUMNS_MAX];
	struct database_row found = {.cells = cells, .names = names};
	sqlite3_stmt *s = NULL;
	int r = prepare(d, sql, &s, why), step = SQLITE_DONE;

	found.count = r == 0 ? (size_t)sqlite3_column_count(s) : 0;
	for (size_t i = 0; r == 0 && i < found.count; i++)
		names[i] = sqlite3_column_name(s, (int)i);
	while (r == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
		for (size_t i = 0; i < found.count; i++)
			cells[i] = column_cell(s, (int)i);
		r = row(arg, &found);
	}
	if (r == 0 && step != SQLITE_DONE)
		r = fail(d, why);
	sqlite3_finalize(s);
	return r;
}
