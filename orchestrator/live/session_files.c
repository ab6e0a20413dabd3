/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that a session leaves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "live/names.h"
#include "live/session_internal.h"

static FILE *create(const char *directory, const char *name)
{
	char *path;
	FILE *f;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return NULL;
	f = fopen(path, "we");
	free(path);
	return f;
}

#define SUMMARY_FORMAT (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

/* Closes f; r, or else what went wrong on the way: a full disk shows at any write. */
static int close_written(FILE *f, int r)
{
	bool broken = ferror(f);

	if (fclose(f) && r == 0)
		r = -errno;
	return broken && r == 0 ? -EIO : r;
}

static int write_summary(const char *directory, const json_t *summary)
{
	FILE *f = create(directory, "summary.json");
	int r;

	if (!f)
		return -errno;
	r = json_dumpf(summary, f, SUMMARY_FORMAT) < 0 ? -EIO : 0;
	fputc('\n', f);
	return close_written(f, r);
}

static int write_scenario(const char *directory, const struct session *s)
{
	FILE *f = create(directory, "scenario.yaml");
	int r;

	if (!f)
		return -errno;
	r = s->params.lasting ? session_save(s, f) : scenario_write(s->params.scenario, f);
	return close_written(f, r);
}

/* What is written as it happens ends here. */
static int close_files(struct session *s, struct error *why)
{
	int r, captured;

	recorder_end(s->recorder, engine_now(s->engine));
	r = recorder_close(s->recorder);
	capture_order_flush(&s->order);
	captured = pcapng_close(s->capture);
	s->recorder = NULL;
	s->capture = NULL;
	if (captured < 0)
		return error_set(why, captured, "can't write %s: %s", s->params.capture,
			strerror(-captured));
	return r < 0 ? error_set(why, r, "can't write results in %s: %s", s->params.directory,
			       strerror(-r))
		     : 0;
}

int session_write(struct session *s, const json_t *summary, struct error *why)
{
	const char *directory = s->params.directory;
	int closed = close_files(s, why), r = 0;

	if (!directory)
		return closed;
	/* a full disk under the capture is no reason to go without the rest */
	if (summary)
		r = write_summary(directory, summary);
	if (r == 0)
		r = write_scenario(directory, s);
	if (r == 0)
		r = recorder_write_flows(directory, s->engine, host_name, s->params.fabric);
	if (r == 0 && s->dp->tables.config.features & SW_CONTROL)
		r = recorder_write_pauses(directory, s->engine, port_name, s->params.fabric);
	if (r == 0 && s->agents)
		r = agents_write(s->agents, directory);
	if (r < 0 && closed == 0)
		return error_set(why, r, "can't write results in %s: %s", directory, strerror(-r));
	return closed < 0 ? closed : r;
}
