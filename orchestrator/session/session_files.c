/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that a session leaves. */
#include <errno.h>
#include <string.h>
#include "base/outstream.h"
#include "session/names.h"
#include "session/session_internal.h"
#include "scenario/scenario.h"
#include "telemetry/port_counts.h"
#include "topology/fabric.h"

#define SUMMARY_FORMAT (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

static int write_summary(int directory, const json_t *summary)
{
	struct outstream out;
	int r = outstream_create(&out, directory, "summary.json" OUTSTREAM_NEW), closed;

	if (r < 0)
		return r;
	/* what the disk does not take shows when it is closed */
	r = json_dumpf(summary, out.file, SUMMARY_FORMAT) < 0 ? -ENOMEM : 0;
	fputc('\n', out.file);
	closed = outstream_close(&out);
	return closed ? closed : r;
}

static int write_scenario(int directory, const struct session *s)
{
	struct outstream out;
	int r = outstream_create(&out, directory, "scenario.yaml" OUTSTREAM_NEW), closed;

	if (r < 0)
		return r;
	r = s->params.lasting ? session_save(s, out.file)
			      : scenario_write(s->params.scenario, out.file);
	closed = outstream_close(&out);
	return closed ? closed : r;
}

static int close_capture(struct session *s, struct error *why)
{
	int r;

	capture_order_flush(&s->order);
	r = pcapng_close(s->capture);
	s->capture = NULL;
	return r < 0 ? error_set(why, r, "can't write %s: %s", s->params.capture, strerror(-r)) : 0;
}

static int make_files(struct session *s, const json_t *summary, int directory)
{
	const struct fabric *f = s->params.fabric;
	int r = recorder_write(s->recorder, directory);

	if (r == 0)
		r = ports_write(directory, s->engine, f->net.port_count, port_name, f);
	if (r == 0)
		r = write_scenario(directory, s);
	if (r == 0 && s->dp->tables.config.features & SW_PFC)
		r = recorder_write_pauses(directory, s->engine, port_name, f);
	if (r == 0 && s->agents)
		r = agents_write(s->agents, directory);
	if (r == 0 && summary)
		r = write_summary(directory, summary);
	return r;
}

int session_write(
	struct session *s, const json_t *summary, struct folder *folder, struct error *why)
{
	int closed = close_capture(s, why), r;

	recorder_end_flows(s->recorder, s->engine);
	recorder_end(s->recorder, engine_now(s->engine));
	folder = folder ? folder : s->params.folder;
	if (!folder)
		return closed;
	/* a full disk under the capture is no reason to go without the rest */
	r = make_files(s, summary, folder_fd(folder));
	if (r < 0 && closed == 0)
		error_set(
			why, r, "can't write results in %s: %s", folder_path(folder), strerror(-r));
	if (r == 0)
		r = folder_publish(folder, closed < 0 ? NULL : why);
	if (r == 0)
		recorder_done(s->recorder);
	else
		folder_clear(folder);
	return closed < 0 ? closed : r;
}

int session_lost(const struct session *s, struct error *why)
{
	int lost = 0;
	uint64_t lines = recorder_lost(s->recorder, &lost);

	return lines ? error_set(why, lost, "%llu lines of events, flows or queues were lost: %s",
			       (unsigned long long)lines, strerror(-lost))
		     : 0;
}

int session_flush(struct session *s, struct error *why)
{
	const struct folder *folder = s->params.folder;
	int r = s->capture ? pcapng_error(s->capture) : 0;

	if (r < 0)
		return error_set(why, r, "can't write %s: %s", s->params.capture, strerror(-r));
	if (!folder)
		return 0;
	if (folder_is_gone(folder))
		return error_set(why, -ENOENT, "can't write results in %s: the folder is gone",
			folder_path(folder));
	r = recorder_flush(s->recorder);
	if (r < 0)
		return error_set(
			why, r, "can't write results in %s: %s", folder_path(folder), strerror(-r));
	return session_lost(s, why);
}
