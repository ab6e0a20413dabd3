/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/small_session.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "topology/make_fabric.h"

void small_session_load(
	struct small_session *s, const char *text, const char *const *sets, size_t set_count)
{
	struct diags diags = DIAGS_INIT;
	int r;

	*s = (struct small_session){0};
	r = scenario_load_text(&s->scenario, "test", text, strlen(text), sets, set_count, &diags);
	if (r == 0)
		r = fabric_new(&s->fabric, s->scenario, &diags);
	for (size_t i = 0; i < diags.count; i++)
		print_error("%u: %s\n", diags.items[i].pos.line, diags.items[i].text);
	diags_release(&diags);
	assert_int_equal(r, 0);
}

void small_session_open(struct small_session *s, const char *text, const char *const *sets,
	size_t set_count, const char *directory)
{
	const struct folder_params folder = {.path = directory};
	struct session_params p = {0};
	struct error why = ERROR_INIT;

	small_session_load(s, text, sets, set_count);
	if (directory && folder_claim(&s->folder, &folder, &why) < 0)
		fail_msg("%s", why.text);
	p.folder = s->folder;
	p.scenario = s->scenario;
	p.fabric = s->fabric;
	if (session_open(&s->session, &p, &why) < 0)
		fail_msg("%s", why.text);
}

void small_session_close(struct small_session *s)
{
	session_close(s->session);
	folder_close(s->folder);
	fabric_free(s->fabric);
	scenario_free(s->scenario);
	*s = (struct small_session){0};
}

void small_session_run(struct small_session *s)
{
	struct error why = ERROR_INIT;

	if (session_advance(s->session, UINT64_MAX, NULL, &why) < 0)
		fail_msg("%s", why.text);
	assert_true(session_done(s->session));
}

json_t *small_session_summary(struct small_session *s, bool *ret_met)
{
	const struct session_times times = {.setup = 0.5, .run = 2};
	struct error why = ERROR_INIT;
	json_t *summary = session_summary(s->session, &times, ret_met, &why);

	if (!summary)
		fail_msg("%s", why.text);
	return summary;
}

void small_directory(char path[SMALL_PATH])
{
	const char *base = getenv("TMPDIR");

	snprintf(path, SMALL_PATH, "%s/fabricbed-test-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(path));
}

void small_directory_remove(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	char file[SMALL_PATH + 256];

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			assert_int_equal(unlink(file), 0);
	}
	closedir(directory);
	assert_int_equal(rmdir(path), 0);
}

char *small_file(const char *directory, const char *name)
{
	char path[SMALL_PATH + 256], *text = NULL;
	size_t room = 0;
	ssize_t length;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	in = fopen(path, "r");
	if (!in)
		return NULL;
	length = getdelim(&text, &room, '\0', in);
	fclose(in);
	if (length < 0)
		text[0] = 0;
	return text;
}
